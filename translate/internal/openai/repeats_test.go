package openai

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/members"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/signal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
)

var (
	texts = NewChoices()
	text  = texts.Of(members.String, "text")
)

// hasText adds the member of a choice that is content in completions answers.
func hasText(choice *members.Values, t *Texts) bool { return t.Add(choice.Raw(text), choice.At(text)) }

// chunk is an event without a name.
func chunk(data string) sse.Event { return sse.Event{Data: []byte(data)} }

const someContent = `{"id":"x","choices":[{"index":0,"text":" the sea","finish_reason":null}],"usage":null,"obfuscation":"ab"}`

// repeats reports whether an observer need not read an event.
func repeats(o *Observer, e sse.Event) bool { return o.repeats(e.Name, e.Data) }

// before returns a lexer that returns an event next.
func before(e sse.Event) *sse.Lexer {
	l := sse.NewLexer(0)
	l.Feed(sse.AppendEvent(nil, string(e.Name), e.Data))
	return l
}

// begun returns an observer that has read some content of choice 0.
func begun() *Observer {
	o := NewObserver(texts, hasText)
	o.Observe(chunk(someContent))
	return o
}

// The observer skips only chunks that differ from the one before in their text. A chunk
// that is skipped by mistake could hide the end of the answer, or its usage.
func TestChunksThatMayContainMoreAreRead(t *testing.T) {
	replaced := func(part, replacement string) string { return strings.Replace(someContent, part, replacement, 1) }
	for name, tt := range map[string]struct {
		chunk  string
		unread bool
	}{
		"the same":               {someContent, true},
		"another text":           {replaced(" the sea", " usage"), true},
		"another padding":        {replaced(`"ab"`, `"abcd"`), true},
		"escapes in the text":    {replaced(" the sea", `\" \u00fc \"usage\":`), true},
		"no text":                {replaced(" the sea", ""), false},
		"a text that is null":    {replaced(`" the sea"`, "null"), false},
		"a member behind":        {replaced(" the sea", `a","finish_reason":"stop`), false},
		"an escape at the end":   {replaced(" the sea", `a\`), false},
		"a finish":               {replaced(`"finish_reason":null`, `"finish_reason":"stop"`), false},
		"usage":                  {replaced(`"usage":null`, `"usage":{}`), false},
		"another choice":         {replaced(`"index":0`, `"index":1`), false},
		"a member more":          {replaced(`"id":"x"`, `"id":"x","error":{}`), false},
		"cut":                    {someContent[:len(someContent)-1], false},
		"bytes that are no text": {replaced(" the sea", "\xff"), false},
	} {
		assert.Equal(t, tt.unread, repeats(begun(), chunk(tt.chunk)), name)
	}
}

// A stream that has not begun has no chunk to compare with.
func TestTheFirstChunkIsRead(t *testing.T) {
	assert.False(t, repeats(NewObserver(texts, hasText), chunk(someContent)))
}

func TestNothingIsRepeatedBehindTheEnd(t *testing.T) {
	o := begun()
	assert.Equal(t, 1, o.Repeat(before(chunk(someContent))))
	o.Observe(chunk("[DONE]"))
	assert.Zero(t, o.Repeat(before(chunk(someContent))))
}

// The observer learns only chunks that contain nothing but content. Otherwise the other
// members of a repeated chunk would be missed.
func TestOnlyContentIsLearned(t *testing.T) {
	o := NewObserver(texts, hasText)
	end := chunk(`{"choices":[{"index":0,"text":"a","finish_reason":"stop"}]}`)
	o.Observe(end)
	assert.False(t, repeats(o, end))
}

// In a stream of several choices, every chunk differs from the one before in the index of its
// choice: all of them were read. A chunk that is not read begins its choice all the same, and
// one that ends a choice is always read.
func TestChoicesThatTakeTurnsAreRecognised(t *testing.T) {
	chunkOf := func(index, reason string) sse.Event {
		data := strings.Replace(someContent, `"index":0`, `"index":`+index, 1)
		return chunk(strings.Replace(data, `"finish_reason":null`, `"finish_reason":`+reason, 1))
	}
	o := begun()
	assert.Equal(t, signal.Content, o.Observe(chunkOf("1", "null")))
	for _, index := range []string{"0", "1", "2"} {
		assert.True(t, repeats(o, chunkOf(index, "null")), index)
	}
	assert.Equal(t, signal.Content, o.Observe(chunkOf("0", `"stop"`)))
	assert.Equal(t, signal.Content, o.Observe(chunkOf("1", `"stop"`)))
	assert.Equal(t, signal.Content|signal.Finish, o.Observe(chunkOf("2", `"stop"`)))

	// The choice of such a chunk would not have begun.
	o = begun()
	o.Observe(chunkOf("1", "null"))
	assert.Zero(t, o.Repeat(before(chunkOf("2", "null"))))

	o = begun()
	o.Observe(chunkOf("1", `"stop"`))
	assert.False(t, repeats(o, chunkOf("0", `"stop"`)), "an end like that of another choice")
}

// FuzzRepeats checks that a chunk which is not read contains nothing but content, by
// reading it.
func FuzzRepeats(f *testing.F) {
	paths, err := filepath.Glob("../../../testdata/streams/c*/*.sse")
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
	f.Fuzz(func(t *testing.T, data []byte) {
		event := sse.Event{Data: data}
		if !repeats(begun(), event) {
			return
		}
		o := begun()
		sig := o.read(event)
		require.Equal(t, signal.Content, sig)
		require.False(t, o.Used.Known)
		require.Len(t, o.progress, 1)
	})
}

func TestDeltasAllocateNothing(t *testing.T) {
	o := begun()
	event := sse.Event{Data: []byte(`{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"text":"a","finish_reason":null}]}`)}
	assert.Zero(t, testing.AllocsPerRun(100, func() { o.Observe(event) }))
	o.ModelName = "m"
	other := sse.Event{Data: []byte(`{"id":"c","model":"m","choices":[{"index":1,"text":"a","finish_reason":null}]}`)}
	o.Observe(other)
	assert.Zero(t, testing.AllocsPerRun(100, func() { o.Observe(other) }))
}

func BenchmarkObserveDelta(b *testing.B) {
	o := begun()
	var events []sse.Event
	for _, word := range []string{"Hello", " there", ",", " how", " are", " you", "?"} {
		events = append(events, sse.Event{Data: []byte(`{"id":"chatcmpl-A1","object":"chat.completion.chunk","created":1790000000,"model":"gpt-5.4","choices":[{"index":0,"text":"` + word + `","logprobs":null,"finish_reason":null}],"usage":null}`)})
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
	delta := chunk(`{"id":"chatcmpl-A1","object":"chat.completion.chunk","created":1790000000,"model":"gpt-5.4","choices":[{"index":0,"text":"Hello","logprobs":null,"finish_reason":null}],"usage":null}`)
	b.ReportAllocs()
	for b.Loop() {
		o.read(delta)
	}
}
