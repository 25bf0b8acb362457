package answer_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/messages/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest"
)

// FuzzParser reads anything as an answer: what the parser tells of it must keep
// the laws of core events.
func FuzzParser(f *testing.F) {
	for _, pattern := range []string{"streams/messages/*.sse", "goldens/answers/messages/*.json", "goldens/exchanges/*/answer.messages.*"} {
		paths, err := filepath.Glob("../../../testdata/" + pattern)
		require.NoError(f, err)
		require.NotEmpty(f, paths)
		for _, path := range paths {
			data, err := os.ReadFile(path)
			require.NoError(f, err)
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		require.NoError(t, translatetest.Parse(func(h event.Handler) translatetest.Parser { return answer.NewParser(h) }, data))
	})
}

// spokenIn are the texts of a message.
func spokenIn(answer translatetest.Object, _ int) string {
	var b strings.Builder
	for _, block := range answer["content"].([]any) {
		text, _ := block.(translatetest.Object)["text"].(string)
		b.WriteString(text)
	}
	return b.String()
}

// FuzzEmitter writes any lawful answer: a client must read all that was told,
// and the same in both forms.
func FuzzEmitter(f *testing.F) {
	f.Add([]byte{3, 0, 0, 1, 4, 1, 0, 3, 4, 2, 5, 9, 7, 3})
	f.Fuzz(func(t *testing.T, steps []byte) {
		emitter := func(m *translate.AnswerContext) translatetest.Emitter {
			return answer.NewEmitter(m, translate.IDs{Message: "id_1", Created: 5, Model: "asked", NewToolID: func() string { return "new" }})
		}
		read := func(stream []byte) (translatetest.Object, error) {
			answer, err := translatetest.Message(stream)
			return translatetest.Settled(answer), err
		}
		require.NoError(t, translatetest.RoundTrip{Emitter: emitter, Read: read, Text: spokenIn, Choices: 1, Calls: true}.Check(steps))
	})
}
