package doctor

import (
	"context"
	"crypto/x509"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"aibox/internal/fault"
	"aibox/internal/image"
	"aibox/internal/pasteboard"
	"aibox/internal/proc"
	"aibox/internal/project"
)

func user(_ context.Context, h Host) (Result, bool) {
	if h.UID == 0 {
		return fail(fault.New(fault.Refused, "start it as yourself, without sudo", "aibox does not run as root"))
	}
	return ok("uid %d", h.UID)
}

// home checks the place where aibox keeps its files, or would.
func home(_ context.Context, h Host) (Result, bool) {
	place, err := project.NewPlace(h.Home)
	if err != nil {
		return fail(err)
	}
	if err := place.Check(); err != nil {
		return fail(err)
	}
	return ok("%s", place.Root)
}

// Free space below which a run is in danger, and below which it fails.
const (
	littleSpace = 2 << 30
	noSpace     = 64 << 20
)

func diskSpace(_ context.Context, h Host) (Result, bool) {
	place, err := project.NewPlace(h.Home)
	if err != nil {
		return Result{}, false // told by home
	}
	free, err := freeSpace(existing(place.Root))
	if err != nil {
		return Result{}, false
	}
	return spaceResult(free, place.Root)
}

func spaceResult(free uint64, root string) (Result, bool) {
	fix := "see what aibox keeps: aibox projects list; and what else is there: df -h " + fault.ShellQuote(filepath.Dir(root))
	text := fmt.Sprintf("%.1f GiB are free for %s", float64(free)/(1<<30), root)
	switch {
	case free < noSpace:
		return fail(fault.New(fault.Machine, fix, "%s", text))
	case free < littleSpace:
		return warn(fix, "%s", text)
	}
	return ok("%s", text)
}

// existing is the nearest folder of the path that exists.
func existing(path string) string {
	for path != filepath.Dir(path) {
		if _, err := os.Stat(path); err == nil {
			break
		}
		path = filepath.Dir(path)
	}
	return path
}

func theImage(_ context.Context, h Host) (Result, bool) {
	place, err := project.NewPlace(h.Home)
	if err != nil {
		return Result{}, false // told by home
	}
	found, err := image.Locate(image.Search{Flag: h.Image, Home: place.Root, Build: h.Build})
	if err != nil {
		return fail(err)
	}
	opened, err := image.Open(found.Dir, found.Digests)
	if err != nil {
		return fail(err)
	}
	defer opened.Close()
	text := found.Dir
	if _, m, err := image.ReadManifest(found.Dir); err == nil {
		text += ", Claude Code " + m.Claude.Version + ", Linux " + m.Kernel.Version
	}
	if !opened.Checked {
		text += "; this build of aibox has no digest to check it by"
	}
	return ok("%s", text)
}

func git(ctx context.Context, _ Host) (Result, bool) {
	path, err := proc.Look("git")
	if err != nil {
		return warn("install it: sudo apt-get install git", "git is not installed: the VM does not learn your name for commits, and reaches no repository with your login")
	}
	out, err := proc.Output(ctx, proc.Cmd{Name: "git", Path: path, Args: []string{"--version"}})
	if err != nil {
		return warn("install it again", "git does not work: %v", err)
	}
	return ok("%s", strings.TrimSpace(strings.TrimPrefix(string(out), "git version ")))
}

// clipboard asks what a run asks: which programs read this desktop's clipboard.
func clipboard(_ context.Context, h Host) (Result, bool) {
	var found []string
	for _, p := range pasteboard.Find(pasteboard.Host{Home: h.Home, Lookup: h.Lookup}) {
		found = append(found, p.Path)
	}
	wayland, _ := h.Lookup("WAYLAND_DISPLAY")
	display, _ := h.Lookup("DISPLAY")
	switch {
	case len(found) > 0:
		return ok("%s", strings.Join(found, ", "))
	case wayland != "":
		return warn("install it: sudo apt-get install wl-clipboard", "wl-paste is not installed, so images cannot be pasted into Claude Code")
	case strings.HasPrefix(display, ":") || strings.HasPrefix(display, "unix:"):
		return warn("install it: sudo apt-get install xclip", "xclip is not installed, so images cannot be pasted into Claude Code")
	case display != "":
		return ok("the display %s is on another machine, whose clipboard is not read", display)
	}
	return ok("no graphical session here, so there is no image to paste")
}

// proxy tells that the host's own proxy is not used. Its value may hold a login.
func proxy(_ context.Context, h Host) (Result, bool) {
	var set []string
	for _, name := range []string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"} {
		if value, _ := h.Lookup(name); value != "" {
			set = append(set, name)
		}
	}
	if len(set) > 0 {
		return warn("let this machine connect to the allowed hosts directly", "%s is set, but aibox connects to the allowed hosts without a proxy", strings.Join(set, ", "))
	}
	return ok("none is set; aibox connects to the allowed hosts directly")
}

func certificates(context.Context, Host) (Result, bool) {
	roots, err := x509.SystemCertPool()
	if err != nil || roots.Equal(x509.NewCertPool()) {
		return warn("install them: sudo apt-get install ca-certificates", "this machine has no root certificates, by which the Claude API is known to a run with an API key")
	}
	return ok("the system's root certificates")
}
