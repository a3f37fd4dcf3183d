package cache

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

// Key gathers all that decides a step's result. Parts are framed by their
// length, so no two lists of parts give the same key.
type Key struct{ hash hash.Hash }

// NewKey starts the key of a step; revision stands for the step's own code.
func NewKey(step string, revision int) *Key {
	k := &Key{sha256.New()}
	k.Text(step)
	k.Text(fmt.Sprint(revision))
	return k
}

// Text adds parts.
func (k *Key) Text(parts ...string) {
	for _, part := range parts {
		k.hash.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(part))))
		io.WriteString(k.hash, part)
	}
}

// File adds the content of the file at path.
func (k *Key) File(path string) error {
	digest, _, err := DigestOf(path)
	if err != nil {
		return err
	}
	k.Text(digest)
	return nil
}

// Tree adds names, kinds, permission to execute and contents below dir.
func (k *Key) Tree(dir string) error {
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
		k.Text(filepath.ToSlash(name), fmt.Sprint(info.Mode().Type(), info.Mode()&0o100))
		if !info.Mode().IsRegular() {
			return fmt.Errorf("%s is no plain file", path)
		}
		return k.File(path)
	})
}

// String is the key as it appears in names.
func (k *Key) String() string { return hex.EncodeToString(k.hash.Sum(nil))[:keyLength] }

// DigestOf returns the SHA-256 of the file at path, in hexadecimal, and its size.
func DigestOf(path string) (string, int64, error) {
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
