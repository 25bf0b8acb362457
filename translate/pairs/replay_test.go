package pairs_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/signal"
)

// wholeAnswers are the recorded JSON answers of a format that are no error.
func wholeAnswers(t *testing.T, format translate.Format) map[string][]byte {
	t.Helper()
	paths, err := filepath.Glob("../../testdata/goldens/answers/" + string(format) + "/*.json")
	require.NoError(t, err)
	answers := make(map[string][]byte)
	for _, path := range paths {
		body, err := os.ReadFile(path)
		require.NoError(t, err)
		if _, fault := formats.Of(format).Answers.Inspect(body, translate.Generate); fault == nil {
			answers[filepath.Base(path)] = body
		}
	}
	require.NotEmpty(t, answers, "testdata/goldens/answers/%s has no answers", format)
	return answers
}

// TestAReplayHasTheContentOfTheAnswer ensures that a JSON answer and its replay in its own
// format have the same content for all clients.
func TestAReplayHasTheContentOfTheAnswer(t *testing.T) {
	for _, format := range known {
		for name, body := range wholeAnswers(t, format) {
			stream, fault := formats.Of(format).Answers.Replay(body, true)
			require.Nil(t, fault, name)
			seen := observe(format, [][]byte{stream}, true)
			assert.True(t, seen.all().Has(signal.Terminal), name)
			assert.False(t, seen.all().Has(signal.Failed), name)
			for _, w := range waysFrom(format) {
				want := answered(w, w.remembered(false), body)
				got := translated(w, w.remembered(false), [][]byte{stream}, true)
				assert.Equal(t, want.out, got.out, "%s %s", w.name(), name)
				assert.Equal(t, want.summary(), got.summary(), "%s %s", w.name(), name)
				assert.Equal(t, want.Losses(), got.Losses(), "%s %s", w.name(), name)
			}
		}
	}
}

// TestAReplayRefusesWhatReadersDisagreeOn ensures that a repeated member is refused,
// since readers of the answer may have taken either value.
func TestAReplayRefusesWhatReadersDisagreeOn(t *testing.T) {
	for format, bodies := range map[translate.Format][]string{
		translate.Messages: {
			`{"content":[],"content":[{"type":"text","text":"b"}]}`, `{"content":[{"type":"text","text":"a","Text":"b"}]}`, `{"content":["a"]}`, `{"content":[],`, `[]`, `{}`,
		},
		translate.Chat:        {`{"choices":[{"message":{"content":"a","content":"b"}}]}`, `{"choices":[],"choices":[]}`, `{"choices":[1]}`, `{"choices":[{}]`, `"a"`, `{}`},
		translate.Completions: {`{"choices":[{"text":"a","text":"b"}]}`, `{"choices":{}}`, `null`},
	} {
		for _, body := range bodies {
			stream, fault := formats.Of(format).Answers.Replay([]byte(body), true)
			require.NotNil(t, fault, body)
			assert.Equal(t, "upstream_invalid_response", fault.Code, body)
			assert.Empty(t, stream, body)
		}
	}
}
