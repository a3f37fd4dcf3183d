package kconfig

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCheckNamesEveryBrokenOption(t *testing.T) {
	policy, err := NewPolicy(
		Config{"CONFIG_NET": "y", "CONFIG_NR_CPUS": "64", "CONFIG_LSM": `"landlock"`, "CONFIG_UNIX": "y"},
		[]string{"CONFIG_MODULES", "CONFIG_PCI"})
	if err != nil {
		t.Fatal(err)
	}
	final := strings.Join([]string{
		"# CONFIG_NET is not set", "CONFIG_NR_CPUS=8", `CONFIG_LSM="landlock"`, "CONFIG_UNIX=y",
		"CONFIG_MODULES=y", "# CONFIG_PCI is not set", "CONFIG_OTHER=m"}, "\n")
	config, err := ReadConfig(strings.NewReader(final))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"CONFIG_MODULES: forbidden, is y",
		"CONFIG_NET: want y, is not set",
		"CONFIG_NR_CPUS: want 64, is 8",
	}
	if diff := cmp.Diff(want, policy.Check(config)); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

func TestFragmentKeepsItsOwnPolicy(t *testing.T) {
	policy, err := NewPolicy(Config{"CONFIG_NET": "y"}, []string{"CONFIG_PCI"})
	if err != nil {
		t.Fatal(err)
	}
	const want = "CONFIG_NET=y\n# CONFIG_PCI is not set\n"
	if got := policy.Fragment(); got != want {
		t.Errorf("fragment is %q, want %q", got, want)
	}
	config, err := ReadConfig(strings.NewReader(want))
	if err != nil {
		t.Fatal(err)
	}
	if problems := policy.Check(config); len(problems) != 0 {
		t.Errorf("problems: %q", problems)
	}
}

func TestReadErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"CONFIG_A=y\nCONFIG_B\n", `line 2: "CONFIG_B" is no option`},
		{"CONFIG_A=y\n\n# x\nCONFIG_A=n", "line 4: CONFIG_A is given twice"},
		{"config_a=y", `line 1: "config_a=y" is no option`},
	} {
		config, err := ReadConfig(strings.NewReader(c.text))
		if err == nil || err.Error() != c.want || config != nil {
			t.Errorf("ReadConfig(%q) is %v, %v; want the error %q", c.text, config, err, c.want)
		}
	}
	if _, err := ReadNames(strings.NewReader("CONFIG_A\nCONFIG_B=y\n")); err == nil {
		t.Error("a value in a list of names is taken")
	}
	if _, err := NewPolicy(Config{"CONFIG_A": "y"}, []string{"CONFIG_A"}); err == nil {
		t.Error("an option that is wanted and forbidden is taken")
	}
}

// TestRecipe checks the committed files: they parse and do not contradict
// each other, and what the promises of SECURITY.md need is forbidden or wanted.
func TestRecipe(t *testing.T) {
	wanted := open(t, "../kernel/amd64.config")
	config, err := ReadConfig(wanted)
	if err != nil {
		t.Fatal(err)
	}
	names, err := ReadNames(open(t, "../kernel/forbidden.config"))
	if err != nil {
		t.Fatal(err)
	}
	policy, err := NewPolicy(config, names)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"MODULES", "PCI", "ACPI", "NETDEVICES", "BPF_SYSCALL", "FTRACE", "KPROBES", "KEXEC", "DEVMEM", "X86_VSYSCALL_EMULATION"} {
		hostile := Config{"CONFIG_" + name: "y"}
		for k, v := range config {
			hostile[k] = v
		}
		if len(policy.Check(hostile)) != 1 {
			t.Errorf("a kernel with %s passes", name)
		}
	}
	for _, name := range []string{"RANDOMIZE_BASE", "INIT_ON_ALLOC_DEFAULT_ON", "HARDENED_USERCOPY", "LEGACY_VSYSCALL_NONE", "SECCOMP_FILTER"} {
		weak := Config{}
		for k, v := range config {
			weak[k] = v
		}
		delete(weak, "CONFIG_"+name)
		if len(policy.Check(weak)) != 1 {
			t.Errorf("a kernel without %s passes", name)
		}
	}
}

func FuzzReadConfig(f *testing.F) {
	f.Add("CONFIG_A=y\n# CONFIG_B is not set\n")
	f.Add("CONFIG_S=\"a=b\"\n")
	f.Add("CONFIG_A")
	f.Fuzz(func(t *testing.T, text string) {
		config, err := ReadConfig(strings.NewReader(text))
		if err != nil {
			if config != nil {
				t.Fatal("a config beside an error")
			}
			return
		}
		again, err := ReadConfig(strings.NewReader(Policy{Wanted: config}.Fragment()))
		if err != nil {
			t.Fatalf("its own fragment is refused: %v", err)
		}
		if diff := cmp.Diff(config, again); diff != "" {
			t.Fatal(diff)
		}
	})
}

func open(t *testing.T, path string) *os.File {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	return file
}
