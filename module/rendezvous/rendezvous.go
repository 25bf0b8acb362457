// Package rendezvous orders candidates by a seed: the same seed prefers the same
// candidate, and different seeds share their candidates by weight.
//
// It promises an order that depends on nothing but the seed, the names and the weights:
// no state, the same in every process. Without a candidate, the order of the others
// stays as it is. It refuses nothing, and is no protection against clients that choose
// their seeds to meet at one candidate.
package rendezvous

import (
	"cmp"
	"math"
	"slices"
)

// Seed returns the seed for texts. It is never 0, which callers may use for "none".
func Seed(texts ...string) uint64 {
	h := uint64(offset)
	for _, text := range texts {
		h = add(h, text)
	}
	return max(1, mix(h))
}

// Sort sorts candidates for a seed, the preferred one first. name returns the name of a
// candidate, which is unique among them, and weight its share, at least 1.
func Sort[T any](candidates []T, seed uint64, name func(T) string, weight func(T) int) {
	slices.SortStableFunc(candidates, func(a, b T) int {
		return cmp.Compare(distance(seed, name(a), weight(a)), distance(seed, name(b), weight(b)))
	})
}

// Nearest returns the index of the preferred one of n candidates of equal weight, -1
// without any. allowed reports whether a candidate may be chosen.
func Nearest(n int, seed uint64, name func(i int) string, allowed func(i int) bool) int {
	best, at := math.Inf(1), -1
	for i := range n {
		if !allowed(i) {
			continue
		}
		if d := distance(seed, name(i), 1); d < best {
			best, at = d, i
		}
	}
	return at
}

// distance returns an exponentially distributed number with the weight as its rate, so
// that the smallest of several is that of a candidate with the probability of its share
// of all weights.
func distance(seed uint64, name string, weight int) float64 {
	bits := mix(add(seed, name)) >> 11 // as many as a float64 has
	uniform := (float64(bits) + 0.5) / (1 << 53)
	return -math.Log(uniform) / float64(max(1, weight))
}

// The constants of FNV-1a with 64 bits.
const (
	offset = 14695981039346656037
	prime  = 1099511628211
)

// add continues a hash by FNV-1a with a text and a separator.
func add(h uint64, text string) uint64 {
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * prime
	}
	return (h ^ 0xff) * prime
}

// mix distributes the bits of a hash, as in SplitMix64: those of FNV-1a depend too
// little on the last bytes.
func mix(h uint64) uint64 {
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}
