package answer_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/chat/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/signal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
)

// observeCalls returns a function that observes the next fragment of the arguments of two
// tool calls, which take turns.
func observeCalls() func() signal.Signal {
	o := answer.NewObserver()
	var events [16]sse.Event
	for i := range events {
		events[i].Data = fmt.Appendf(nil, `{"id":"c","model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":%d,"function":{"arguments":"\"x\":%d,"}}]},"finish_reason":null}]}`, i%2, i)
		o.Observe(events[i])
	}
	next := 0
	return func() signal.Signal {
		next++
		return o.Observe(events[next%len(events)])
	}
}

// Each chunk differs from the one before in more than its text, so that all of them are
// read whole.
func TestObservedCallsCostNoAllocation(t *testing.T) {
	observe := observeCalls()
	assert.Equal(t, signal.Content, observe())
	assert.Zero(t, testing.AllocsPerRun(100, func() { observe() }))
}

func BenchmarkObserveCalls(b *testing.B) {
	observe := observeCalls()
	b.ReportAllocs()
	for b.Loop() {
		observe()
	}
}
