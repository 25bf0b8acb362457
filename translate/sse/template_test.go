package sse_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
)

// slotIn returns the position of a value in a document.
func slotIn(document, value string) jsonscan.Slot {
	start := strings.Index(document, value)
	return jsonscan.Slot{Start: start, End: start + len(value)}
}

func TestATemplateRecognisesDeltasByTheirNameAndShape(t *testing.T) {
	const learned = `{"text":"a","n":1,"pad":"xx"}`
	var template sse.Template
	_, _, ok := template.Match(nil, []byte(learned))
	assert.False(t, ok, "nothing was learned")

	delta := sse.Event{Name: []byte("delta"), Data: []byte(learned)}
	template.Learn(delta, slotIn(learned, `"a"`), slotIn(learned, "1"), slotIn(learned, `"xx"`))
	for _, tt := range []struct{ name, data, text string }{
		{"delta", `{"text":"b\n","n":22,"pad":""}`, `"b\n"`},
		{"delta", `{"text":"","n":22,"pad":""}`, ""},
		{"delta", `{"text":"b","n":22,"pad":"","more":1}`, ""},
		{"other", learned, ""},
		{"", learned, ""},
	} {
		text, third, ok := template.Match([]byte(tt.name), []byte(tt.data))
		assert.Equal(t, tt.text, string(text.Raw), tt.data)
		assert.Equal(t, ok, string(third) == `""`, "the value of the third slot")
		assert.Equal(t, tt.text != "", ok, tt.data)

		lexer := sse.NewLexer(0)
		lexer.Feed(sse.AppendEvent(nil, tt.name, []byte(tt.data)))
		text, ok = template.Next(lexer)
		assert.Equal(t, tt.text, string(text.Raw), tt.data)
		assert.Equal(t, tt.text != "", ok, tt.data)
	}
	template.Learn(delta, jsonscan.Slot{}, slotIn(learned, "1"))
	_, _, ok = template.Match(delta.Name, delta.Data)
	assert.False(t, ok, "a delta without a text")
}

// Next takes a shorter way than Match, which must lead to the same.
func TestNextRecognisesWhatMatchRecognises(t *testing.T) {
	const learned = `{"text":"a","n":1}`
	valid := []string{"b", "eight by", "eight or more bytes", "é", "eight bytes, and é", `\u00e9`, `eight \\`, "\x7f"}
	texts := append([]string{"", `b\`, `b","x":"`, "\xff", "eight b\xff", "\t", "b\nb"}, valid...)
	heads := []string{"data: ", "event: e\ndata: ", "event: delta\ndata: ", "event: deltas\ndata: ", "event:e\ndata:", "event: \ndata: ", "event: e\r\ndata: ", "id: 1\ndata: "}
	tails := []string{`,"n":2}` + "\n\n", `,"n":2}` + "\n", `,"n":2}` + "\r\n\r\n", `,"n":2} ` + "\n\n", `,"n":2}` + "\ndata: a\n\n", `,"n":02}` + "\n\n"}
	names, recognised := []string{"", "e", "delta"}, 0
	for _, name := range names {
		var template sse.Template
		template.Learn(sse.Event{Name: []byte(name), Data: []byte(learned)}, slotIn(learned, `"a"`), slotIn(learned, "1"))
		for _, head := range heads {
			for _, text := range texts {
				for _, tail := range tails {
					if isNext(t, &template, head+`{"text":"`+text+`"`+tail) {
						recognised++
					}
				}
			}
		}
	}
	assert.Equal(t, len(names)*len(valid), recognised)
}

// isNext reports whether Next recognises an event, and checks that Match agrees.
func isNext(t *testing.T, template *sse.Template, stream string) bool {
	t.Helper()
	one, other := sse.NewLexer(0), sse.NewLexer(0)
	one.Feed([]byte(stream))
	other.Feed([]byte(stream))
	event, _ := one.Next()
	want, _, matches := template.Match(event.Name, event.Data)
	usual := stream == string(sse.AppendEvent(nil, string(event.Name), event.Data))
	got, ok := template.Next(other)
	assert.Equal(t, matches && usual, ok, "%q", stream)
	if ok {
		assert.Equal(t, want, got, "%q", stream)
		assert.Equal(t, one.Settled(), other.Settled(), "%q", stream)
	}
	return ok
}

// Deltas that all had shapes of their own, such as those with counts of a vendor, were each
// learned in vain. Such a stream may still become one whose deltas repeat.
func TestATemplateRecognisesDeltasAgainBehindManyShapes(t *testing.T) {
	var template sse.Template
	learn := func(data string) { template.Learn(sse.Event{Data: []byte(data)}, slotIn(data, `"a"`)) }
	for i := range 100 {
		learn(fmt.Sprintf(`{"text":"a","n":%d}`, i))
	}
	const repeated = `{"text":"a"}`
	deltas := 0
	for ok := false; !ok; deltas++ {
		learn(repeated)
		_, _, ok = template.Match(nil, []byte(repeated))
	}
	assert.LessOrEqual(t, deltas, 16)
	learn(repeated)
	_, _, ok := template.Match(nil, []byte(repeated))
	assert.True(t, ok)
}
