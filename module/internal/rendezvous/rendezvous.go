// Package rendezvous orders candidates by a seed: the same seed prefers the same
// candidate, and different seeds share their candidates by weight. The algorithm is weighted
// rendezvous hashing, or highest random weight (HRW) hashing.
//
// It promises an order that depends only on the seed, the names and the weights: it
// keeps no state, and the order is the same in every process. When a candidate is
// removed, the order of the others does not change. It refuses nothing, and does not
// protect a candidate from clients that choose their seeds to reach it.
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

// Sort sorts candidates for a seed, the preferred one first. name returns the unique
// name of a candidate; weight returns its share, at least 1.
func Sort[T any](candidates []T, seed uint64, name func(T) string, weight func(T) int) {
	slices.SortStableFunc(candidates, func(a, b T) int {
		return cmp.Compare(distance(seed, name(a), weight(a)), distance(seed, name(b), weight(b)))
	})
}

// Nearest returns the index of the preferred allowed candidate of n candidates of equal
// weight, -1 if none is allowed. allowed reports whether a candidate may be chosen.
func Nearest(n int, seed uint64, name func(i int) string, allowed func(i int) bool) int {
	best, nearest := math.Inf(1), -1
	for i := range n {
		if !allowed(i) {
			continue
		}
		if d := distance(seed, name(i), 1); d < best {
			best, nearest = d, i
		}
	}
	return nearest
}

// distance returns an exponentially distributed number with the weight as its rate. The
// probability that a candidate has the smallest distance is then its share of all
// weights.
func distance(seed uint64, name string, weight int) float64 {
	bits := mix(add(seed, name)) >> 11 // the 53 bits of precision of a float64
	uniform := (float64(bits) + 0.5) / (1 << 53)
	return -math.Log(uniform) / float64(max(1, weight))
}

// The constants of FNV-1a with 64 bits.
const (
	offset = 14695981039346656037
	prime  = 1099511628211
)

// add adds a text and a separator to an FNV-1a hash.
func add(h uint64, text string) uint64 {
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * prime
	}
	return (h ^ 0xff) * prime
}

// mix mixes the bits of a hash as SplitMix64 does, because the upper bits of FNV-1a
// depend too little on the last bytes.
func mix(h uint64) uint64 {
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}
