package agents

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/throttle"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
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

// A device code that somebody else has found is worth as little as before answers were repeated.
func TestADeviceCodeIsRedeemedAgainForALostAnswerAlone(t *testing.T) {
	for name, c := range map[string]struct {
		before func(*program)
		want   string
		ended  bool
	}{
		"after the window":     {func(p *program) { p.wait(grace) }, "expired_token", false},
		"after a use":          {func(p *program) { p.works(p.access) }, "expired_token", false},
		"at another gateway":   {(*program).use, "expired_token", false},
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
	for _, other := range []string{"device_x", "", strings.ToUpper(p.device), p.refresh} {
		p.device = other
		assert.NotEmpty(t, p.poll())
	}
}

// Each answer that was lost began another minute, so that a code was worth tokens for all of its ten minutes.
func TestADeviceCodeIsRedeemedAgainWithinAMinuteOfTheFirstAnswer(t *testing.T) {
	p := signedIn(t, nil)
	for range 3 {
		p.wait(grace/4 - pause)
		require.Empty(t, p.poll())
	}
	p.wait(grace/4 - pause + tolerance)
	assert.Equal(t, "expired_token", p.poll())
	require.Empty(t, p.renew(p.refresh))
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
