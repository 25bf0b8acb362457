package endpoints_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
)

var rawCompletion = regexp.MustCompile(`chatcmpl-[0-9a-f]{48}`)

// complete asks for a chat completion with members, and returns its id.
func (s storing) complete(t *testing.T, members string) string {
	t.Helper()
	answer := s.Ask(site.ChatPath, `{"model":"gpt","messages":[{"role":"user","content":"hi"}]`+members+`}`)
	require.Equal(t, http.StatusOK, answer.Status, answer.Body)
	return idOf(t, answer.Body)
}

// Chat completions that clients ask to store had the ids of the provider, and could not be read.
func TestX069StoredChatCompletionsAreManaged(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		s := startStoring(t, w, "responses_state sealed", "format chat")
		assert.Regexp(t, rawCompletion, s.complete(t, ""), "what is not stored has the id of the provider")
		assert.Regexp(t, rawCompletion, s.complete(t, `,"store":false`))
		id := s.complete(t, `,"store":true`)
		assert.NotRegexp(t, rawCompletion, id)
		path := site.ChatPath + "/" + id
		for _, try := range []struct{ method, path, body, want string }{
			{"GET", path, "", `"id":"` + id + `"`},
			{"POST", path, `{"metadata":{"a":"b"}}`, `"metadata":{"a":"b"}`},
			{"GET", path + "/messages?after=" + id + "-0&key=x", "", `"first_id":"` + id + `-0"`},
			{"DELETE", path, "", `"deleted":true`},
		} {
			answer := s.send(site.ClientKey, try.method, try.path, try.body)
			assert.Equal(t, http.StatusOK, answer.Status, "%s %s: %s", try.method, try.path, answer.Body)
			assert.Contains(t, answer.Body, try.want)
			assert.NotRegexp(t, rawCompletion, answer.Body)
		}
		assert.Regexp(t, `GET /v1/chat/completions/(chatcmpl-[0-9a-f]{48})/messages\?after=chatcmpl-[0-9a-f]{48}-0 `, s.vendor.requests())
		unstored := s.send(site.ClientKey, http.MethodPost, path, `{"metadata":7}`)
		assert.Equal(t, http.StatusBadRequest, unstored.Status, unstored.Body)
		gone := s.manage(site.ClientKey, http.MethodGet, path)
		assert.Equal(t, http.StatusNotFound, gone.Status)
		assert.Contains(t, gone.Body, "Chat completion with id '"+id+"' not found.")
	})
}

// The id and the usage of an event both change, if the client asks for no usage.
func TestAStreamOfAStoredChatCompletionHasOneSealedID(t *testing.T) {
	s := startStoring(t, site.Direct, "responses_state sealed", "format chat")
	answer := s.Ask(site.ChatPath, `{"model":"gpt","messages":[{"role":"user","content":"hi"}],"stream":true,"store":true}`)
	assert.NotRegexp(t, rawCompletion, answer.Body)
	ids := regexp.MustCompile(`data: \{"id":"(chatcmpl-1[^"]*)","object":"chat.completion.chunk",[^\n]*\}\n`).FindAllStringSubmatch(answer.Body, -1)
	require.Len(t, ids, 2, answer.Body)
	assert.NotContains(t, answer.Body, "prompt_tokens")
	assert.Equal(t, ids[0][1], ids[1][1])
	assert.Equal(t, http.StatusOK, s.manage(site.ClientKey, http.MethodGet, site.ChatPath+"/"+ids[0][1]).Status)
}

// The list of the provider has the completions of all clients.
func TestX070StoredChatCompletionsAreNotListed(t *testing.T) {
	s := startStoring(t, site.Direct, "responses_state sealed", "format chat")
	list := s.manage(site.ClientKey, http.MethodGet, site.ChatPath+"?limit=5")
	assert.Equal(t, http.StatusNotFound, list.Status, list.Body)
	assert.Contains(t, list.Body, "lists no stored chat completions")
	assert.Equal(t, http.StatusMethodNotAllowed, s.manage(site.ClientKey, http.MethodDelete, site.ChatPath).Status)
	assert.Empty(t, s.vendor.requests())
}

// An attack by another client on each kind of id, in each place where an id can stand.
func TestAnotherClientUsesNoID(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		s := startStoring(t, w, "responses_state sealed", "format responses chat")
		own := map[string]string{"resp_": s.create(t, ""), "conv_": idOf(t, s.send(site.ClientKey, http.MethodPost, conversationsPath, `{}`).Body), "chatcmpl-": s.complete(t, `,"store":true`)}
		before := len(s.vendor.requests())
		tried := 0
		for kind, id := range own {
			for as := range own { // also as an id of each other kind
				id := as + id[len(kind):]
				for _, f := range formats.All() {
					for _, o := range f.Objects.Paths {
						if o.ID(o.Path) == "" {
							continue
						}
						path := strings.NewReplacer("{id}", id, "{item_id}", "msg_1").Replace(o.Path)
						for _, query := range []string{"", "?after=" + id, "?stream=true", "?include[]=" + id} {
							refused := s.send(otherKey, o.Method, path+query, `{"metadata":{}}`)
							assert.Equal(t, http.StatusNotFound, refused.Status, "%s %s: %s", o.Method, path, refused.Body)
							tried++
						}
					}
				}
				for _, members := range []string{
					`"previous_response_id":"` + id + `"`, `"conversation":"` + id + `"`, `"conversation":{"id":"` + id + `"}`,
					`"input":[{"type":"item_reference","id":"` + id + `"}]`, `"prompt":{"id":"` + id + `"}`,
				} {
					body := `{"model":"gpt",` + members + `}`
					for _, path := range []string{site.ResponsesPath, "/v1/responses/input_tokens"} {
						refused := s.send(otherKey, http.MethodPost, path, body)
						assert.Contains(t, []int{http.StatusBadRequest, http.StatusNotFound}, refused.Status, "%s %s: %s", path, body, refused.Body)
						tried++
					}
				}
				item := s.send(otherKey, http.MethodPost, conversationsPath, `{"items":[{"type":"item_reference","id":"`+id+`"}]}`)
				assert.Equal(t, http.StatusBadRequest, item.Status, item.Body)
				tried++
			}
		}
		assert.Len(t, s.vendor.requests(), before, "nothing is sent")
		assert.Greater(t, tried, 600)
	})
}
