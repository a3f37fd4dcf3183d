package build

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"

	"aibox/image/cache"
)

// Pins is pins.json: every version that the image is made from.
type Pins struct {
	// Epoch is the time, in seconds, that files and the kernel carry, so that
	// equal inputs give equal images.
	Epoch int64 `json:"epoch"`

	Debian struct {
		Suite string `json:"suite"`
		// Refresh is counted up to fetch the suite's packages anew.
		Refresh int `json:"refresh"`
	} `json:"debian"`

	Kernel struct {
		Package string `json:"package"`
		Version string `json:"version"`
		SHA256  string `json:"sha256"` // of the .deb
	} `json:"kernel"`

	Claude struct {
		Package   string `json:"package"`
		Version   string `json:"version"`
		Integrity string `json:"integrity"` // as npm writes it
	} `json:"claude"`
}

// sha512Prefix is the one kind of npm integrity that is taken.
const sha512Prefix = "sha512-"

// ReadPins reads and checks pins.json at path. An unknown key is an error.
func ReadPins(path string) (Pins, error) {
	file, err := os.Open(path)
	if err != nil {
		return Pins{}, fmt.Errorf("read the image's versions: %w", err)
	}
	defer file.Close()
	var pins Pins
	reader := json.NewDecoder(file)
	reader.DisallowUnknownFields()
	if err := reader.Decode(&pins); err != nil {
		return Pins{}, fmt.Errorf("read the image's versions from %s: %w", path, err)
	}
	if err := pins.check(); err != nil {
		return Pins{}, fmt.Errorf("the image's versions in %s: %w", path, err)
	}
	return pins, nil
}

// check refuses what could reach a command line as an option or another
// package: the values are arguments of apt-get, mmdebstrap and npm.
func (p Pins) check() error {
	for _, c := range []struct{ name, value, pattern string }{
		{"debian.suite", p.Debian.Suite, `^[a-z]+$`},
		{"kernel.package", p.Kernel.Package, `^linux-source-[0-9.]+$`},
		{"kernel.version", p.Kernel.Version, `^[0-9][A-Za-z0-9.+~:-]*$`},
		{"kernel.sha256", p.Kernel.SHA256, `^[0-9a-f]{64}$`},
		{"claude.package", p.Claude.Package, `^@[a-z-]+/[a-z0-9-]+$`},
		{"claude.version", p.Claude.Version, `^[0-9]+\.[0-9]+\.[0-9]+$`},
	} {
		if !regexp.MustCompile(c.pattern).MatchString(c.value) {
			return fmt.Errorf("%s is %q", c.name, c.value)
		}
	}
	digest, found := strings.CutPrefix(p.Claude.Integrity, sha512Prefix)
	if raw, err := base64.StdEncoding.DecodeString(digest); !found || err != nil || len(raw) != 64 {
		return fmt.Errorf("claude.integrity is %q", p.Claude.Integrity)
	}
	if p.Epoch <= 0 {
		return errors.New("epoch is missing")
	}
	return nil
}

// write puts the pins back into path.
func (p Pins) write(path string) error {
	text, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return err
	}
	return cache.WriteFile(path, append(text, '\n'), 0o644)
}
