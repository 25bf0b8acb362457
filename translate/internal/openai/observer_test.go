package openai_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	chatanswer "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/chat/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/signal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
)

// The observer kept every index that a provider sent, however many, until the end of the stream.
func TestChoicesBeyondTheirBoundAreNotWaitedFor(t *testing.T) {
	chunk := func(index int, rest string) sse.Event {
		return sse.Event{Data: fmt.Appendf(nil, `{"choices":[{"index":%d,"delta":{"content":"a"}%s}]}`, index, rest)}
	}
	for index, finished := range map[int]bool{4095: false, 4096: true, 1 << 40: true} {
		o := chatanswer.NewObserver()
		assert.Equal(t, signal.Content, o.Observe(chunk(index, "")), index)
		got := o.Observe(chunk(0, `,"finish_reason":"stop"`))
		assert.Equal(t, finished, got.Has(signal.Finish), index)
	}
}
