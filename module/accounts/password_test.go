package accounts

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"regexp"
	"runtime"
	"runtime/metrics"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/people"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/throttle"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

func TestPasswordsAreHashedAsOWASPRecommends(t *testing.T) {
	first, err := people.OWASP.Hash([]byte(password))
	require.NoError(t, err)
	second, err := people.OWASP.Hash([]byte(password))
	require.NoError(t, err)
	assert.Regexp(t, regexp.MustCompile(`^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$`), string(first))
	assert.NotEqual(t, string(first), string(second), "each hash has its own salt")
	for _, c := range []struct {
		hash     []byte
		password string
		want     bool
	}{{first, password, true}, {second, password, true}, {first, password + " ", false}, {people.OWASP.FakeHash(), password, false}, {people.OWASP.FakeHash(), "", false}} {
		right, err := people.OWASP.Compare(c.hash, []byte(c.password))
		require.NoError(t, err)
		assert.Equal(t, c.want, right)
	}
}

// An invalid hash, which only another program can have stored, once caused a panic, or
// accepted any password.
func TestInvalidHashAcceptsNoPassword(t *testing.T) {
	for _, hash := range []string{"", "plain", "$2a$10$abc", "$argon2id$v=19$m=0,t=0,p=0$AA$AA", "$argon2id$v=19$m=64,t=1,p=1$$"} {
		s := loginSite(t, nil)
		_, err := s.people.Store.ChangeUser(t.Context(), 1, 0, func(u *aigateway.User) error { u.Password = hash; return nil })
		require.NoError(t, err)
		for _, guess := range []string{password, hash, "x"} {
			if guess != "" {
				assert.Equal(t, wrongBody, s.ask(testRequest{call: loginCall, body: credentials("alice", guess)}).body, hash)
			}
		}
	}
}

// gated is a hasher that counts comparisons, and waits for its gate.
type gated struct {
	people.Argon2id
	gate          chan struct{}
	running, most atomic.Int64
	compared      atomic.Int64
}

// Compare waits for the gate.
func (g *gated) Compare(hash, password []byte) (bool, error) {
	g.compared.Add(1)
	now := g.running.Add(1)
	for most := g.most.Load(); now > most && !g.most.CompareAndSwap(most, now); most = g.most.Load() {
	}
	<-g.gate
	defer g.running.Add(-1)
	return g.Argon2id.Compare(hash, password)
}

func TestParallelLoginsHashNoMoreAtOnceThanThereAreProcessors(t *testing.T) {
	s := loginSite(t, nil)
	slots := runtime.GOMAXPROCS(0)
	s.people.Queue = people.NewQueue(slots)
	g := &gated{Argon2id: quick, gate: make(chan struct{})}
	s.people.Hasher = g
	const logins = 200
	strangers := slots + 16 - 6
	answers := make(chan *httptest.ResponseRecorder, logins)
	for i := range logins {
		s.askAside(testRequest{call: loginCall, body: credentials("alice", password), peer: fmt.Sprintf("10.0.%d.1:1", i)}, answers)
	}
	for range logins - strangers { // the logins without a place, while the others wait
		answer := <-answers
		assert.Equal(t, http.StatusTooManyRequests, answer.Code)
		assert.Equal(t, failure("too many logins at once"), answer.Body.String())
		assert.Equal(t, "1", answer.Header().Get("Retry-After"))
	}
	close(g.gate)
	for range strangers {
		assert.Equal(t, http.StatusOK, (<-answers).Code)
	}
	assert.EqualValues(t, slots, g.most.Load())
	assert.Empty(t, s.people.Queue.Places)
	assert.Empty(t, s.people.Queue.Slots)
}

// askAside sends a request in a goroutine, which ends when it has sent the answer to
// answers.
func (s *site) askAside(a testRequest, answers chan<- *httptest.ResponseRecorder) {
	r := a.request(s.t.Context())
	go func() {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		answers <- w
	}()
}

// measured is a hasher that records the largest amount of memory in use after a
// comparison, garbage included.
type measured struct {
	people.Argon2id
	most atomic.Uint64
}

// Compare compares, and then measures the memory.
func (m *measured) Compare(hash, password []byte) (bool, error) {
	right, err := m.Argon2id.Compare(hash, password)
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	now := sample[0].Value.Uint64()
	for most := m.most.Load(); now > most && !m.most.CompareAndSwap(most, now); most = m.most.Load() {
	}
	return right, err
}

// remembered is a store with one user in memory. A database could be too slow while all
// processors hash passwords.
type remembered struct {
	aigateway.Store
	user aigateway.User
}

// UserByName returns the user.
func (r remembered) UserByName(context.Context, string) (*aigateway.User, error) { return &r.user, nil }

// SessionsOf returns no sessions.
func (remembered) SessionsOf(context.Context, int64) ([]aigateway.Session, error) { return nil, nil }

// CreateSession does nothing.
func (remembered) CreateSession(context.Context, *aigateway.Session, int, func(*aigateway.User) error) error {
	return nil
}

// Ensures that 200 concurrent logins need only the memory of the concurrent hashes, and
// the same amount of garbage.
func TestParallelLoginsTakeTheMemoryOfFewHashes(t *testing.T) {
	const logins, slots, each, rest = 200, 2, 19 << 20, 64 << 20
	hash, err := people.OWASP.Hash([]byte(password))
	require.NoError(t, err)
	s, m := newSite(t, nil), &measured{Argon2id: people.OWASP}
	s.people.Queue, s.people.Hasher = people.NewQueue(slots), m
	s.people.Store = remembered{s.people.Store, aigateway.User{ID: 1, Name: "alice", Password: string(hash)}}
	answers := make(chan *httptest.ResponseRecorder, logins)
	for i := range logins {
		s.askAside(testRequest{call: loginCall, body: credentials("alice", password), peer: fmt.Sprintf("10.0.%d.1:1", i)}, answers)
	}
	let := 0
	for range logins {
		answer := <-answers
		if answer.Code == http.StatusOK {
			let++
			continue
		}
		assert.Equal(t, http.StatusTooManyRequests, answer.Code)
		assert.Equal(t, "1", answer.Header().Get("Retry-After"))
	}
	assert.GreaterOrEqual(t, let, slots+16-6)
	t.Logf("%d logins were admitted, with at most %d MiB", let, m.most.Load()>>20)
	assert.Greater(t, m.most.Load(), uint64(each), "the measurement includes the memory of hashes")
	assert.Less(t, m.most.Load(), uint64(3*slots*each+rest))
}

// Successful logins and changes of passwords of one user could once occupy all places of
// the queue, because throttles count only failures.
func TestNoPrincipalCanFillTheQueue(t *testing.T) {
	const crowd = 30
	for name, c := range map[string]struct {
		greedy func(i int, token string) testRequest
		let    int
		other  testRequest
	}{
		"a user who logs in": {
			func(int, string) testRequest { return testRequest{body: credentials("alice", password)} },
			2, testRequest{body: credentials("bob", password)},
		},
		"many users of one network": {
			func(i int, _ string) testRequest {
				return testRequest{body: credentials(fmt.Sprint("user", i), password)}
			},
			8, testRequest{body: credentials("bob", password), peer: "10.0.0.1:1"},
		},
		"a user who changes a password": {
			func(i int, token string) testRequest {
				return testRequest{call: "PUT /api/user/self", body: bodies["PUT /api/user/self"], token: token, peer: fmt.Sprintf("10.0.%d.1:1", i)}
			},
			2, testRequest{body: credentials("alice", password)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := loginSite(t, nil)
			s.user("bob", aigateway.RoleUser)
			token := s.token("alice")
			s.people.Queue = people.NewQueue(1)
			s.people.Queue.Slots <- struct{}{} // somebody hashes
			answers := make(chan *httptest.ResponseRecorder, crowd+1)
			ask := func(a testRequest) {
				if a.call == "" {
					a.call = loginCall
				}
				s.askAside(a, answers)
			}
			for i := range crowd {
				ask(c.greedy(i, token))
			}
			require.Eventually(t, func() bool { return len(answers) == crowd-c.let }, time.Minute, time.Millisecond)
			ask(c.other)
			require.Eventually(t, func() bool { return len(s.people.Queue.Places) == c.let+1 }, time.Minute, time.Millisecond)
			<-s.people.Queue.Slots
			counts := make(map[int]int)
			for range crowd + 1 {
				counts[(<-answers).Code]++
			}
			assert.Equal(t, crowd-c.let, counts[http.StatusTooManyRequests], "%v", counts)
			assert.Equal(t, throttle.NewShares(2), s.people.Queue.Accounts, "all are free again")
			assert.Equal(t, throttle.NewShares(8), s.people.Queue.Networks)
		})
	}
}

// Three networks together could once occupy all places.
func TestStrangersLeavePlacesForKnownNetworks(t *testing.T) {
	const crowd = 60
	s := loginSite(t, nil)
	s.user("bob", aigateway.RoleUser)
	alice := s.token("alice") // makes her network known
	s.people.Queue = people.NewQueue(1)
	s.people.Queue.Slots <- struct{}{} // somebody hashes
	strangers := cap(s.people.Queue.Places) - 6
	answers := make(chan *httptest.ResponseRecorder, crowd+4)
	for i := range crowd {
		s.askAside(testRequest{call: loginCall, body: credentials(fmt.Sprint("user", i), password), peer: fmt.Sprintf("[2001:db8:0:%x::1]:1", i)}, answers)
	}
	require.Eventually(t, func() bool { return len(answers) == crowd-strangers }, time.Minute, time.Millisecond)
	for range crowd - strangers {
		assert.Equal(t, http.StatusTooManyRequests, (<-answers).Code)
	}
	assert.Equal(t, http.StatusTooManyRequests, s.ask(testRequest{call: loginCall, body: credentials("bob", password)}).status, "bob has no known network")
	assert.Equal(t, http.StatusTooManyRequests, s.ask(testRequest{call: loginCall, body: credentials("alice", password), peer: "10.0.0.1:1"}).status, "alice, from another network")

	s.askAside(testRequest{call: loginCall, body: credentials("alice", password)}, answers)
	s.askAside(testRequest{call: "PUT /api/user/self", body: bodies["PUT /api/user/self"], token: alice, peer: "10.0.0.1:1"}, answers)
	require.Eventually(t, func() bool { return len(s.people.Queue.Places) == strangers+2 }, time.Minute, time.Millisecond)
	<-s.people.Queue.Slots
	for range strangers + 2 {
		assert.NotEqual(t, http.StatusTooManyRequests, (<-answers).Code)
	}
	assert.Equal(t, throttle.NewShares(strangers), s.people.Queue.Strangers, "all are free again")
}

// Changes of the administrator of the machine are not bounded.
func TestTheLocalAdministratorHasNoShare(t *testing.T) {
	assert.Zero(t, newSite(t, nil).machineCall().Principal())
}

func TestClientThatLeavesFreesItsPlace(t *testing.T) {
	s := throttledSite(t)
	s.people.Queue = people.NewQueue(1)
	s.people.Queue.Slots <- struct{}{} // somebody hashes
	ctx, leave := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { // ends when the client leaves
		defer close(done)
		w := httptest.NewRecorder()
		s.ServeHTTP(w, testRequest{call: loginCall, body: credentials("alice", password)}.request(ctx))
		assert.Equal(t, 499, w.Code)
	}()
	require.Eventually(t, func() bool { return len(s.people.Queue.Places) == 1 }, time.Minute, time.Millisecond)
	leave()
	<-done
	assert.Empty(t, s.people.Queue.Places)
	<-s.people.Queue.Slots
	s.token("alice")
}

// Ensures that the time of an answer does not reveal which names exist.
func TestUnknownWrongAndDisabledLoginsDoTheSameWork(t *testing.T) {
	s := loginSite(t, nil)
	g := &gated{Argon2id: quick, gate: make(chan struct{})}
	close(g.gate)
	s.people.Hasher = g
	for i, name := range []string{"alice", "mallory", "carol", "no such name"} {
		s.ask(testRequest{call: loginCall, body: credentials(name, "wrong horse")})
		assert.EqualValues(t, i+1, g.compared.Load(), name)
	}
}

// Measures the times of the three logins. The logins alternate, so that other work of the
// machine affects all of them equally. A difference counts if chance cannot explain it
// (|z| of the ranks reaches 6 once in 500 million runs), and if an attacker could observe
// it: a tenth of the time of a hash, which is about a millisecond.
func TestUnknownWrongAndDisabledLoginsTakeAsLong(t *testing.T) {
	const samples = 400
	s := loginSite(t, nil)
	s.people.Hasher = people.Argon2id("m=1024,t=1,p=1")
	for id := range int64(2) { // hashes that take as long as the fake hash
		hash, err := s.people.Hasher.Hash([]byte(password))
		require.NoError(t, err)
		_, err = s.people.Store.ChangeUser(t.Context(), id+1, 0, func(u *aigateway.User) error { u.Password = string(hash); return nil })
		require.NoError(t, err)
	}
	names := []string{"alice", "mallory", "carol"}
	took := make(map[string][]time.Duration)
	for range samples {
		for _, i := range rand.Perm(len(names)) { // what the machine does at intervals concerns none of them more
			name := names[i]
			r := testRequest{call: loginCall, body: credentials(name, "wrong horse")}.request(t.Context())
			start := time.Now()
			s.ServeHTTP(httptest.NewRecorder(), r)
			took[name] = append(took[name], time.Since(start))
		}
	}
	for _, name := range names[1:] {
		z, ratio := compareTimes(took[names[0]], took[name])
		t.Logf("%s beside %s: z %.1f, medians 1 to %.2f", name, names[0], z, ratio)
		assert.False(t, math.Abs(z) > 6 && math.Abs(ratio-1) > 0.1, "%s beside %s: z %.1f, medians 1 to %.2f", name, names[0], z, ratio)
	}
}

// compareTimes returns the z of the Mann-Whitney test of two series of the same length,
// and the ratio of their medians. z is positive if the second series tends to take
// longer.
func compareTimes(first, second []time.Duration) (z, ratio float64) {
	wins := 0.0
	for _, a := range first {
		for _, b := range second {
			wins += float64(cmp.Compare(b, a)+1) / 2
		}
	}
	n := float64(len(first))
	slices.Sort(first)
	slices.Sort(second)
	middle := len(first) / 2
	return (wins - n*n/2) / math.Sqrt(n*n*(2*n+1)/12), float64(second[middle]) / float64(first[middle])
}

// Ensures that the comparison detects answers that compute no hash.
func TestComparisonOfTimesFindsADifference(t *testing.T) {
	var quick, slow []time.Duration
	for i := range time.Duration(400) {
		quick, slow = append(quick, time.Millisecond+i), append(slow, 2*time.Millisecond+i)
	}
	z, ratio := compareTimes(quick, slow)
	assert.Greater(t, z, 20.0)
	assert.InDelta(t, 2, ratio, 0.01)
	z, ratio = compareTimes(slow, slices.Clone(slow))
	assert.Zero(t, z)
	assert.InDelta(t, 1, ratio, 0)
}

// The OpenAPI document and the error messages must contain the same bounds.
func TestDocumentHasTheBoundsOfPasswords(t *testing.T) {
	assert.True(t, strings.Contains(string(openAPIDocument), "8 to 1024 bytes."))
}
