package accounts

import (
	"context"
	"math"
	"net/http"
	"net/http/httptest"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
)

func TestPasswordsAreHashedAsOWASPRecommends(t *testing.T) {
	first, err := owasp.Hash([]byte(password))
	require.NoError(t, err)
	second, err := owasp.Hash([]byte(password))
	require.NoError(t, err)
	assert.Regexp(t, regexp.MustCompile(`^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$`), string(first))
	assert.NotEqual(t, string(first), string(second), "each has a salt of its own")
	for _, c := range []struct {
		hash     []byte
		password string
		want     bool
	}{{first, password, true}, {second, password, true}, {first, password + " ", false}, {owasp.FakeHash(), password, false}, {owasp.FakeHash(), "", false}} {
		right, err := owasp.Compare(c.hash, []byte(c.password))
		require.NoError(t, err)
		assert.Equal(t, c.want, right)
	}
}

// A hash that another program has put into the store is no reason for a panic
// or for a login.
func TestUnreadableHashLetsNobodyIn(t *testing.T) {
	for _, hash := range []string{"", "plain", "$2a$10$abc", "$argon2id$v=19$m=0,t=0,p=0$AA$AA", "$argon2id$v=19$m=64,t=1,p=1$$"} {
		s := loginSite(t, nil)
		_, err := s.store.ChangeUser(t.Context(), 1, 0, func(u *exchange.User) error { u.Password = hash; return nil })
		require.NoError(t, err)
		for _, guess := range []string{password, hash, "x"} {
			if guess != "" {
				assert.Equal(t, wrongBody, s.ask(asked{call: loginPath, body: credentials("alice", guess)}).body, hash)
			}
		}
	}
}

// gated is a hasher that counts, and waits for its gate.
type gated struct {
	argon2id
	gate          chan struct{}
	running, most atomic.Int64
	compared      atomic.Int64
}

// Compare compares once the gate is open.
func (g *gated) Compare(hash, password []byte) (bool, error) {
	g.compared.Add(1)
	now := g.running.Add(1)
	for most := g.most.Load(); now > most && !g.most.CompareAndSwap(most, now); most = g.most.Load() {
	}
	<-g.gate
	defer g.running.Add(-1)
	return g.argon2id.Compare(hash, password)
}

func TestParallelLoginsHashNoMoreAtOnceThanThereAreProcessors(t *testing.T) {
	s := loginSite(t, nil)
	slots := runtime.GOMAXPROCS(0)
	s.queue = newQueue(slots)
	g := &gated{argon2id: quick, gate: make(chan struct{})}
	s.hasher = g
	const logins = 200
	answers := make(chan *httptest.ResponseRecorder, logins)
	for range logins {
		r := asked{call: loginPath, body: credentials("alice", password)}.request(t.Context())
		go func() { // ends with its answer
			w := httptest.NewRecorder()
			s.ServeHTTP(w, r)
			answers <- w
		}()
	}
	for range logins - slots - waiting { // all for whom there is no place, while the others wait
		answer := <-answers
		assert.Equal(t, http.StatusTooManyRequests, answer.Code)
		assert.Equal(t, failure("too many logins at once"), answer.Body.String())
		assert.Equal(t, "1", answer.Header().Get("Retry-After"))
	}
	close(g.gate)
	for range slots + waiting {
		assert.Equal(t, http.StatusOK, (<-answers).Code)
	}
	assert.EqualValues(t, slots, g.most.Load())
	assert.Empty(t, s.queue.places)
	assert.Empty(t, s.queue.slots)
}

func TestClientThatLeavesGivesUpItsPlace(t *testing.T) {
	s := throttledSite(t)
	s.queue = newQueue(1)
	s.queue.slots <- struct{}{} // somebody hashes
	ctx, leave := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { // ends when the client leaves
		defer close(done)
		w := httptest.NewRecorder()
		s.ServeHTTP(w, asked{call: loginPath, body: credentials("alice", password)}.request(ctx))
		assert.Equal(t, statusClientClosed, w.Code)
	}()
	require.Eventually(t, func() bool { return len(s.queue.places) == 1 }, 10*time.Second, time.Millisecond)
	leave()
	<-done
	assert.Empty(t, s.queue.places)
	<-s.queue.slots
	s.token("alice")
}

// Ensures that the time of an answer does not tell which names exist.
func TestUnknownWrongAndDisabledLoginsDoTheSameWork(t *testing.T) {
	s := loginSite(t, nil)
	g := &gated{argon2id: quick, gate: make(chan struct{})}
	close(g.gate)
	s.hasher = g
	for i, name := range []string{"alice", "mallory", "carol", "no such name"} {
		s.ask(asked{call: loginPath, body: credentials(name, "wrong horse")})
		assert.EqualValues(t, i+1, g.compared.Load(), name)
	}
}

// The same by the clock: Welch's t over interleaved samples, the slowest tenth
// of each left out. Every login hashes for about a millisecond.
func TestUnknownWrongAndDisabledLoginsTakeAsLong(t *testing.T) {
	const samples, noticeable = 400, 4.5
	s := loginSite(t, nil)
	s.hasher = argon2id("m=1024,t=1,p=1")
	for id := range int64(2) { // with hashes that take as long as the fake one
		hash, err := s.hasher.Hash([]byte(password))
		require.NoError(t, err)
		_, err = s.store.ChangeUser(t.Context(), id+1, 0, func(u *exchange.User) error { u.Password = string(hash); return nil })
		require.NoError(t, err)
	}
	names := []string{"alice", "mallory", "carol"}
	times := make([][]float64, len(names))
	for range samples {
		for i, name := range names {
			r := asked{call: loginPath, body: credentials(name, "wrong horse")}.request(t.Context())
			start := time.Now()
			s.ServeHTTP(httptest.NewRecorder(), r)
			times[i] = append(times[i], float64(time.Since(start)))
		}
	}
	for i := range times {
		slices.Sort(times[i])
		times[i] = times[i][:samples*9/10]
	}
	for _, pair := range [][2]int{{0, 1}, {0, 2}, {1, 2}} {
		difference := welch(times[pair[0]], times[pair[1]])
		t.Logf("%s and %s: t = %.2f", names[pair[0]], names[pair[1]], difference)
		assert.Less(t, math.Abs(difference), noticeable, "%s and %s", names[pair[0]], names[pair[1]])
	}
}

func welch(a, b []float64) float64 {
	meanA, errA := meanAndError(a)
	meanB, errB := meanAndError(b)
	return (meanA - meanB) / math.Sqrt(errA+errB)
}

// meanAndError returns the mean and the square of its standard error.
func meanAndError(list []float64) (mean, squared float64) {
	for _, x := range list {
		mean += x / float64(len(list))
	}
	for _, x := range list {
		squared += (x - mean) * (x - mean) / float64(len(list)-1)
	}
	return mean, squared / float64(len(list))
}

// The bounds stand in the answers, and in the document.
func TestDocumentTellsTheBoundsOfPasswords(t *testing.T) {
	assert.True(t, strings.Contains(string(openAPIDocument), "8 to 1024 bytes."))
}
