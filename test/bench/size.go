//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"aibox/test/bench/report"
)

// size is what aibox takes on disk.
func (m machine) size() (rows []report.Row, err error) {
	for _, f := range []struct{ name, path string }{
		{"the program", m.aibox},
		{"the image's root disk", filepath.Join(m.Image, "os.ext4")},
		{"the image's kernel", filepath.Join(m.Image, "vmlinuz")},
	} {
		st, err := os.Stat(f.path)
		if err != nil {
			return nil, err
		}
		row := report.Row{Name: "size of " + f.name, Unit: "MB", Ours: report.Series{megabytes(st.Size())}}
		if sys, ok := st.Sys().(*syscall.Stat_t); ok && sys.Blocks*512 < st.Size() {
			row.Note = fmt.Sprintf("%.0f MB of it are not holes", megabytes(sys.Blocks*512))
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func megabytes(bytes int64) float64 { return float64(bytes) / 1e6 }
