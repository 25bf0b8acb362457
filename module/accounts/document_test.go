package accounts

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/agents"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/call"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/people"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/signin"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/capture"
)

// withValues returns a path of the document with values of its variable parts.
func withValues(path string) string {
	return strings.NewReplacer("{id}", "1", "{name}", "root", "{user}", "root", "{request}", "req_1").Replace(path)
}

// bodies are valid bodies of the operations that read a body.
var bodies = map[string]string{
	"POST /api/user/login":    credentials("root", password),
	"POST /api/user/register": credentials("new", password),
	"PUT /api/user/self":      `{"password":"another horse","original_password":"` + password + `"}`,
	"POST /api/user/":         credentials("other", password),
	"PUT /api/user/":          `{"id":2,"password":"another horse"}`,
	"POST /api/user/manage":   `{"id":2,"action":"disable"}`,
	"POST /api/token/":        `{"name":"mine"}`,
	"PUT /api/token/":         `{"id":1,"name":"yours"}`,

	"POST /api/v1/session":                    credentials("root", password),
	"POST /api/v1/registration":               credentials("new", password),
	"POST /api/v1/users":                      credentials("other", password),
	"PATCH /api/v1/users/{name}":              `{"display_name":"The Root"}`,
	"POST /api/v1/users/{name}/password":      `{"password":"another horse","original_password":"` + password + `"}`,
	"POST /api/v1/users/{name}/identities":    `{"issuer":"https://login.example.com","subject":"7"}`,
	"POST /api/v1/device":                     `{"code":"BBBB-BBBB"}`,
	"POST /api/v1/device/answer":              `{"code":"BBBB-BBBB","confirm":true}`,
	"POST /api/v1/keys":                       `{"name":"mine"}`,
	"PATCH /api/v1/keys/{id}":                 `{"disabled":true}`,
	"POST /api/v1/keys/{id}/rotation":         `{"overlap":"24h"}`,
	"POST /api/v1/teams":                      `{"name":"research"}`,
	"PATCH /api/v1/teams/{name}":              `{"models":["a"]}`,
	"PUT /api/v1/teams/{name}/members/{user}": `{}`,
}

// rights are bodies and IDs with which the operations succeed, in this order, for the
// user root with the ID 1.
var rights = []testRequest{
	{call: "GET /api/openapi.json"},
	{call: "POST /api/user/register", body: credentials("alice", password)},
	{call: "POST /api/user/login", body: credentials("root", password)},
	{call: "GET /api/user/self"},
	{call: "PUT /api/user/self", body: `{"display_name":"The Root"}`},
	{call: "POST /api/user/", body: credentials("bob", password)},
	{call: "PUT /api/user/", body: `{"id":3,"display_name":"Bob","role":10,"status":1}`},
	{call: "GET /api/user/"},
	{call: "GET /api/user/search?keyword=B"},
	{call: "GET /api/user/2"},
	{call: "POST /api/user/manage", body: `{"username":"bob","action":"demote"}`},
	{call: "DELETE /api/user/3"},
	{call: "POST /api/token/", body: `{"name":"mine","model_limits":"a,b-*","allow_ips":"192.0.2.1\n10.0.0.0/8","expired_time":4102444800}`},
	{call: "PUT /api/token/", body: `{"id":1,"name":"yours"}`},
	{call: "GET /api/token/?limits=true"},
	{call: "GET /api/token/search?keyword=your"},
	{call: "GET /api/token/1"},
	{call: "DELETE /api/token/1"},

	{call: "POST /api/v1/session", body: credentials("root", password)},
	{call: "GET /api/v1/session"},
	{call: "POST /api/v1/registration", body: credentials("carol", password)},
	{call: "GET /api/v1/signin"},
	{call: "POST /api/v1/users", body: `{"username":"dave","role":"admin"}`},
	{call: "GET /api/v1/users?search=A&limit=2"},
	{call: "GET /api/v1/users/dave"},
	{call: "PATCH /api/v1/users/dave", body: `{"role":"user","disabled":true,"budget":"100/month","tokens":"1000/1d"}`},
	{call: "PATCH /api/v1/users/root", body: `{"display_name":"The Root"}`},
	{call: "POST /api/v1/users/dave/password", body: `{}`},
	{call: "DELETE /api/v1/users/dave"},
	{call: "POST /api/v1/users/alice/identities", body: `{"issuer":"proxy","subject":"alice"}`},
	{call: "GET /api/v1/users/alice/identities"},
	{call: "DELETE /api/v1/users/alice/identities"},
	{call: "GET /api/v1/users/root/sessions"},
	{call: "DELETE /api/v1/users/root/sessions/2"},
	{call: "DELETE /api/v1/users/root/sessions"},
	{call: "GET /api/v1/usage?by=day,model&from=2026-01-01"},
	{call: "GET /api/v1/usage?by=label&from=2026-01-01"},
	{call: "GET /api/v1/usage/savings"},
	{call: "GET /api/v1/records?limit=5&from=2026-01-01"},
	{call: "GET /api/v1/records?limit=5&from=-7d&sort=cost"},
	{call: "GET /api/v1/records/histogram"},
	{call: "GET /api/v1/records/comparison"},
	{call: "GET /api/v1/audit?limit=5&from=2026-01-01"},
	{call: "GET /api/v1/limits?limit=5"},
	{call: "POST /api/v1/captures"},
	{call: "GET /api/v1/captures"},
	{call: "POST /api/v1/keys", body: `{"user":"alice","name":"hers","models":["a","b-*"],"from":["192.0.2.1"],"expires":"2099-12-31"}`},
	{call: "GET /api/v1/keys?user=alice&search=her&limits=true"},
	{call: "GET /api/v1/keys/2?limits=true"},
	{call: "PATCH /api/v1/keys/2", body: `{"disabled":true,"expires":"","budget":"20/month EUR","requests":"60/1m","tokens":"","concurrent":2,"priority":"low","tags":["team=search"]}`},
	{call: "POST /api/v1/keys/2/rotation", body: `{"overlap":"24h"}`},
	{call: "GET /api/v1/keys/2/refusal"},
	{call: "DELETE /api/v1/keys/2"},
	{call: "POST /api/v1/teams", body: `{"name":"research","models":["a"],"requests":"60/1m","tokens":"1000/1d","concurrent":8,"budget":"50/month EUR soft","priority":"high"}`},
	{call: "PUT /api/v1/teams/research/members/root", body: `{"admin":true}`},
	{call: "GET /api/v1/teams/research/members"},
	{call: "GET /api/v1/teams?search=search"},
	{call: "PATCH /api/v1/teams/research", body: `{"models":[],"budget":"","tokens":""}`},
	{call: "GET /api/v1/teams/research"},
	{call: "GET /api/v1/limits?team=research"},
	{call: "GET /api/v1/users/root/teams"},
	{call: "DELETE /api/v1/teams/research/members/root?keys=delete"},
	{call: "DELETE /api/v1/teams/research"},
	{call: "GET /api/v1/status"},
	{call: "GET /api/v1/targets"},
	{call: "GET /api/v1/explain?model=a"},
	{call: "GET /api/v1/configuration"},
	{call: "GET /api/v1/configuration/caddyfile"},
	{call: "GET /api/v1/prices"},
	{call: "GET /api/v1/health"},
	{call: "POST /api/v1/targets/probe?provider=p"},
	{call: "GET /api/v1/mcp"},
	{call: "POST /api/v1/mcp/accept?server=s&tool=a"},
	{call: "GET /api/v1/keys/configured"},
	{call: "DELETE /api/v1/session"},
	{call: "GET /api/user/logout"},
	{call: "POST /api/user/logout"},
}

// conflicts are requests of root that conflict with the stored data.
var conflicts = []testRequest{
	{call: "POST /api/user/register", body: credentials("root", password)},
	{call: "POST /api/user/", body: credentials("root", password)},
	{call: "PUT /api/user/", body: `{"id":1,"status":2}`},
	{call: "POST /api/user/manage", body: `{"id":1,"action":"delete"}`},
	{call: "DELETE /api/user/1"},
	{call: "PUT /api/token/", body: `{"id":2,"group":"research"}`},
	{call: "POST /api/v1/registration", body: credentials("root", password)},
	{call: "POST /api/v1/users", body: credentials("root", password)},
	{call: "PATCH /api/v1/users/root", body: `{"disabled":true}`},
	{call: "DELETE /api/v1/users/root"},
	{call: "POST /api/v1/teams", body: `{"name":"research"}`},
	{call: "PATCH /api/v1/teams/small", body: `{"concurrent":2}`},
	{call: "DELETE /api/v1/teams/small"},
	{call: "DELETE /api/v1/teams/small/members/root"},
	{call: "PATCH /api/v1/keys/2", body: `{"limit":"research"}`},
	{call: "POST /api/v1/users/root/identities", body: `{"issuer":"proxy","subject":"x"}`},
}

// Every status of every operation of the document occurs in an answer of the handler,
// and the body of each answer matches its schema.
func TestDocumentMatchesTheHandlers(t *testing.T) {
	given := make(map[string]bool)
	for _, part := range []func(*testing.T, map[string]bool){
		askRight, askWithoutBody, askWithoutRight, askForNothing, askForConflicts, askWithoutLedger, askTooMuch, askWithoutStore, askForARecord, askForACapture, askForSignIns, askForADevice,
	} {
		part(t, given)
	}
	for _, o := range operations(t) {
		for _, status := range o.Statuses {
			name := o.Method + " " + o.Path + " " + status
			assert.True(t, given[name], "no answer was %s", name)
		}
	}
}

// rooted returns a site with the user root, ID 1, and the token of root's first session.
func rooted(t *testing.T, given map[string]bool, configure func(*Accounts)) (*site, string) {
	s := newSite(t, func(a *Accounts) {
		a.Registration = true
		if configure != nil {
			configure(a)
		}
	})
	s.given = given
	s.user("root", aigateway.RoleRoot)
	return s, s.token("root")
}

func askRight(t *testing.T, given map[string]bool) {
	s, token := rooted(t, given, func(a *Accounts) { a.Proxy = &signin.Proxy{User: "{http.vars.user}"} })
	s.UseLimits(limitsOf{new(aigateway.LimitQuery)})
	s.UseState(shown)
	for _, a := range rights {
		a.token = token
		answer := s.ask(a)
		assert.Less(t, answer.status, http.StatusMultipleChoices, "%s: %s", a.call, answer.body)
	}
}

// views is a state whose parts have names.
type views map[string]view

type view func(url.Values) (any, error)

func (v views) Status(query url.Values) (any, error)            { return v["status"](query) }
func (v views) Targets(query url.Values) (any, error)           { return v["targets"](query) }
func (v views) Explain(query url.Values, _ []byte) (any, error) { return v["explain"](query) }
func (v views) Configuration(query url.Values) (any, error)     { return v["configuration"](query) }
func (v views) Caddyfile(query url.Values) (any, error)         { return v["caddyfile"](query) }
func (v views) Prices(query url.Values) (any, error)            { return v["prices"](query) }
func (v views) ConfiguredKeys(query url.Values) (any, error)    { return v["keys"](query) }
func (v views) Probe(query url.Values) (any, error)             { return v["probe"](query) }
func (v views) MCPServers(query url.Values) (any, error)        { return v["mcp"](query) }
func (v views) Health(query url.Values) (any, error)            { return v["health"](query) }

func (v views) AcceptTools(query url.Values, audit func(aigateway.AuditEntry) error) (any, error) {
	if err := audit(aigateway.AuditEntry{Action: "mcp.accept", Object: "mcp/s/a"}); err != nil {
		return nil, err
	}
	return v["accept"](query)
}

func (views) CacheDiscount(string, string, string) (picos int64, currency string) { return 0, "" }

func (views) ModelPrices(func(string) bool) []aigateway.ModelPrice { return nil }

// viewOfNoItems returns a view with one answer.
func viewOfNoItems(answer string) view {
	return func(url.Values) (any, error) { return json.RawMessage(answer), nil }
}

// shown is the state of the gateway.
var shown = views{
	"status": func(url.Values) (any, error) {
		return json.RawMessage(`{"version":"","revision":"","caddy":"v2","go":"go1","started":"2026-11-23T10:00:00Z","catalog":{"as_of":"2026-11-20","old":false},"ready":true,"reason":"","running":0,"ended":0,
			"degraded":[{"part":"the store","reason":"the database is read-only"}],"alerts":[{"time":"2026-11-23T10:00:00Z","event":"ai_gateway_degraded","text":"A part.","over":null}],"providers":[{"name":"p","available":true}],"ledger_behind_seconds":null}`), nil
	},
	"targets": viewOfNoItems(`{"items":[{"provider":"p","upstream_model":"m","weight":1,"state":"available","running":0}],"next":""}`),
	"configuration": func(url.Values) (any, error) {
		return json.RawMessage(`{"providers":[],"models":[],"limits":[],"guards":[{"name":"g","module":"regex","on":[],"check":[],"models":[],"keys":[],"allow_references":false,"rules":["mask email"]}],"tags":["team"],"customer":["user"],"modules":[{"path":"a","version":"v1"}]}`), nil
	},
	"health": func(url.Values) (any, error) {
		return json.RawMessage(`{"from":"2026-11-23T10:00:00Z","providers":[{"name":"p","calls":[1],"failed":[0],"p50_ms":[null],"p95_ms":[20]}],
			"unshared":[0],"ledger_refused":[0],"ledger_damaged":[0],"ledger":{"pending":0,"bytes":1,"oldest_seconds":0},
			"addresses":[{"provider":"p","address":"127.0.0.1:1","available":true,"running":0,"failures":0}]}`), nil
	},
	"mcp":       viewOfNoItems(`{"items":[{"name":"s","era":"auto","pin":"block","tools":2,"changed":["a"]}],"next":""}`),
	"accept":    viewOfNoItems(`{"accepted":["a"]}`),
	"caddyfile": viewOfNoItems(`{"text":"ai.example.com {\n}\n"}`),
	"prices":    viewOfNoItems(`{"items":[],"next":""}`),
	"keys":      viewOfNoItems(`{"items":[],"next":""}`),
	"probe": func(query url.Values) (any, error) {
		if query.Get("provider") == "" {
			return nil, caddy.APIError{HTTPStatus: http.StatusNotFound, Err: errors.New("no provider")}
		}
		return json.RawMessage(`{"provider":"p","answered":true,"status":200,"milliseconds":1}`), nil
	},
	"explain": func(query url.Values) (any, error) {
		if query.Get("model") == "" {
			return nil, caddy.APIError{HTTPStatus: http.StatusBadRequest, Err: errors.New("no name")}
		}
		return json.RawMessage(`{"model":"a","pattern":"a","format":"chat","attempts":1,"targets":[],"site":{"addresses":[],"others":[]}}`), nil
	},
}

// askForARecord requests a record, and the stream of new records, of a ledger with one record.
func askForARecord(t *testing.T, given map[string]bool) {
	s, token := rooted(t, given, nil)
	watched := make(chan []accounting.Record)
	close(watched) // so that the stream ends
	s.people.Store = &recorded{Store: s.people.Store, records: numbered(1), search: new(accounting.RecordQuery), watched: watched}
	for _, call := range []string{"GET /api/v1/records/1", "GET /api/v1/records/live"} {
		assert.Equal(t, http.StatusOK, s.ask(testRequest{call: call, token: token}).status, call)
	}
	assert.Equal(t, http.StatusBadRequest, s.ask(testRequest{call: "GET /api/v1/records/live?stream=x", token: token}).status)
	for s.people.Streams().Acquire("1") {
	}
	assert.Equal(t, http.StatusTooManyRequests, s.ask(testRequest{call: "GET /api/v1/records/live", token: token}).status)
}

// askForACapture captures a request, and fills the captures.
func askForACapture(t *testing.T, given map[string]bool) {
	s, token := rooted(t, given, nil)
	header := http.Header{capture.Header: {s.ask(testRequest{call: "POST /api/v1/captures", token: token}).data(t)["token"].(string)}}
	ex := capture.Process.Begin(testRequest{call: "POST /v1/messages", header: header}.request(t.Context()), "req_of_root")
	require.NotNil(t, ex)
	ex.Call("p", "", "", testRequest{call: "POST /v1/chat/completions"}.request(t.Context()), strings.NewReader("{}"), nil)
	assert.Equal(t, http.StatusOK, s.ask(testRequest{call: "GET /api/v1/captures/req_of_root", token: token}).status)
	assert.Contains(t, s.ask(testRequest{call: "GET /api/v1/captures", token: token}).body, `"req_of_root"`)
	assert.Equal(t, http.StatusNotFound, s.ask(testRequest{call: "GET /api/v1/captures/req_of_root", token: s.token("root")}).status, "another session of the user")

	off, token := rooted(t, given, func(a *Accounts) { a.CaptureOff = true })
	for _, call := range []string{"POST /api/v1/captures", "GET /api/v1/captures", "GET /api/v1/captures/req_of_root"} {
		assert.Equal(t, http.StatusNotFound, off.ask(testRequest{call: call, token: token}).status, call)
	}
}

// askForADevice answers programs, one too many, and guesses their codes.
func askForADevice(t *testing.T, given map[string]bool) {
	s, token := rooted(t, given, func(a *Accounts) { a.Agents, a.ThrottleOff = new(agents.Agents), false })
	store := s.people.Store
	waiting := func(code string) {
		require.NoError(t, store.(aigateway.DeviceStore).Devices().Create(t.Context(), &aigateway.Device{Digest: call.Digest(code), Code: call.Digest("code " + code), Agent: "a/1", Address: "192.0.2.1", Expires: time.Now().Add(time.Minute)}, 9))
	}
	answer := func(code string, confirm bool) int {
		return s.ask(testRequest{call: "POST /api/v1/device/answer", token: token, body: fmt.Sprintf(`{"code":%q,"confirm":%t}`, code, confirm)}).status
	}
	waiting("BBBBBBBB")
	shown := s.ask(testRequest{call: "POST /api/v1/device", token: token, body: `{"code":"bbbb-bbbb"}`})
	require.Equal(t, http.StatusOK, shown.status, shown.body)
	assert.Equal(t, []any{"a/1", "192.0.2.1", true}, pick(shown.data(t), "agent", "address", "near"))
	assert.Equal(t, http.StatusBadRequest, s.ask(testRequest{call: "POST /api/v1/device/answer", token: token, body: `{"code":"BBBB-BBBB"}`}).status, "neither yes nor no")
	assert.Equal(t, http.StatusNoContent, answer("BBBBBBBB", false))
	for i := range 100 {
		key := &aigateway.StoredKey{UserID: 1, Name: "k", Digest: call.Digest(fmt.Sprint(i))}
		require.NoError(t, store.CreateKey(t.Context(), key, 100))
	}
	waiting("CCCCCCCC")
	assert.Equal(t, http.StatusConflict, answer("CCCCCCCC", true))
	for range 5 {
		assert.Equal(t, http.StatusBadRequest, answer("DDDDDDDD", true))
	}
	assert.Equal(t, http.StatusTooManyRequests, answer("CCCCCCCC", false))
	assert.Equal(t, http.StatusTooManyRequests, s.ask(testRequest{call: "POST /api/v1/device", token: token, body: `{"code":"CCCCCCCC"}`}).status)
	off, token := rooted(t, given, nil)
	for _, one := range []string{"POST /api/v1/device", "POST /api/v1/device/answer"} {
		assert.Equal(t, http.StatusNotFound, off.ask(testRequest{call: one, token: token, body: bodies[one]}).status)
	}
}

// askWithoutBody sends requests without a valid body.
func askWithoutBody(t *testing.T, given map[string]bool) {
	s, token := rooted(t, given, nil)
	for _, o := range operations(t) {
		if !o.Body {
			continue
		}
		call := o.Method + " " + withValues(o.Path)
		for status, a := range map[int]testRequest{
			http.StatusBadRequest:            {body: "[]"},
			http.StatusUnsupportedMediaType:  {body: "{}", header: http.Header{"Content-Type": {"text/plain"}}},
			http.StatusRequestEntityTooLarge: {body: `{"a":"` + strings.Repeat("b", largestBody) + `"}`},
		} {
			a.call, a.token = call, token
			assert.Equal(t, status, s.ask(a).status, call)
		}
	}
}

// askWithoutLedger requests usage from a store without a ledger, and limits without a reader.
func askWithoutLedger(t *testing.T, given map[string]bool) {
	s, token := rooted(t, given, nil)
	s.people.Store = struct{ aigateway.Store }{s.people.Store}
	assert.Equal(t, http.StatusNotFound, s.ask(testRequest{call: "GET /api/v1/usage", token: token}).status)
	assert.Equal(t, http.StatusNotFound, s.ask(testRequest{call: "GET /api/v1/usage/savings", token: token}).status)
	assert.Equal(t, http.StatusNotFound, s.ask(testRequest{call: "GET /api/v1/records", token: token}).status)
	for _, call := range []string{"GET /api/v1/records/1", "GET /api/v1/records/live", "GET /api/v1/records/histogram", "GET /api/v1/records/comparison", "GET /api/v1/audit", "GET /api/v1/limits", "GET /api/v1/status", "GET /api/v1/targets", "GET /api/v1/explain", "GET /api/v1/configuration", "GET /api/v1/configuration/caddyfile", "GET /api/v1/prices", "GET /api/v1/health", "POST /api/v1/targets/probe", "GET /api/v1/mcp", "POST /api/v1/mcp/accept", "GET /api/v1/keys/configured"} {
		assert.Equal(t, http.StatusNotFound, s.ask(testRequest{call: call, token: token}).status, call)
	}
}

// askWithoutRight sends requests without a credential, with two credentials, and with a
// credential of another user.
func askWithoutRight(t *testing.T, given map[string]bool) {
	s, token := rooted(t, given, func(a *Accounts) { a.Registration = false })
	for _, o := range operations(t) {
		if o.Path == "/api/openapi.json" {
			continue
		}
		a := testRequest{call: o.Method + " " + withValues(o.Path), body: bodies[o.Method+" "+o.Path]}
		if o.Secured {
			assert.Equal(t, http.StatusUnauthorized, s.ask(a).status, a.call)
		}
		a.header = http.Header{"Authorization": {"Bearer a", "Bearer b"}}
		s.ask(a)
		a.header, a.cookie = http.Header{"Sec-Fetch-Site": {"cross-site"}}, token
		s.ask(a)
	}
	s.user("carol", aigateway.RoleUser)
	token = s.token("carol")
	for _, call := range []string{
		"GET /api/v1/audit", "GET /api/user/", "GET /api/user/1", "GET /api/user/search",
		"GET /api/v1/status", "GET /api/v1/targets", "GET /api/v1/explain?model=a",
		"GET /api/v1/configuration", "GET /api/v1/configuration/caddyfile", "GET /api/v1/prices", "GET /api/v1/health", "POST /api/v1/targets/probe?provider=p", "GET /api/v1/mcp", "POST /api/v1/mcp/accept?server=s",
		"GET /api/v1/keys?user=root", "GET /api/v1/keys/configured?user=root", "GET /api/v1/records/live?user=root",
		"GET /api/v1/users", "DELETE /api/v1/users/carol", "GET /api/v1/users/carol/identities", "DELETE /api/v1/users/carol/identities",
		"DELETE /api/v1/teams/none",
	} {
		assert.Equal(t, http.StatusForbidden, s.ask(testRequest{call: call, token: token}).status, call)
	}
	s.user("dave", aigateway.RoleAdmin)
	admin := s.token("dave")
	require.Equal(t, http.StatusOK, s.ask(testRequest{call: "POST /api/v1/keys", body: `{"name":"of root"}`, token: s.token("root")}).status)
	for _, call := range []string{"GET /api/v1/users/root/sessions", "DELETE /api/v1/users/root/sessions", "DELETE /api/v1/users/root/sessions/1", "DELETE /api/v1/keys/1"} {
		assert.Equal(t, http.StatusForbidden, s.ask(testRequest{call: call, token: admin}).status, call)
	}
	assert.Equal(t, http.StatusForbidden, s.ask(testRequest{call: "PATCH /api/v1/keys/1", body: `{}`, token: admin}).status)
	assert.Equal(t, http.StatusForbidden, s.ask(testRequest{call: "POST /api/v1/keys/1/rotation", body: `{}`, token: admin}).status)
	assert.Equal(t, http.StatusForbidden, s.ask(testRequest{call: "POST /api/v1/registration", body: credentials("erin", password)}).status)
	assert.Equal(t, http.StatusUnauthorized, s.ask(testRequest{call: "POST /api/v1/session", body: credentials("carol", "wrong horse")}).status)
	assert.Equal(t, http.StatusUnauthorized, s.ask(testRequest{call: "POST /api/user/login", body: credentials("carol", "wrong horse")}).status)
}

// askForNothing sends requests for resources that do not exist.
func askForNothing(t *testing.T, given map[string]bool) {
	s, token := rooted(t, given, nil)
	for _, a := range []testRequest{
		{call: "GET /api/user/99"}, {call: "DELETE /api/user/99"},
		{call: "PUT /api/user/", body: `{"id":99,"role":1}`}, {call: "POST /api/user/manage", body: `{"id":99,"action":"enable"}`},
		{call: "GET /api/token/99"}, {call: "DELETE /api/token/99"}, {call: "PUT /api/token/", body: `{"id":99}`},
		{call: "GET /api/v1/users/nobody"}, {call: "PATCH /api/v1/users/nobody", body: `{}`}, {call: "DELETE /api/v1/users/nobody"},
		{call: "POST /api/v1/users/nobody/password", body: `{}`}, {call: "GET /api/v1/users/nobody/sessions"}, {call: "DELETE /api/v1/users/nobody/sessions"},
		{call: "DELETE /api/v1/users/root/sessions/99"}, {call: "GET /api/v1/users/nobody/identities"}, {call: "DELETE /api/v1/users/nobody/identities"},
		{call: "POST /api/v1/users/nobody/identities", body: `{"issuer":"proxy","subject":"x"}`},
		{call: "GET /api/v1/captures/req_none"},
		{call: "GET /api/v1/keys?user=nobody"}, {call: "POST /api/v1/keys", body: `{"user":"nobody","name":"a"}`},
		{call: "GET /api/v1/users/nobody/teams"}, {call: "GET /api/v1/keys/99"}, {call: "PATCH /api/v1/keys/99", body: `{}`}, {call: "DELETE /api/v1/keys/99"},
		{call: "GET /api/v1/keys/99/refusal"}, {call: "POST /api/v1/keys/99/rotation", body: `{}`},
		{call: "GET /api/v1/teams/none"}, {call: "PATCH /api/v1/teams/none", body: `{}`}, {call: "DELETE /api/v1/teams/none"}, {call: "GET /api/v1/teams/none/members"},
		{call: "PUT /api/v1/teams/none/members/root", body: `{}`}, {call: "DELETE /api/v1/teams/none/members/root"},
	} {
		a.token = token
		assert.Equal(t, http.StatusNotFound, s.ask(a).status, a.call)
	}
}

func askForConflicts(t *testing.T, given map[string]bool) {
	s, token := rooted(t, given, func(a *Accounts) { a.Proxy = &signin.Proxy{User: "{http.vars.user}"} })
	s.admin("POST /api/v1/users/root/identities", `{"issuer":"proxy","subject":"x"}`)
	s.UseLimits(limitsOf{new(aigateway.LimitQuery)})
	for _, a := range []testRequest{
		{call: "POST /api/token/", body: `{"name":"of the team","group":"small"}`}, {call: "POST /api/token/", body: `{"name":"own"}`},
		{call: "POST /api/v1/teams", body: `{"name":"small"}`}, {call: "POST /api/v1/teams", body: `{"name":"research"}`},
	} {
		a.token = token
		require.Equal(t, http.StatusOK, s.ask(a).status, a.call)
	}
	for _, a := range conflicts {
		a.token = token
		assert.Equal(t, http.StatusConflict, s.ask(a).status, a.call)
	}
	for i := range 101 {
		team := &aigateway.Team{Name: fmt.Sprint(i)}
		require.NoError(t, s.people.Store.Teams().Create(t.Context(), team))
		if i < people.MaxTeams-1 { // root is in one team already
			require.NoError(t, s.people.Store.Teams().SetMember(t.Context(), team.Name, 1, false, people.MaxTeams))
		}
	}
	assert.Equal(t, http.StatusConflict, s.ask(testRequest{call: "PUT /api/v1/teams/100/members/root", body: `{}`, token: token}).status)
	for i := range 100 - 2 {
		require.Equal(t, http.StatusOK, s.ask(testRequest{call: "POST /api/token/", body: fmt.Sprintf(`{"name":"%d"}`, i), token: token}).status)
	}
	for _, one := range []testRequest{{call: "POST /api/token/", body: `{"name":"one more"}`}, {call: "POST /api/v1/keys", body: `{"user":"root","name":"one more"}`}} {
		one.token = token
		assert.Equal(t, http.StatusConflict, s.ask(one).status, one.call)
	}
	// The password changes after it was verified, and before the new one is stored.
	root, err := s.people.Store.User(t.Context(), 1)
	require.NoError(t, err)
	hash := root.Password
	s.people.Hasher = changing{quick, func() {
		_, err := s.people.Store.ChangeUser(t.Context(), 1, 1, func(u *aigateway.User) error { u.Password = "changed"; return nil })
		require.NoError(t, err)
	}}
	for _, call := range []string{"PUT /api/user/self", "POST /api/v1/users/{name}/password"} {
		_, err := s.people.Store.ChangeUser(t.Context(), 1, 1, func(u *aigateway.User) error { u.Password = hash; return nil })
		require.NoError(t, err)
		assert.Equal(t, http.StatusConflict, s.ask(testRequest{call: withValues(call), body: bodies[call], token: token}).status, call)
	}
}

// changing is a hasher that calls a function while it hashes.
type changing struct {
	people.Argon2id
	happens func()
}

// Hash calls the function.
func (c changing) Hash(password []byte) ([]byte, error) {
	c.happens()
	return c.Argon2id.Hash(password)
}

// askTooMuch sends requests that need a hash while the queue is full.
func askTooMuch(t *testing.T, given map[string]bool) {
	s, token := rooted(t, given, nil)
	s.user("carol", aigateway.RoleUser) // number 2
	s.people.Queue = people.NewQueue(1)
	for range cap(s.people.Queue.Places) {
		s.people.Queue.Places <- struct{}{}
	}
	for _, call := range []string{
		"POST /api/user/login", "POST /api/user/register", "PUT /api/user/self", "POST /api/user/", "PUT /api/user/",
		"POST /api/v1/session", "POST /api/v1/registration", "POST /api/v1/users", "POST /api/v1/users/{name}/password",
	} {
		answer := s.ask(testRequest{call: withValues(call), body: bodies[call], token: token})
		assert.Equal(t, http.StatusTooManyRequests, answer.status, call)
		assert.Equal(t, "1", answer.header.Get("Retry-After"), call)
	}
}

func askWithoutStore(t *testing.T, given map[string]bool) {
	s, token := rooted(t, given, nil)
	s.people.Store = broken{s.people.Store}
	for _, o := range operations(t) {
		if o.Path == "/api/openapi.json" || strings.HasPrefix(o.Path, "/api/v1/signin") {
			continue
		}
		a := testRequest{call: o.Method + " " + withValues(o.Path), body: bodies[o.Method+" "+o.Path], token: token}
		answer := s.ask(a)
		assert.Equal(t, http.StatusServiceUnavailable, answer.status, a.call)
		assert.Equal(t, "2", answer.header.Get("Retry-After"), a.call)
	}
}

// askForSignIns signs in with every outcome, without the console, whose answers are redirections.
func askForSignIns(t *testing.T, given map[string]bool) {
	i := newIssuer(t)
	s, _ := rooted(t, given, func(a *Accounts) {
		a.ConsoleOff, a.ThrottleOff, a.Registration = true, false, false
		a.Issuers = []*signin.Issuer{i.settings(creating)}
		a.Proxy = &signin.Proxy{User: "{http.vars.user}", Rules: signin.Rules{Create: "user"}}
	})
	callback := func(spoil func(query url.Values), who aigateway.Claims) int {
		b := s.browser()
		query := i.authorize(b.begin("company"), who)
		spoil(query)
		return b.get("/api/v1/signin/company/callback?" + query.Encode()).status
	}
	right := func(url.Values) {}
	assert.Equal(t, http.StatusOK, callback(right, person("alice")))
	assert.Equal(t, http.StatusBadRequest, callback(func(q url.Values) { q.Del("state") }, nil))
	assert.Equal(t, http.StatusForbidden, callback(func(q url.Values) { q.Set("error", "access_denied") }, nil))
	assert.Equal(t, http.StatusConflict, callback(right, person("root")))
	assert.Equal(t, http.StatusBadGateway, callback(right, aigateway.Claims{}))
	assert.Equal(t, http.StatusServiceUnavailable, callback(func(url.Values) {
		i.answer = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }
	}, nil))
	assert.Equal(t, http.StatusNotFound, s.browser().get("/api/v1/signin/nobody/callback").status)
	assert.Equal(t, http.StatusNotFound, s.browser().get("/api/v1/signin/nobody").status)
	for range 20 {
		s.browser().get("/api/v1/signin/company/callback")
	}
	assert.Equal(t, http.StatusTooManyRequests, s.browser().get("/api/v1/signin/company/callback").status)
	begin := testRequest{call: "GET /api/v1/signin/nobody", peer: "198.51.100.1:1"}
	for s.ask(begin).status == http.StatusNotFound {
		continue // until sign-ins of the network are throttled
	}
	assert.Equal(t, http.StatusTooManyRequests, s.ask(begin).status)
	for user, status := range map[string]int{"bob": http.StatusOK, "": http.StatusForbidden, "root": http.StatusConflict} {
		assert.Equal(t, status, s.ask(testRequest{call: "GET /api/v1/signin/proxy", vars: map[string]any{"user": user}}).status)
	}
	for status, answer := range map[int]http.HandlerFunc{
		http.StatusServiceUnavailable: i.answer,
		http.StatusBadGateway:         func(w http.ResponseWriter, _ *http.Request) { writeDocument(w, map[string]any{"issuer": "x"}) },
	} {
		i.answer = answer
		again, _ := rooted(t, given, func(a *Accounts) { a.ConsoleOff, a.Issuers = true, []*signin.Issuer{i.settings(nil)} })
		assert.Equal(t, status, again.browser().get("/api/v1/signin/company").status)
	}
	i.answer = nil
	shown, _ := rooted(t, given, func(a *Accounts) { a.Issuers = []*signin.Issuer{i.settings(creating)} })
	assert.Equal(t, home, shown.browser().signIn(i, person("alice")))
}
