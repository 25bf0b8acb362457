package caddyfile

import (
	"maps"
	"slices"
	"strings"

	cf "github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
)

// word is how one word of a block is read. The function finds the dispenser on
// the word itself and reads the rest of its line and its block, if any.
type word[T any] struct {
	read   func(d *cf.Dispenser, target T) error
	repeat bool // it may stand in the block more than once
	hidden bool // known only to explain why it cannot be used
}

// words is the vocabulary of one kind of block.
type words[T any] map[string]word[T]

// readBlock reads the block that may follow. Words that are not in the
// vocabulary are given to other, if it is not nil.
func (w words[T]) readBlock(d *cf.Dispenser, block string, target T, other func(*cf.Dispenser) error) error {
	seen := make(map[string]bool)
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		name := d.Val()
		known, ok := w[name]
		switch {
		case !ok && other != nil:
			known.read = func(d *cf.Dispenser, _ T) error { return other(d) }
		case !ok:
			return d.Errf("unrecognized word in %s: '%s'; %sknown are: %s", block, name, w.suggest(name), w)
		case seen[name] && !known.repeat:
			return d.Errf("%s is given twice in %s", name, block)
		}
		seen[name] = true
		if err := known.read(d, target); err != nil {
			return err
		}
	}
	return nil
}

// suggest names the word that was probably meant.
func (w words[T]) suggest(mistyped string) string {
	hidden := func(name string) bool { return w[name].hidden }
	return suggest(mistyped, slices.DeleteFunc(slices.Sorted(maps.Keys(w)), hidden))
}

// suggest asks for the name that was probably meant. Of two that are equally
// near it is the one of the same length: letters are often swapped.
func suggest(mistyped string, known []string) string {
	best, least := "", mostEdits+1
	for _, name := range known {
		n := edits(mistyped, name)
		nearer := n < least || n == least && len(name) == len(mistyped)
		if nearer && n <= mostEdits && n < len(name) {
			best, least = name, n
		}
	}
	if best == "" {
		return ""
	}
	return "did you mean '" + best + "'? "
}

// mostEdits is how far a word may be from the one that is suggested for it.
const mostEdits = 2

// edits is the Levenshtein distance of two words.
func edits(a, b string) int {
	row := make([]int, len(b)+1) // distances of a's beginning to each of b's
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// String lists the vocabulary.
func (w words[T]) String() string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(w)) {
		if !w[name].hidden {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}
