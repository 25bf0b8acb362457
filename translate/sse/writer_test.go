package sse_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
)

func TestEventsAreWritten(t *testing.T) {
	assert.Equal(t, "xdata: {}\n\n", string(sse.AppendEvent([]byte("x"), "", []byte("{}"))))
	assert.Equal(t, "event: ping\ndata: {}\n\n", string(sse.AppendEvent(nil, "ping", []byte("{}"))))
}

func TestWhatIsWrittenIsReadBack(t *testing.T) {
	stream := sse.AppendEvent(nil, "ping", []byte(`{"a": 1}`))
	stream = append(stream, ": keep-alive\n\n"...)
	stream = sse.AppendEvent(stream, "", []byte(" [DONE]"))
	assert.Equal(t,
		[]event{{"ping", `{"a": 1}`, 0, 28}, {"", " [DONE]", 42, 57}},
		lex(t, sse.NewLexer(0), string(stream), whole))
}
