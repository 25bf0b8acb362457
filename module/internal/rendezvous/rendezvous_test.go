package rendezvous_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/rendezvous"
)

type candidate struct {
	name   string
	weight int
}

func sorted(seed uint64, candidates ...candidate) []string {
	own := slices.Clone(candidates)
	rendezvous.Sort(own, seed, func(c candidate) string { return c.name }, func(c candidate) int { return c.weight })
	names := make([]string, len(own))
	for i, c := range own {
		names[i] = c.name
	}
	return names
}

func seeds(n int) func(func(int, uint64) bool) {
	return func(yield func(int, uint64) bool) {
		for i := range n {
			if !yield(i, rendezvous.Seed("session", fmt.Sprint(i))) {
				return
			}
		}
	}
}

func TestCandidatesShareTheSeedsByTheirWeights(t *testing.T) {
	const all = 40_000
	first := make(map[string]int)
	for _, seed := range seeds(all) {
		first[sorted(seed, candidate{"a", 1}, candidate{"b", 3}, candidate{"c", 4})[0]]++
	}
	assert.InDelta(t, all*1/8, first["a"], all/100)
	assert.InDelta(t, all*3/8, first["b"], all/100)
	assert.InDelta(t, all*4/8, first["c"], all/100)
}

// A hash modulo the number of candidates would move nearly every session when one of
// them is added or removed.
func TestWithoutACandidateTheOthersKeepTheirOrder(t *testing.T) {
	a, b, c := candidate{"a", 2}, candidate{"b", 1}, candidate{"c", 1}
	for i, seed := range seeds(1000) {
		all := sorted(seed, a, b, c)
		others := sorted(seed, c, b)
		assert.Equal(t, slices.DeleteFunc(all, func(name string) bool { return name == "a" }), others, i)
	}
}

func TestTheOrderDoesNotDependOnThatOfTheCandidates(t *testing.T) {
	for i, seed := range seeds(1000) {
		assert.Equal(t, sorted(seed, candidate{"a", 1}, candidate{"b", 1}), sorted(seed, candidate{"b", 1}, candidate{"a", 1}), i)
	}
}

func TestNearestIsTheFirstOfTheAllowedOnes(t *testing.T) {
	names := []string{"a", "b", "c"}
	name := func(i int) string { return names[i] }
	for i, seed := range seeds(1000) {
		order := sorted(seed, candidate{"a", 1}, candidate{"b", 1}, candidate{"c", 1})
		assert.Equal(t, order[0], names[rendezvous.Nearest(3, seed, name, func(int) bool { return true })], i)
		assert.Equal(t, order[1], names[rendezvous.Nearest(3, seed, name, func(i int) bool { return names[i] != order[0] })], i)
	}
	assert.Equal(t, -1, rendezvous.Nearest(3, 1, name, func(int) bool { return false }))
}

func TestDifferentTextsHaveDifferentSeeds(t *testing.T) {
	assert.NotEqual(t, rendezvous.Seed("ab", "c"), rendezvous.Seed("a", "bc"))
	assert.NotEqual(t, rendezvous.Seed("a"), rendezvous.Seed("a", ""))
	assert.Equal(t, uint64(0xb912458b53ec5105), rendezvous.Seed("a", "b"), "the seeds of several gateways are the same")
	assert.NotZero(t, rendezvous.Seed())
}
