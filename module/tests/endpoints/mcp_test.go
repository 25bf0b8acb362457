package endpoints_test

import (
	"bufio"
	"context"
	"encoding/base64"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

func TestX089AKeyUsesOnlyTheServersThatItNames(t *testing.T) {
	s := startTools(t, "")
	assertRPCError(t, http.StatusForbidden, "7", -32000, s.use(site.ClientKey, calling("search_code")))
	for _, none := range []string{"", "sk-nobody"} {
		answer := s.use(none, calling("search_code"))
		assertRPCError(t, http.StatusUnauthorized, "null", -32000, answer)
		assert.Equal(t, `Bearer realm="ai_gateway"`, answer.Header.Get("Www-Authenticate"))
	}
	other := s.Call(http.MethodPost, s.URL("site", "/mcp/other"), calling("x"), "Authorization", "Bearer "+site.AliceKey)
	assertRPCError(t, http.StatusNotFound, "null", -32000, other)
	assert.Empty(t, s.server.lines(), "nothing is sent")
	assert.Equal(t, http.StatusOK, s.use(site.AliceKey, calling("search_code")).Status)
}

func TestX090ListsShowWhatTheServerAndTheKeyAllow(t *testing.T) {
	s := startTools(t, "tools search_* delete_*")
	list := rpc(`"a"`, "tools/list", "{}")
	all := s.use(site.AliceKey, list)
	assert.Equal(t, `{"jsonrpc":"2.0","id":"a","result":{"tools":[{"name":"search_code", "description":"é"},{"name":"search_docs"},{"name":"delete_all","x":[1, 2]}],"ttlMs":60000,"cacheScope":"private"}}`, all.Body)
	some := s.use(site.BobKey, list)
	assert.Equal(t, `{"jsonrpc":"2.0","id":"a","result":{"tools":[{"name":"search_code", "description":"é"},{"name":"search_docs"}],"ttlMs":60000,"cacheScope":"private"}}`, some.Body)
}

func TestX091AHiddenToolIsNotCalled(t *testing.T) {
	s := startTools(t, "tools search_* delete_*")
	assertRPCError(t, http.StatusForbidden, "7", -32602, s.use(site.AliceKey, calling("fails")))
	assertRPCError(t, http.StatusForbidden, "7", -32602, s.use(site.BobKey, calling("delete_all")))
	assertRPCError(t, http.StatusForbidden, "7", -32602, s.use(site.BobKey, calling("Search_code")))
	assertRPCError(t, http.StatusForbidden, "7", -32602, s.use(site.BobKey, rpc("7", "resources/read", `{"uri":"file:///etc/passwd"}`)))
	assertRPCError(t, http.StatusForbidden, "7", -32602, s.use(site.BobKey, rpc("7", "prompts/get", `{"name":"search_p"}`)))
	assert.Empty(t, s.server.lines())
}

func TestX092X093AMessageThatServersReadDifferentlyIsRefused(t *testing.T) {
	s := startTools(t, "")
	assertRPCError(t, http.StatusBadRequest, "7", -32020, s.use(site.AliceKey, calling("b"), "Mcp-Name", "a"))
	assertRPCError(t, http.StatusBadRequest, "7", -32020, s.use(site.AliceKey, calling("b"), "Mcp-Method", "tools/list"))
	assertRPCError(t, http.StatusBadRequest, "7", -32600, s.use(site.AliceKey, rpc("7", "tools/call", `{"name":"a","name":"b"}`)))
	assertRPCError(t, http.StatusBadRequest, "7", -32600, s.use(site.AliceKey, `{"jsonrpc":"2.0","id":7,"method":"ping","method":"tools/call"}`))
	assertRPCError(t, http.StatusBadRequest, "null", -32600, s.use(site.AliceKey, `[`+calling("a")+`]`))
	assertRPCError(t, http.StatusNotFound, "7", -32601, s.use(site.AliceKey, rpc("7", "tasks/list", "{}")))
	assertRPCError(t, http.StatusRequestEntityTooLarge, "null", -32000, s.use(site.AliceKey, calling(strings.Repeat("a", 1<<20))))
	assert.Empty(t, s.server.lines())
}

func TestX094AScriptOfAForeignOriginIsRefused(t *testing.T) {
	s := startTools(t, "", "cors https://good.example")
	assertRPCError(t, http.StatusForbidden, "null", -32000, s.use(site.AliceKey, calling("a"), "Origin", "https://evil.example"))
	assert.Empty(t, s.server.lines())
	assert.Equal(t, http.StatusOK, s.use(site.AliceKey, calling("a"), "Origin", "https://good.example").Status)
}

// The specification forbids to pass on the token of a client.
func TestX095TheServerGetsNoCredentialOfAClient(t *testing.T) {
	s := startTools(t, "headers X-Trace")
	answer := s.use(site.AliceKey, calling("größe"), "Mcp-Protocol-Version", "2026-07-28", "Cookie", "c=d", "X-Api-Key", "sk-x", "Api-Key", "sk-x",
		"X-Forwarded-For", "1.2.3.4", "X-Trace", "t", "Mcp-Param-Region", "eu", "Accept", "application/json, text/event-stream")
	require.Equal(t, http.StatusOK, answer.Status, answer.Body)
	assert.Equal(t, `{"jsonrpc":"2.0","id":7,"result":{"content":[ ]}}`, answer.Body)
	assert.NotContains(t, answer.Header, "Set-Cookie")
	sent := s.server.last(t)
	assert.Equal(t, "POST /rpc", sent.line)
	assert.Equal(t, calling("größe"), sent.body)
	want := http.Header{
		"Authorization": {"Bearer " + serverToken}, "Mcp-Protocol-Version": {"2026-07-28"}, "X-Trace": {"t"}, "Mcp-Param-Region": {"eu"},
		"Accept": {"application/json, text/event-stream"}, "Content-Type": {"application/json"}, "Accept-Encoding": {"identity"},
		"Mcp-Method": {"tools/call"}, "Mcp-Name": {"=?base64?" + base64.StdEncoding.EncodeToString([]byte("größe")) + "?="},
	}
	for _, name := range []string{"Content-Length", "User-Agent"} {
		sent.header.Del(name)
	}
	assert.Equal(t, want, sent.header)
	for _, tool := range []string{"search_denied", "search_moved", "search_broken"} {
		answer := s.use(site.AliceKey, calling(tool))
		assertRPCError(t, http.StatusBadGateway, "7", -32000, answer)
		assert.NotContains(t, answer.Body+strings.Join(answer.Header["Www-Authenticate"], ""), "evil", tool)
	}
	s.AssertNoEntry(serverToken)
}

func TestX096WithoutASessionThereAreOnlyMessages(t *testing.T) {
	for _, era := range []string{"", "era modern"} {
		t.Run(era, func(t *testing.T) {
			s := startTools(t, era)
			for _, method := range []string{http.MethodGet, http.MethodDelete, http.MethodPut} {
				answer := s.Call(method, s.URL("site", "/mcp/up"), "", "Authorization", "Bearer "+site.AliceKey, "Mcp-Protocol-Version", "2026-07-28")
				assertRPCError(t, http.StatusMethodNotAllowed, "null", -32000, answer)
				assert.Equal(t, "POST", answer.Header.Get("Allow"))
			}
			assert.Empty(t, s.server.lines())
		})
	}
}

func TestX097AClientThatLeavesEndsTheCall(t *testing.T) {
	s := startTools(t, "")
	ctx, leave := context.WithCancel(site.Waiting(t))
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL("site", "/mcp/up"), strings.NewReader(calling("search_slow")))
	require.NoError(t, err)
	request.Header.Set("Authorization", "Bearer "+site.AliceKey)
	response, err := s.Client.Do(request)
	require.NoError(t, err)
	line, err := bufio.NewReader(response.Body).ReadString('\n')
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	assert.Equal(t, ": here\n", line, "a comment arrives before anything else does")
	leave()
	select {
	case <-s.left:
	case <-site.Waiting(t).Done():
		t.Fatal("the server was not left")
	}
}

func TestX100ASessionIsOfTheClientThatHasBegunIt(t *testing.T) {
	s := startTools(t, "")
	begun := s.use(site.AliceKey, rpc("1", "initialize", "{}"))
	session := begun.Header.Get("Mcp-Session-Id")
	require.True(t, strings.HasPrefix(session, "mcp_"), session)
	assert.NotContains(t, session, "session-of-the-server")
	accepted := s.use(site.AliceKey, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, "Mcp-Session-Id", session)
	assert.Equal(t, http.StatusAccepted, accepted.Status)
	assert.Empty(t, accepted.Body)
	assert.Equal(t, []string{"session-of-the-server"}, s.server.last(t).header["Mcp-Session-Id"])
	before := len(s.server.lines())
	assertRPCError(t, http.StatusNotFound, "7", -32001, s.use(site.BobKey, calling("search_code"), "Mcp-Session-Id", session))
	assertRPCError(t, http.StatusNotFound, "7", -32001, s.use(site.AliceKey, calling("search_code"), "Mcp-Session-Id", "session-of-the-server"))
	assert.Len(t, s.server.lines(), before, "a session of another client is not asked for")

	call := func(method string) site.Reply {
		return s.Call(method, s.URL("site", "/mcp/up"), "", "Authorization", "Bearer "+site.AliceKey, "Mcp-Session-Id", session, "Last-Event-Id", "0")
	}
	stream := call(http.MethodGet)
	assert.Equal(t, "id: 1\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\n", stream.Body)
	assert.Equal(t, []string{"0"}, s.server.last(t).header["Last-Event-Id"])
	assert.Equal(t, http.StatusOK, call(http.MethodDelete).Status)
	assert.Equal(t, "DELETE /rpc", s.server.last(t).line)
}

func TestX101WhatAServerKeepsWithAClientPassesUnchanged(t *testing.T) {
	s := startTools(t, "")
	answer := s.use(site.AliceKey, calling("search_docs"))
	assert.Equal(t, `{"jsonrpc":"2.0","id":7,"result":`+inputNeeded+`}`, answer.Body)
	again := rpc("8", "tools/call", `{"name":"search_code", "requestState":"sealed\u002Fstate==","inputResponses":{"a":{"action":"accept"}}}`)
	assert.Equal(t, http.StatusOK, s.use(site.AliceKey, again).Status)
	assert.Equal(t, again, s.server.last(t).body)
}

func TestEventsOfServersPassOneByOne(t *testing.T) {
	s := startTools(t, "")
	answer := s.use(site.AliceKey, calling("search_stream"))
	assert.Equal(t, ": ping\n\nevent: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{}}\n\n"+
		"data: {\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"content\":[]}}\n\n", answer.Body)
	assert.Equal(t, "text/event-stream", answer.Header.Get("Content-Type"))
	record := s.Record(answer.ID())
	assert.Equal(t, "answered", record["outcome"])
	assert.Equal(t, "mcp/up/search_stream", record["model"])
	assert.Equal(t, "mcp/up", record["provider"])
}
