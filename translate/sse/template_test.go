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
		assert.Equal(t, tt.text, string(text), tt.data)
		assert.Equal(t, ok, string(third) == `""`, "the value of the third slot")
		assert.Equal(t, tt.text != "", ok, tt.data)

		lexer := sse.NewLexer(0)
		lexer.Feed(sse.AppendEvent(sse.AppendEvent(nil, "", nil), tt.name, []byte(tt.data)))
		lexer.Next()
		text, ok = template.Next(lexer)
		assert.Equal(t, tt.text, string(text), tt.data)
		assert.Equal(t, tt.text != "", ok, tt.data)
	}
	template.Learn(delta, jsonscan.Slot{}, slotIn(learned, "1"))
	_, _, ok = template.Match(delta.Name, delta.Data)
	assert.False(t, ok, "a delta without a text")
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
