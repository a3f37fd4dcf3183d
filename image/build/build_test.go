package build

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"aibox/image/cache"
	"aibox/image/tool"
	"aibox/internal/fault"

	"github.com/google/go-cmp/cmp"
)

// checkout is the root of the repository.
const checkout = "../.."

func TestPlanIsInOrder(t *testing.T) {
	for _, test := range []bool{false, true} {
		var done []string
		for _, s := range plan(test) {
			for _, before := range s.after {
				if !slices.Contains(done, before) {
					t.Errorf("%s comes before %s, which it needs", s.name, before)
				}
			}
			done = append(done, s.name)
		}
	}
}

func TestPins(t *testing.T) {
	good, err := os.ReadFile(filepath.Join(checkout, "image/pins.json"))
	if err != nil {
		t.Fatal(err)
	}
	read := func(text string) (Pins, error) {
		t.Helper()
		path := filepath.Join(t.TempDir(), "pins.json")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return ReadPins(path)
	}
	pins, err := read(string(good))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "written.json")
	if err := pins.write(path); err != nil {
		t.Fatal(err)
	}
	if written, _ := os.ReadFile(path); string(written) != string(good) {
		t.Errorf("written back, the pins differ:\n%s", cmp.Diff(string(good), string(written)))
	}
	for _, c := range []struct{ old, with, want string }{
		{pins.Claude.Integrity, "sha512-AAAA", "claude.integrity"},
		{pins.Claude.Integrity, "sha1-AAAA", "claude.integrity"},
		{pins.Claude.Package, "--prefix=/x", "claude.package"},
		{pins.Kernel.Package, "-o", "kernel.package"},
		{pins.Kernel.Version, "1 2", "kernel.version"},
		{pins.Kernel.SHA256, "abc", "kernel.sha256"},
		{`"suite": "trixie"`, `"suite": "../x"`, "debian.suite"},
		{`"suite"`, `"sweet"`, "unknown field"},
	} {
		spoiled := strings.Replace(string(good), c.old, c.with, 1)
		if got, err := read(spoiled); err == nil || !strings.Contains(err.Error(), c.want) || got != (Pins{}) {
			t.Errorf("%s for %s: %v; want an error with %q", c.with, c.old, err, c.want)
		}
	}
}

func TestRecipeOfPackages(t *testing.T) {
	packages, err := readPackages(filepath.Join(checkout, "image", packagesFile))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"bash", "git", "podman", "uidmap", "e2fsprogs"} {
		if !slices.Contains(packages, want) {
			t.Errorf("%s is not on the list", want)
		}
	}
	path := filepath.Join(t.TempDir(), "packages")
	if err := os.WriteFile(path, []byte("git\n--hook=x\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got, err := readPackages(path); err == nil {
		t.Errorf("an option passes for a package: %q", got)
	}
}

func TestDebstrapArgs(t *testing.T) {
	got := debstrapArgs("unshare", "trixie", []string{"bash", "git"}, []string{"deb a", "deb b"})
	want := []string{"mmdebstrap", "--mode=unshare", "--variant=minbase", "--architectures=amd64", "--components=main",
		`--aptopt=APT::Install-Recommends "false"`, `--aptopt=Acquire::Languages "none"`, "--include=bash,git", "trixie", "-", "deb a", "deb b"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("arguments (-want +got):\n%s", diff)
	}
}

// archive writes a package as npm packs it.
func archive(t *testing.T, name string, content []byte) string {
	t.Helper()
	var b bytes.Buffer
	zipped := gzip.NewWriter(&b)
	w := tar.NewWriter(zipped)
	err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644, Size: int64(len(content))})
	_, failed := w.Write(content)
	if err := errors.Join(err, failed, w.Close(), zipped.Close()); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "p.tgz")
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestExtractProgram(t *testing.T) {
	elf := []byte(elfMagic + "program")
	to := filepath.Join(t.TempDir(), "claude")
	if err := extractProgram(archive(t, "package/claude", elf), "package/claude", to); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(to)
	if err != nil || info.Mode()&0o111 == 0 || info.Size() != int64(len(elf)) {
		t.Errorf("the program is %v, %v", info, err)
	}
	for want, path := range map[string]string{
		"holds no package/claude": archive(t, "package/other", elf),
		"is no Linux program":     archive(t, "package/claude", []byte("#!/bin/sh\n")),
	} {
		err := extractProgram(path, "package/claude", filepath.Join(t.TempDir(), "x"))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error with %q", err, want)
		}
	}
}

func TestIntegrity(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte("abc"), 0o644); err != nil {
		t.Fatal(err)
	}
	const want = "sha512-3a81oZNherrMQXNJriBBMRLm+k6JqX6iCp7u5ktV05ohkpkqJ0/BqDa6PCOj/uu9RU1EI2Q86A4qmslPpUyknw=="
	if got, err := integrityOf(path); err != nil || got != want {
		t.Errorf("%s, %v; want %s", got, err, want)
	}
}

// silent is a Reporter for tests that look at results only.
type silent struct{}

func (silent) Begin(string, int, int, int)      {}
func (silent) Progress()                        {}
func (silent) End(string, time.Duration, error) {}
func (silent) Note(string)                      {}

// TestKernelThatBreaksThePolicy lets a false make write a final configuration
// that drops one option and sets a forbidden one: the build must name both and
// compile nothing.
func TestKernelThatBreaksThePolicy(t *testing.T) {
	dir := t.TempDir()
	compiled := filepath.Join(dir, "compiled")
	script := "#!/bin/sh\nfor last; do :; done\ncase $last in\n" +
		"tinyconfig) : >.config ;;\n" +
		"olddefconfig) sed -i -e '/CONFIG_HARDENED_USERCOPY=/d' -e 's/# CONFIG_MODULES is not set/CONFIG_MODULES=y/' .config ;;\n" +
		"*) : >" + compiled + " ;;\nesac\n"
	if err := os.WriteFile(filepath.Join(dir, "make"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	source := filepath.Join(dir, "source")
	if err := os.MkdirAll(filepath.Join(source, "linux"), 0o755); err != nil {
		t.Fatal(err)
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	root := t.TempDir() // the recipe without its patches, which that source cannot take
	for _, name := range []string{wantedFile, forbiddenFile} {
		to := filepath.Join(root, "image", name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(to), 0o755), cache.Copy(filepath.Join(checkout, "image", name), to, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	j := &job{Options: &Options{Root: root, Report: silent{}}, scratch: t.TempDir(), out: t.TempDir(),
		results: map[string]string{stepSource: source}, tools: &tool.Runner{Log: log, OnLine: func() {}}}
	packed := tool.Command{Dir: source, Args: []string{"tar", "--create", "--file", sourceArchive, "linux"}}
	if err := j.tools.Run(t.Context(), packed); err != nil {
		t.Fatal(err)
	}
	err = makeKernel(t.Context(), j)
	const want = "the kernel's configuration breaks the policy in 2 options:\n" +
		"  CONFIG_HARDENED_USERCOPY: want y, is not set\n  CONFIG_MODULES: forbidden, is y"
	if err == nil || err.Error() != want || fault.HintOf(err) == "" {
		t.Errorf("the error is %v, want\n%s", err, want)
	}
	if _, err := os.Stat(compiled); err == nil {
		t.Error("a kernel that breaks the policy was compiled")
	}

	patches := filepath.Join(root, filepath.Dir("image/"+patchFiles))
	if err := os.Mkdir(patches, 0o755); err != nil {
		t.Fatal(err)
	}
	const patch = "--- a/Makefile\n+++ b/Makefile\n@@ -1 +1 @@\n-one\n+two\n"
	if err := os.WriteFile(filepath.Join(patches, "stale.patch"), []byte(patch), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := makeKernel(t.Context(), j); err == nil || !strings.Contains(err.Error(), "does not take stale.patch") {
		t.Errorf("a patch that does not fit: %v", err)
	}
}

func TestPublish(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "new", "image")
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	put := func(manifest, kernel, disk string) {
		t.Helper()
		if err := refuseForeign(out); err != nil {
			t.Fatal(err)
		}
		if err := publish(out, []byte(manifest), map[string]string{kernelFile: kernel, diskFile: disk}); err != nil {
			t.Fatal(err)
		}
		entries, err := os.ReadDir(filepath.Dir(out))
		if err != nil || len(entries) != 1 {
			t.Errorf("beside the image are %v, %v", entries, err)
		}
		text, err := os.ReadFile(filepath.Join(out, manifestFile))
		if err != nil || string(text) != manifest {
			t.Errorf("the manifest is %q, %v; want %q", text, err, manifest)
		}
	}
	kernel, disk := file("k1", "kernel"), file("d1", "disk")
	put("one", kernel, disk)
	before, err := os.Stat(out)
	if err != nil {
		t.Fatal(err)
	}
	put("one", kernel, disk)
	if again, err := os.Stat(out); err != nil || !os.SameFile(before, again) {
		t.Errorf("an image that is up to date was replaced: %v", err)
	}
	put("two", kernel, file("d2", "another disk"))
	if text, err := os.ReadFile(filepath.Join(out, diskFile)); err != nil || string(text) != "another disk" {
		t.Errorf("the disk is %q, %v", text, err)
	}
	if err := os.Truncate(filepath.Join(out, diskFile), 3); err != nil {
		t.Fatal(err)
	}
	put("two", kernel, file("d3", "another disk"))
	if text, err := os.ReadFile(filepath.Join(out, diskFile)); err != nil || string(text) != "another disk" {
		t.Errorf("a truncated disk stayed: %q, %v", text, err)
	}
}

func TestForeignFolderIsRefused(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "thesis.txt"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	err := refuseForeign(dir)
	if fault.KindOf(err) != fault.Refused || fault.HintOf(err) == "" {
		t.Errorf("a folder with the user's file gives %v", err)
	}
	if err := refuseForeign(filepath.Join(dir, "thesis.txt")); err == nil {
		t.Error("a file passes for a folder")
	}
}
