package choices

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/signal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
)

// noContent reads the members of choices that the formats read themselves.
func noContent(c *jsonscan.Cursor) bool {
	c.Skip()
	return false
}

// begun is an observer of a stream that has sent content of choice 0.
func begun() *Observer {
	o := NewObserver(noContent)
	o.Begun = true
	o.finished[0] = false
	return o
}

func TestChunksThatMayTellMoreAreRead(t *testing.T) {
	const content = `{"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null}],"usage":null}`
	tests := []struct {
		name, chunk string
		unread      bool
	}{
		{"content", content, true},
		{"content without the rest", `{"choices":[{"delta":{"content":"a"}}]}`, true},
		{"white space", `{"choices" : [ { "index" : 0 , "finish_reason" :` + "\n\t" + `null } ] , "usage" : null }`, true},
		{"names inside a text", `{"choices":[{"delta":{"content":"\"usage\":1 \"finish_reason\":\"stop\" \"error\""}}]}`, true},
		{"a name as a value", `{"choices":[{"delta":{"content":"usage"}}]}`, true},
		{"a finish", `{"choices":[{"index":0,"finish_reason":"stop"}]}`, false},
		{"a finish in the second choice", `{"choices":[{"finish_reason":null},{"finish_reason":"stop"}]}`, false},
		{"usage", `{"choices":[],"usage":{"prompt_tokens":1}}`, false},
		{"an error", `{"choices":[],"error":null}`, false},
		{"an error's object", `{"object":"error","choices":[]}`, false},
		{"no choices", `{"detail":"x"}`, false},
		{"another choice", `{"choices":[{"index":1,"delta":{"content":"a"}}]}`, false},
		{"choice 10", `{"choices":[{"index":10}]}`, false},
		{"choice 0.0", `{"choices":[{"index":0.0}]}`, false},
		{"an odd null", `{"choices":[{"finish_reason":nullx}]}`, false},
		{"cut behind a name", `{"choices":[{"finish_reason"`, true},
		{"cut behind a colon", `{"choices":[{"finish_reason":`, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.unread, begun().onlyContent([]byte(tt.chunk)))
		})
	}
}

func TestAStreamThatBeganWithAnotherChoiceIsRead(t *testing.T) {
	o := NewObserver(noContent)
	o.Begun = true
	assert.False(t, o.onlyContent([]byte(`{"choices":[{"index":0}]}`)))
}

// FuzzUnread checks that a chunk which is not read could not have told
// anything, against the reading of it.
func FuzzUnread(f *testing.F) {
	paths, err := filepath.Glob("../../testdata/streams/c*/*.sse")
	require.NoError(f, err)
	require.NotEmpty(f, paths)
	for _, path := range paths {
		data, err := os.ReadFile(path)
		require.NoError(f, err)
		lexer := sse.NewLexer(0)
		lexer.Feed(data)
		for event, ok := lexer.Next(); ok; event, ok = lexer.Next() {
			f.Add(bytes.Clone(event.Data))
		}
	}
	f.Fuzz(func(t *testing.T, chunk []byte) {
		if bytes.Contains(chunk, []byte(`\u`)) || !begun().onlyContent(chunk) {
			return // it is read, or has names behind escapes
		}
		o := begun()
		sig := o.chunk(chunk)
		require.Zero(t, sig&^signal.Content)
		require.False(t, o.Used.Known)
		require.Len(t, o.finished, 1)
	})
}

func TestDeltasAllocateNothing(t *testing.T) {
	o := begun()
	event := sse.Event{Data: []byte(`{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null}]}`)}
	assert.Zero(t, testing.AllocsPerRun(100, func() { o.Observe(event) }))
	o.ModelName = "m"
	other := sse.Event{Data: []byte(`{"id":"c","model":"m","choices":[{"index":1,"delta":{"content":"a"},"finish_reason":null}]}`)}
	o.Observe(other)
	assert.Zero(t, testing.AllocsPerRun(100, func() { o.Observe(other) }))
}

func BenchmarkObserveDelta(b *testing.B) {
	o := begun()
	var events []sse.Event
	for _, text := range []string{"Hello", " there", ",", " how", " are", " you", "?"} {
		events = append(events, sse.Event{Data: []byte(`{"id":"chatcmpl-A1","object":"chat.completion.chunk","created":1790000000,"model":"gpt-5.4","choices":[{"index":0,"delta":{"content":"` + text + `"},"logprobs":null,"finish_reason":null}],"usage":null}`)})
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if o.Observe(events[i%len(events)]) != signal.Content {
			b.Fatal("no content")
		}
	}
}

func BenchmarkReadDelta(b *testing.B) {
	o := begun()
	chunk := []byte(`{"id":"chatcmpl-A1","object":"chat.completion.chunk","created":1790000000,"model":"gpt-5.4","choices":[{"index":0,"delta":{"content":"Hello"},"logprobs":null,"finish_reason":null}],"usage":null}`)
	b.ReportAllocs()
	for b.Loop() {
		o.chunk(chunk)
	}
}
