package accounts

import (
	"fmt"
	"net/http"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// try makes an attempt with an outcome, and returns the time to wait, 0 if it was
// admitted.
func try(t *throttle, key string, o outcome) time.Duration {
	c, wait := t.begin(key)
	if c != nil {
		t.end(c, o)
	}
	return wait
}

func TestThrottleBlocksForTwiceAsLongEachTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		names := newShared().networkNames
		for range 5 {
			assert.Zero(t, try(names, "alice", failed))
		}
		for _, minutes := range []time.Duration{1, 2, 4, 8, 16, 16, 16} {
			wait := try(names, "alice", failed)
			assert.Equal(t, minutes*time.Minute, wait)
			assert.Zero(t, try(names, "bob", undecided), "another name")
			time.Sleep(wait) // in the bubble's time
			for try(names, "alice", failed) == 0 {
			}
		}
		time.Sleep(maxBlock + resetAfter + time.Minute)
		for range 5 {
			assert.Zero(t, try(names, "alice", failed))
		}
		assert.Equal(t, time.Minute, try(names, "alice", failed), "forgotten by and by")
	})
}

func TestThrottleAdmitsNoMoreThanItsBurst(t *testing.T) {
	for _, pause := range []time.Duration{0, time.Millisecond, time.Second, 10 * time.Second, 29 * time.Second, 59 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			names := newShared().networkNames
			var let []time.Time
			for start := time.Now(); time.Since(start) < 3*time.Hour; time.Sleep(max(pause, time.Millisecond)) {
				if wait := try(names, "alice", failed); wait > 0 {
					time.Sleep(wait)
					continue
				}
				let = append(let, time.Now())
			}
			for i := range let {
				if i >= 5 {
					assert.GreaterOrEqual(t, let[i].Sub(let[i-5]), time.Minute, "pause %s, attempt %d", pause, i)
				}
			}
			assert.Less(t, len(let), 200, "in three hours, with a pause of %s", pause)
		})
	}
}

func TestSuccessClearsTheFailuresOfAName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		names := newShared().networkNames
		for range 10 {
			for range 4 {
				assert.Zero(t, try(names, "alice", failed))
			}
			assert.Zero(t, try(names, "alice", succeeded))
		}
	})
}

// Parallel attempts were once all admitted before the first of them had failed.
func TestThrottleCountsRunningAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		names := newShared().networkNames
		var running []*counter
		for {
			c, wait := names.begin("alice")
			if c == nil {
				assert.Equal(t, time.Second, wait)
				break
			}
			running = append(running, c)
		}
		assert.Len(t, running, 5)
		for _, c := range running {
			names.end(c, undecided)
		}
		assert.Zero(t, try(names, "alice", undecided), "an attempt that was never decided costs nothing")
	})
}

func TestThrottleHasABoundedNumberOfKeys(t *testing.T) {
	names := newShared().networkNames
	kept, _ := names.begin("kept")
	for i := range 3 * maxCounters {
		try(names, fmt.Sprint(i), failed)
	}
	assert.Len(t, names.counters, maxCounters)
	assert.Equal(t, maxCounters, names.recent.Len())
	names.end(kept, failed)
	assert.Contains(t, names.counters, "kept", "while its attempt was under way")
}

func TestNetworksCoverTheAddressesOfOneClient(t *testing.T) {
	for address, want := range map[string]string{
		"192.0.2.77": "192.0.2.0/24", "2001:db8:1:2:3:4:5:6": "2001:db8:1:2::/64",
	} {
		assert.Equal(t, want, network(netip.MustParseAddr(address)))
	}
	assert.Equal(t, "unknown", network(netip.Addr{}))
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

// Five failures from any network once blocked the owner of a name, for as long as
// somebody continued.
func TestFailuresElsewhereDoNotLockOutOwners(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := throttledSite(t)
		require.Equal(t, http.StatusOK, s.logInFrom("alice", password, "192.0.2.1").status)
		for i := range 50 {
			assert.Equal(t, http.StatusUnauthorized, s.logInFrom("alice", "wrong horse", fmt.Sprintf("10.0.%d.1", i)).status)
		}
		assert.Equal(t, http.StatusTooManyRequests, s.logInFrom("alice", password, "10.0.99.1").status, "a stranger's network")
		assert.Equal(t, http.StatusTooManyRequests, s.logInFrom("alice", password, "10.0.98.1").status, "and no login before it")
		answer := s.logInFrom("alice", password, "192.0.2.9")
		require.Equal(t, http.StatusOK, answer.status, "where alice has logged in before")
		change := testRequest{call: "PUT /api/user/self", body: bodies["PUT /api/user/self"], token: answer.data(t)["access_token"].(string), peer: "10.0.97.1:1"}
		assert.Equal(t, http.StatusOK, s.ask(change).status, "and whoever is logged in changes their password")
	})
}

// A request that was refused because of its network once still created a counter for the
// name, and a log line.
func TestRefusedNetworkLeavesNoTrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := throttledSite(t)
		for i := range 60 {
			s.logInFrom(fmt.Sprintf("user%d", i), "wrong horse", "10.0.0.1")
		}
		assert.Len(t, s.shared.names.counters, 20)
		assert.Len(t, s.shared.networkNames.counters, 20)
		assert.Less(t, s.logs.FilterMessage("too many attempts").Len(), 40)
	})
}

// Many other names once made the throttle forget a blocked name.
func TestManyNamesEvictNoBlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pairs := newShared().networkNames
		for range 5 {
			try(pairs, "alice", failed)
		}
		for i := range 2 * maxCounters {
			try(pairs, fmt.Sprint(i), failed)
		}
		assert.Equal(t, time.Minute, try(pairs, "alice", failed))
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

// A reload of the configuration once reset the throttles.
func TestReloadKeepsFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := throttledSite(t)
		for range 5 {
			s.ask(testRequest{call: loginCall, body: credentials("alice", "wrong horse")})
		}
		next := &Accounts{}
		next.UseStore(s.store)
		assert.Same(t, s.shared, next.shared)
		require.NoError(t, next.Cleanup())
		assert.Equal(t, http.StatusTooManyRequests, s.ask(testRequest{call: loginCall, body: credentials("alice", password)}).status)
		assert.NotSame(t, s.shared, throttledSite(t).shared, "another store")
	})
}
