package demo

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1" // #nosec: the name of a git object, no protection
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"slices"
)

// author is the sample's only author, at a fixed time, so that the commit's
// name is the same on every machine.
const author = "aibox <aibox@localhost> 1767225600 +0000"

// writeRepository writes a git repository with one commit of files, without
// git: the host may lack it, and its templates and hooks have no place here.
func writeRepository(root *os.Root, files map[string][]byte) error {
	for _, dir := range []string{".git/objects", ".git/refs/heads", ".git/refs/tags", ".git/info"} {
		if err := root.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	var tree, index bytes.Buffer
	index.WriteString("DIRC")
	index.Write(binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, 2), uint32(len(files))))
	for _, name := range slices.Sorted(maps.Keys(files)) {
		id, err := writeObject(root, "blob", files[name])
		if err != nil {
			return err
		}
		fmt.Fprintf(&tree, "100644 %s\x00%s", name, id)
		index.Write(indexEntry(name, id, len(files[name])))
	}
	treeID, err := writeObject(root, "tree", tree.Bytes())
	if err != nil {
		return err
	}
	commit := fmt.Sprintf("tree %x\nauthor %s\ncommitter %s\n\nprint minutes as hours\n", treeID, author, author)
	commitID, err := writeObject(root, "commit", []byte(commit))
	if err != nil {
		return err
	}
	sum := sha1.Sum(index.Bytes()) // #nosec
	index.Write(sum[:])
	for name, b := range map[string][]byte{
		".git/HEAD":            []byte("ref: refs/heads/main\n"),
		".git/config":          []byte("[core]\n\trepositoryformatversion = 0\n\tfilemode = false\n\tbare = false\n"),
		".git/index":           index.Bytes(),
		".git/refs/heads/main": []byte(hex.EncodeToString(commitID) + "\n"),
	} {
		if err := root.WriteFile(name, b, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// writeObject writes a loose object and returns its id.
func writeObject(root *os.Root, kind string, data []byte) ([]byte, error) {
	raw := append(fmt.Appendf(nil, "%s %d\x00", kind, len(data)), data...)
	id := sha1.Sum(raw) // #nosec
	name := hex.EncodeToString(id[:])
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	if _, err := z.Write(raw); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	dir := ".git/objects/" + name[:2]
	if err := root.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	return id[:], root.WriteFile(dir+"/"+name[2:], packed.Bytes(), 0o644)
}

// indexEntry is an entry of git's index, version 2, whose file times are zero:
// git compares the content once and then fills them in.
func indexEntry(name string, id []byte, size int) []byte {
	b := make([]byte, 24, 96)                               // ctime, mtime, dev, ino
	b = binary.BigEndian.AppendUint32(b, 0o100644)          // mode
	b = append(b, make([]byte, 8)...)                       // uid, gid
	b = binary.BigEndian.AppendUint32(b, uint32(size))      // size
	b = append(b, id...)                                    // object
	b = binary.BigEndian.AppendUint16(b, uint16(len(name))) // flags
	b = append(b, name...)                                  // name
	return append(b, make([]byte, 8-(62+len(name))%8)...)   // 1 to 8 zeros
}
