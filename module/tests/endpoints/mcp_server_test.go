package endpoints_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// toolSite is a site with a server of tools behind it, at /mcp/up.
type toolSite struct {
	*site.Site
	server *account
	left   chan struct{} // gets a value when the server notices that a client has left
}

const serverToken = "token-of-the-server"

// startTools starts a site with lines of the block of the server up. The key alice may use all of it, bob the tools
// search_*, and client nothing.
func startTools(t *testing.T, lines string, more ...string) toolSite {
	t.Helper()
	site.SetKeys(t)
	t.Setenv("UP_TOKEN", serverToken)
	s := toolSite{server: startAccount(t), left: make(chan struct{}, 10)}
	s.server.answers(s.answer)
	s.Site = site.Start(t, append(more, site.DemoProvider,
		"key alice {env.KEY_ALICE} {\nmcp up\n}", "key bob {env.KEY_BOB} {\nmcp up/search_*\n}",
		"mcp up {\nto http://"+s.server.address+"/rpc\nauth bearer {env.UP_TOKEN}\n"+lines+"\n}")...)
	return s
}

const (
	listOfTools = `{"tools":[{"name":"search_code", "description":"é"},{"name":"search_docs"},{"name":"delete_all","x":[1, 2]},{"name":"fails"}],"ttlMs":60000,"cacheScope":"public"}`
	inputNeeded = `{"resultType":"input_required","requestState":"sealed\u002Fstate==","inputRequests":{"a":{"method":"elicitation/create","params":{}}}}`
)

// answer answers as a server does.
func (s toolSite) answer(w http.ResponseWriter, r *http.Request) {
	s.server.mu.Lock()
	asked := s.server.asked[len(s.server.asked)-1]
	s.server.mu.Unlock()
	var m struct {
		ID     json.RawMessage
		Method string
		Params struct{ Name string }
	}
	if r.Method == http.MethodGet {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = fmt.Fprint(w, "id: 1\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\n")
		return
	}
	if r.Method == http.MethodDelete {
		return
	}
	_ = json.Unmarshal([]byte(asked.body), &m)
	result := func(text string) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, text)
	}
	switch m.Method + " " + m.Params.Name {
	case "initialize ":
		w.Header().Set("Mcp-Session-Id", "session-of-the-server")
		result(`{"protocolVersion":"2025-11-25","capabilities":{}}`)
	case "tools/list ":
		result(listOfTools)
	case "tools/call fails":
		result(`{"content":[{"type":"text","text":"no"}],"isError":true}`)
	case "tools/call search_docs":
		result(inputNeeded)
	case "tools/call search_slow":
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = fmt.Fprint(w, ": here\n\n")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		s.left <- struct{}{}
	case "tools/call search_stream":
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = fmt.Fprintf(w, ": ping\n\nevent: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{}}\n\n"+
			"data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"content\":[]}}\n\n", m.ID)
	case "tools/call search_denied":
		w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="https://evil.example"`)
		w.WriteHeader(http.StatusUnauthorized)
	case "tools/call search_moved":
		http.Redirect(w, r, "http://evil.example/", http.StatusTemporaryRedirect)
	case "tools/call search_broken":
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprint(w, `{"jsonrpc":"2.0","id":`)
	case "notifications/initialized ":
		w.WriteHeader(http.StatusAccepted)
	default:
		w.Header().Set("Set-Cookie", "a=b")
		result(`{"content":[ ]}`)
	}
}

// rpc returns a request with an id, a method and parameters.
func rpc(id, method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"%s","params":%s}`, id, method, params)
}

// calling returns a call of a tool.
func calling(tool string) string { return rpc("7", "tools/call", `{"name":"`+tool+`","arguments":{}}`) }

// use sends a message with a key.
func (s toolSite) use(key, message string, headers ...string) site.Reply {
	s.T.Helper()
	return s.Call(http.MethodPost, s.URL("site", "/mcp/up"), message, append([]string{"Authorization", "Bearer " + key}, headers...)...)
}

// assertRPCError checks that an answer is an error of a request.
func assertRPCError(t *testing.T, status int, id string, code int, answer site.Reply) {
	t.Helper()
	var body struct {
		JSONRPC string `json:"jsonrpc"`
		ID      json.RawMessage
		Error   struct {
			Code    int
			Message string
		}
	}
	require.Equal(t, status, answer.Status, answer.Body)
	require.NoError(t, json.Unmarshal([]byte(answer.Body), &body), answer.Body)
	require.Equal(t, "2.0", body.JSONRPC)
	require.Equal(t, id, string(body.ID), answer.Body)
	require.Equal(t, code, body.Error.Code, answer.Body)
	require.NotEmpty(t, body.Error.Message)
	require.Equal(t, "application/json", answer.Header.Get("Content-Type"))
}
