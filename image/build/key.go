package build

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// keyLength is the length of a key as it appears in folder names: 80 bits,
// plenty against chance, and no attacker writes the cache.
const keyLength = 20

// key gathers all that decides a step's result. Parts are framed by their
// length, so no two lists of parts give the same key.
type key struct{ hash hash.Hash }

func newKey(step string, revision int) *key {
	k := &key{sha256.New()}
	k.text(step)
	k.text(fmt.Sprint(revision))
	return k
}

func (k *key) text(parts ...string) {
	for _, part := range parts {
		k.hash.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(part))))
		io.WriteString(k.hash, part)
	}
}

// file adds the content of the file at path.
func (k *key) file(path string) error {
	digest, _, err := digestOf(path)
	if err != nil {
		return err
	}
	k.text(digest)
	return nil
}

// tree adds names, kinds, permission to execute and contents below dir.
func (k *key) tree(dir string) error {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		k.text(filepath.ToSlash(name), fmt.Sprint(info.Mode().Type(), info.Mode()&0o100))
		if !info.Mode().IsRegular() {
			return fmt.Errorf("%s is no plain file", path)
		}
		return k.file(path)
	})
}

func (k *key) String() string { return hex.EncodeToString(k.hash.Sum(nil))[:keyLength] }

// digestOf returns the SHA-256 of the file at path, in hexadecimal, and its size.
func digestOf(path string) (string, int64, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", 0, err
	}
	defer file.Close()
	sum := sha256.New()
	size, err := io.Copy(sum, file)
	if err != nil {
		return "", 0, fmt.Errorf("read %s: %w", path, err)
	}
	return hex.EncodeToString(sum.Sum(nil)), size, nil
}
