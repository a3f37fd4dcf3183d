// Command tally reads the JSON of `go test -json` or test2json and prints a
// line per test, the output of those that failed, and at the end
// "N passed, N failed, N skipped". Sub-tests count with their test. With
// --sum FILE it adds its numbers to that file too, and with --total FILE it
// prints the sum of all numbers added there. It ends with 1 if a test or a
// package failed or if there was none.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	sum := flag.String("sum", "", "add the numbers to this `file`")
	total := flag.String("total", "", "print the sum of the numbers in this `file`, and read no tests")
	quiet := flag.Bool("quiet", false, "print no line for tests that passed")
	flag.Parse()
	if err := run(os.Stdin, os.Stdout, *sum, *total, *quiet); err != nil {
		fmt.Fprintln(os.Stderr, "tally:", err)
		os.Exit(1)
	}
}

func run(in io.Reader, out io.Writer, sum, total string, quiet bool) error {
	if total != "" {
		return printTotal(out, total)
	}
	t := &tally{out: out, quiet: quiet, output: map[key][]string{}}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		t.line(lines.Bytes())
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read the tests' output: %w", err)
	}
	if sum != "" {
		if err := t.add(sum); err != nil {
			return err
		}
	}
	fmt.Fprintln(out, t.counts)
	return t.verdict()
}
