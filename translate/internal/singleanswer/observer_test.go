package singleanswer_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/singleanswer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/messages/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/signal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// meant is what an observer reports of a stream.
type meant struct {
	signals signal.Signal
	model   string
	usage   token.Usage
	text    token.Text
	failed  bool
}

// observed returns what an observer reports of a stream in all.
func observed(o signal.Observer, stream []byte) (m meant) {
	lexer := sse.NewLexer(sse.DefaultMaxEvent)
	lexer.Feed(stream)
	for e, ok := lexer.Next(); ok; e, ok = lexer.Next() {
		m.signals |= o.Observe(e)
	}
	m.signals &^= signal.BlockEnd // texts of the format have no core event for their end
	m.model, m.usage, m.text, m.failed = o.Model(), o.Usage(), o.Text(), o.Fault() != nil
	return m
}

// otherTexts are the streams whose texts are more, or less, than those of their core events: a
// call without arguments gets an empty object, and tools of the vendor have no events.
var otherTexts = map[string]bool{"tools.sse": true, "server_tools.sse": true}

// TestAnObserverFollowsFromAParser compares the observer with the one that a format has of its
// own, for all recorded streams.
func TestAnObserverFollowsFromAParser(t *testing.T) {
	paths, err := filepath.Glob("../../../testdata/streams/messages/*.sse")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	newObserver := singleanswer.NewObserver(answer.NewParser)
	for _, path := range paths {
		stream, err := os.ReadFile(path)
		require.NoError(t, err)
		want, got := observed(answer.NewObserver(), stream), observed(newObserver(), stream)
		if otherTexts[filepath.Base(path)] {
			assert.NotEqual(t, want.text, got.text, path)
			got.text = want.text
		}
		assert.Equal(t, want, got, path)
	}
}

func TestAnInspectionFollowsFromAParser(t *testing.T) {
	paths, err := filepath.Glob("../../../testdata/goldens/answers/messages/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	inspect := singleanswer.Inspect(answer.NewParser, "input_tokens")
	for _, path := range paths {
		body, err := os.ReadFile(path)
		require.NoError(t, err)
		want, wantFault := answer.Inspect(body, translate.Generate)
		got, fault := inspect(body, translate.Generate)
		assert.Equal(t, want, got, path)
		assert.Equal(t, wantFault, fault, path)
	}
}

// Counting the input uses no tokens: two formats had the count as the usage of the call.
func TestCountsOfTokensAreNoUsage(t *testing.T) {
	for name, count := range map[translate.Format]string{
		translate.Messages: "input_tokens", translate.Responses: "input_tokens", translate.Gemini: "totalTokens", translate.Converse: "inputTokens",
	} {
		inspect := func(body string) (signal.Answer, *fault.Fault) {
			return formats.Of(name).Answers.Inspect([]byte(strings.ReplaceAll(body, "count", count)), translate.CountTokens)
		}
		got, refused := inspect(`{"count":2095,"promptTokensDetails":[]}`)
		require.Nil(t, refused, name)
		assert.Equal(t, token.Usage{Counts: token.Counts{Fresh: 2095}}, got.Usage, name)
		for _, body := range []string{`{}`, `{"count":null}`, `{"count":"5"}`, `{"count":1.5}`, `{"count":-1}`, `{"content":[]}`, `[5]`, `{"count":`} {
			_, refused := inspect(body)
			require.NotNil(t, refused, "%s: %s", name, body)
			assert.True(t, refused.IsUnusable(), "%s: %s", name, body)
		}
		for _, body := range []string{`{"error":{"message":"no","code":404}}`, `{"message":"no"}`, `{"type":"error","error":{"message":"no"}}`, `{"count":5,"error":"no"}`} {
			_, refused := inspect(body)
			require.NotNil(t, refused, "%s: %s", name, body)
			assert.Equal(t, "no", refused.Message, "%s: %s", name, body)
		}
	}
}
