package guards

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/webhook"
)

// webhookOf returns a guard that asks a service, and what the service was asked.
func webhookOf(t *testing.T, status int, answer string, lines ...string) (*Webhook, *[]question) {
	t.Helper()
	asked := new([]question)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var q question
		body, _ := io.ReadAll(r.Body)
		assert.NoError(t, json.Unmarshal(body, &q))
		*asked = append(*asked, q)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(server.Close)
	g := new(Webhook)
	// The default of two seconds was a claim about the processor.
	config := strings.Join(append([]string{"url " + server.URL, "on_error block", "timeout 1m"}, lines...), "\n")
	require.NoError(t, g.UnmarshalCaddyfile(caddyfile.NewTestDispenser(config)))
	require.NoError(t, g.Provision(caddy.Context{}))
	return g, asked
}

func TestAWebhookDecides(t *testing.T) {
	g, asked := webhookOf(t, http.StatusOK, `{"action":"NONE"}`)
	assert.Zero(t, check(t, g, "one", "two"))
	require.Len(t, *asked, 1)
	assert.Equal(t, "request", (*asked)[0].InputType)
	assert.Equal(t, []string{"one", "two"}, (*asked)[0].Texts)

	g, _ = webhookOf(t, http.StatusOK, `{"action":"BLOCKED","rule":"harm","blocked_reason":"they wrote: one"}`)
	assert.Equal(t, aigateway.GuardVerdict{Block: "harm"}, check(t, g, "one"))
	g, _ = webhookOf(t, http.StatusOK, `{"action":"BLOCKED","rule":"they wrote: one"}`)
	assert.Equal(t, "webhook", check(t, g, "one").Block, "a rule that may quote a text is not repeated")

	g, _ = webhookOf(t, http.StatusOK, `{"action":"GUARDRAIL_INTERVENED","texts":["call <é> now","same"]}`)
	verdict := check(t, g, "call è now", "same")
	assert.Len(t, verdict.Edits, 1)
	assert.Equal(t, "call <é> now", masked("call è now", verdict))
}

func TestSingleWordsOutsideOfTheConversationAreNotSent(t *testing.T) {
	g, asked := webhookOf(t, http.StatusOK, `{"action":"NONE"}`)
	_, err := g.Check(t.Context(), &aigateway.GuardView{Phase: aigateway.GuardStream, Texts: []aigateway.GuardText{{Kind: aigateway.GuardOther, Text: "msg_1"}}})
	require.NoError(t, err)
	assert.Empty(t, *asked)
	// Only a space made a text of several words: lines, and scripts without spaces, were not sent.
	others := []string{"msg_1", "one\ntwo", "秘密计划"}
	v := &aigateway.GuardView{Phase: aigateway.GuardStream}
	for _, text := range others {
		v.Texts = append(v.Texts, aigateway.GuardText{Kind: aigateway.GuardOther, Text: text})
	}
	_, err = g.Check(t.Context(), v)
	require.NoError(t, err)
	require.Len(t, *asked, 1)
	assert.Equal(t, others[1:], (*asked)[0].Texts)
}

// A secret in the notation of Standard Webhooks was used as it is, so that their libraries
// refused the signatures. All questions about a request had the same id, by which services drop
// what they have seen.
func TestQuestionsAreSignedOneByOne(t *testing.T) {
	const encoded = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	t.Setenv("GUARD_SECRET", encoded)
	key, err := webhook.Key(encoded)
	require.NoError(t, err)
	ids := make(map[string]bool)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		id := r.Header.Get("Webhook-Id")
		ids[id] = true
		assert.Equal(t, webhook.Sign(key, id, r.Header.Get("Webhook-Timestamp"), body), r.Header.Get("Webhook-Signature"))
		_, _ = io.WriteString(w, `{"action":"NONE"}`)
	}))
	t.Cleanup(server.Close)
	ctx, cancel := caddy.NewContext(caddy.Context{Context: t.Context()})
	t.Cleanup(cancel)
	g := &Webhook{URL: server.URL, OnError: onErrorBlock, Timeout: caddy.Duration(time.Minute), Secret: "{env.GUARD_SECRET}"}
	require.NoError(t, g.Provision(ctx))
	assert.Zero(t, check(t, g, "one"))
	assert.Zero(t, check(t, g, "two"))
	assert.Len(t, ids, 2)
}

func TestX112WhatAWebhookDoesNotAnswerIsAnError(t *testing.T) {
	for _, bad := range []struct {
		status int
		answer string
	}{
		{http.StatusInternalServerError, `{"action":"NONE"}`}, {http.StatusFound, ""}, {http.StatusOK, `nothing`}, {http.StatusOK, `{}`}, {http.StatusOK, `{"action":"PASS"}`},
		{http.StatusOK, `{"action":"GUARDRAIL_INTERVENED","texts":[]}`}, {http.StatusOK, strings.Repeat(" ", 2*mostAnswer) + `{"action":"NONE"}`},
	} {
		g, _ := webhookOf(t, bad.status, bad.answer)
		_, err := g.Check(t.Context(), &aigateway.GuardView{Phase: aigateway.GuardRequest, Texts: []aigateway.GuardText{{Text: "private words"}}})
		require.Error(t, err, bad.answer)
		assert.NotContains(t, err.Error(), "private")
		assert.NotContains(t, err.Error(), "127.0.0.1")
		g, _ = webhookOf(t, bad.status, bad.answer, "on_error pass")
		assert.True(t, check(t, g, "private words").Unchecked, bad.answer)
	}
}

func TestConfigurationsOfWebhooksThatAreRefused(t *testing.T) {
	for _, lines := range []string{
		"", "url http://a", "url a\non_error block", "url http://u:p@a\non_error block", "url ftp://a\non_error pass", "url http://a\non_error open",
		"url http://a\non_error block\ntimeout 0s", "url http://a\non_error block\nsecret literal", "url http://a\non_error block\nother x",
	} {
		assert.Error(t, new(Webhook).UnmarshalCaddyfile(caddyfile.NewTestDispenser(lines)), lines)
	}
}

func TestToolsAreAllowedByTheirNames(t *testing.T) {
	g := new(Tools)
	require.NoError(t, g.UnmarshalCaddyfile(caddyfile.NewTestDispenser("allow search_* read\ndeny search_web")))
	for name, want := range map[string]string{"read": "", "search_files": "", "search_web": "deny", "write": "allow", "": "allow"} {
		for _, kind := range []aigateway.GuardKind{aigateway.GuardTool, aigateway.GuardCall} {
			verdict, err := g.Check(t.Context(), &aigateway.GuardView{Phase: aigateway.GuardRequest, Texts: []aigateway.GuardText{{Kind: kind, Name: name}}})
			require.NoError(t, err)
			assert.Equal(t, want, verdict.Block, name)
		}
	}
	verdict, _ := g.Check(t.Context(), &aigateway.GuardView{Texts: []aigateway.GuardText{{Kind: aigateway.GuardUser, Text: "write"}}})
	assert.Zero(t, verdict)
	assert.Error(t, new(Tools).UnmarshalCaddyfile(caddyfile.NewTestDispenser("")))
	assert.Error(t, new(Tools).UnmarshalCaddyfile(caddyfile.NewTestDispenser("block x")))
}

// Answers that are no answers passed the texts: of a member that was there twice, the last one
// counted, and what came behind the object was not read.
func TestAnAnswerIsReadToItsEnd(t *testing.T) {
	for _, answer := range []string{
		`{"action":"BLOCKED","action":"NONE"}`, `{"action":"NONE","action":"NONE"}`, `{"action":"NONE","Action":"BLOCKED"}`, `{"Action":"NONE"}`, `{"ACTION":"NONE"}`,
		`{"action":"BLOCKED","\u0061ction":"NONE"}`, `{"action":"NONE","rule":"a","rule":"b"}`, `{"action":"NONE","x":1,"x":2}`, `{"action":"NONE","X":1}`,
		`{"action":"NONE"} x`, `{"action":"NONE"}{"action":"BLOCKED"}`, `{"action":"NONE"},`, `{"action":"NONE"}]`, "{\"action\":\"NONE\"}\x00", `{"action":"NONE"`,
		`{"action":"NONE",}`, `{"action":"NONE" "rule":"x"}`, `[{"action":"NONE"}]`, `"NONE"`, `null`, ``,
		`{"action":null}`, `{"action":["NONE"]}`, `{"action":1}`, `{"action":"none"}`, `{"action":" NONE"}`, `{"action":"NONE","rule":1}`, `{"action":"NONE","texts":"one"}`, `{"action":"NONE","texts":{}}`,
		`{"action":"GUARDRAIL_INTERVENED","texts":[null]}`, `{"action":"GUARDRAIL_INTERVENED","texts":[1]}`, `{"action":"GUARDRAIL_INTERVENED","texts":null}`, `{"action":"GUARDRAIL_INTERVENED"}`,
		`{"action":"GUARDRAIL_INTERVENED","texts":["a","b"]}`, "{\"action\":\"NONE\",\"rule\":\"\xff\"}", `{"action":"NONE"}` + strings.Repeat(" ", 1<<20),
	} {
		g, _ := webhookOf(t, http.StatusOK, answer)
		_, err := g.Check(t.Context(), &aigateway.GuardView{Phase: aigateway.GuardRequest, Texts: []aigateway.GuardText{{Kind: aigateway.GuardUser, Text: "one"}}})
		assert.Error(t, err, "%.80q", answer)
	}
	for _, answer := range []string{"{\"action\":\"NONE\"}\n", "\ufeff{\"action\":\"NONE\"}", ` {"action":"NONE","blocked_reason":null,"rule":"","texts":[]} `} {
		g, _ := webhookOf(t, http.StatusOK, answer)
		assert.Zero(t, check(t, g, "one"), answer)
	}
}

// A tool ev<zero width space>il_1 was no evil_*.
func TestDeniedToolsHaveNoDisguise(t *testing.T) {
	g := new(Tools)
	require.NoError(t, g.UnmarshalCaddyfile(caddyfile.NewTestDispenser("deny evil_* ﬁle_delete\nallow evil_* good file_delete sear*")))
	verdict := func(name string) string {
		v, err := g.Check(t.Context(), &aigateway.GuardView{Texts: []aigateway.GuardText{{Kind: aigateway.GuardTool, Name: name}}})
		require.NoError(t, err)
		return v.Block
	}
	for _, name := range []string{"evil_1", "ev\u200bil_1", "\u2060evil_1", "ｅｖｉｌ＿1", "evil\ufe0f_1", "𝐞𝐯𝐢𝐥_1", " evil_1", "evil_1\n", "\u00a0evil_1", "e\u00advil_", "ﬁle_delete", "fi\u200dle_delete"} {
		assert.Equal(t, ruleDeny, verdict(name), "%q", name)
	}
	assert.Empty(t, verdict("good"))
	assert.Equal(t, ruleAllow, verdict("go\u200bod"), "an allowed name has no other spellings")
	assert.Equal(t, ruleAllow, verdict("devil_1"))
}
