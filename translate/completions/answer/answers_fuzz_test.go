package answer_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/completions/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest"
)

// FuzzParser reads anything as an answer: what the parser tells of it must keep
// the laws of core events.
func FuzzParser(f *testing.F) {
	for _, pattern := range []string{"streams/completions/*.sse", "goldens/answers/completions/*.json", "goldens/exchanges/*/answer.completions.*"} {
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

// spokenIn is the text of a choice.
func spokenIn(answer translatetest.Object, choice int) string {
	return answer["choices"].([]any)[choice].(translatetest.Object)["text"].(string)
}

// FuzzEmitter writes any lawful answer: a client must read all that was told,
// and the same in both forms.
func FuzzEmitter(f *testing.F) {
	f.Add([]byte{0, 0, 16, 1, 32, 2, 5, 9, 7, 1})
	f.Fuzz(func(t *testing.T, steps []byte) {
		emitter := func(m *translate.AnswerContext) translatetest.Emitter {
			return answer.NewEmitter(m, translate.IDs{Message: "id_1", Created: 5, Model: "asked", NewToolID: func() string { return "new" }})
		}
		read := func(stream []byte) (translatetest.Object, error) { return translatetest.Completion(stream, true) }
		require.NoError(t, translatetest.RoundTrip{Emitter: emitter, Read: read, Text: spokenIn, Choices: 3}.Check(steps))
	})
}
