package results

import (
	"bufio"
	"bytes"
	"crypto/sha1" // names objects and packs of most repositories
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"strings"

	"aibox/internal/wire"
)

// Bundle is a bundle that holds the task's branch on top of the start commit.
type Bundle struct {
	Tip     string // object id of the branch's last commit
	Objects uint32 // of its pack
}

// checkBundle copies a bundle of size bytes to w, if its header is good. The
// pack behind it is not interpreted, but its count of objects must be possible
// and its last bytes must be the hash of the others. Git checks the rest when the
// bundle is fetched.
func checkBundle(r io.Reader, size int64, start string, w io.Writer) (Bundle, error) {
	buffered := bufio.NewReaderSize(r, 4096)
	header, tip, err := readHeader(buffered, start)
	if err != nil {
		return Bundle{}, err
	}
	digest := newHash(start)
	pack := size - int64(len(header))
	count, head, err := readPackHead(buffered, pack-int64(digest.Size()))
	if err != nil {
		return Bundle{}, err
	}
	if _, err := w.Write(append(header, head...)); err != nil {
		return Bundle{}, err
	}
	digest.Write(head)
	body := pack - int64(len(head)) - int64(digest.Size())
	n, err := io.CopyN(io.MultiWriter(w, digest), buffered, body)
	if err != nil || n != body {
		return Bundle{}, fmt.Errorf("the bundle ends too early: %w", cut(err))
	}
	trailer := make([]byte, digest.Size())
	if _, err := io.ReadFull(buffered, trailer); err != nil {
		return Bundle{}, fmt.Errorf("the bundle ends too early: %w", cut(err))
	}
	if _, err := w.Write(trailer); err != nil {
		return Bundle{}, err
	}
	if !bytes.Equal(trailer, digest.Sum(nil)) {
		return Bundle{}, errors.New("the bundle's pack is damaged")
	}
	return Bundle{Tip: tip, Objects: count}, nil
}

func newHash(oid string) hash.Hash {
	if len(oid) == sha256.Size*2 {
		return sha256.New()
	}
	return sha1.New()
}

// readHeader reads the lines before the pack and checks that they are those of
// a bundle of the task's branch on top of start.
func readHeader(r *bufio.Reader, start string) (raw []byte, tip string, err error) {
	var lines []string
	for {
		line, err := readLine(r, maxBundleHeader-len(raw))
		if err != nil {
			return nil, "", err
		}
		raw = append(raw, line...)
		if line == "\n" {
			break
		}
		lines = append(lines, strings.TrimSuffix(line, "\n"))
	}
	tip, err = judgeHeader(lines, start)
	return raw, tip, err
}

func readLine(r *bufio.Reader, limit int) (string, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if len(line)+len(part) > limit {
			return "", errors.New("the bundle's header is too long")
		}
		line = append(line, part...)
		if err == nil {
			return string(line), nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return "", fmt.Errorf("the bundle's header ends too early: %w", cut(err))
		}
	}
}

// judgeHeader is pure: it returns the branch's tip if the lines are exactly the
// signature, the object format where it is not SHA-1, the start commit as the
// one prerequisite, and the task's branch as the one reference.
func judgeHeader(lines []string, start string) (tip string, err error) {
	want := []string{"# v2 git bundle"}
	if len(start) == sha256.Size*2 {
		want = []string{"# v3 git bundle", "@object-format=sha256"}
	} else if len(lines) > 1 && lines[0] == "# v3 git bundle" {
		want = []string{"# v3 git bundle", "@object-format=sha1"}
	}
	for i, line := range want {
		if i >= len(lines) || lines[i] != line {
			return "", errors.New("it is no git bundle of the project's kind")
		}
	}
	lines = lines[len(want):]
	if len(lines) == 0 || !strings.HasPrefix(lines[0], "-") {
		return "", errors.New("the bundle does not build on the start commit")
	}
	if oid, _, _ := strings.Cut(lines[0][1:], " "); oid != start {
		return "", errors.New("the bundle builds on another commit than the start commit")
	}
	lines = lines[1:]
	if len(lines) > 0 && strings.HasPrefix(lines[0], "-") {
		return "", errors.New("the bundle builds on more than the start commit")
	}
	if len(lines) != 1 {
		return "", fmt.Errorf("the bundle holds %d references, not one", len(lines))
	}
	tip, ref, _ := strings.Cut(lines[0], " ")
	if ref != wire.TaskRef {
		return "", fmt.Errorf("the bundle holds %.60q, not %s", ref, wire.TaskRef)
	}
	if len(tip) != len(start) || strings.Trim(tip, "0123456789abcdef") != "" || tip == start {
		return "", errors.New("the bundle's reference is no commit on top of the start commit")
	}
	return tip, nil
}

// packHead is the size of a pack's signature, version and count.
const packHead = 12

func readPackHead(r io.Reader, room int64) (count uint32, head []byte, err error) {
	head = make([]byte, packHead)
	if _, err := io.ReadFull(r, head); err != nil {
		return 0, nil, fmt.Errorf("the bundle's pack ends too early: %w", cut(err))
	}
	version := binary.BigEndian.Uint32(head[4:])
	if string(head[:4]) != "PACK" || version != 2 && version != 3 {
		return 0, nil, errors.New("the bundle holds no pack")
	}
	count = binary.BigEndian.Uint32(head[8:])
	if count == 0 || int64(count)*minObject > room-packHead {
		return 0, nil, fmt.Errorf("the bundle's pack claims %d objects, which it cannot hold", count)
	}
	return count, head, nil
}
