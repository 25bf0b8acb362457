package endpoints_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

const (
	generate = "/v1beta/models/m:generateContent"
	streamed = "/v1beta/models/m:streamGenerateContent?alt=sse"
	// helloContent is a request of a gemini client.
	helloContent = `{ "contents" : [{"parts":[{"text":"hello"}]}], "unheardOf": {"a":1.0} }`
)

// geminiSite has a provider of the gemini format for all models but "talk", which a provider of
// chat has.
func geminiSite(t *testing.T) (s *site.Site, own, chat *gatewaytest.Provider) {
	t.Helper()
	own, chat = gatewaytest.NewProvider(t), gatewaytest.NewProvider(t)
	own.Always(func(c *gatewaytest.Call) {
		if strings.Contains(c.Request.URL.Path, "streamGenerateContent") {
			gatewaytest.Chunks(gatewaytest.EventStream, site.Streams[site.GeminiPath]...)(c)
			return
		}
		gatewaytest.Body(http.StatusOK, "application/json", []byte(`{"candidates": [{"content":{"parts":[{"text":"Hi"}],"role":"model"},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":9}}`))(c)
	})
	s = site.Start(t, "accounts off", // unknown keys are invalid, also if a busy machine has not let the gateway read its store
		site.Direct.Provider("google", own, "format gemini", "models m llama3:8b x/y:z"),
		site.Direct.Provider("talker", chat, "format chat", "models talk"))
	return s, own, chat
}

// lastOf returns the last request that a provider got.
func lastOf(p *gatewaytest.Provider) gatewaytest.Request {
	all := p.Requests()
	return all[len(all)-1]
}

func TestY001Y002PathsOfGeminiClients(t *testing.T) {
	s, own, _ := geminiSite(t)
	var first string
	for _, path := range []string{generate, "/v1/models/m:generateContent", "/v1alpha/models/m:generateContent", "/v1beta1/models/m:generateContent"} {
		answer := s.Ask(path, helloContent)
		assert.Equal(t, http.StatusOK, answer.Status, path)
		if first == "" {
			first = answer.Body
		}
		assert.Equal(t, first, answer.Body, path)
		assert.Equal(t, "/v1beta/models/m:generateContent", lastOf(own).Path)
	}
	for _, name := range []string{"llama3:8b"} {
		answer := s.Ask("/v1beta/models/"+name+":generateContent", helloContent)
		assert.Equal(t, http.StatusOK, answer.Status, name)
		assert.Equal(t, name, strings.TrimSuffix(strings.TrimPrefix(lastOf(own).Path, "/v1beta/models/"), ":generateContent"), name)
	}
	for _, name := range []string{"x/y:z", "x%2Fy:z"} { // no server reads an encoded slash as another path
		assert.Equal(t, http.StatusNotFound, s.Ask("/v1beta/models/"+name+":generateContent", helloContent).Status, name)
	}
	for _, name := range []string{"%2e%2e", "a/%2e%2e/b", "../m", "a%3Fb", "a%23b", "a//b", "a%5Cb", "%0A", "."} {
		answer := s.Raw(helloContent, "POST /v1beta/models/"+name+":generateContent HTTP/1.1", "Authorization: Bearer "+site.ClientKey, "Content-Type: application/json")
		assert.Equal(t, http.StatusBadRequest, answer.Status, name)
		assert.Contains(t, answer.Body, `"status":"INVALID_ARGUMENT"`, name)
	}
	unknown := s.Ask("/v1beta/models/unheard-of:generateContent", helloContent)
	assert.Equal(t, http.StatusNotFound, unknown.Status)
	assert.Contains(t, unknown.Body, `"status":"NOT_FOUND"`)
}

// Other methods of models were answered 405, as if another method of HTTP could help.
func TestWhatGeminiClientsCannotCallIsNotFound(t *testing.T) {
	s, own, _ := geminiSite(t)
	post := func(path string) site.Reply {
		return s.Call(http.MethodPost, s.URL("site", path), "{}", "X-Goog-Api-Key", site.ClientKey, "X-Goog-Api-Client", "google-genai-sdk/3.1.0")
	}
	for _, version := range []string{"/v1beta", "/v1", "/v1alpha"} {
		for _, path := range []string{
			"/cachedContents", "/files", "/interactions", "/models/m:batchGenerateContent", "/models/m:asyncBatchEmbedContent",
			"/models/llama3:8b:predict", "/models/x/y:z", "/models/:generate", "/tunedModels/m:transferOwnership",
		} {
			answer := post(version + path)
			assert.Equal(t, http.StatusNotFound, answer.Status, version+path)
			assert.Contains(t, answer.Body, `{"error":{"code":404,`, version+path)
			assert.Contains(t, answer.Body, `"status":"NOT_FOUND"`, version+path)
		}
		for _, path := range []string{"/models", "/models/m"} {
			assert.Equal(t, http.StatusMethodNotAllowed, post(version+path).Status, "these have GET")
		}
	}
	assert.Zero(t, own.Count())
}

// The lists of three vendors share a path.
func TestY003ListsOfModelsHaveTheFormatOfTheClient(t *testing.T) {
	s, _, _ := geminiSite(t)
	list := func(path string, headers ...string) string {
		return s.Raw("", append([]string{"GET " + path + " HTTP/1.1"}, headers...)...).Body
	}
	assert.Contains(t, list("/v1/models", "X-Goog-Api-Key: "+site.ClientKey), `"name":"models/m"`)
	assert.Contains(t, list("/v1/models?key="+site.ClientKey), `"name":"models/m"`)
	assert.Contains(t, list("/v1/models", "X-Api-Key: "+site.ClientKey, "Anthropic-Version: 2023-06-01"), `"display_name":"m"`)
	assert.Contains(t, list("/v1/models", "Authorization: Bearer "+site.ClientKey), `"object":"list"`)
	assert.Contains(t, list("/v1beta/models/talk", "Authorization: Bearer "+site.ClientKey), `{"name":"models/talk"`)
	page := list("/v1beta/models?pageSize=1", "X-Goog-Api-Key: "+site.ClientKey)
	assert.Contains(t, page, `"nextPageToken":"llama3:8b"`)
	assert.Contains(t, list("/v1beta/models?pageSize=1&pageToken=llama3:8b", "X-Goog-Api-Key: "+site.ClientKey), `{"name":"models/m"`)
	assert.Contains(t, list("/v1beta/models", "X-Goog-Api-Key: wrong"), `"status":"UNAUTHENTICATED"`)
}

// TestY004KeysOfGeminiClients ensures that one key counts, and that a key in the query reaches no
// log and no provider.
func TestY004KeysOfGeminiClients(t *testing.T) {
	s, own, _ := geminiSite(t)
	ask := func(path string, headers ...string) site.Reply {
		return s.Raw(helloContent, append([]string{"POST " + path + " HTTP/1.1", "Content-Type: application/json"}, headers...)...)
	}
	bearer, header := "Authorization: Bearer ", "X-Goog-Api-Key: "
	assert.Equal(t, http.StatusOK, ask(generate, header+site.ClientKey).Status)
	assert.Equal(t, http.StatusOK, ask(generate, bearer+site.ClientKey, header+site.ClientKey).Status)
	assert.Equal(t, http.StatusOK, ask(generate, bearer+site.ClientKey, header+"wrong").Status)
	assert.Equal(t, http.StatusUnauthorized, ask(generate, bearer+"wrong", header+site.ClientKey).Status)
	assert.Equal(t, http.StatusUnauthorized, ask(generate+"?key="+site.ClientKey, header+"wrong").Status)
	assert.Equal(t, http.StatusBadRequest, ask(generate+"?key="+site.ClientKey+"&key=b").Status)
	assert.Equal(t, http.StatusBadRequest, ask(generate, header+site.ClientKey, header+site.ClientKey).Status)

	assert.Equal(t, http.StatusOK, ask(generate+"?key="+site.ClientKey).Status)
	assert.Empty(t, lastOf(own).Query)
	assert.Equal(t, http.StatusOK, ask(streamed+"&key="+site.ClientKey).Status)
	assert.Equal(t, "alt=sse", lastOf(own).Query)
}

func TestY005BytesOfGeminiClientsReachProvidersOfTheFormat(t *testing.T) {
	s, own, _ := geminiSite(t)
	answer := s.Ask(streamed, helloContent)
	require.Equal(t, http.StatusOK, answer.Status)
	assert.Equal(t, helloContent, string(lastOf(own).Body))
	assert.Equal(t, strings.Join(site.Streams[site.GeminiPath], ""), answer.Body)
	whole := s.Ask(generate, helloContent)
	assert.Contains(t, whole.Body, `{"candidates": [`)

	named := strings.Replace(helloContent, "{", `{"model":"models/m",`, 1)
	assert.Equal(t, http.StatusOK, s.Ask(generate, named).Status)
	assert.Equal(t, named, string(lastOf(own).Body))
	other := s.Ask(generate, strings.Replace(named, "models/m", "models/llama3:8b", 1))
	assert.Equal(t, http.StatusBadRequest, other.Status, "the key is checked for the model of the path")
	assert.Contains(t, other.Body, `"field":"model"`)
}

// A path states that the answer is a stream, which the body of other formats does.
func TestGeminiClientsReachProvidersOfChat(t *testing.T) {
	s, _, chat := geminiSite(t)
	chat.Script(gatewaytest.Chunks(gatewaytest.EventStream, site.Streams[site.ChatPath]...))
	answer := s.Ask("/v1beta/models/talk:streamGenerateContent?alt=sse", helloContent)
	require.Equal(t, http.StatusOK, answer.Status)
	assert.Contains(t, string(lastOf(chat).Body), `"stream":true`)
	assert.Contains(t, answer.Body, `"finishReason":"STOP"`)
	for line := range strings.SplitSeq(strings.TrimSpace(answer.Body), "\n") {
		assert.True(t, line == "" || strings.HasPrefix(line, "data: {"), line)
	}
	assert.Equal(t, "unheardOf", answer.Header.Get("X-Gateway-Dropped"), "a member that looks like one is named")
}

func TestY044StreamsAreEventsOnly(t *testing.T) {
	s, own, _ := geminiSite(t)
	for _, query := range []string{"", "?alt=json", "?alt=sse&alt=json"} {
		answer := s.Ask("/v1beta/models/m:streamGenerateContent"+query, helloContent)
		assert.Equal(t, http.StatusBadRequest, answer.Status, query)
		assert.Contains(t, answer.Body, `"field":"alt"`, query)
	}
	assert.Zero(t, own.Count())
}
