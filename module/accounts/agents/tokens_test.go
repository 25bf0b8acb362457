package agents

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/call"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

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

// Whether the next tokens were used was read from the last use of the key in the store, which is a minute late and
// may be that of the token before, so that a stolen token returned the live pair for minutes, and those of a
// program that then rested for ever.
func TestAReplacedRefreshTokenIsWorthNothingOnceTheNextTokensAreUsed(t *testing.T) {
	for name, c := range map[string]struct {
		use  func(p *program, before, next string)
		want string
	}{
		"the next one used":       {func(p *program, _, next string) { p.works(next) }, "invalid_grant"},
		"and the keys read anew":  {func(p *program, _, next string) { p.works(next); p.touch() }, "invalid_grant"},
		"the one before used":     {func(p *program, before, _ string) { p.works(before) }, ""},
		"both used":               {func(p *program, before, next string) { p.works(before); p.works(next) }, "invalid_grant"},
		"neither":                 {func(*program, string, string) {}, ""},
		"used at another gateway": {func(p *program, _, _ string) { p.wait(unseen + time.Second); p.use() }, "invalid_grant"},
	} {
		t.Run(name, func(t *testing.T) {
			p := signedIn(t, nil)
			shared, before := p.refresh, p.access
			p.works(before)
			require.Empty(t, p.renew(shared))
			next := p.access
			c.use(p, before, next)
			p.wait(grace)
			assert.Equal(t, c.want, p.renew(shared))
			assert.Equal(t, c.want == "", p.works(next))
		})
	}
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

func TestARevokedSignInHasEnded(t *testing.T) {
	p := signedIn(t, nil)
	for _, other := range []string{"agent_x", "unknown", "sk-x", "refresh_x.y", "refresh_"} {
		status, _ := p.post("/oauth/revoke", url.Values{"token": {other}})
		assert.Equal(t, http.StatusOK, status, "RFC 7009 has no error for tokens that do not exist")
		assert.True(t, p.works(p.access))
	}
	status, _ := p.post("/oauth/revoke", url.Values{"token": {p.refresh}, "token_type_hint": {"refresh_token"}})
	assert.Equal(t, http.StatusOK, status)
	assert.False(t, p.works(p.access))
	assert.Equal(t, "invalid_grant", p.renew(p.refresh))
}

// The revocation of an access token was answered with 200, and the token went on to work.
func TestAnAccessTokenThatIsRevokedEndsItsSignIn(t *testing.T) {
	for name, before := range map[string]func(p *program){
		"in use":    func(p *program) { p.works(p.access) },
		"expired":   func(p *program) { p.wait(2 * time.Hour) },
		"refreshed": func(p *program) { require.Empty(t, p.renew(p.refresh)) },
	} {
		t.Run(name, func(t *testing.T) {
			p := signedIn(t, nil)
			presented := p.access
			before(p)
			status, answer := p.post(revokePath, url.Values{"token": {presented}, "token_type_hint": {"access_token"}})
			assert.Equal(t, http.StatusOK, status, answer)
			assert.False(t, p.works(p.access))
			assert.Equal(t, "invalid_grant", p.renew(p.refresh))
			assert.Empty(t, p.keys())
		})
	}
	p := signedIn(t, nil)
	_, err := p.people.Store.ChangeKey(t.Context(), p.alice.ID, p.keys()[0].ID, func(k *aigateway.StoredKey) error { k.Digest = call.Digest("sk-x"); return nil })
	require.NoError(t, err)
	status, _ := p.post(revokePath, url.Values{"token": {"sk-x"}})
	assert.Equal(t, http.StatusOK, status)
	assert.Len(t, p.keys(), 1, "what is no token of a program is not revoked")
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
