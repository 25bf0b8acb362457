package observability_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/command/doctor"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// toolServer is a server of the Model Context Protocol that answers methods with results, and notes what it was
// asked.
type toolServer struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string
}

func startToolServer(t *testing.T, results map[string]string) *toolServer {
	t.Helper()
	s := &toolServer{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m struct {
			ID     json.RawMessage
			Method string
		}
		_ = json.NewDecoder(r.Body).Decode(&m)
		s.mu.Lock()
		s.asked = append(s.asked, strings.TrimSpace(r.Method+" "+m.Method+" "+r.Header.Get("Mcp-Session-Id")))
		s.mu.Unlock()
		result, ok := results[m.Method]
		switch {
		case r.Header.Get("Authorization") != "Bearer good":
			w.WriteHeader(http.StatusUnauthorized)
		case m.ID == nil:
			w.WriteHeader(http.StatusAccepted)
		case !ok:
			w.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}`, m.ID)
		case m.Method == "initialize":
			w.Header().Set("Mcp-Session-Id", "s1")
			fallthrough
		case m.Method == "server/discover":
			w.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
		default:
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{}}\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}\n\n", m.ID, result)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// A server whose address or credential is wrong was found by its first user.
func TestTheDoctorTestsTheServersOfAKey(t *testing.T) {
	site.SetKeys(t)
	t.Setenv("GOOD", "good")
	t.Setenv("BAD", "bad")
	const tools = `{"tools":[{"name":"a"},{"name":"b"},{"name":"hidden"}]}`
	older := startToolServer(t, map[string]string{"initialize": `{"protocolVersion":"2025-06-18","capabilities":{}}`, "tools/list": tools})
	later := startToolServer(t, map[string]string{"server/discover": `{"supportedVersions":["2026-07-28"]}`, "tools/list": `{"tools":[{"name":"a"}],"nextCursor":"n"}`})
	empty := startToolServer(t, map[string]string{"initialize": `{"protocolVersion":"2025-11-25","capabilities":{}}`})
	block := func(name, address, secret string) string {
		return "mcp " + name + " {\nto " + address + "\nauth bearer {env." + secret + "}\n}"
	}
	s := site.Start(t, site.DemoProvider, block("older", older.URL, "GOOD"), block("later", later.URL, "GOOD"), block("empty", empty.URL, "GOOD"),
		block("denied", older.URL, "BAD"), block("away", "http://"+gatewaytest.RefusedAddress(t), "GOOD"), block("foreign", older.URL, "GOOD"),
		"key alice {env.KEY_ALICE} {\nmcp older/a older/b later empty denied away\n}")
	g := doctor.Gateway{URL: s.URL("site", ""), Key: site.AliceKey}
	models, err := g.Models(t.Context(), nil)
	require.NoError(t, err)
	var results []doctor.Result
	for _, m := range models {
		if m.IsServer() {
			doctor.Examine(t.Context(), g, m, func(r doctor.Result) { results = append(results, r) })
		}
	}
	result := func(name, probe string, state doctor.State, found, reason, advice string) doctor.Result {
		return doctor.Result{Model: "mcp/" + name, Format: "mcp", Probe: probe, State: state, Found: found, Reason: reason, Advice: advice}
	}
	assert.Equal(t, []doctor.Result{
		result("older", "connect", doctor.Works, "version 2025-06-18", "", ""),
		result("older", "tools", doctor.Works, "tools: 2", "", ""),
		result("later", "connect", doctor.Works, "version 2026-07-28", "", ""),
		result("later", "tools", doctor.Works, "tools: 1 on the first page", "", ""),
		result("empty", "connect", doctor.Works, "version 2025-11-25", "", ""),
		result("empty", "tools", doctor.Unsupported, "", "200: Method not found", ""),
		result("denied", "connect", doctor.Broken, "", "502: the upstream did not accept the gateway's credential", "auth bearer <a valid credential of the server>"),
		result("away", "connect", doctor.Broken, "", "502: the upstream could not be reached", "to <the address of the server>"),
	}, results)
	assert.Equal(t, []string{"POST initialize", "POST notifications/initialized s1", "POST tools/list s1", "DELETE  s1", "POST initialize"}, older.asked)
	assert.Equal(t, []string{"POST initialize", "POST server/discover", "POST tools/list"}, later.asked)

	results = nil
	doctor.Examine(t.Context(), doctor.Gateway{URL: g.URL, Key: site.ClientKey}, doctor.Model{Name: "mcp/older"}, func(r doctor.Result) { results = append(results, r) })
	assert.Equal(t, []doctor.Result{result("older", "connect", doctor.Unsupported, "", "403: this key may not use the MCP server 'older'", "")}, results)
}
