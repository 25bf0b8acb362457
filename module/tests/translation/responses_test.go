package translation_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// All clients of a gateway share its account at a provider. A client must not continue an
// earlier response of another client.
func TestR039WhatAProviderKeepsIsRefusedByName(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		p := gatewaytest.NewProvider(t)
		s := site.Start(t,
			w.Provider("without", p, "models without"),
			w.Provider("chat", p, "format chat", "models chat"),
			w.Provider("with", p, "models with", "responses_state passthrough"))
		for field, value := range map[string]string{
			"previous_response_id": `"resp_1"`, "conversation": `"conv_1"`, "prompt": `{"id":"pmpt_1"}`, "background": "true",
		} {
			body := func(model string) string {
				return `{"model":"` + model + `","input":"hi","` + field + `":` + value + `}`
			}
			for _, model := range []string{"without", "chat"} {
				before := p.Count()
				answer := s.Ask(site.ResponsesPath, body(model))
				assert.Equal(t, http.StatusBadRequest, answer.Status, "%s %s: %s", model, field, answer.Body)
				assert.Contains(t, answer.Body, `"param":"`+field+`","code":"unsupported_for_upstream"`)
				assert.Equal(t, before, p.Count(), "nothing is sent")
			}
			p.Script(gatewaytest.Body(http.StatusOK, "application/json", []byte(`{"id":"r","object":"response","status":"completed","output":[]}`)))
			assert.Equal(t, http.StatusOK, s.Ask(site.ResponsesPath, body("with")).Status, field)
			assert.JSONEq(t, body("with"), string(p.Requests()[p.Count()-1].Body), "as it is")
		}
	})
}

// thinkingAnswer is an answer of the messages format with signed thinking.
const thinkingAnswer = `{"id":"msg_1","type":"message","role":"assistant","model":"x","content":[` +
	`{"type":"thinking","thinking":"let me see","signature":"c2lnbmVk"},{"type":"text","text":"Hi"}],` +
	`"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}`

// askAgain sends a turn with a reasoning item of an earlier answer, with a key, and
// returns what the provider gets.
func askAgain(t *testing.T, s *site.Site, p *gatewaytest.Provider, key, item string) string {
	t.Helper()
	p.Script(gatewaytest.Body(http.StatusOK, "application/json", []byte(thinkingAnswer)))
	answer := s.Ask(site.ResponsesPath, `{"model":"m","include":["reasoning.encrypted_content"],"input":[{"role":"user","content":"hi"},`+item+
		`,{"role":"assistant","content":[{"type":"output_text","text":"Hi"}]},{"role":"user","content":"go on"}]}`, "Authorization", "Bearer "+key)
	require.Equal(t, http.StatusOK, answer.Status, answer.Body)
	return string(p.Requests()[p.Count()-1].Body)
}

// reasoningItem asks once, and returns the reasoning item of the answer.
func reasoningItem(t *testing.T, s *site.Site, p *gatewaytest.Provider, key string) string {
	t.Helper()
	p.Script(gatewaytest.Body(http.StatusOK, "application/json", []byte(thinkingAnswer)))
	answer := s.Ask(site.ResponsesPath, `{"model":"m","include":["reasoning.encrypted_content"],"input":"hi"}`, "Authorization", "Bearer "+key)
	require.Equal(t, http.StatusOK, answer.Status, answer.Body)
	var response struct{ Output []json.RawMessage }
	require.NoError(t, json.Unmarshal([]byte(answer.Body), &response))
	require.NotEmpty(t, response.Output)
	require.Contains(t, string(response.Output[0]), `"encrypted_content":"gwth1:`)
	return string(response.Output[0])
}

const signedBlock = `{"type":"thinking","thinking":"let me see","signature":"c2lnbmVk"}`

// The provider requires its thinking unchanged in later requests, but the responses format
// cannot express its signature.
func TestSealedThinkingComesBackForItsTenantAlone(t *testing.T) {
	t.Setenv("OTHER_KEY", "sk-the-key-of-another-client")
	dir := t.TempDir()
	older, newer := filepath.Join(dir, "older"), filepath.Join(dir, "newer")
	require.NoError(t, os.WriteFile(older, []byte("an older key of the seals"), 0o600))
	require.NoError(t, os.WriteFile(newer, []byte("a newer key of the seals"), 0o600))
	p := gatewaytest.NewProvider(t)
	lines := []string{site.Direct.Provider("p", p, "format messages"), "key other {env.OTHER_KEY}"}

	s := site.Start(t, append(lines, "seal_keys {file."+older+"}")...)
	item := reasoningItem(t, s, p, site.ClientKey)
	assert.Contains(t, askAgain(t, s, p, site.ClientKey, item), signedBlock)
	assert.NotContains(t, askAgain(t, s, p, os.Getenv("OTHER_KEY"), item), "c2lnbmVk", "of another tenant")
	tampered := strings.Replace(item, "gwth1:", "gwth1:A", 1)
	assert.NotContains(t, askAgain(t, s, p, site.ClientKey, tampered), "c2lnbmVk")

	rotated := append(lines, "seal_keys {file."+newer+"} {file."+older+"}")
	require.NoError(t, s.Reload(site.Block("", rotated...)))
	assert.Contains(t, askAgain(t, s, p, site.ClientKey, item), signedBlock, "an older key opens")
	assert.NotEqual(t, item, reasoningItem(t, s, p, site.ClientKey), "the newer key seals")
	require.NoError(t, s.Reload(site.Block("", append(lines, "seal_keys {file."+newer+"}")...)))
	assert.NotContains(t, askAgain(t, s, p, site.ClientKey, item), "c2lnbmVk", "the older key is gone")
}

// Without keys in the configuration, a key is generated and stored, so that a conversation
// can continue after a restart.
func TestTheKeyOfSealsIsKeptInTheStorage(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	block := site.Direct.Provider("p", p, "format messages")
	s := site.Start(t, block)
	item := reasoningItem(t, s, p, site.ClientKey)
	require.NoError(t, s.Reload(site.Block("", block, "max_body 1MiB")))
	assert.Contains(t, askAgain(t, s, p, site.ClientKey, item), signedBlock)
}
