package endpoints_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

const conversationsPath = "/v1/conversations"

var rawConversation = regexp.MustCompile(`conv_[0-9a-f]{48}`)

// send is manage with a body.
func (s storing) send(key, method, path, body string) site.Reply {
	return s.Call(method, s.URL("site", path), body, "Authorization", "Bearer "+key, "Content-Type", "application/json")
}

// converse creates a conversation with an item, and returns its path.
func (s storing) converse(t *testing.T) string {
	t.Helper()
	created := s.send(site.ClientKey, http.MethodPost, conversationsPath, `{"metadata":{"topic":"a"},"items":[{"type":"message","role":"user","content":"hi"}]}`)
	require.Equal(t, http.StatusOK, created.Status, created.Body)
	return conversationsPath + "/" + idOf(t, created.Body)
}

// Clients that keep a conversation at the provider got 404 for it, although requests could name one.
func TestX066ConversationsAreManaged(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		s := startStoring(t, w)
		path := s.converse(t)
		id := strings.TrimPrefix(path, conversationsPath+"/")
		sent := s.vendor.lastRequest(t)
		assert.Equal(t, `POST /v1/conversations {"metadata":{"topic":"a"},"items":[{"type":"message","role":"user","content":"hi"}]}`, sent)
		for _, try := range []struct{ method, path, body, want string }{
			{"GET", path, "", `"id":"` + id + `","metadata":{"topic":"a"}`},
			{"POST", path, `{"metadata":{"topic":"b"}}`, `"id":"` + id + `","metadata":{"topic":"b"}`},
			{"POST", path + "/items", `{"items":[{"role":"user","content":"more"}]}`, `"content":[{"text":"more","type":"input_text"}],"id":"msg_3"`},
			{"GET", path + "/items?limit=2&order=asc", "", `"id":"msg_2"`},
			{"GET", path + "/items/msg_3", "", `"text":"more"`},
			{"DELETE", path + "/items/msg_3", "", `"id":"` + id + `"`},
		} {
			answer := s.send(site.ClientKey, try.method, try.path, try.body)
			assert.Equal(t, http.StatusOK, answer.Status, "%s %s: %s", try.method, try.path, answer.Body)
			assert.Contains(t, answer.Body, try.want)
			assert.NotRegexp(t, rawConversation, answer.Body)
		}
		gone := s.manage(site.ClientKey, http.MethodGet, path+"/items/msg_3")
		assert.Equal(t, http.StatusNotFound, gone.Status)
		assert.Contains(t, gone.Body, "Item with id 'msg_3' not found.")

		answer := s.Ask(site.ResponsesPath, `{"model":"gpt","input":"hi","conversation":"`+id+`"}`)
		require.Equal(t, http.StatusOK, answer.Status, answer.Body)
		assert.Contains(t, answer.Body, `"conversation":{"id":"`+id+`"}`)

		deleted := s.manage(site.ClientKey, http.MethodDelete, path)
		assert.JSONEq(t, `{"id":"`+id+`","object":"conversation.deleted","deleted":true}`, deleted.Body)
		unknown := s.manage(site.ClientKey, http.MethodGet, conversationsPath+"/conv_unknown")
		assert.Equal(t, http.StatusNotFound, unknown.Status)
		assert.JSONEq(t, strings.Replace(unknown.Body, "conv_unknown", id, 1), s.manage(site.ClientKey, http.MethodGet, path).Body)
	})
}

// The body of a request for a conversation is as strictly read as that for a response. An item of
// anybody could be read by a reference to it.
func TestX067ItemsOfConversationsAreChecked(t *testing.T) {
	s := startStoring(t, site.Direct, "responses_state sealed")
	path := s.converse(t)
	before := len(s.vendor.requests())
	for body, want := range map[string]string{
		`{"items":[{"role":"user","content":"a"},{"type":"item_reference","id":"msg_1"}]}`: "items[1].type: this gateway cannot verify whose object this is",
		`{"items":[{"role":"someone","content":"a"}]}`:                                     "items[0].role: must be",
		`{"items":"hi"}`:                        "items: must be an array of items, got string",
		`{"Items":[{"type":"item_reference"}]}`: "items: must be written in lower case",
		`{"items":[],"items":[]}`:               "items",
		`{"metadata":[]}`:                       "metadata: must be an object",
		`[]`:                                    "must be a JSON object",
		`{`:                                     "not valid JSON",
	} {
		for _, target := range []string{conversationsPath, path, path + "/items"} {
			refused := s.send(site.ClientKey, http.MethodPost, target, body)
			assert.Equal(t, http.StatusBadRequest, refused.Status, "%s %s", target, body)
			assert.Contains(t, refused.Body, want, target)
		}
	}
	large := s.send(site.ClientKey, http.MethodPost, path+"/items", `{"metadata":{"a":"`+strings.Repeat("x", 33<<20)+`"}}`)
	assert.Equal(t, http.StatusRequestEntityTooLarge, large.Status)
	typed := s.Call(http.MethodPost, s.URL("site", path), `{}`, "Authorization", "Bearer "+site.ClientKey, "Content-Type", "text/plain")
	assert.Equal(t, http.StatusUnsupportedMediaType, typed.Status)
	assert.Len(t, s.vendor.requests(), before, "nothing is sent")
}

// Of several providers that store, the first in the configuration gets new conversations.
func TestX068ANewConversationIsAtTheFirstProviderThatStores(t *testing.T) {
	v, p := startVendor(t), gatewaytest.NewProvider(t)
	s := storing{site.Start(t,
		site.Direct.Provider("passing", p, "responses_state passthrough", "format responses", "models a"),
		site.Direct.Provider("chatting", p, "responses_state sealed", "format chat", "models b"),
		site.Direct.ProviderAt("up", strings.TrimPrefix(v.URL, "http://"), "responses_state sealed", "format responses", "models gpt"),
		site.Direct.Provider("second", p, "responses_state sealed", "format responses", "models c")), v}
	path := s.converse(t)
	assert.Equal(t, http.StatusOK, s.manage(site.ClientKey, http.MethodGet, path).Status)
	assert.Zero(t, p.Count())
}

// Without a provider that stores conversations for clients, there are none.
func TestConversationsNeedSealedState(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	for _, lines := range [][]string{{"format responses"}, {"format responses", "responses_state passthrough"}, {"format chat", "responses_state sealed"}} {
		t.Run(strings.Join(lines, ", "), func(t *testing.T) {
			s := site.Start(t, site.Direct.Provider("up", p, append(lines, "models gpt")...))
			refused := s.Call(http.MethodPost, s.URL("site", conversationsPath), `{}`, "Authorization", "Bearer "+site.ClientKey)
			assert.Equal(t, http.StatusNotFound, refused.Status)
			assert.Contains(t, refused.Body, "path: this gateway keeps no conversations")
		})
	}
	assert.Zero(t, p.Count())
}
