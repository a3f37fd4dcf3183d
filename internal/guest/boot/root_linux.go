package boot

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"aibox/internal/guest/names"
)

// overlaySize bounds what init writes into the root; it needs some 100 KiB.
const overlaySize = "size=16m"

// switchRoot puts a layer in RAM over the root disk and makes both the root.
// The layer is reachable through nothing else.
func switchRoot() error {
	const base = "/run" // any folder that every Debian root has
	if err := unix.Mount("aibox", base, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=0700,"+overlaySize); err != nil {
		return fmt.Errorf("mount RAM over %s: %w", base, err)
	}
	for _, name := range []string{"upper", "work", "root"} {
		if err := os.Mkdir(filepath.Join(base, name), 0o755); err != nil {
			return err
		}
	}
	root := filepath.Join(base, "root")
	options := fmt.Sprintf("lowerdir=/,upperdir=%s/upper,workdir=%s/work", base, base)
	if err := unix.Mount("root", root, "overlay", 0, options); err != nil {
		return fmt.Errorf("mount overlay: %w", err)
	}
	if err := os.Chdir(root); err != nil {
		return err
	}
	// The old root ends up on top of the new one and goes from there.
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("change root: %w", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("leave old root: %w", err)
	}
	return os.Chdir("/")
}

// mappers are the only programs that keep a privilege: containers without root
// need them to map the ranges of /etc/subuid. Each gets the one capability of
// its task in place of Debian's set-user-id root.
func mappers() map[string]int {
	return map[string]int{"/usr/bin/newuidmap": unix.CAP_SETUID, "/usr/bin/newgidmap": unix.CAP_SETGID}
}

// closeRoot makes the root read-only, and deaf to privileges of programs but
// of the mappers, whatever the image holds: they are mounted over themselves
// before the root's mount gets the flag.
func closeRoot() error {
	for program, capability := range mappers() {
		err := grant(program, capability)
		if errors.Is(err, fs.ErrNotExist) {
			continue // an image without containers
		}
		if err != nil {
			return err
		}
	}
	if isTestImage() {
		if err := keepPrivilege(names.TestRoot); err != nil {
			return err
		}
	}
	if err := unix.Mount("", "/", "", unix.MS_REMOUNT|unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NODEV, ""); err != nil {
		return fmt.Errorf("remount root: %w", err)
	}
	// Containers expect it, as systemd does it everywhere; and what init
	// unmounts at the end goes from their mount namespaces too.
	if err := unix.Mount("", "/", "", unix.MS_SHARED|unix.MS_REC, ""); err != nil {
		return fmt.Errorf("share root's mounts: %w", err)
	}
	return nil
}

func grant(program string, capability int) error {
	if err := os.Chmod(program, 0o755); err != nil {
		return err
	}
	if err := unix.Setxattr(program, "security.capability", fileCapability(capability), 0); err != nil {
		return fmt.Errorf("grant %s its capability: %w", program, err)
	}
	return keepPrivilege(program)
}

// keepPrivilege mounts a program over itself, without the flag that the root
// gets afterwards.
func keepPrivilege(program string) error {
	target, err := os.OpenFile(program, unix.O_PATH|unix.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	defer target.Close()
	return attach(program, target, unix.MOUNT_ATTR_NODEV|unix.MOUNT_ATTR_RDONLY)
}

// isTestImage tells whether the root disk is that of tests.
func isTestImage() bool {
	_, err := os.Lstat(names.TestRoot)
	return err == nil
}

// fileCapability is the kernel's struct vfs_cap_data, revision 2, with one
// capability permitted and effective.
func fileCapability(capability int) []byte {
	const revision, effective = 0x02000000, 1
	b := binary.LittleEndian.AppendUint32(nil, revision|effective)
	b = binary.LittleEndian.AppendUint32(b, 1<<capability) // permitted; both are below 32
	return append(b, make([]byte, 12)...)                  // inheritable and the upper halves
}

// attach mounts what is at source at the opened target. The descriptors make
// sure that the restrictions are on the mount before anybody can see it, and
// that no link leads it elsewhere.
func attach(source string, target *os.File, attributes uint64) error {
	tree, err := unix.OpenTree(unix.AT_FDCWD, source, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_SYMLINK_NOFOLLOW)
	if err != nil {
		return fmt.Errorf("take %s: %w", source, err)
	}
	defer unix.Close(tree)
	if err := unix.MountSetattr(tree, "", unix.AT_EMPTY_PATH, &unix.MountAttr{Attr_set: attributes}); err != nil {
		return fmt.Errorf("restrict %s: %w", source, err)
	}
	err = unix.MoveMount(tree, "", int(target.Fd()), "", unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH)
	if err != nil {
		return fmt.Errorf("mount %s at %s: %w", source, target.Name(), err)
	}
	return nil
}
