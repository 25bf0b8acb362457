// Package suggest finds the known name that a mistyped name probably means, and writes
// errors about unknown names in a configuration.
package suggest

import "strings"

// maxEdits is the largest distance between a name and a suggestion for it.
const maxEdits = 2

// Unrecognized returns the error for an unknown word in a block. The error contains the
// nearest known word, if one is near, and lists all known words.
func Unrecognized(block, word string, known []string) string {
	return "unrecognized word in " + block + ": '" + word + "'; " + DidYouMean(word, known) + "known are: " + strings.Join(known, ", ")
}

// DidYouMean returns "did you mean 'name'? ", with the known name that is nearest to
// the mistyped one, or "" if none is near.
func DidYouMean(mistyped string, known []string) string {
	best := Nearest(mistyped, known)
	if best == "" {
		return ""
	}
	return "did you mean '" + best + "'? "
}

// Nearest returns the known name that is nearest to the mistyped one, or "" if none is
// near. Of equally near names, it prefers one of the same length, because letters are
// often swapped. Its cost is bounded by the lengths of the known names.
func Nearest(mistyped string, known []string) string {
	best, distance := "", maxEdits+1
	for _, name := range known {
		if len(mistyped) > len(name)+maxEdits {
			continue // too far; clients choose the length
		}
		n := edits(mistyped, name)
		nearer := n < distance || n == distance && len(name) == len(mistyped)
		if nearer && n <= maxEdits && n < len(name) {
			best, distance = name, n
		}
	}
	return best
}

// edits returns the Levenshtein distance of two words.
func edits(a, b string) int {
	row := make([]int, len(b)+1) // row[j] is the distance between a[:i] and b[:j]
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
