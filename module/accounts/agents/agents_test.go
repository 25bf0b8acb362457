package agents

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
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
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/throttle"
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

// The description of the API lacked the sign-in of agents.
func TestTheDescriptionOfTheAPIHasEachPath(t *testing.T) {
	methods := make(map[string]string)
	for _, o := range document(t).Operations("/") {
		methods[o.Path] = o.Method
	}
	for path, e := range endpoints {
		assert.Equal(t, e.method, methods[path], path)
	}
}

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

// works reports whether the door of the gateway knows a token now.
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

func TestAProgramSignsInAsThePersonWhoConfirms(t *testing.T) {
	g := newGateway(t, nil)
	p := g.program()
	assert.Equal(t, "authorization_pending", p.poll())
	waiting, err := g.Waiting(g.as(g.alice), " "+strings.ToLower(strings.ReplaceAll(p.code, "-", " ")))
	require.NoError(t, err, "in any case, with any signs between the letters")
	assert.Equal(t, []any{"claude-code/2.1.332", "192.0.2.1"}, []any{waiting.Agent, waiting.Address})
	require.NoError(t, g.Confirm(g.as(g.alice), p.code, ""))
	require.Empty(t, p.poll())
	assert.InDelta(t, 3600, p.lasts, 0)
	assert.True(t, p.works(p.access))
	keys := g.keys()
	require.Len(t, keys, 1)
	assert.Equal(t, []any{g.alice.ID, "claude-code/2.1.332 at 192.0.2.1", "staff"}, []any{keys[0].UserID, keys[0].Name, keys[0].Bounds.Limit})
	g.wait(time.Hour)
	assert.False(t, p.works(p.access))
}

func TestARefusedProgramGetsNothing(t *testing.T) {
	p := newGateway(t, nil).program()
	require.NoError(t, p.Deny(p.as(p.alice), p.code))
	assert.Equal(t, "access_denied", p.poll())
	require.ErrorIs(t, p.Confirm(p.as(p.alice), p.code, ""), ErrCode)
	assert.Empty(t, p.keys())
}

func TestACodeEndsAfterTenMinutes(t *testing.T) {
	p := newGateway(t, nil).program()
	p.wait(codeFor)
	assert.Equal(t, "expired_token", p.poll())
}

// The code of a sign-in that a person had confirmed was worth tokens until the end of the session,
// for whoever found it.
func TestAConfirmedCodeEndsAfterTenMinutes(t *testing.T) {
	p := newGateway(t, nil).program()
	require.NoError(t, p.Confirm(p.as(p.alice), p.code, ""))
	p.wait(codeFor)
	assert.Equal(t, "expired_token", p.poll())
}

// Twenty requests with invented tokens, for which nobody needs an account, once stopped all programs
// and all sign-ins at issuers of a network for minutes.
func TestInventedTokensHoldUpNobody(t *testing.T) {
	p := signedIn(t, nil)
	for range 50 {
		require.Equal(t, "invalid_grant", p.tokens(url.Values{"grant_type": {refreshGrant}, "refresh_token": {"refresh_x.y"}}))
		require.Equal(t, "expired_token", p.tokens(url.Values{"grant_type": {deviceGrant}, "device_code": {"device_x"}}))
	}
	require.Empty(t, p.renew(p.refresh))
	attempt, err := p.people.BeginSignIn(p.as(p.alice))
	require.NoError(t, err)
	attempt.End(throttle.Undecided)
}

// Each pair of tokens is a row of the audit log: a program once filled it with hundreds a second. Claude Code
// renews a short token as soon as it has it, so that a pause between two is no answer to that.
func TestRefreshesCountAsChangesOfTheUser(t *testing.T) {
	p := signedIn(t, nil)
	old, refused := p.refresh, ""
	for range 1000 { // a few more are accepted while the test runs
		before := p.refresh
		if refused = p.renewAtOnce(p.refresh); refused != "" {
			break
		}
		old = before
	}
	assert.Equal(t, "temporarily_unavailable", refused)
	assert.Empty(t, p.renewAtOnce(old), "the same tokens once more are no new row")
}

// A gateway whose clock was behind that of another one refused to refresh and to revoke, as polls
// that are too fast.
func TestTheClocksOfTwoGatewaysNeedNotAgree(t *testing.T) {
	p := signedIn(t, nil)
	p.wait(-pause - 30*time.Second)
	require.Empty(t, p.renew(p.refresh))
	p.wait(-30 * time.Second)
	status, answer := p.post(revokePath, url.Values{"token": {p.refresh}})
	assert.Equal(t, http.StatusOK, status, answer)
	assert.Empty(t, p.keys())
}

func TestAProgramThatPollsTooFastIsSlowedDown(t *testing.T) {
	p := newGateway(t, nil).program()
	assert.Equal(t, "authorization_pending", p.poll())
	assert.Equal(t, "slow_down", p.pollAtOnce())
	p.wait(pause - tolerance) // clocks and networks are not exact
	assert.Equal(t, "authorization_pending", p.pollAtOnce())
}

// A program whose connection ended at the answer with the tokens had lost the sign-in, and the person a key that
// nobody could use.
func TestALostAnswerWithTokensIsRepeated(t *testing.T) {
	p := signedIn(t, nil)
	lost, refresh := p.access, p.refresh
	require.Empty(t, p.poll())
	assert.NotEqual(t, lost, p.access)
	assert.Equal(t, []bool{false, true}, []bool{p.works(lost), p.works(p.access)}, "there is one pair at any time")
	assert.Len(t, p.keys(), 1)
	require.Empty(t, p.renew(p.refresh))
	assert.Equal(t, "invalid_grant", p.renew(refresh), "of two who have a code, the program notices")
	assert.False(t, p.works(p.access), "and the sign-in of both ends")
}

// A device code that somebody else has found is worth as little as before answers were repeated.
func TestADeviceCodeIsRedeemedAgainForALostAnswerAlone(t *testing.T) {
	for name, c := range map[string]struct {
		before func(*program)
		want   string
		ended  bool
	}{
		"after the window":     {func(p *program) { p.wait(grace) }, "expired_token", false},
		"after a use":          {(*program).use, "expired_token", false},
		"after a refresh":      {func(p *program) { require.Empty(p.t, p.renew(p.refresh)) }, "expired_token", false},
		"from another address": {func(p *program) { p.from = "198.51.100.7:1234" }, "expired_token", false},
		"a user disabled": {func(p *program) {
			_, err := p.people.Store.ChangeUser(p.t.Context(), p.alice.ID, 0, func(u *aigateway.User) error { u.Disabled = true; return nil })
			require.NoError(p.t, err)
		}, "invalid_grant", true},
		"a key deleted": {func(p *program) {
			require.NoError(p.t, p.people.Store.DeleteKey(p.t.Context(), p.alice.ID, p.keys()[0].ID))
		}, "expired_token", true},
		"a sign-in revoked": {func(p *program) {
			status, _ := p.post(revokePath, url.Values{"token": {p.refresh}})
			require.Equal(p.t, http.StatusOK, status)
		}, "expired_token", true},
	} {
		t.Run(name, func(t *testing.T) {
			p := signedIn(t, nil)
			c.before(p)
			assert.Equal(t, c.want, p.poll())
			assert.Equal(t, c.ended, !p.works(p.access))
		})
	}
	p := signedIn(t, nil)
	assert.Equal(t, "slow_down", p.pollAtOnce(), "at the pace of polls")
	p.wait(pause)
	another := http.Header{"Content-Type": {"application/x-www-form-urlencoded"}, "User-Agent": {"curl/8"}}
	w := p.send("POST", tokenPath, url.Values{"grant_type": {deviceGrant}, "device_code": {p.device}}, another)
	assert.Contains(t, w.Body.String(), "expired_token", "another program")
	assert.True(t, p.works(p.access))
	for range int(codeFor / grace) { // each answer is lost
		if p.poll() == "expired_token" {
			break
		}
		p.wait(grace - pause)
	}
	assert.Equal(t, "expired_token", p.poll(), "no longer than the code is valid")
	for _, other := range []string{"device_x", "", strings.ToUpper(p.device), p.refresh} {
		p.device = other
		assert.NotEmpty(t, p.poll())
	}
}

// Of several requests with one device code at once, the tokens of one remain.
func TestTokenRequestsAtOnce(t *testing.T) {
	p := newGateway(t, nil).program()
	require.NoError(t, p.Confirm(p.as(p.alice), p.code, ""))
	gateways := []*gateway{p.gateway, p.twin()}
	var all sync.WaitGroup
	answers := make([]*httptest.ResponseRecorder, 6)
	for i := range answers {
		all.Go(func() {
			g := gateways[i%2]
			g.wait(pause)
			answers[i] = g.send("POST", "/oauth/token", url.Values{"grant_type": {deviceGrant}, "device_code": {p.device}}, nil)
		})
	}
	all.Wait()
	var issued []string
	for _, w := range answers {
		var got tokenView
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &got))
		if w.Code == http.StatusOK {
			issued = append(issued, got.Access)
		} else {
			assert.Contains(t, w.Body.String(), "slow_down")
		}
	}
	assert.NotEmpty(t, issued)
	for _, g := range gateways {
		assert.EventuallyWithT(t, func(c *assert.CollectT) {
			assert.Len(c, slices.DeleteFunc(slices.Clone(issued), func(token string) bool { return !g.works(token) }), 1)
		}, 20*time.Second, 50*time.Millisecond, "gateways see the changes of another within two seconds")
	}
	assert.Len(t, p.keys(), 1)
}

func TestARefreshRotatesBothTokens(t *testing.T) {
	p := signedIn(t, nil)
	first, old := p.refresh, p.access
	p.wait(50 * time.Minute)
	require.Empty(t, p.renew(p.refresh))
	assert.NotEqual(t, first, p.refresh)
	assert.True(t, p.works(p.access))
	assert.True(t, p.works(old), "requests of another process have it")
	p.wait(overlap)
	assert.False(t, p.works(old))
	p.wait(24 * time.Hour)
	require.Empty(t, p.renew(p.refresh), "the laptop was closed for a day")
	assert.True(t, p.works(p.access))
	assert.Len(t, p.keys(), 1)
}

// Processes of one program refresh at once, and answers are lost: whoever signs people out then
// signs them out for no reason.
func TestARefreshThatIsRepeatedReturnsTheSameTokens(t *testing.T) {
	p := signedIn(t, nil)
	first := p.refresh
	require.Empty(t, p.renew(first))
	access, refresh := p.access, p.refresh
	p.wait(grace - pause)
	require.Empty(t, p.renew(first))
	assert.Equal(t, []string{access, refresh}, []string{p.access, p.refresh})
	p.wait(8 * time.Hour) // nobody has used the tokens: the answer was lost
	require.Empty(t, p.renew(first))
	assert.Equal(t, refresh, p.refresh)
	assert.InDelta(t, 1, p.lasts, 0, "expires_in was below 0, which some clients do not read")
	require.Empty(t, p.renew(p.refresh))
	assert.True(t, p.works(p.access))
}

// use records a use of the keys, as the store does once a minute.
func (p *program) use() {
	db, err := sql.Open("sqlite", p.path)
	require.NoError(p.t, err)
	defer db.Close()
	_, err = db.ExecContext(p.t.Context(), `UPDATE gateway_keys SET used = $1`, p.clock().UnixMilli())
	require.NoError(p.t, err)
}

// A thief who is first gets the tokens, and the program is then the second: both are out.
func TestOfTwoWhoHaveARefreshTokenNeitherStays(t *testing.T) {
	p := signedIn(t, nil)
	shared := p.refresh
	require.Empty(t, p.renew(shared))
	access := p.access
	p.wait(unseen + time.Second)
	p.use()
	assert.Equal(t, "invalid_grant", p.renew(shared))
	assert.False(t, p.works(access))
	assert.Empty(t, p.keys())
}

func TestAStolenRefreshTokenEndsTheSignIn(t *testing.T) {
	p := signedIn(t, nil)
	stolen := p.refresh
	require.Empty(t, p.renew(p.refresh))
	require.Empty(t, p.renew(p.refresh))
	access := p.access
	assert.Equal(t, "invalid_grant", p.renew(stolen), "one of any generation before the last")
	assert.False(t, p.works(access), "nobody knows which of the two is the thief")
	assert.Equal(t, "invalid_grant", p.renew(p.refresh))
	assert.Empty(t, p.keys())
}

func TestARevokedSignInHasEnded(t *testing.T) {
	p := signedIn(t, nil)
	for _, other := range []string{p.access, "unknown", "sk-x", "refresh_x.y", "refresh_"} {
		status, _ := p.post("/oauth/revoke", url.Values{"token": {other}})
		assert.Equal(t, http.StatusOK, status, "RFC 7009 has no error for tokens that do not exist")
		assert.True(t, p.works(p.access))
	}
	status, _ := p.post("/oauth/revoke", url.Values{"token": {p.refresh}, "token_type_hint": {"refresh_token"}})
	assert.Equal(t, http.StatusOK, status)
	assert.False(t, p.works(p.access))
	assert.Equal(t, "invalid_grant", p.renew(p.refresh))
}

// Who is disabled, leaves the team of the sign-in, or deletes its key, is out at once.
func TestASignInEndsWithThePerson(t *testing.T) {
	for name, end := range map[string]func(*program) error{
		"disabled": func(p *program) error {
			_, err := p.people.Store.ChangeUser(p.t.Context(), p.alice.ID, 0, func(u *aigateway.User) error { u.Disabled = true; return nil })
			return err
		},
		"deleted": func(p *program) error {
			return p.people.Store.DeleteUser(p.t.Context(), p.alice.ID, func(*aigateway.User) error { return nil })
		},
		"left the team": func(p *program) error {
			return p.people.Store.Teams().RemoveMember(p.t.Context(), "research", p.alice.ID, true)
		},
		"key deleted": func(p *program) error {
			return p.people.Store.DeleteKey(p.t.Context(), p.alice.ID, p.keys()[0].ID)
		},
		"key disabled": func(p *program) error {
			_, err := p.people.Store.ChangeKey(p.t.Context(), p.alice.ID, p.keys()[0].ID, func(k *aigateway.StoredKey) error { k.Disabled = true; return nil })
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newGateway(t, nil).program()
			teams := p.people.Store.Teams()
			require.NoError(t, teams.Create(t.Context(), &aigateway.Team{Name: "research"}))
			require.Error(t, p.Confirm(p.as(p.alice), p.code, "research"), "alice is no member")
			require.NoError(t, teams.SetMember(t.Context(), "research", p.alice.ID, false, 9))
			require.NoError(t, p.Confirm(p.as(p.alice), p.code, "research"))
			require.Empty(t, p.poll())
			require.Equal(t, "research", p.keys()[0].Bounds.Limit)
			require.NoError(t, end(p))
			assert.False(t, p.works(p.access))
			assert.Equal(t, "invalid_grant", p.renew(p.refresh))
		})
	}
}

func TestASignInEndsAfterItsSession(t *testing.T) {
	p := signedIn(t, func(a *Agents) { a.Access, a.Session = caddy.Duration(time.Hour), caddy.Duration(90*time.Minute) })
	p.wait(time.Hour)
	require.Empty(t, p.renew(p.refresh))
	assert.InDelta(t, 1800-2*pause.Seconds(), p.lasts, 6, "no longer than the session")
	p.wait(time.Hour)
	assert.Equal(t, "invalid_grant", p.renew(p.refresh))
}

// A user may guess five codes, and one more each minute: 34 bits last.
func TestGuessesOfCodesAreThrottled(t *testing.T) {
	g := newGateway(t, nil)
	p := g.program()
	for range 5 {
		_, err := g.Waiting(g.as(g.alice), "BBBB-BBBB")
		require.ErrorIs(t, err, ErrCode)
	}
	_, err := g.Waiting(g.as(g.alice), p.code)
	require.ErrorContains(t, err, "too many attempts", "the right one is not checked either")
	_, err = g.Waiting(g.as(g.user("bob")), p.code)
	require.NoError(t, err, "another user is not held up")
}

func TestSignInsOfANetworkAreThrottled(t *testing.T) {
	g := newGateway(t, nil)
	var w *httptest.ResponseRecorder
	for range 1000 { // a few more are accepted while the test runs
		if w = g.send("POST", "/oauth/device_authorization", nil, nil); w.Code != http.StatusOK {
			break
		}
	}
	assert.Equal(t, http.StatusTooManyRequests, w.Code)
	assert.Contains(t, w.Body.String(), `"error":"slow_down"`)
	assert.NotEmpty(t, w.Header().Get("Retry-After"))
}

func TestRequestsThatAreNoneOfTheProtocol(t *testing.T) {
	g := newGateway(t, nil)
	form := http.Header{"Content-Type": {"application/x-www-form-urlencoded; charset=utf-8"}}
	for name, c := range map[string]struct {
		method, path string
		form         url.Values
		header       http.Header
		status       int
		want         string
	}{
		"method":        {"GET", tokenPath, nil, form, 405, "this path accepts POST"},
		"JSON":          {"POST", tokenPath, nil, http.Header{"Content-Type": {"application/json"}}, 400, "the body must be a form"},
		"no grant":      {"POST", tokenPath, url.Values{}, form, 400, "unsupported_grant_type"},
		"another grant": {"POST", tokenPath, url.Values{"grant_type": {"password"}}, form, 400, "unsupported_grant_type"},
		"no code":       {"POST", tokenPath, url.Values{"grant_type": {deviceGrant}}, form, 400, "device_code is required"},
		"twice":         {"POST", tokenPath, url.Values{"grant_type": {deviceGrant, refreshGrant}}, form, 400, "is given twice"},
		"too large":     {"POST", tokenPath, url.Values{"a": {strings.Repeat("a", maxForm)}}, form, 400, "at most 16384 bytes"},
		"no token":      {"POST", revokePath, url.Values{}, form, 400, "token is required"},
	} {
		t.Run(name, func(t *testing.T) {
			w := g.send(c.method, c.path, c.form, c.header)
			assert.Equal(t, c.status, w.Code)
			assert.Contains(t, w.Body.String(), c.want)
		})
	}
	w := g.send("GET", "/device?user_code=BBBB-BBBB", nil, nil)
	assert.Equal(t, []any{http.StatusSeeOther, "console/device"}, []any{w.Code, w.Header().Get("Location")}, "the code of a link is left out")
	assert.Contains(t, g.send("GET", "/protocol", nil, nil).Body.String(), tokenPath)
}

// The store has no secret, and no token follows from what it has.
func TestTheStoreHasNoSecretOfASignIn(t *testing.T) {
	p := signedIn(t, nil)
	require.Empty(t, p.renew(p.refresh))
	for _, suffix := range []string{"", "-wal"} {
		content, err := os.ReadFile(p.path + suffix)
		require.NoError(t, err)
		for _, secret := range []string{p.device, p.code, p.access, p.refresh, strings.TrimPrefix(p.device, devicePrefix), strings.ReplaceAll(p.code, "-", "")} {
			assert.NotContains(t, string(content), secret)
		}
	}
}

// away is a reader of limits whose ledger cannot be read.
type away struct{ aigateway.LimitReader }

func (away) Limits(context.Context, aigateway.LimitQuery) (aigateway.LimitPage, error) {
	return aigateway.LimitPage{}, aigateway.ErrUnavailable
}

// The answer had no Retry-After, which all other answers of accounts with this error have.
func TestUsageThatCannotBeReadIsAskedForLater(t *testing.T) {
	p := signedIn(t, nil)
	p.people.Limits = away{}
	got := p.send("GET", usagePath, nil, http.Header{"Authorization": {"Bearer " + p.access}})
	assert.Equal(t, []any{http.StatusServiceUnavailable, "2"}, []any{got.Code, got.Header().Get("Retry-After")})
	assert.Contains(t, got.Body.String(), `"type":"api_error"`)
}

// states is a reader of limits with these states.
type states struct {
	aigateway.LimitReader
	list []aigateway.LimitState
}

func (s states) Limits(context.Context, aigateway.LimitQuery) (aigateway.LimitPage, error) {
	return aigateway.LimitPage{States: s.list}, nil
}

// A member saw what a team had spent, which members do not see elsewhere.
func TestTheAmountsOfATeamAreNotShown(t *testing.T) {
	budget := func(per aigateway.Scope, used int64) aigateway.LimitState {
		return aigateway.LimitState{Rule: "budget", Per: per, Period: "month", Amount: 100e6, Used: used, Currency: "USD"}
	}
	const row = `{"kind":"spend","group":"monthly","percent":%d,"resets_at":null,"severity":%q,"is_active":%t}`
	own, amounts := budget(aigateway.PerUser, 50e6), `"extra_usage":{"is_enabled":true,"monthly_limit":10000,"used_credits":5000,"utilization":50,"currency":"USD"},`
	p := signedIn(t, nil)
	for _, c := range []struct {
		team             int64 // spent
		amounts, of, own string
	}{
		{20e6, amounts, fmt.Sprintf(row, 20, "normal", false), fmt.Sprintf(row, 50, "normal", true)},
		{80e6, "", fmt.Sprintf(row, 80, "warning", true), fmt.Sprintf(row, 50, "normal", false)},
	} {
		p.people.Limits = states{list: []aigateway.LimitState{budget(aigateway.PerGroup, c.team), own}}
		got := p.send("GET", usagePath, nil, http.Header{"Authorization": {"Bearer " + p.access}})
		assert.JSONEq(t, `{`+c.amounts+`"limits":[`+c.of+`,`+c.own+`]}`, got.Body.String())
	}
}

func TestSettingsFollowGroupsAndTeams(t *testing.T) {
	dir := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		return path
	}
	p := signedIn(t, func(a *Agents) {
		a.Settings = []*Settings{
			{File: file("a.json", `{"model":"a"}`), Groups: []string{"research"}},
			{File: file("b.json", "{\n\t\"z\": 1.0, \"env\": {\"b\": \"<é>\", \"a\": null}}\n"), Groups: []string{"dev", "ops"}},
		}
	})
	ask := func(token, known string) *httptest.ResponseRecorder {
		return p.send("GET", settingsPath, nil, http.Header{"Authorization": {"Bearer " + token}, "If-None-Match": {known}})
	}
	assert.Equal(t, http.StatusNotFound, ask(p.access, "").Code)
	link := aigateway.Identity{Issuer: "https://login.example.com", Subject: "7", UserID: p.alice.ID, Groups: []string{"ops"}}
	identities := p.people.Store.(aigateway.IdentityStore)
	require.NoError(t, identities.LinkIdentity(t.Context(), link, 1))
	_, err := identities.SignIn(t.Context(), link, nil, func(*aigateway.User) error { return nil })
	require.NoError(t, err)
	got := ask(p.access, "")
	// The client computes the sum of what it has, with sorted keys and without spaces.
	const sum = "sha256:d6ca56fca516a9869f170e2299efebb8a1bcb015f38747ad4a95bcf21173a69f"
	assert.JSONEq(t, `{"uuid":"`+sum+`","checksum":"`+sum+`","settings":{"env":{"a":null,"b":"<é>"},"z":1}}`, got.Body.String())
	assert.Equal(t, `"`+sum+`"`, got.Header().Get("ETag"))
	assert.Equal(t, http.StatusNotModified, ask(p.access, `"`+sum+`"`).Code)
	require.NoError(t, p.people.Store.Teams().Create(t.Context(), &aigateway.Team{Name: "research"}))
	require.NoError(t, p.people.Store.Teams().SetMember(t.Context(), "research", p.alice.ID, false, 9))
	assert.Contains(t, ask(p.access, "").Body.String(), `"settings":{"model":"a"}`, "the first that matches")
	// The settings once ignored the networks of a key.
	elsewhere := func(k *aigateway.StoredKey) error {
		k.Bounds.Networks = []netip.Prefix{netip.MustParsePrefix("198.51.100.0/24")}
		return nil
	}
	_, err = p.people.Store.ChangeKey(t.Context(), p.alice.ID, p.keys()[0].ID, elsewhere)
	require.NoError(t, err)
	outside := ask(p.access, "")
	assert.Equal(t, http.StatusForbidden, outside.Code)
	assert.Contains(t, outside.Body.String(), `"type":"permission_error"`)
	for _, wrong := range []string{"", "sk-x", p.refresh} {
		refused := ask(wrong, "")
		assert.Equal(t, []any{http.StatusUnauthorized, "false"}, []any{refused.Code, refused.Header().Get("X-Should-Retry")})
		assert.Contains(t, refused.Body.String(), `"type":"authentication_error"`)
	}
}

// Claude Code counted the costs of all models but those of Claude at the price of an unknown one.
func TestSettingsHaveThePricesOfModels(t *testing.T) {
	dir := t.TempDir()
	file := func(content string) *Settings {
		s := &Settings{File: filepath.Join(dir, "s.json")}
		require.NoError(t, os.WriteFile(s.File, []byte(content), 0o600))
		return s
	}
	prices := []aigateway.ModelPrice{
		{Model: "claude-sonnet-5", Upstream: "claude-sonnet-5", Builtin: true, Input: 3, Output: 15},
		{Model: "claude-opus-5", Upstream: "claude-opus-5", Input: 4.5, Output: 22.5, CacheRead: 0.45, CacheWrite: 5.625},
		{Model: "fast", Upstream: "claude-haiku-4-5", Builtin: true, Input: 1, Output: 5, CacheRead: 0.1, CacheWrite: 1.25},
		{Model: "free", Upstream: "qwen"},
		{Model: "image", Upstream: "image", Input: 1, Output: highestRate + 1},
		{Model: "secret", Upstream: "secret", Input: 1},
	}
	const priced = `"modelPricing":{"overrides":{"claude-opus-5":{"cacheRead":0.45,"cacheWrite":5.625,"input":4.5,"output":22.5},` +
		`"fast":{"cacheRead":0.1,"cacheWrite":1.25,"input":1,"output":5},"free":{"cacheRead":0,"cacheWrite":0,"input":0,"output":0}}}`
	for content, want := range map[string]string{
		`{"model":"fast"}`:                    `{"model":"fast",` + priced + `}`,
		`{}`:                                  `{` + priced + `}`,
		`{"modelPricing":{}}`:                 `{"modelPricing":{}}`,
		`{"modelPricing":{"multiplier":0.9}}`: `{"modelPricing":{"multiplier":0.9}}`,
	} {
		p := signedIn(t, func(a *Agents) { a.Settings = []*Settings{file(content)} })
		p.UsePrices(func(allowed func(string) bool) []aigateway.ModelPrice {
			return slices.DeleteFunc(slices.Clone(prices), func(of aigateway.ModelPrice) bool { return !allowed(of.Model) })
		})
		_, err := p.people.Store.ChangeKey(t.Context(), p.alice.ID, p.keys()[0].ID, func(k *aigateway.StoredKey) error {
			k.Bounds.Models = []string{"claude-*", "f*", "image"}
			return nil
		})
		require.NoError(t, err)
		ask := func(known string) *httptest.ResponseRecorder {
			return p.send("GET", settingsPath, nil, http.Header{"Authorization": {"Bearer " + p.access}, "If-None-Match": {known}})
		}
		got := ask("")
		sum := fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(want))) // of sorted keys, as the client computes it
		assert.Equal(t, `{"uuid":"`+sum+`","checksum":"`+sum+`","settings":`+want+`}`, got.Body.String())
		assert.Equal(t, http.StatusNotModified, ask(got.Header().Get("ETag")).Code)
	}
}

// The error for null, and for a word behind the object, ended with "%!w(<nil>)", and of members with one
// name the last counted.
func TestSettingsThatAreNone(t *testing.T) {
	dir := t.TempDir()
	for content, want := range map[string]string{
		"": "one JSON object: ", "[]": "one JSON object: it has the kind array", "{} {}": "one JSON object: ", "{} x": "one JSON object: ",
		"null": "one JSON object: it has the kind null", `{"a":1,"a":2}`: "duplicate object member at byte 7",
		`{"a":[{"b":{"c":1,"d":2,"\u0063":3}}]}`: "duplicate object member at byte 24",
	} {
		path := filepath.Join(dir, "s.json")
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		err := (&Settings{File: path}).provision()
		require.ErrorContains(t, err, want, content)
		assert.NotContains(t, err.Error(), "%!", content)
	}
	require.ErrorContains(t, (&Settings{File: filepath.Join(dir, "none.json")}).provision(), "no such file")
	require.ErrorContains(t, (&Settings{}).provision(), "settings need a file")
}
