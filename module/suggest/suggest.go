// Package suggest words the error about a name of a configuration that nobody
// knows, and finds the one that was probably meant.
package suggest

import "strings"

// mostEdits is how far a name may be from the one that is suggested for it.
const mostEdits = 2

// Unrecognized is the error about a word that a block does not have: it names
// the word that was probably meant, and lists those that are known.
func Unrecognized(block, word string, known []string) string {
	return "unrecognized word in " + block + ": '" + word + "'; " + DidYouMean(word, known) + "known are: " + strings.Join(known, ", ")
}

// DidYouMean asks for the known name that was probably meant, with a space
// behind the question; it is "" where none is near. Of two that are equally near
// it is the one of the same length: letters are often swapped.
func DidYouMean(mistyped string, known []string) string {
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
