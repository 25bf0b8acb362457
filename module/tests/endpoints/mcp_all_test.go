package endpoints_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// allSite is a site with the servers docs and mail, which clients use together at /mcp.
type allSite struct {
	*site.Site
	docs, mail *account
}

// startAll starts a site with two servers. The key alice may use both, bob the tools send_* of mail, and client nothing.
func startAll(t *testing.T, more ...string) allSite {
	t.Helper()
	site.SetKeys(t)
	s := allSite{docs: startAccount(t), mail: startAccount(t)}
	s.docs.answers(s.docs.results(map[string]string{
		"initialize":     `{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true},"resources":{}},"instructions":"Search first."}`,
		"tools/list":     `{"tools":[{"name":"search", "x":1},{"name":"read__all"}]}`,
		"resources/list": `{"resources":[{"uri":"file:///a","name":"a"}]}`,
		"resources/read": `{"contents":[{"uri":"file:///a","text":"A"}]}`,
		"tools/call":     `{"content":[{"type":"resource_link","uri":"file:///b"}]}`,
	}))
	s.mail.answers(s.mail.results(map[string]string{
		"initialize":      `{"protocolVersion":"2025-11-25","capabilities":{"prompts":{}}}`,
		"server/discover": `{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}`,
		"tools/list":      `{"tools":[{"name":"send_mail"},{"name":"delete"}],"nextCursor":"second"}`,
		"tools/call":      `{"content":[]}`,
	}))
	s.Site = site.Start(t, append(more, site.DemoProvider,
		"key alice {env.KEY_ALICE} {\nmcp docs mail\n}", "key bob {env.KEY_BOB} {\nmcp mail/send_*\n}",
		"mcp docs {\nto http://"+s.docs.address+"/rpc\n}", "mcp mail {\nto http://"+s.mail.address+"/rpc\n}")...)
	return s
}

// results returns a server that answers methods with results, with a session, and other methods as unknown.
func (a *account) results(of map[string]string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		a.mu.Lock()
		asked := a.asked[len(a.asked)-1]
		a.mu.Unlock()
		var m struct {
			ID     json.RawMessage
			Method string
		}
		_ = json.Unmarshal([]byte(asked.body), &m)
		if m.ID == nil {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Mcp-Session-Id", "session-"+a.address)
		if result, ok := of[m.Method]; ok {
			_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
		} else {
			_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}`, m.ID)
		}
	}
}

// use sends a message for all servers.
func (s allSite) use(key, message string, headers ...string) site.Reply {
	s.T.Helper()
	return s.Call(http.MethodPost, s.URL("site", "/mcp"), message, append([]string{"Authorization", "Bearer " + key}, headers...)...)
}

func TestAllServersAreOne(t *testing.T) {
	s := startAll(t)
	list := rpc(`"a"`, "tools/list", "{}")
	all := s.use(site.AliceKey, list)
	require.Equal(t, http.StatusOK, all.Status, all.Body)
	var page struct{ Result struct{ NextCursor string } }
	require.NoError(t, json.Unmarshal([]byte(all.Body), &page))
	assert.Equal(t, `{"jsonrpc":"2.0","id":"a","result":{"tools":[{"name":"docs__search", "x":1},{"name":"docs__read__all"},{"name":"mail__send_mail"},{"name":"mail__delete"}],"nextCursor":"`+
		page.Result.NextCursor+`"}}`, all.Body)
	before := len(s.docs.lines())
	assert.Contains(t, s.use(site.AliceKey, rpc("2", "tools/list", `{"cursor":"`+page.Result.NextCursor+`"}`)).Body, `"mail__send_mail"`)
	assert.Len(t, s.docs.lines(), before, "a server without a further page is not asked")
	assert.Contains(t, s.mail.last(t).body, `"cursor":"second"`)
	assertRPCError(t, http.StatusBadRequest, "7", -32600, s.use(site.AliceKey, rpc("7", "tools/list", `{"cursor":"second"}`)))

	some := s.use(site.BobKey, list)
	assert.Contains(t, some.Body, `"tools":[{"name":"mail__send_mail"}],`)
	assert.Len(t, s.docs.lines(), before, "a server that the key does not have is not asked")
	assertRPCError(t, http.StatusForbidden, `"a"`, -32000, s.use(site.ClientKey, list))
	assertRPCError(t, http.StatusUnauthorized, "null", -32000, s.use("sk-nobody", list))
	assert.Equal(t, `{"jsonrpc":"2.0","id":1,"result":{"resources":[{"uri":"docs+file:///a","name":"a"}]}}`, s.use(site.AliceKey, rpc("1", "resources/list", "{}")).Body,
		"mail has none, which is no failure")
	assert.Equal(t, `{"jsonrpc":"2.0","id":1,"result":{}}`, s.use(site.AliceKey, rpc("1", "ping", "{}")).Body)
	assert.Equal(t, http.StatusAccepted, s.use(site.AliceKey, `{"jsonrpc":"2.0","method":"notifications/initialized"}`).Status)
}

func TestAnElementIsUsedAtItsServer(t *testing.T) {
	s := startAll(t)
	call := s.use(site.AliceKey, calling("docs__read__all"), "Mcp-Name", "docs__read__all")
	assert.Equal(t, `{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"resource_link","uri":"docs+file:///b"}]}}`, call.Body)
	assert.Equal(t, calling("read__all"), s.docs.last(t).body)
	assert.Equal(t, "mcp/docs/read__all", s.Record(call.ID())["model"])
	read := s.use(site.AliceKey, rpc("7", "resources/read", `{"uri":"docs+file:///a"}`))
	assert.Contains(t, read.Body, `"uri":"docs+file:///a"`)
	assert.Contains(t, s.docs.last(t).body, `"uri":"file:///a"`)
	sent := len(s.docs.lines()) + len(s.mail.lines())
	for _, refused := range []string{
		calling("search"), calling("other__search"), calling("mail__"), rpc("7", "resources/read", `{"uri":"file:///a"}`),
	} {
		assert.NotEqual(t, http.StatusOK, s.use(site.AliceKey, refused).Status, refused)
	}
	for _, hidden := range []string{"docs__search", "mail__delete"} {
		assertRPCError(t, http.StatusForbidden, "7", -32602, s.use(site.BobKey, calling(hidden)))
	}
	for _, method := range []string{"logging/setLevel", "subscriptions/listen"} {
		assertRPCError(t, http.StatusNotFound, "7", -32601, s.use(site.AliceKey, rpc("7", method, "{}")))
	}
	assert.Equal(t, sent, len(s.docs.lines())+len(s.mail.lines()))
	assert.Equal(t, http.StatusMethodNotAllowed, s.Call(http.MethodGet, s.URL("site", "/mcp"), "", "Authorization", "Bearer "+site.AliceKey).Status)
}

func TestTheSessionsOfAllServersAreOne(t *testing.T) {
	s := startAll(t)
	begun := s.use(site.AliceKey, rpc("1", "initialize", `{"protocolVersion":"2025-11-25","capabilities":{"sampling":{}},"clientInfo":{"name":"c","version":"1"}}`))
	require.Equal(t, http.StatusOK, begun.Status, begun.Body)
	assert.JSONEq(t, `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","serverInfo":{"name":"caddy-ai-gateway","version":"1"},
		"capabilities":{"tools":{},"resources":{},"prompts":{}},"instructions":"Tools that begin with docs__:\nSearch first."}}`, begun.Body)
	session := begun.Header.Get("Mcp-Session-Id")
	require.NotEmpty(t, session)
	assert.NotContains(t, session, "session-")
	for _, server := range []*account{s.docs, s.mail} {
		assert.JSONEq(t, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, server.last(t).body)
		assert.Contains(t, server.asked[0].body, `"capabilities":{}`, "a server must not ask a client that it cannot reach")
	}
	versions := []string{"Mcp-Session-Id", session, "Mcp-Protocol-Version", "2025-06-18"}
	call := s.use(site.AliceKey, calling("mail__send_mail"), versions...)
	require.Equal(t, http.StatusOK, call.Status, call.Body)
	assert.NotContains(t, call.Header, "Mcp-Session-Id", "servers repeat their id, which clients took for that of the session")
	sent := s.mail.last(t).header
	assert.Equal(t, []string{"session-" + s.mail.address}, sent["Mcp-Session-Id"])
	assert.Equal(t, []string{"2025-11-25"}, sent["Mcp-Protocol-Version"], "the version that the server has chosen")
	s.use(site.AliceKey, rpc("2", "tools/list", "{}"), versions...)
	assert.Equal(t, []string{"session-" + s.docs.address}, s.docs.last(t).header["Mcp-Session-Id"])

	before := len(s.mail.lines())
	assertRPCError(t, http.StatusNotFound, "7", -32001, s.use(site.BobKey, calling("mail__send_mail"), versions...))
	assertRPCError(t, http.StatusNotFound, "7", -32001, s.use(site.AliceKey, calling("mail__send_mail"), "Mcp-Session-Id", session+"x"))
	assert.Len(t, s.mail.lines(), before)
	ended := s.Call(http.MethodDelete, s.URL("site", "/mcp"), "", append([]string{"Authorization", "Bearer " + site.AliceKey}, versions...)...)
	assert.Equal(t, http.StatusAccepted, ended.Status)
	assert.Equal(t, "DELETE /rpc", s.mail.last(t).line)
	assert.Equal(t, "DELETE /rpc", s.docs.last(t).line)
}

// A server that was down took the others away from a client.
func TestAServerThatFailsIsLeftOut(t *testing.T) {
	s := startAll(t)
	for name, reply := range map[string]http.HandlerFunc{
		"an error":  func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusServiceUnavailable) },
		"no answer": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"no JSON":   func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("hello")) },
		"a cut":     breaksOff("data: " + progress + "\n\n"),
	} {
		t.Run(name, func(t *testing.T) {
			s.docs.answers(reply)
			list := s.use(site.AliceKey, rpc("7", "tools/list", "{}"))
			assert.Contains(t, list.Body, `"tools":[{"name":"mail__send_mail"},{"name":"mail__delete"}]`)
			left := s.EntryWhere(func(e map[string]any) bool {
				return e["msg"] == "MCP server left out" && e["request_id"] == list.ID()
			})
			assert.Equal(t, []any{"docs", "tools/list"}, []any{left["server"], left["method"]})
			begun := s.use(site.AliceKey, rpc("1", "initialize", `{"protocolVersion":"2025-11-25"}`))
			require.Equal(t, http.StatusOK, begun.Status, begun.Body)
			call := s.use(site.AliceKey, calling("docs__search"), "Mcp-Session-Id", begun.Header.Get("Mcp-Session-Id"))
			assertRPCError(t, http.StatusBadGateway, "7", -32000, call)
			assert.Contains(t, call.Body, "'docs' did not answer when the session began")
		})
	}
	s.mail.answers(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusBadGateway) })
	none := s.use(site.AliceKey, rpc("7", "tools/list", "{}"))
	assertRPCError(t, http.StatusBadGateway, "7", -32000, none)
	assert.Contains(t, none.Body, "none of the MCP servers has answered")
}

// A client cannot resume a stream at the address of all servers. One that broke off behind an event with an id, with
// which it could at the address of the server, had no error: clients waited until their own timeout.
func TestAStreamOfOneOfAllServersEndsWithAnError(t *testing.T) {
	s := startAll(t)
	session := s.use(site.AliceKey, rpc("1", "initialize", `{"protocolVersion":"2025-11-25"}`)).Header.Get("Mcp-Session-Id")
	const first = "id: 1\ndata: " + progress + "\n\n"
	s.mail.answers(breaksOff(first))
	for _, headers := range [][]string{nil, {"Mcp-Session-Id", session}} {
		answer := s.use(site.AliceKey, calling("mail__send_mail"), headers...)
		end, ok := strings.CutPrefix(answer.Body, first)
		require.True(t, ok, answer.Body)
		assert.Contains(t, end, `data: {"jsonrpc":"2.0","id":7,"error":{"code":-32000,`)
		assert.Equal(t, "cut", s.Record(answer.ID())["outcome"])
	}
}

// The answers in streams were taken for those of a client that had left.
func TestStreamsOfServersAreJoined(t *testing.T) {
	s := startAll(t)
	s.docs.answers(streams("id: 1\ndata:\n\ndata: " + progress + "\n\nid: 2\ndata: {\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"tools\":[{\"name\":\"a\"}]}}\n\n"))
	assert.Contains(t, s.use(site.AliceKey, rpc("7", "tools/list", "{}")).Body, `"tools":[{"name":"docs__a"},{"name":"mail__send_mail"}`)
}

// A session of which one server had ended its part was half alive: the tools of that server failed for ever. Servers
// that answer so with 400 in place of 404 were left out without an end.
func TestAServerThatEndsItsSessionEndsThatOfAll(t *testing.T) {
	s := startAll(t)
	session := s.use(site.AliceKey, rpc("1", "initialize", `{"protocolVersion":"2025-11-25"}`)).Header.Get("Mcp-Session-Id")
	for _, ended := range []struct {
		status  int
		message string
	}{
		{http.StatusNotFound, ""},
		{http.StatusNotFound, `{"error":"not found"}`},
		{http.StatusNotFound, `{"jsonrpc":"2.0","error":{"code":-32001,"message":"Session not found"},"id":null}`},
		{http.StatusBadRequest, `{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: No valid session ID provided"},"id":null}`},
	} {
		s.docs.answers(func(w http.ResponseWriter, _ *http.Request) {
			if ended.message != "" {
				w.Header().Set("Content-Type", "application/json")
			}
			w.WriteHeader(ended.status)
			_, _ = w.Write([]byte(ended.message))
		})
		for _, message := range []string{rpc("7", "tools/list", "{}"), calling("docs__search")} {
			answer := s.use(site.AliceKey, message, "Mcp-Session-Id", session)
			assert.Equal(t, http.StatusNotFound, answer.Status, message)
			assert.Contains(t, answer.Body, "-32001", message)
		}
		assert.Equal(t, http.StatusOK, s.use(site.AliceKey, calling("mail__send_mail"), "Mcp-Session-Id", session).Status)
	}
}

// A client of both versions begins a session if there is a server that needs one.
func TestAllServersAreDiscoveredOrNone(t *testing.T) {
	s := startAll(t)
	discover := rpc("7", "server/discover", `{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}`)
	assertRPCError(t, http.StatusNotFound, "7", -32601, s.use(site.AliceKey, discover, "Mcp-Protocol-Version", "2026-07-28"))
	some := s.use(site.BobKey, discover, "Mcp-Protocol-Version", "2026-07-28")
	assert.Contains(t, some.Body, `"supportedVersions":["2026-07-28"]`)
	assert.Equal(t, []string{"server/discover"}, s.mail.last(t).header["Mcp-Method"])
}

// Each message to a server counts, whichever way it takes.
func TestLimitsAndGuardsOfAServerHoldInAllServers(t *testing.T) {
	t.Setenv("KEY_CAROL", "sk-carol")
	s := startAll(t, "limit few {\nper key\nrequests 2/1h\nmodels mcp/docs/*\n}", "key carol {env.KEY_CAROL} {\nmcp docs mail\nlimit few\n}",
		"guard words regex {\npattern rule forbidden\nblock rule\nmodels mcp/mail/*\n}")
	s.mail.answers(s.mail.results(map[string]string{"tools/list": `{"tools":[{"name":"a","description":"forbidden"}]}`}))
	var got []int
	for range 3 {
		answer := s.use("sk-carol", rpc("7", "tools/list", "{}"))
		got = append(got, answer.Status)
		assert.NotContains(t, answer.Body, "forbidden")
	}
	assert.Equal(t, []int{200, 200, 429}, got)
	assert.Equal(t, http.StatusTooManyRequests, s.use("sk-carol", calling("docs__search")).Status)
	assert.Equal(t, 2, strings.Count(strings.Join(s.docs.lines(), " "), "POST"))
	assertRPCError(t, http.StatusBadRequest, "7", -32600, s.use("sk-carol", rpc("7", "tools/call", `{"name":"mail__a","arguments":{"q":"forbidden"}}`)))
}
