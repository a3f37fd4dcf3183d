package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"aibox/test/vm/fscase/script"
)

const (
	verifyBlocks = 1024
	verifyRounds = 250 // of each racer
)

// pattern returns bytes that only seed and length decide.
func pattern(seed uint64, length int) []byte {
	r := rand.NewPCG(seed, seed)
	b := make([]byte, length+8)
	for at := 0; at < length; at += 8 {
		binary.LittleEndian.PutUint64(b[at:], r.Uint64())
	}
	return b[:length]
}

// block is one block of a verified file: only one racer writes it.
type block struct {
	at     int64
	length int
	wrote  uint64 // seed of its pattern, 0 before the first write
}

func (b *block) want() []byte {
	if b.wrote == 0 {
		return make([]byte, b.length)
	}
	return pattern(b.wrote, b.length)
}

// verify writes and reads back blocks at random places, by all racers at once,
// in one file by read and write and in one by a mapping. It prints each file's
// name and SHA-256, as memory has it, for the host to compare.
func verify(dir string) error {
	for _, way := range []string{"written", "mapped", "both"} {
		blocks, size := layout()
		f, err := os.OpenFile(filepath.Join(dir, way), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o644)
		if err != nil {
			return err
		}
		err = errors.Join(f.Truncate(size), verifyFile(f, way, blocks, size), f.Close())
		if err != nil {
			return fmt.Errorf("%s: %w", way, err)
		}
		sum := sha256.New()
		for i := range blocks {
			sum.Write(blocks[i].want())
		}
		if err := errors.Join(compare(f.Name(), blocks)); err != nil {
			return fmt.Errorf("%s, opened again: %w", way, err)
		}
		fmt.Printf("%s %x\n", way, sum.Sum(nil))
	}
	return nil
}

// layout returns blocks of different lengths, most of them across pages.
func layout() (blocks []block, size int64) {
	r := rand.New(rand.NewPCG(1, 2))
	for range verifyBlocks {
		length := []int{512, 1000, 4096, 4097, 16384}[r.IntN(5)]
		blocks = append(blocks, block{at: size, length: length})
		size += int64(length)
	}
	return blocks, size
}

func verifyFile(f *os.File, way string, blocks []block, size int64) error {
	var m []byte
	if way != "written" {
		var err error
		if m, err = unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED); err != nil {
			return fmt.Errorf("map: %s", script.Outcome("", err))
		}
	}
	err := each(func(racer int) error {
		r := rand.New(rand.NewPCG(uint64(racer), 3))
		for round := range verifyRounds {
			b := &blocks[r.IntN(len(blocks)/racers)*racers+racer]
			byMap := way == "mapped" || way == "both" && r.IntN(2) == 0
			if err := turn(f, m, b, byMap, r); err != nil {
				return err
			}
			if round%50 == 49 {
				if err := f.Sync(); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if m != nil {
		err = errors.Join(err, unix.Msync(m, unix.MS_SYNC), unix.Munmap(m))
	}
	return err
}

// turn reads a block and checks it, or writes it anew.
func turn(f *os.File, m []byte, b *block, byMap bool, r *rand.Rand) error {
	write := r.IntN(2) == 0
	if write {
		b.wrote = r.Uint64() | 1
	}
	got := make([]byte, b.length)
	var err error
	switch {
	case write && byMap:
		copy(m[b.at:], b.want())
		return nil
	case write:
		_, err = f.WriteAt(b.want(), b.at)
		return err
	case byMap:
		copy(got, m[b.at:])
	default:
		_, err = f.ReadAt(got, b.at)
	}
	if err == nil && !bytes.Equal(got, b.want()) {
		err = fmt.Errorf("the block of %d bytes at %d is wrong (by mapping: %v)", b.length, b.at, byMap)
	}
	return err
}

func compare(path string, blocks []block) error {
	all, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	for _, b := range blocks {
		if !bytes.Equal(all[b.at:b.at+int64(b.length)], b.want()) {
			return fmt.Errorf("the block of %d bytes at %d is wrong", b.length, b.at)
		}
	}
	return nil
}
