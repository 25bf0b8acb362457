package usage_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// tools is a server whose tools report errors, but for refused, which is no call, and those without an answer.
func tools(t *testing.T) (address string) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.Header.Get("Mcp-Name") {
		case "ends":
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = w.Write([]byte(": begun\n\n"))
			return
		case "page":
			w.Header().Set("Content-Type", "text/html")
			return
		}
		w.Header().Set("Content-Type", "application/json")
		if r.Header.Get("Mcp-Name") == "refused" {
			w.WriteHeader(http.StatusBadRequest)
		}
		_, _ = w.Write([]byte(`{"jsonrpc":"2.0","id":1,"result":{"content":[],"isError":true}}`))
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// callTool calls a tool of the server up.
func callTool(s *site.Site, tool string) site.Reply {
	return s.Call(http.MethodPost, s.URL("site", "/mcp/up"), `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+tool+`","arguments":{"text":"a secret of the client"}}}`,
		"Authorization", "Bearer "+site.AliceKey, "Mcp-Protocol-Version", "2026-07-28")
}

func TestX098ACallOfAToolCostsItsPriceAndItsErrorIsRecorded(t *testing.T) {
	site.SetKeys(t)
	s := site.Start(t, withLedger(t, site.DemoProvider, "key alice {env.KEY_ALICE} {\nmcp up\n}",
		"mcp up {\nto "+tools(t)+"\nprice search_* 0.002\nprice refused 7\nprice ends 7\nprice page 7\n}")...)
	for _, tool := range []string{"search_code", "free", "refused", "ends", "page"} {
		callTool(s, tool)
	}
	got := settled(t, s, "model", 5)
	assert.ElementsMatch(t, []sum{
		{Model: "mcp/up/search_code", Requests: 1, Calls: 1, Cost: 2000, Currency: "USD"},
		{Model: "mcp/up/free", Requests: 1, Calls: 1},
		{Model: "mcp/up/refused", Requests: 1, Calls: 1},
		{Model: "mcp/up/ends", Requests: 1, Calls: 1}, // a call without an answer was charged
		{Model: "mcp/up/page", Requests: 1, Calls: 1},
	}, got)
	var page struct{ Items []map[string]any }
	get(t, s.AdminURL("/api/v1/records?model=mcp/up/search_code"), &page)
	require.Len(t, page.Items, 1)
	r := page.Items[0]
	assert.Equal(t, []any{"mcp", "mcp", "answered", "the tool reports an error", 200.0}, []any{r["operation"], r["format"], r["outcome"], r["reason"], r["status"]})
	assert.NotContains(t, r, "secret")
}

func TestABudgetPaysForToolsUntilItIsUsedUp(t *testing.T) {
	site.SetKeys(t)
	s := site.Start(t, withLedger(t, site.DemoProvider, "limit small {\nper key\nbudget 0.005/30d\n}", "key alice {env.KEY_ALICE} {\nlimit small\nmcp up\n}",
		"mcp up {\nto "+tools(t)+"\nprice search_* 0.002\n}")...)
	var statuses []int
	for range 3 {
		statuses = append(statuses, callTool(s, "search_code").Status)
	}
	assert.Equal(t, []int{200, 200, 429}, statuses)
	last := callTool(s, "search_code")
	assert.True(t, strings.HasPrefix(last.Body, `{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":`), last.Body)
	assert.Equal(t, http.StatusOK, callTool(s, "free").Status, "what costs nothing is admitted")
}

// Nobody could see that a client had tried tools that it may not use, nor which.
func TestARefusedToolHasARecordAndAnEntryWithinTheLimits(t *testing.T) {
	for path, prefix := range map[string]string{"/mcp/up": "", "/mcp": "up__"} {
		t.Run(path, func(t *testing.T) {
			site.SetKeys(t)
			s := site.Start(t, withLedger(t, site.DemoProvider, "limit few {\nper key\nrequests 3/1h\n}", "key alice {env.KEY_ALICE} {\nlimit few\nmcp up/search_*\n}",
				"mcp up {\nto "+tools(t)+"\nprice * 7\n}")...)
			call := func(tool string) site.Reply {
				return s.Call(http.MethodPost, s.URL("site", path), `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+prefix+tool+`","arguments":{"text":"a secret of the client"}}}`,
					"Authorization", "Bearer "+site.AliceKey, "Mcp-Protocol-Version", "2026-07-28")
			}
			long := strings.Repeat("x", 300)
			for _, tool := range []string{"delete_all", long, "delete_more"} {
				assert.Equal(t, http.StatusForbidden, call(tool).Status)
			}
			for range 20 {
				assert.Equal(t, http.StatusTooManyRequests, call("delete_all").Status, "names cannot be tried without an end")
			}
			var entries []map[string]any
			for _, entry := range s.Logs.Entries() {
				if entry["msg"] == "MCP use refused" {
					entries = append(entries, entry)
				}
			}
			require.Len(t, entries, 3)
			for i, tool := range []string{"delete_all", long[:128], "delete_more"} {
				e := entries[i]
				assert.Equal(t, []any{"info", "alice", "up", "tools/call", tool}, []any{e["level"], e["key_id"], e["server"], e["method"], e["tool"]})
				assert.Contains(t, e["reason"], "not available with this key")
			}
			s.AssertNoEntry("a secret of the client")
			settled(t, s, "model", 23)
			var page struct{ Items []map[string]any }
			get(t, s.AdminURL("/api/v1/records?model=mcp/up/delete_more"), &page)
			require.Len(t, page.Items, 1)
			r := page.Items[0]
			assert.Equal(t, []any{"mcp", "refused", 403.0, "alice"}, []any{r["operation"], r["outcome"], r["status"], r["key"]})
			assert.Contains(t, r["reason"], "not available with this key")
		})
	}
}

// The use of a server that the key does not have left no trace, and no limit counted it. A name without a server was
// left out of the entry and the record.
func TestARefusedServerHasARecordAndAnEntryWithinTheLimits(t *testing.T) {
	call := func(tool string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `"}}`
	}
	const read = `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"https://e/?q=secret+x"}}`
	const list = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	type use struct{ path, message, server, method, tool string }
	one := []use{
		{"/mcp/up", call("delete_all"), "up", "tools/call", "delete_all"}, {"/mcp/up", list, "up", "tools/list", ""}, {"/mcp/up", read, "up", "resources/read", ""},
		{"/mcp/up", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, "up", "notifications/initialized", ""},
		{"/mcp/up", `{"jsonrpc":"2.0","id":1,"result":{}}`, "up", "response", ""}, {"/mcp/up", "", "up", "get", ""},
	}
	all := []use{
		{"/mcp", call("up__delete_all"), "up", "tools/call", "delete_all"}, {"/mcp", call("search"), "", "tools/call", "search"},
		{"/mcp", call("none__search"), "none", "tools/call", "search"}, {"/mcp", read, "", "resources/read", ""},
	}
	for name, test := range map[string]struct {
		servers string // of the key
		uses    []use
	}{
		"a key without a server":    {"", append(append(one, all...), use{"/mcp", list, "", "tools/list", ""}, use{"/mcp", "", "", "get", ""})},
		"a key with another server": {"mcp own", append(one, all...)},
	} {
		t.Run(name, func(t *testing.T) {
			site.SetKeys(t)
			s := site.Start(t, withLedger(t, site.DemoProvider, fmt.Sprintf("limit few {\nper key\nrequests %d/1h\n}", len(test.uses)),
				"key alice {env.KEY_ALICE} {\nlimit few\n"+test.servers+"\n}", "mcp up {\nto "+tools(t)+"\n}", "mcp own {\nto "+tools(t)+"\n}")...)
			ask := func(u use) site.Reply {
				method := http.MethodPost
				if u.message == "" {
					method = http.MethodGet
				}
				return s.Call(method, s.URL("site", u.path), u.message, "Authorization", "Bearer "+site.AliceKey)
			}
			want := make(map[string]int64) // records by model
			for _, u := range test.uses {
				answer := ask(u)
				assert.Equal(t, http.StatusForbidden, answer.Status, u)
				if strings.Contains(u.message, `"method":"tools/`) {
					assert.Contains(t, answer.Body, `"id":1,`, u)
				}
				e := s.EntryWhere(func(e map[string]any) bool { return e["msg"] == "MCP use refused" && e["request_id"] == answer.ID() })
				assert.Equal(t, []any{"alice", u.server, u.method, u.tool}, []any{e["key_id"], e["server"], e["method"], e["tool"]}, u)
				want["mcp/"+u.server+"/"+u.tool]++
			}
			assert.Equal(t, http.StatusTooManyRequests, ask(test.uses[0]).Status, "servers cannot be tried without an end")
			want["mcp/up/delete_all"]++
			s.AssertNoEntry("secret")
			got := make(map[string]int64)
			for _, sum := range settled(t, s, "model", int64(len(test.uses))+1) {
				got[sum.Model] = sum.Requests
			}
			assert.Equal(t, want, got)
		})
	}
}
