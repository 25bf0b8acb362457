package translation_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// startOllama runs a gateway before a provider that answers as Ollama does, with
// the preset of it, and as "other" with that of no service. The models "messages",
// "chat" and "completions" are asked in that format alone.
func startOllama(t *testing.T, w site.Way, turn gatewaytest.OllamaTurn) (*site.Site, *gatewaytest.Provider) {
	t.Helper()
	p := gatewaytest.NewProvider(t)
	p.Always(gatewaytest.Ollama(turn))
	var lines []string
	for _, format := range []string{"messages", "chat", "completions"} {
		lines = append(lines, "provider of-"+format+" ollama {\n"+w.To(p.Address())+"format "+format+"\nmodels "+format+"\n}")
	}
	lines = append(lines, "provider other openai_compatible {\n"+w.To(p.Address())+"format messages completions\nmodels other\n}")
	return site.Start(t, lines...), p
}

// An empty answer of a model has the content null, for which every client once got 502.
func TestAnEmptyAnswerOfOllamaReachesAllClients(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		s, p := startOllama(t, w, gatewaytest.OllamaTurn{})
		for _, path := range site.CallPaths {
			for _, model := range []string{"messages", "chat", "completions"} {
				for _, stream := range []bool{false, true} {
					answer := s.Ask(path, site.BodyFor(path, model, "hi", stream))
					assert.Empty(t, answerText(t, answer, path, stream), "%s of %s, stream %t", path, model, stream)
				}
			}
		}
		assert.Equal(t, 6*len(site.CallPaths), p.Count(), "nothing is asked twice")
		own := s.Ask(site.MessagesPath, site.BodyFor(site.MessagesPath, "messages", "hi", false))
		assert.Contains(t, own.Body, `"content":null`, "the provider's own bytes")
	})
}

// Thinking of Ollama has no signature. The second turn of a conversation once failed,
// because the client sends the thinking back.
func TestAnOllamaThatThinksIsAskedAgain(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		s, p := startOllama(t, w, gatewaytest.OllamaTurn{Thinking: "let me see", Text: "Hello"})
		for _, model := range []string{"messages", "chat"} {
			first := s.Ask(site.MessagesPath, site.BodyFor(site.MessagesPath, model, "hi", false))
			require.Equal(t, http.StatusOK, first.Status, first.Body)
			var turn struct{ Content json.RawMessage }
			require.NoError(t, json.Unmarshal([]byte(first.Body), &turn))
			require.Contains(t, string(turn.Content), "let me see")
			second := s.Ask(site.MessagesPath, `{"model":"`+model+`","max_tokens":9,"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":`+
				string(turn.Content)+`},{"role":"user","content":"and?"}]}`)
			assert.Equal(t, http.StatusOK, second.Status, second.Body)
		}
		assert.Equal(t, 4, p.Count())
	})
}

// If the gateway itself requested usage, clients once got zeros in every chunk of Ollama's
// completions, as if the answer had no tokens.
func TestUsageOfAnOllamaReachesOnlyWhoAskedForIt(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		s, p := startOllama(t, w, gatewaytest.OllamaTurn{Text: "Hello there"})
		for path, model := range map[string]string{site.ChatPath: "chat", site.CompletionsPath: "completions"} {
			body := site.BodyFor(path, model, "hi", true)
			silent := s.Ask(path, body)
			assert.NotContains(t, silent.Body, `"usage"`)
			assert.Equal(t, 4, strings.Count(silent.Body, "\n\n"), "three chunks and the end, as without a gateway")
			record := s.Record(silent.ID())
			assert.EqualValues(t, gatewaytest.OllamaPromptTokens, record["usage.input_tokens"])
			assert.EqualValues(t, gatewaytest.OllamaOutputTokens, record["usage.output_tokens"])

			asked := s.Ask(path, strings.Replace(body, "{", `{"stream_options":{"include_usage":true},`, 1))
			assert.Contains(t, asked.Body, `"total_tokens":17`)
		}
		p.Always(gatewaytest.Chunks(gatewaytest.EventStream,
			`data: {"id":"cmpl-1","object":"text_completion","created":1,"model":"m","choices":[{"text":"Hi","index":0,"finish_reason":null}],"usage":{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0}}`+"\n\n"))
		cut := s.Ask(site.CompletionsPath, site.BodyFor(site.CompletionsPath, "completions", "hi", true))
		record := s.Record(cut.ID())
		assert.Equal(t, "cut", record["outcome"])
		assert.NotContains(t, record, "usage.input_tokens", "nobody knows what it cost")
	})
}

// Clients with types of the specification could not decode the usage of servers that omit
// some members.
func TestUsageOfAnOllamaHasAllThatTheSpecificationNames(t *testing.T) {
	const (
		details = `"prompt_tokens_details":{"cached_tokens":0,"text_tokens":12,"audio_tokens":0,"image_tokens":0},"completion_tokens_details":{"text_tokens":5,"audio_tokens":0,"reasoning_tokens":0}`
		cache   = `"cache_creation_input_tokens":0,"cache_read_input_tokens":0`
	)
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		s, _ := startOllama(t, w, gatewaytest.OllamaTurn{Text: "Hello"})
		answer := func(path, model string, stream bool) string {
			body := site.BodyFor(path, model, "hi", stream)
			if stream && path != site.MessagesPath {
				body = strings.Replace(body, "{", `{"stream_options":{"include_usage":true},`, 1)
			}
			return s.Ask(path, body).Body
		}
		for _, stream := range []bool{false, true} {
			assert.Contains(t, answer(site.CompletionsPath, "completions", stream), `"total_tokens":17,`+details+"}")
			assert.Equal(t, 1, strings.Count(answer(site.MessagesPath, "messages", stream), `,`+cache+"}"), "a later count would replace the first")
			assert.NotContains(t, answer(site.ChatPath, "chat", stream), "details", "the specification has no such format")
			assert.NotContains(t, answer(site.CompletionsPath, "other", stream), "details")
			assert.NotContains(t, answer(site.MessagesPath, "other", stream), "cache_")
		}
	})
}
