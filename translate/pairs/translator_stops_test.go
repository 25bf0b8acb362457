package pairs

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// firstStop finds out by trying what a search should find: the stop that ends
// first, and of several that end there the longest. Of none, doubtful is the
// length of the longest end of the text with which one begins.
func firstStop(stops []string, text string) (longest string, end, doubtful int) {
	for end := 1; end <= len(text); end++ {
		for _, stop := range stops {
			if strings.HasSuffix(text[:end], stop) && len(stop) > len(longest) {
				longest = stop
			}
		}
		if longest != "" {
			return longest, end, 0
		}
	}
	for _, stop := range stops {
		for n := range len(stop) {
			if strings.HasSuffix(text, stop[:n]) {
				doubtful = max(doubtful, n)
			}
		}
	}
	return "", 0, doubtful
}

// letters is a random text of few letters, so that parts of it repeat.
func letters(random *rand.Rand, length int) string {
	text := make([]byte, length)
	for i := range text {
		text[i] = "ab\n"[random.IntN(3)]
	}
	return string(text)
}

func TestASearchFindsTheStopThatEndsFirst(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		stops := make([]string, 1+random.IntN(5))
		for i := range stops {
			stops[i] = letters(random, 1+random.IntN(5))
		}
		text := letters(random, random.IntN(20))
		search := newStopSearch(stops)
		pos := random.IntN(len(text) + 1) // the text comes in two pieces
		state, end := search.find(0, []byte(text[:pos]))
		if end == 0 {
			state, end = search.find(state, []byte(text[pos:]))
			if end > 0 {
				end += pos
			}
		}
		stop, wantEnd, doubtful := firstStop(stops, text)
		if !assert.Equal(t, wantEnd, end, "%q in %q, cut at %d", stops, text, pos) {
			return
		}
		if stop != "" {
			assert.Equal(t, stop, search.stop(state), "%q in %q", stops, text)
		} else {
			assert.Equal(t, doubtful, search.doubtful(state), "%q in %q", stops, text)
		}
	}
}

// Every delta was searched for every stop: two million of them, 15 KB of gzip,
// kept a processor busy for 13 seconds a stream.
func BenchmarkStopSearch(b *testing.B) {
	text := []byte(strings.Repeat("Look at the file main.go and say what it does.\n ", 100))
	for name, stops := range map[string][]string{"one": {"\n\nHuman:"}, "many": manyStops()} {
		b.Run(name, func(b *testing.B) {
			search := newStopSearch(stops)
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				search.find(0, text)
			}
		})
	}
}

// manyStops are as many stops as a request may have.
func manyStops() (stops []string) {
	for i := range 64 {
		stop := []byte("\t\t\t\t\t\t\t")
		for bit := range 6 {
			if i>>bit&1 == 1 {
				stop[bit] = '\n'
			}
		}
		stops = append(stops, string(stop))
	}
	return stops
}
