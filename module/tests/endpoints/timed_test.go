package endpoints_test

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// timedLines are the lines of a site with the Live API of OpenAI, whose model talk has the name live-real
// there and costs 6 for a minute, and two keys.
func timedLines(t *testing.T, v *timedVendor, lines ...string) string {
	t.Setenv("UP_KEY", "sk-up")
	t.Setenv("OTHER_KEY", otherKey)
	return site.Block("", append([]string{
		site.Direct.ProviderAt("up", strings.TrimPrefix(v.URL, "http://"), "format responses", "models off", "api_key {env.UP_KEY}"),
		"model talk {\nto up/live-real\nprice minute 6\n}", "model thinker {\nto up/thinker\nprice input 1 output 2 search 3\n}", "sockets up",
		"store sqlite " + filepath.Join(t.TempDir(), "gateway.db"),
	}, lines...)...)
}

func dialTimed(s *site.Site, key string) (*websocket.Conn, *http.Response, error) {
	return websocket.Dial(site.Waiting(s.T), s.URL("site", "/v1/live/sessions"), &websocket.DialOptions{HTTPHeader: http.Header{"Authorization": {"Bearer " + key}}})
}

// openTimed opens a conversation with the model talk. more are further members of its session.
func openTimed(t *testing.T, s *site.Site, key, more string) *socketClient {
	t.Helper()
	conn, _, err := dialTimed(s, key)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.CloseNow() })
	c := &socketClient{conn, t}
	c.send(`{"type":"session.start","session":{"model":"talk"` + more + `}}`)
	return c
}

// make makes the vendor do something.
func (c *socketClient) make(what string) {
	c.t.Helper()
	c.send(`{"type":"session.commentary.append","delegation_id":null,"content":"` + what + `"}`)
	c.until("session.commentary.appended")
}

// A client of the Live API had no way through the gateway: it was another API than the Realtime API, with
// the model behind the answer to the request, and a price for time.
func TestX218AConversationThatCostsByTimeIsRecordedByTime(t *testing.T) {
	v := startTimed(t)
	s := site.StartCaddyfile(t, timedLines(t, v))
	c := openTimed(t, s, site.ClientKey, `,"delegation":{"type":"responses","responses":{"model":"thinker","tools":[{"type":"web_search"}]}}`)
	assert.Contains(t, c.next(), `"session.started"`)
	assert.Equal(t, `{"type":"session.start","session":{"model":"live-real","delegation":{"type":"responses","responses":{"model":"thinker","tools":[{"type":"web_search"}]}}}}`, v.received())
	c.send(`{"type":"session.input_audio.append","audio":"` + strings.Repeat("A", 1<<10) + `"}`)
	c.make("a minute")
	c.make("a task")
	c.send(`{"type":"session.close"}`)
	assert.Contains(t, c.next(), `"usage":{"seconds":62.5}`, "the bytes of the provider")
	assert.Equal(t, websocket.StatusNormalClosure, c.closed().Code)
	records := recordsOf(t, s, 3)
	assert.Equal(t, []any{"thinker", "generate", int64(50), int64(1), int64(3_000_200_000)}, []any{records[0].Model, records[0].Operation, records[0].Calls[0].Output, records[0].Calls[0].Searches, records[0].Calls[0].Cost}, "at the price of the name that the client has sent")
	assert.Equal(t, []any{"talk", "live", "answered", "provider", int64(3), int64(300_000_000)}, []any{records[1].Model, records[1].Operation, records[1].Outcome, records[1].Calls[0].Source, records[1].Calls[0].Seconds, records[1].Calls[0].Cost})
	assert.Equal(t, []any{int64(60), int64(6_000_000_000)}, []any{records[2].Calls[0].Seconds, records[2].Calls[0].Cost})
	assert.Equal(t, []string{"/v1/live/sessions"}, v.dials())
}

// What a conversation asks for was read in the query alone, where the model of this API is not.
func TestX219RefusalsOfAConversationThatCostsByTime(t *testing.T) {
	v := startTimed(t)
	lines := timedLines(t, v, "model elsewhere {\nto demo\n}", site.DemoProvider, "key other {env.OTHER_KEY} {\nmodels talk elsewhere\n}")
	s := site.StartCaddyfile(t, lines)
	_, response, err := dialTimed(s, "sk-wrong")
	require.Error(t, err)
	assert.Equal(t, http.StatusUnauthorized, response.StatusCode)
	const task = `{"type":"session.start","session":{"model":"talk","delegation":{"type":"responses","responses":{"model":"thinker"`
	for name, tt := range map[string]struct{ key, first, code, text string }{
		"an unknown model":   {site.ClientKey, `{"type":"session.start","session":{"model":"nobody"}}`, "not_found", "Live API"},
		"another provider":   {otherKey, `{"type":"session.start","session":{"model":"elsewhere"}}`, "not_found", "Live API"},
		"not the first":      {site.ClientKey, `{"type":"session.close"}`, "invalid_value", "the first one must begin"},
		"no model":           {site.ClientKey, `{"type":"session.start","session":{}}`, "invalid_value", "the first one must begin"},
		"twice":              {site.ClientKey, `{"type":"session.start","session":{"model":"talk","model":"x"}}`, "invalid_value", "no member twice"},
		"a model for tasks":  {otherKey, task + `}}}}`, "permission_denied", "may not use"},
		"for decisions":      {otherKey, `{"type":"session.start","session":{"model":"talk","triggers":[{"type":"t","decisions":{"model":"thinker"}}]}}`, "permission_denied", "may not use"},
		"files of others":    {site.ClientKey, task + `,"tools":[{"type":"file_search","vector_store_ids":["vs_1"]}]}}}}`, "unsupported_for_upstream", "whose object this is"},
		"a prompt of others": {site.ClientKey, task + `,"prompt":{"id":"pmpt_1"}}}}}`, "unsupported_for_upstream", "whose object this is"},
	} {
		conn, _, err := dialTimed(s, tt.key)
		require.NoError(t, err, name)
		c := &socketClient{conn, t}
		c.send(tt.first)
		f := parsed(t, c.next())
		assert.Equal(t, []string{"error", tt.code}, []string{f.Type, f.Error.Code}, name)
		assert.Contains(t, f.Error.Message, tt.text, name)
		assert.Equal(t, websocket.StatusPolicyViolation, c.closed().Code, name)
	}
	assert.Empty(t, v.dials(), "nothing was dialed")
	c := openTimed(t, s, otherKey, "")
	c.until("session.started")
	for text, code := range map[string]string{
		`{"type":"session.start","session":{"model":"talk"}}`:                                                     "invalid_value",
		`{"type":"session.update","session":{"delegation":{"type":"responses","responses":{"model":"thinker"}}}}`: "permission_denied",
		`{"type":"response.item.create","item":{"type":"item_reference","id":"msg_1"}}`:                           "unsupported_for_upstream",
		`{"type":"response.create","response":{"previous_response_id":"resp_1"}}`:                                 "unsupported_for_upstream",
		`{"type":"response.create","response":{"input":[{"type":"item_reference","id":"msg_1"}]}}`:                "unsupported_for_upstream",
		`{"type":"response.create","response":{"prompt":{"id":"pmpt_1"}}}`:                                        "unsupported_for_upstream",
		`{"type":"response.create","response":{"tools":[{"type":"file_search","vector_store_ids":["vs_1"]}]}}`:    "unsupported_for_upstream",
		`{"type":"response.create","response":{"model":"thinker"}}`:                                               "permission_denied",
		// An item of the account was named by a message that the gateway does not know.
		`{"type":"conversation.item.create","item":{"type":"item_reference","id":"msg_1"}}`:                                                                               "unsupported_for_upstream",
		`{"type":"session.other","items":[{"id":"msg_1","type":"item_reference"}]}`:                                                                                       "unsupported_for_upstream",
		`{"type":"session.other","x":[{"prompt":{"id":"pmpt_1","version":"2"}}]}`:                                                                                         "unsupported_for_upstream",
		`{"type":"response.item.create","item":{"id":"msg_1"}}`:                                                                                                           "invalid_value",
		`{"type":"session.other","previous_response_id":"resp_1"}`:                                                                                                        "unsupported_for_upstream",
		`{"item":{"role":"user","content":[{"type":"input_file","file_id":"file-1"}]},"type":"response.item.create"}`:                                                     "unsupported_for_upstream",
		`{"type":"session.update","session":{"delegation":{"type":"responses","responses":{"tools":[{"type":"code_interpreter","container":"cntr_1"}],"model":"talk"}}}}`: "unsupported_for_upstream",
	} {
		c.send(text)
		f := parsed(t, c.next())
		assert.Equal(t, []string{"error", code}, []string{f.Type, f.Error.Code}, text)
	}
	c.send(`{"type":"response.item.create","item":{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}}`)
	c.make("nothing")
	assert.Equal(t, 2, strings.Count(v.received(), "\n"), "nothing else was sent")
	assert.Contains(t, s.Ask("/v1/live/sessions", `{}`).Body, "/v1/live", "a conversation by WebRTC is refused by its name")
	require.NoError(t, s.Reload(strings.Replace(lines, "sockets up", "", 1)))
	refusedWith(t, http.StatusNotFound, func() (*websocket.Conn, *http.Response, error) { return dialTimed(s, site.ClientKey) })
}

// A budget that is checked at the beginning alone ends no conversation, and one that is cut without the last
// words of the vendor leaves what it costs unknown.
func TestX220ABudgetEndsAConversationThatCostsByTimeAsTheVendorWould(t *testing.T) {
	v := startTimed(t)
	s := site.StartCaddyfile(t, timedLines(t, v, "limit few {\nbudget 20/1h\nconcurrent 1\n}", "key other {env.OTHER_KEY} {\nlimit few\n}"))
	c := openTimed(t, s, otherKey, "")
	c.until("session.started")
	c.make("a minute")
	c.send(`{"type":"session.commentary.append","delegation_id":null,"content":"a minute"}`)
	f := c.until("error")
	assert.Equal(t, "insufficient_quota", f.Error.Type)
	c.until("session.closed")
	assert.Equal(t, websocket.StatusNormalClosure, c.closed().Code, "as the vendor closes it")
	assert.Equal(t, 1, strings.Count(v.received(), `{"type":"session.close"}`))
	records := recordsOf(t, s, 3)
	assert.Equal(t, []int64{3, 60, 60}, []int64{records[0].Calls[0].Seconds, records[1].Calls[0].Seconds, records[2].Calls[0].Seconds}, "all of it is charged")
	refused := openTimed(t, s, otherKey, "")
	assert.Equal(t, "insufficient_quota", refused.until("error").Error.Type)
}

// The message of a refused conversation named the bound of an answer, which it does not have.
func TestX220ARefusalByMoneyNamesWhatAClientCanChange(t *testing.T) {
	v := startTimed(t)
	s := site.StartCaddyfile(t, timedLines(t, v, "limit few {\nbudget 1/1h\n}", "key other {env.OTHER_KEY} {\nlimit few\n}"))
	c := openTimed(t, s, otherKey, "")
	refused := c.until("error")
	assert.Contains(t, refused.Error.Message, "1 USD per 1h: use a model that costs less: 120 seconds of a conversation are reserved at once")
	assert.Empty(t, v.received())
}

// A conversation whose client or provider leaves without its last words cost nothing, or what was reserved.
func TestX221AConversationThatBreaksOffCostsTheTimeOfItsStretch(t *testing.T) {
	v := startTimed(t)
	s := site.StartCaddyfile(t, timedLines(t, v))
	c := openTimed(t, s, site.ClientKey, "")
	c.until("session.started")
	require.NoError(t, c.CloseNow())
	records := recordsOf(t, s, 1)
	assert.Equal(t, []any{"client_closed", "partial"}, []any{records[0].Outcome, records[0].Calls[0].Source})
	assert.Positive(t, records[0].Calls[0].Seconds)
	assert.Less(t, records[0].Calls[0].Seconds, int64(60), "not what was reserved")
	c = openTimed(t, s, site.ClientKey, "")
	c.until("session.started")
	c.send(`{"type":"session.commentary.append","delegation_id":null,"content":"break off"}`)
	assert.Equal(t, websocket.CloseError{Code: websocket.StatusInternalError, Reason: "x"}, c.closed())
	records = recordsOf(t, s, 2)
	assert.Equal(t, []any{"failed", "partial"}, []any{records[0].Outcome, records[0].Calls[0].Source})
	assert.Positive(t, records[0].Calls[0].Seconds)
}
