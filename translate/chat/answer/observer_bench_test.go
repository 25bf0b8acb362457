package answer_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/chat/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/signal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
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

// Each chunk differs from the one before in the index of its call and in its arguments.
func TestObservedCallsCostNoAllocation(t *testing.T) {
	observe := observeCalls()
	assert.Equal(t, signal.Content, observe())
	assert.Zero(t, testing.AllocsPerRun(100, func() { observe() }))
}

// Chunks that are not read again, since only the index of the call and a text differ, count
// as those that are.
func TestFragmentsOfSeveralCallsAreCountedAlike(t *testing.T) {
	var size [2]token.Text
	for i, more := range []string{"", `,"n":%d`} { // whose value is no hole
		o := answer.NewObserver()
		for nth := range 12 {
			data := fmt.Sprintf(`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":%d,"function":{"arguments":"\"x\":%d,"}}]}}]%s}`, nth%3, nth, more)
			if i == 1 {
				data = fmt.Sprintf(data, 1<<nth)
			}
			assert.Equal(t, signal.Content, o.Observe(sse.Event{Data: []byte(data)}))
		}
		size[i] = o.Text()
	}
	assert.Equal(t, size[1], size[0])
	assert.NotZero(t, size[0])
}

func BenchmarkObserveCalls(b *testing.B) {
	observe := observeCalls()
	b.ReportAllocs()
	for b.Loop() {
		observe()
	}
}
