package endpoints_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// A client of a site with plain keys began a sign-in that could not end.
func TestX102MetadataNameTheIssuerOnlyWhereTokensAreKeys(t *testing.T) {
	const path = "/.well-known/oauth-protected-resource/mcp/up"
	t.Run("keys", func(t *testing.T) {
		s := startTools(t, "")
		assert.NotContains(t, s.Call(http.MethodGet, s.URL("site", path), "").Body, "authorization_servers")
		assert.NotContains(t, s.use("sk-nobody", calling("x")).Header.Get("Www-Authenticate"), "resource_metadata")
	})
	t.Run("tokens", func(t *testing.T) {
		s := startTools(t, "", "keys jwt {\nissuer https://idp.example\naudience gateway\ngroup dev {\nmcp up/search_*\n}\n}", "public_url https://ai.example.com")
		answer := s.Call(http.MethodGet, s.URL("site", path), "")
		assert.Equal(t, http.StatusOK, answer.Status)
		assert.Equal(t, `{"resource":"https://ai.example.com/mcp/up","authorization_servers":["https://idp.example"],"bearer_methods_supported":["header"]}`, answer.Body)
		assert.Equal(t, `Bearer realm="ai_gateway", resource_metadata="https://ai.example.com`+path+`"`, s.use("sk-nobody", calling("x")).Header.Get("Www-Authenticate"))
		assert.Contains(t, s.Call(http.MethodGet, s.URL("site", strings.TrimSuffix(path, "/up")), "").Body, `"resource":"https://ai.example.com/mcp"`, "all servers at once")
		other := s.Call(http.MethodGet, s.URL("site", path+"2"), "")
		assert.NotContains(t, other.Body, "authorization_servers", "a server that is not there")
		assert.Equal(t, `Bearer realm="ai_gateway"`, s.List("sk-nobody", "/v1/models").Header.Get("Www-Authenticate"))
	})
}

// Results of tools are the usual way of text that no user has written into the context of a model.
func TestGuardsCheckWhatGoesToServersAndComesBack(t *testing.T) {
	s := startTools(t, "", "guard words regex {\npattern word \"(?i)s3cret\"\npattern rule forbidden\nmask word\nblock rule\n}", "guard names tools {\ndeny delete_*\n}")
	answer := s.use(site.AliceKey, rpc("7", "tools/call", `{"name":"search_code","arguments":{"q":["a s3cret","b"],"n":1},"requestState":"s3cret"}`), "Mcp-Param-Q", "a s3cret")
	assert.Equal(t, http.StatusOK, answer.Status, answer.Body)
	sent := s.server.last(t)
	assert.Contains(t, sent.body, `"requestState":"s3cret"`, "only the server understands it")
	assert.Equal(t, 1, strings.Count(sent.body, "s3cret"), sent.body)
	assert.NotContains(t, sent.header, "Mcp-Param-Q")

	before := len(s.server.lines())
	for _, refused := range []string{calling("delete_all"), rpc("7", "tools/call", `{"name":"search_code","arguments":{"q":"\u0066orbidden"}}`)} {
		assertRPCError(t, http.StatusBadRequest, "7", -32600, s.use(site.AliceKey, refused))
	}
	assert.Len(t, s.server.lines(), before)

	for contentType, body := range map[string]string{
		"application/json":  `{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"TEXT"}]}}`,
		"text/event-stream": "data: {\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"TEXT\"}]}}\n\n",
	} {
		for text, want := range map[string]string{"a S3cret": `"text":"a [word]"`, "forbidden": `"error":{"code":-32600,`} {
			s.server.answers(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", contentType)
				_, _ = w.Write([]byte(strings.Replace(body, "TEXT", text, 1)))
			})
			answer := s.use(site.AliceKey, calling("search_code"))
			assert.Contains(t, answer.Body, want, contentType)
			assert.NotContains(t, answer.Body, text, contentType)
		}
	}
}
