package accounts

import (
	"fmt"
	"net/http"
	"net/netip"
	"testing"
	"testing/synctest"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/call"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/people"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/signin"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

func TestNetworksCoverTheAddressesOfOneClient(t *testing.T) {
	for address, want := range map[string]string{
		"192.0.2.77": "192.0.2.0/24", "2001:db8:1:2:3:4:5:6": "2001:db8:1:2::/64",
	} {
		assert.Equal(t, want, call.Network(netip.MustParseAddr(address)))
	}
	assert.Equal(t, "unknown", call.Network(netip.Addr{}))
}

// throttledSite is for tests in a synctest bubble: on a busy machine, the level would
// decrease before the last attempt.
func throttledSite(t *testing.T) *site {
	return loginSite(t, func(a *Accounts) { a.ThrottleOff, a.Registration = false, true })
}

func (s *site) logInFrom(name, password, peer string) testAnswer {
	return s.ask(testRequest{call: loginCall, body: credentials(name, password), peer: peer + ":1"})
}

func TestLoginIsThrottledByNameAndNetwork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, name := range []string{"alice", "ALICE", "mallory", "carol", "no such name"} {
			s := throttledSite(t)
			for range 5 {
				assert.Equal(t, http.StatusUnauthorized, s.logInFrom(name, "wrong horse", "10.0.0.1").status, name)
			}
			answer := s.logInFrom(name, password, "10.0.0.2")
			assert.Equal(t, http.StatusTooManyRequests, answer.status, name)
			assert.Equal(t, failure("too many attempts, try again later"), answer.body)
			assert.Equal(t, "60", answer.header.Get("Retry-After"))
			s.user("dave", aigateway.RoleUser)
			assert.Equal(t, http.StatusOK, s.logInFrom("dave", password, "10.0.0.1").status, "another name")
		}
	})
}

// Five failures from any network once blocked a name, so that anyone could lock out its
// owner for as long as they liked.
func TestFailuresElsewhereDoNotLockOutOwners(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := throttledSite(t)
		require.Equal(t, http.StatusOK, s.logInFrom("alice", password, "192.0.2.1").status)
		for i := range 50 {
			assert.Equal(t, http.StatusUnauthorized, s.logInFrom("alice", "wrong horse", fmt.Sprintf("10.0.%d.1", i)).status)
		}
		assert.Equal(t, http.StatusTooManyRequests, s.logInFrom("alice", password, "10.0.99.1").status, "an unknown network")
		assert.Equal(t, http.StatusTooManyRequests, s.logInFrom("alice", password, "10.0.98.1").status, "another unknown network")
		answer := s.logInFrom("alice", password, "192.0.2.9")
		require.Equal(t, http.StatusOK, answer.status, "a network in which alice has a session")
		change := testRequest{call: "PUT /api/user/self", body: bodies["PUT /api/user/self"], token: answer.data(t)["access_token"].(string), peer: "10.0.97.1:1"}
		assert.Equal(t, http.StatusOK, s.ask(change).status, "a logged-in user can change the password")
	})
}

// A request that was refused because of its network once created a counter for the name
// and a log line. A blocked network could so evict the counters of others.
func TestRefusedNetworkLeavesNoTrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := throttledSite(t)
		wrong := func(name, peer string) int { return s.logInFrom(name, "wrong horse", peer).status }
		for range 4 {
			require.Equal(t, http.StatusUnauthorized, wrong("alice", "10.0.0.2"))
		}
		for i := range 20 {
			wrong(fmt.Sprintf("user%d", i), "10.9.0.1")
		}
		for i := range 20_000 { // more keys than a throttle keeps
			if wrong(fmt.Sprintf("name%d", i), "10.9.0.1") != http.StatusTooManyRequests {
				require.Fail(t, "the network is not blocked")
			}
		}
		assert.Equal(t, http.StatusUnauthorized, wrong("alice", "10.0.0.2"), "the fifth failure")
		assert.Equal(t, http.StatusTooManyRequests, wrong("alice", "10.0.0.2"))
		assert.Equal(t, 1, s.logs.FilterMessage("too many attempts").Len(), "at most one in a second")
	})
}

func TestLoginIsThrottledByNetwork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := throttledSite(t)
		attempt := func(name, password, client string) testAnswer {
			return s.ask(testRequest{call: loginCall, body: credentials(name, password), vars: map[string]any{caddyhttp.ClientIPVarKey: client}})
		}
		for i := range 20 {
			assert.Equal(t, http.StatusUnauthorized, attempt(fmt.Sprintf("user%d", i), "wrong horse", fmt.Sprintf("2001:db8::%d", i)).status)
		}
		assert.Equal(t, http.StatusTooManyRequests, attempt("alice", password, "2001:db8::1:0:0:1").status)
		assert.Equal(t, http.StatusOK, attempt("alice", password, "2001:db8:0:1::1").status, "another network")
	})
}

// The owner of a stolen session could once guess the password without a limit.
func TestOriginalPasswordIsThrottled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := throttledSite(t)
		token := s.token("alice")
		body := `{"password":"another horse","original_password":"wrong horse"}`
		for range 5 {
			assert.Equal(t, http.StatusForbidden, s.ask(testRequest{call: "PUT /api/user/self", body: body, token: token}).status)
		}
		assert.Equal(t, http.StatusTooManyRequests, s.ask(testRequest{call: "PUT /api/user/self", body: body, token: token}).status)
	})
}

func TestRegistrationIsThrottledByNetwork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := throttledSite(t)
		for i := range 10 {
			answer := s.ask(testRequest{call: "POST /api/user/register", body: credentials(fmt.Sprintf("new%d", i), password)})
			require.Equal(t, http.StatusOK, answer.status)
		}
		answer := s.ask(testRequest{call: "POST /api/user/register", body: credentials("new", password)})
		assert.Equal(t, http.StatusTooManyRequests, answer.status)
	})
}

// The beginning of a sign-in was once not throttled: an address could begin any number of them, each
// with a line of the log if it failed.
func TestSignInsThatBeginAreThrottledByNetwork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, func(a *Accounts) { a.ThrottleOff, a.Proxy = false, &signin.Proxy{User: "{http.vars.user}"} })
		begin := testRequest{call: "GET /api/v1/signin/proxy", peer: "198.51.100.1:1"}
		for range 300 {
			require.Equal(t, failedWith("refused"), s.ask(begin).header.Get("Location"))
		}
		answer := s.ask(begin)
		assert.Equal(t, http.StatusTooManyRequests, answer.status)
		assert.Equal(t, "60", answer.header.Get("Retry-After"))
		begin.peer = "203.0.113.1:1"
		assert.Equal(t, http.StatusSeeOther, s.ask(begin).status, "another network")
	})
}

// A reload of the configuration once reset the throttles.
func TestReloadKeepsFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := throttledSite(t)
		for range 5 {
			s.ask(testRequest{call: loginCall, body: credentials("alice", "wrong horse")})
		}
		next := &Accounts{people: people.New(people.Settings{}, people.Throttles{})}
		next.UseStore(s.people.Store)
		assert.Same(t, s.people.Streams(), next.people.Streams())
		require.NoError(t, next.Cleanup())
		assert.Equal(t, http.StatusTooManyRequests, s.ask(testRequest{call: loginCall, body: credentials("alice", password)}).status)
		assert.NotSame(t, s.people.Streams(), throttledSite(t).people.Streams(), "another store")
	})
}
