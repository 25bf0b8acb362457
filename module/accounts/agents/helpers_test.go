package agents

import (
	"context"
	"database/sql"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/call"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/people"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/store/sqlite"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest/openapi"
)

// gateway is the agents of a gateway with its own database, and a clock that tests set.
type gateway struct {
	*Agents
	t     *testing.T
	alice *aigateway.User
	path  string // of the database
	from  string // the address and port of programs; empty for 192.0.2.1:1234

	mu  sync.Mutex
	now time.Time
}

func newGateway(t *testing.T, change func(*Agents)) *gateway {
	g := &gateway{Agents: new(Agents), t: t, now: time.Now(), path: filepath.Join(t.TempDir(), "gateway.db")}
	if change != nil {
		change(g.Agents)
	}
	g.open()
	g.alice = g.user("alice")
	return g
}

// open opens the store.
func (g *gateway) open() {
	t := g.t
	ctx, cancel := caddy.NewContext(caddy.Context{Context: context.Background()})
	t.Cleanup(cancel)
	store := &sqlite.SQLite{Path: g.path}
	require.NoError(t, store.Provision(ctx))
	store.Open()
	of := people.New(people.Settings{KeyLimit: "staff"}, people.Throttles{Logger: zap.NewNop()})
	of.UseStore(store)
	t.Cleanup(func() {
		assert.NoError(t, of.Release())
		assert.NoError(t, store.Cleanup())
	})
	require.NoError(t, g.Provision(of))
	require.NoError(t, g.Validate())
	g.clock = func() time.Time {
		g.mu.Lock()
		defer g.mu.Unlock()
		return g.now
	}
}

// twin returns another gateway with the same store.
func (g *gateway) twin() *gateway {
	other := &gateway{Agents: new(Agents), t: g.t, now: g.clock(), path: g.path, alice: g.alice}
	other.open()
	return other
}

func (g *gateway) user(name string) *aigateway.User {
	user := &aigateway.User{Name: name, Role: aigateway.RoleUser, Password: "-"}
	require.NoError(g.t, g.people.Store.CreateUser(g.t.Context(), user))
	return user
}

// wait sets the clock forward.
func (g *gateway) wait(d time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.now = g.now.Add(d)
}

// as returns a call of a user.
func (g *gateway) as(user *aigateway.User) *call.Call {
	c := call.New(httptest.NewRecorder(), httptest.NewRequestWithContext(g.t.Context(), "POST", "/", nil), g.people.Store, nil)
	c.User = user
	c.ActAs(user, 0)
	return c
}

// program is the strict fake of Claude Code: it sends what Claude Code sends, and reads what it reads.
type program struct {
	*gateway
	device, code    string
	access, refresh string
	lasts           float64 // seconds
}

// send sends a request as Claude Code does.
func (g *gateway) send(method, path string, form url.Values, header http.Header) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(g.t.Context(), method, path, strings.NewReader(form.Encode()))
	r.Header = header.Clone()
	if header == nil {
		r.Header = http.Header{"Content-Type": {"application/x-www-form-urlencoded"}, "User-Agent": {"claude-code/2.1.332"}}
	}
	if g.from != "" {
		r.RemoteAddr = g.from
	}
	require.True(g.t, g.Serves(r.URL.Path), path)
	w := httptest.NewRecorder()
	c := call.New(w, r, g.people.Store, nil)
	c.ActAs(nil, 0)
	g.Serve(w, c)
	g.check(method, r.URL.Path, w)
	return w
}

// check compares an answer with the description of the API.
func (g *gateway) check(method, path string, w *httptest.ResponseRecorder) {
	g.t.Helper()
	switch described := document(g.t); {
	case w.Header().Get("Content-Type") == "application/json" && w.Code < http.StatusBadRequest:
		assert.Empty(g.t, described.Check(method, path, w.Code, w.Body.Bytes()), path)
	case w.Header().Get("Content-Type") == "application/json":
		refused := "OAuthError"
		if path == settingsPath || path == usagePath {
			refused = "MessagesError"
		}
		if w.Code != http.StatusMethodNotAllowed {
			assert.Empty(g.t, described.CheckResponse(described.Component(refused), w.Body.Bytes()), path)
		}
	}
}

// document returns the description of the API. Parsing takes longer than a sign-in.
func document(t *testing.T) *openapi.Document {
	parse.Do(func() {
		text, err := os.ReadFile("../openapi.json")
		require.NoError(t, err)
		parsed = openapi.ParseDocument(t, text)
	})
	return parsed
}

var (
	parse  sync.Once
	parsed *openapi.Document
)

func (g *gateway) post(path string, form url.Values) (int, map[string]any) {
	g.t.Helper()
	w := g.send("POST", path, form, nil)
	var members map[string]any
	require.NoError(g.t, json.Unmarshal(w.Body.Bytes(), &members), w.Body.String())
	assert.Equal(g.t, "no-store", w.Header().Get("Cache-Control"))
	return w.Code, members
}

// program begins a sign-in at the endpoint of the metadata.
func (g *gateway) program() *program {
	g.t.Helper()
	var metadata map[string]any
	require.NoError(g.t, json.Unmarshal(g.send("GET", "/.well-known/oauth-authorization-server", nil, nil).Body.Bytes(), &metadata))
	for _, name := range []string{"device_authorization_endpoint", "token_endpoint", "revocation_endpoint"} {
		assert.True(g.t, strings.HasPrefix(metadata[name].(string), "http://example.com/oauth/"), "Claude Code reads endpoints of the same origin alone")
	}
	status, answer := g.post("/oauth/device_authorization", url.Values{"surface": {"claude_code"}, "unknown": {"parameters are ignored"}})
	require.Equal(g.t, http.StatusOK, status, answer)
	p := &program{gateway: g, device: answer["device_code"].(string), code: answer["user_code"].(string)}
	assert.Regexp(g.t, `^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$`, p.code)
	assert.Equal(g.t, []any{"http://example.com/device", 600.0, 5.0}, []any{answer["verification_uri"], answer["expires_in"], answer["interval"]})
	assert.NotContains(g.t, answer, "verification_uri_complete", "a link with a code can be sent to somebody else")
	return p
}

// poll waits as long as it must, and asks for tokens. It returns the error code, "" for none.
func (p *program) poll() string {
	p.t.Helper()
	p.wait(pause)
	return p.pollAtOnce()
}

func (p *program) pollAtOnce() string {
	p.t.Helper()
	return p.tokens(url.Values{"grant_type": {deviceGrant}, "device_code": {p.device}})
}

// renew waits as long as it must, and refreshes the tokens with a refresh token.
func (p *program) renew(token string) string {
	p.t.Helper()
	p.wait(pause)
	return p.renewAtOnce(token)
}

func (p *program) renewAtOnce(token string) string {
	p.t.Helper()
	return p.tokens(url.Values{"grant_type": {"refresh_token"}, "refresh_token": {token}})
}

func (p *program) tokens(form url.Values) string {
	p.t.Helper()
	status, answer := p.post("/oauth/token", form)
	if status != http.StatusOK {
		code, _ := answer["error"].(string)
		require.NotEmpty(p.t, code)
		assert.Equal(p.t, code == "invalid_grant", status == http.StatusUnauthorized, "Claude Code forgets the token at this")
		return code
	}
	assert.Equal(p.t, []any{"Bearer", "alice"}, []any{answer["token_type"], answer["email"]})
	p.access, p.refresh, p.lasts = answer["access_token"].(string), answer["refresh_token"].(string), answer["expires_in"].(float64)
	return ""
}

// use records a use of the keys, as the store does once a minute.
func (p *program) use() {
	db, err := sql.Open("sqlite", p.path)
	require.NoError(p.t, err)
	defer db.Close()
	_, err = db.ExecContext(p.t.Context(), `UPDATE gateway_keys SET used = $1`, p.clock().UnixMilli())
	require.NoError(p.t, err)
}

// touch makes the store read the keys of alice anew.
func (p *program) touch() {
	_, err := p.people.Store.ChangeUser(p.t.Context(), p.alice.ID, 0, func(u *aigateway.User) error { u.Role = aigateway.RoleAdmin; return nil })
	require.NoError(p.t, err)
}

// works reports whether the door of the gateway knows a token now, which counts as a use of the token.
func (g *gateway) works(token string) bool {
	key := g.people.Store.Lookup(call.Digest(token))
	return key != nil && !key.Disabled && g.clock().Before(key.Expires)
}

// signedIn returns a program that alice has let in.
func signedIn(t *testing.T, change func(*Agents)) *program {
	p := newGateway(t, change).program()
	require.NoError(t, p.Confirm(p.as(p.alice), p.code, ""))
	require.Empty(t, p.poll())
	return p
}

func (g *gateway) keys() []aigateway.StoredKey {
	keys, _, err := g.people.Store.Keys(g.t.Context(), aigateway.AnyUser, aigateway.Page{Limit: 100})
	require.NoError(g.t, err)
	return keys
}
