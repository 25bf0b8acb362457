//go:build !race

package transport

import (
	"io"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
)

// The race detector empties pools at random, and so adds allocations.

// Each call has an exact bound, so that an allocation that is added to the way of all requests
// or of all events is noticed. The answer is read without an allocation.
func TestAllocationsOfACall(t *testing.T) {
	for i, c := range calls {
		for _, events := range []int{10, 1000} {
			call := newCallOf(t, i, events)
			least := math.Inf(1)
			for range 100 {
				least = min(least, testing.AllocsPerRun(1, func() { call(discard) }))
			}
			assert.LessOrEqual(t, least, c.allocations, "%s, %d events", c.name, events)
		}
	}
}

// discard reads all without keeping it.
func discard(r io.Reader) ([]byte, error) {
	_, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, r, discarded[:])
	return nil, err
}

var discarded [32 << 10]byte

func TestAllocationsOfCutUsage(t *testing.T) {
	chunk := []byte("data: {\"choices\":[{\"text\":\" word\",\"index\":0,\"finish_reason\":null}]," + zeros + "}\n\n")
	described := formats.Of(translate.Completions)
	lane := &byteLane{
		Observer: described.Answers.NewObserver(), events: events{lexer: sse.NewLexer(0)}, format: described,
		withhold: true, usage: described.Answers.Usage.Cut,
	}
	var ready output
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		ready.Reset()
		assert.Zero(t, lane.take(chunk, 0, &ready))
	}))
	assert.Equal(t, "data: {\"choices\":[{\"text\":\" word\",\"index\":0,\"finish_reason\":null}]}\n\n", ready.buffer().String())
}
