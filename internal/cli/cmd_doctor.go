package cli

import (
	"aibox/internal/doctor"
	"aibox/internal/fault"
	"aibox/internal/image"

	"github.com/spf13/cobra"
)

func (a *app) doctorCommand() *cobra.Command {
	var asJSON bool
	var dir string
	cmd := &cobra.Command{
		Use:   "doctor [--json]",
		Short: "Check what a run needs of this machine",
		Long: `Checks everything that a run needs, without booting anything: kernel, KVM, confinement,
programs, disk space, the image, and what of your session matters. Each finding has a line
that says what to do. A "warning" lets a run work; with a "failure" it would not.`,
		Example: `  aibox doctor
  aibox doctor --json | jq '.checks[] | select(.status != "ok")'`,
		Annotations: exits("a run would start", fault.Machine),
		Args:        noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			results := a.machine.check(cmd.Context(), doctor.Host{
				UID: a.machine.uid, Kernel: a.machine.kernel, Home: a.machine.home, Lookup: a.machine.lookup,
				Image: dir, Build: image.Built(),
			})
			if err := cmd.Context().Err(); err != nil {
				return err
			}
			if asJSON {
				if err := doctor.WriteJSON(a.out, results); err != nil {
					return err
				}
			} else {
				doctor.Write(a.out, results)
			}
			if n := doctor.Failures(results); n > 0 {
				return fault.New(fault.Machine, "", "a run would fail here: %d of %d checks did", n, len(results))
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().StringVar(&dir, "image", "", "check the image in this `folder`")
	return cmd
}
