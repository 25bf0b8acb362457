package translation_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// estimated returns the count of tokens that the gateway estimates for a model.
func estimated(s *site.Site, model, prompt string) int {
	s.T.Helper()
	body := fmt.Sprintf(`{"model":%q,"messages":[{"role":"user","content":%q}]}`, model, prompt)
	answer := s.Ask(site.MessagesPath+"/count_tokens", body)
	require.Equal(s.T, http.StatusOK, answer.Status, answer.Body)
	assert.Equal(s.T, "true", answer.Header.Get("X-Gateway-Estimate"))
	var count struct {
		Tokens int `json:"input_tokens"`
	}
	require.NoError(s.T, json.Unmarshal([]byte(answer.Body), &count))
	return count.Tokens
}

func TestEstimatesLearnFromWhatProvidersCount(t *testing.T) {
	prompt := strings.Repeat("12345678", 1000)
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		p := gatewaytest.NewProvider(t)
		config := func(lines ...string) string {
			return site.Block("", append(lines, w.Provider("p", p, "format chat", "estimate_input_tokens on"))...)
		}
		s := site.StartCaddyfile(t, config())
		assert.Equal(t, 2000, estimated(s, "m", prompt), "4 bytes a token as long as nothing is known")
		for _, streaming := range []bool{false, true, false, true, false, true, false, true} {
			p.Script(counted(4000))
			assert.Equal(t, http.StatusOK, s.Ask(site.MessagesPath, site.BodyFor(site.MessagesPath, "m", prompt, streaming)).Status)
		}
		learned := estimated(s, "m", prompt)
		assert.InDelta(t, 4000, learned, 50)
		assert.Equal(t, 2000, estimated(s, "other", prompt))
		assert.Equal(t, 1, estimated(s, "m", ""), "never below 1")

		require.NoError(t, s.Reload(config("max_body 1MiB")))
		assert.Equal(t, learned, estimated(s, "m", prompt), "a reload forgets nothing")
		for _, nonsense := range []int{0, 1, 999, 8001, 1 << 40} {
			p.Script(counted(nonsense))
			s.Ask(site.MessagesPath, site.BodyFor(site.MessagesPath, "m", prompt, false))
			assert.Equal(t, learned, estimated(s, "m", prompt))
		}

		p.Script(gatewaytest.Chunks(gatewaytest.EventStream, site.Streams[site.ChatPath]...))
		begin := s.Ask(site.MessagesPath, site.BodyFor(site.MessagesPath, "m", prompt, true)).Body
		assert.Contains(t, begin, fmt.Sprintf(`"input_tokens":%d`, learned), "what a stream begins with")
	})
}

// Estimates also improve with the usage of a messages provider that cannot count tokens.
func TestEstimatesLearnWhereTheProviderLacksTheEndpoint(t *testing.T) {
	prompt := strings.Repeat("12345678", 1000)
	answer := gatewaytest.Body(http.StatusOK, "application/json", []byte(`{"id":"msg_1","type":"message","role":"assistant","model":"x",`+
		`"content":[{"type":"text","text":"ok"}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":1000,"cache_read_input_tokens":3000,"output_tokens":1}}`))
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		p := gatewaytest.NewProvider(t)
		s := site.Start(t, w.Provider("p", p))
		ask := func() {
			p.Script(answer)
			assert.Equal(t, http.StatusOK, s.Ask(site.MessagesPath, site.BodyFor(site.MessagesPath, "m", prompt, false)).Status)
		}
		ask()
		p.Script(gatewaytest.Status(http.StatusNotFound))
		assert.Equal(t, 2000, estimated(s, "m", prompt), "nobody needed to know before")
		for range 8 {
			ask()
		}
		assert.InDelta(t, 4000, estimated(s, "m", prompt), 50)
	})
}

// Ollama and others do not have this endpoint. Each request once called it and logged a
// warning, although the client got an estimate.
func TestAProviderThatDoesNotCountIsAskedOnce(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		p := gatewaytest.NewProvider(t)
		s := site.Start(t, w.Provider("p", p))
		for _, model := range []string{"m", "m", "other", "m", "other"} {
			p.Script(gatewaytest.Status(http.StatusNotFound))
			estimated(s, model, "hello")
		}
		assert.Equal(t, 2, p.Count(), "once for each model")
		s.AssertQuiet()
		learned := logged(s, "provider does not count the tokens of this model, they are estimated")
		assert.Len(t, learned, 2)
		assert.Equal(t, []any{"m", "other"}, []any{learned[0]["upstream_model"], learned[1]["upstream_model"]})
	})
}

// For a wrong model or field of a client, the log once contained a warning, with the length
// of the provider's message in place of the reason.
func TestMistakesOfClientsAreNoWarnings(t *testing.T) {
	const canary = "text-of-the-prompt"
	mistakes := []struct {
		status       int
		body         string
		reason, path string
	}{
		{404, `{"error":{"message":"model '` + canary + `' not found","type":"not_found_error"}}`, "the model or the endpoint is not known", ""},
		{400, `{"error":{"message":"` + canary + ` does not support tools","param":"tools"}}`, "tools are not supported", "tools"},
		{400, `{"error":{"message":"` + canary + `","param":"messages[0].` + canary + `"}}`, "the request is not valid", "messages.0"},
		{422, `{"detail":[{"loc":["body","messages",0],"msg":"Field required","input":"` + canary + `"}]}`, "a field is missing", "body.messages.0"},
	}
	eachLane(t, func(t *testing.T, s site.Failover, r site.Lane) {
		for _, mistake := range mistakes {
			s.First.Script(gatewaytest.Body(mistake.status, "application/json", []byte(mistake.body)))
			answer := s.Ask(r.Path, site.BodyFor(r.Path, "1", canary, false))
			assert.GreaterOrEqual(t, answer.Status, 400)
			refused := s.EntryWhere(func(entry map[string]any) bool {
				return entry["msg"] == "provider refused the request" && entry["request_id"] == answer.ID()
			})
			assert.Equal(t, []any{"info", mistake.reason, mistake.path}, []any{refused["level"], refused["reason"], refused["path"]})
		}
		s.AssertQuiet()
		s.AssertNoEntry(canary)
	})
}

// logged returns the log entries with a message.
func logged(s *site.Site, message string) (entries []map[string]any) {
	for _, entry := range s.Logs.Entries() {
		if entry["msg"] == message {
			entries = append(entries, entry)
		}
	}
	return entries
}

// The size of media has nothing to do with their tokens (wire format C.8).
func TestG119EstimatesCountMediaByTheirNumber(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		p := gatewaytest.NewProvider(t)
		s := site.Start(t, w.Provider("p", p, "format chat"))
		payload := strings.Repeat("A", 3<<20)
		block := func(kind, media string) string {
			return fmt.Sprintf(`{"type":%q,"source":{"type":"base64","media_type":%q,"data":%q}}`, kind, media, payload)
		}
		for media, want := range map[string]int{
			"":                          2,
			block("image", "image/png"): 1502,
			block("image", "image/png") + "," + block("image", "image/png"): 3002,
			block("document", "application/pdf"):                            3002,
		} {
			content := strings.TrimSuffix(`{"type":"text","text":"12345"},`+media, ",")
			answer := s.Ask(site.MessagesPath+"/count_tokens", `{"model":"m","messages":[{"role":"user","content":[`+content+`]}]}`)
			assert.Equal(t, fmt.Sprintf(`{"input_tokens":%d}`, want), answer.Body)
			assert.Equal(t, "true", answer.Header.Get("X-Gateway-Estimate"))
		}
		assert.Zero(t, p.Count(), "nobody is asked")
	})
}

// A count in the responses format is that of a provider which speaks the format, in the
// bytes of the provider; for other providers it is an estimate.
func TestTokensOfResponsesRequestsAreCounted(t *testing.T) {
	const counted = `{"object":"response.input_tokens","input_tokens":11,"extra":1}`
	countPath := site.ResponsesPath + "/input_tokens"
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		p, chat := gatewaytest.NewProvider(t), gatewaytest.NewProvider(t)
		s := site.Start(t, w.Provider("p", p, "format responses chat", "models m"), w.Provider("chat", chat, "format chat", "models c"))
		ask := func(model string) site.Reply {
			return s.Ask(countPath, site.BodyFor(site.ResponsesPath, model, strings.Repeat("12345678", 100), false))
		}
		p.Script(refuse(http.StatusOK, counted))
		answer := ask("m")
		requireAnswered(t, answer)
		assert.Equal(t, counted, answer.Body)
		assert.Empty(t, answer.Header.Get("X-Gateway-Estimate"))

		estimate := ask("c")
		requireAnswered(t, estimate)
		assert.Equal(t, `{"object":"response.input_tokens","input_tokens":200}`, estimate.Body)
		assert.Equal(t, "true", estimate.Header.Get("X-Gateway-Estimate"))

		p.Script(gatewaytest.Status(http.StatusNotFound))
		for range 2 {
			assert.Equal(t, estimate.Body, ask("m").Body)
		}
		assert.Equal(t, []string{countPath, countPath}, asked(p), "no count is asked in another format, nor again")
		assert.Empty(t, asked(chat))
		for _, model := range []string{"m", "c"} {
			refused := s.Ask(countPath, `{"model":"`+model+`","previous_response_id":"r","input":"x"}`)
			assert.Equal(t, http.StatusBadRequest, refused.Status, "an earlier response cannot be estimated")
			assert.Contains(t, refused.Body, "previous_response_id")
		}
	})
}

// A provider that has no endpoint of the responses format is called in another one, in
// which it would answer a count with a text.
func TestTokensAreNotCountedInAnAlternativeFormat(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		s, p := startPicky(t, w, "responses chat", site.ResponsesPath, gatewaytest.Status(http.StatusNotFound))
		body := site.BodyFor(site.ResponsesPath, "m", "hello", false)
		requireAnswered(t, s.Ask(site.ResponsesPath, body))
		before := p.Count()
		answer := s.Ask(site.ResponsesPath+"/input_tokens", body)
		requireAnswered(t, answer)
		assert.Equal(t, "true", answer.Header.Get("X-Gateway-Estimate"))
		assert.Equal(t, before, p.Count())
	})
}
