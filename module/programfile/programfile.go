// Package programfile gives pages of the file of the program back to the system.
//
// The start of the program runs nearly all of its packages once, and requests run a third of
// them. Linux also maps the neighbours of each used page, so that after the start most of the
// file counts as resident memory. Released pages remain in the page cache: unless memory is
// short, what is used again is mapped again without reading the disk.
//
// The package releases only what nobody has changed in memory: a program with breakpoints or
// probes keeps its code. On systems other than Linux it does nothing.
package programfile

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// mapping is a range of addresses.
type mapping struct{ start, end uintptr }

// unchanged returns the read-only mappings of a file that have no pages of their own. smaps is
// the file of that name that Linux has of a process. The mappings of a program's file follow
// each other in it. unchanged reads no further, because Linux counts the pages of each mapping
// that is read, and those of a large heap take long.
func unchanged(smaps io.Reader, file string) (found []mapping, _ error) {
	var of mapping   // the current one, if it is read-only and of the file
	reached := false // the mappings of the file
	lines := bufio.NewScanner(smaps)
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), " ")
		switch {
		case !strings.HasSuffix(name, ":"): // the first line of a mapping
			of = mapping{}
			isOfFile := strings.HasSuffix(value, " "+file)
			if reached && !isOfFile {
				return found, nil
			}
			reached = isOfFile
			if !isOfFile || !isReadOnly(value) {
				continue
			}
			if _, err := fmt.Sscanf(name, "%x-%x", &of.start, &of.end); err != nil {
				return nil, fmt.Errorf("parsing mapping: %w", err)
			}
		case of == mapping{}:
		case name == "Anonymous:" && !isZero(value): // own pages in memory
			of = mapping{}
		case name == "Swap:" && isZero(value): // and none that are swapped out
			found = append(found, of)
		}
	}
	return found, lines.Err()
}

func isReadOnly(mapping string) bool {
	return strings.HasPrefix(mapping, "r-xp ") || strings.HasPrefix(mapping, "r--p ")
}

func isZero(size string) bool { return strings.TrimSpace(size) == "0 kB" }
