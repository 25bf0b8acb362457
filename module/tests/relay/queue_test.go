package relay_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// asking sends some requests at once with a key, and returns the channel of their answers.
func asking(s *site.Site, requests int, key string) <-chan site.Reply {
	answers := make(chan site.Reply, requests)
	for range requests {
		go func() {
			answers <- s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", "hello", false), "Authorization", "Bearer "+key)
		}()
	}
	return answers
}

// assertCrowded asserts that an answer is that of a queue which is full.
func assertCrowded(t *testing.T, answer site.Reply, whose string) {
	t.Helper()
	assert.Equal(t, http.StatusTooManyRequests, answer.Status)
	assert.Equal(t, "1", answer.Header.Get("Retry-After"))
	assert.Contains(t, answer.Body, "too many requests wait for "+whose+": try again later")
	assert.Contains(t, answer.Body, `"rate_limit_exceeded"`)
}

// A request beyond max_running was refused at once, although a call ends soon.
func TestRequestsWaitForAProvider(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	gate := gatewaytest.NewGate(t)
	s := site.Start(t, site.Direct.Provider("p", p, "max_running 1", "queue 1 1m"))
	p.Script(gatewaytest.Stall(gate, gatewaytest.Answer()))
	running := asking(s, 1, site.ClientKey)
	require.NoError(t, p.WaitRequests(site.Waiting(t), 1))
	others := asking(s, 3, site.ClientKey) // of which one may wait
	assertCrowded(t, <-others, "the upstream for model 'm'")
	assertCrowded(t, <-others, "the upstream for model 'm'")
	answer := s.Ask(site.MessagesPath, site.BodyFor(site.MessagesPath, "m", "hello", false))
	assert.Equal(t, http.StatusTooManyRequests, answer.Status)
	assert.Contains(t, answer.Body, `"type":"rate_limit_error"`)
	assert.Equal(t, 1, p.Count())
	gate.Open()
	assert.Equal(t, http.StatusOK, (<-running).Status)
	assert.Equal(t, http.StatusOK, (<-others).Status)
	assert.Equal(t, http.StatusOK, (<-asking(s, 1, site.ClientKey)).Status)
}

// Calls under another name for the same address were counted behind the queue: with free slots, and nobody
// in line, requests got 503.
func TestCallsUnderAnotherNameTakeNoSlotOfAQueue(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	gate := gatewaytest.NewGate(t)
	s := site.Start(t, site.Direct.Provider("open", p, "models off"), site.Direct.Provider("bounded", p, "models off", "max_running 1", "queue 1 1m"),
		"model other {\nto open\n}", "model m {\nto bounded\n}")
	p.Script(gatewaytest.Stall(gate, gatewaytest.Answer()))
	answers := make(chan site.Reply, 1)
	go func() { answers <- s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "other", "hello", false)) }()
	require.NoError(t, p.WaitRequests(site.Waiting(t), 1))
	assert.Equal(t, http.StatusOK, (<-asking(s, 1, site.ClientKey)).Status)
	gate.Open()
	assert.Equal(t, http.StatusOK, (<-answers).Status)
}

// Nobody waits for a provider while another target is free.
func TestARequestGoesToAnotherTargetBeforeItWaits(t *testing.T) {
	first, second := gatewaytest.NewProvider(t), gatewaytest.NewProvider(t)
	gate := gatewaytest.NewGate(t)
	s := site.Start(t, site.Direct.Provider("first", first, "models off", "max_running 1", "queue 1 1m"), site.Direct.Provider("second", second, "models off", "max_running 1"),
		"model m {\nto first\nto second\n}")
	for _, p := range []*gatewaytest.Provider{first, second} {
		p.Script(gatewaytest.Stall(gate, gatewaytest.Answer()))
	}
	running := asking(s, 2, site.ClientKey)
	require.NoError(t, first.WaitRequests(site.Waiting(t), 1))
	require.NoError(t, second.WaitRequests(site.Waiting(t), 1))
	others := asking(s, 2, site.ClientKey)
	assertCrowded(t, <-others, "the upstream for model 'm'")
	gate.Open()
	for _, answers := range []<-chan site.Reply{running, running, others} {
		assert.Equal(t, http.StatusOK, (<-answers).Status)
	}
	assert.Equal(t, []int{2, 1}, []int{first.Count(), second.Count()})
}

// A request of a higher priority takes the place of one of a lower priority, also at the gateway.
func TestTheLowestPriorityIsShed(t *testing.T) {
	t.Setenv("KEY_LOW", site.BobKey)
	p := gatewaytest.NewProvider(t)
	gate := gatewaytest.NewGate(t)
	s := site.Start(t, "max_running 1", "queue 1 1m", site.Direct.Provider("p", p),
		"limit patient {\npriority low\n}", "key low {env.KEY_LOW} {\nlimit patient\n}")
	p.Script(gatewaytest.Stall(gate, gatewaytest.Answer()))
	running := asking(s, 1, site.ClientKey)
	require.NoError(t, p.WaitRequests(site.Waiting(t), 1))
	low := asking(s, 2, site.BobKey)
	assertCrowded(t, <-low, "the gateway") // the other one waits
	normal := asking(s, 2, site.ClientKey)
	assertCrowded(t, <-low, "the gateway")
	assertCrowded(t, <-normal, "the gateway")
	gate.Open()
	assert.Equal(t, http.StatusOK, (<-running).Status)
	assert.Equal(t, http.StatusOK, (<-normal).Status)
}

// batches is a provider that answers requests in batches as large as its slots, so that all of them take
// equally long. It counts the requests of each tenant, whose name is the text of its requests, from the
// third batch on: the first one has those who came first.
type batches struct {
	slots, last int           // the size of a batch, and the number of the last one that counts
	over        chan struct{} // closed behind the last batch

	mu      sync.Mutex // guards the fields below
	running int
	most    int           // that ran at once
	batch   chan struct{} // closed when the batch is complete
	arrived int
	answers map[string]int
}

func (b *batches) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	select {
	case <-b.arrive(string(body)):
	case <-b.over: // the rest of the requests fills no batch
	}
	b.mu.Lock()
	b.running--
	b.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, `{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`)
}

// arrive counts a request, and returns what is closed when its batch is complete.
func (b *batches) arrive(body string) <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.running++
	b.most = max(b.most, b.running)
	if b.arrived%b.slots == 0 {
		b.batch = make(chan struct{})
	}
	b.arrived++
	if n := (b.arrived + b.slots - 1) / b.slots; n > 2 && n <= b.last {
		for tenant := range b.answers {
			if strings.Contains(body, `"`+tenant+`"`) {
				b.answers[tenant]++
			}
		}
	}
	if b.arrived%b.slots == 0 {
		close(b.batch)
	}
	if b.arrived == b.slots*b.last {
		close(b.over)
	}
	return b.batch
}

// 2,000 clients of four keys share the 64 slots of a provider evenly, however many clients a key has.
func TestTwoThousandClientsShareSlotsEvenly(t *testing.T) {
	const slots, last = 64, 62
	clients := map[string]int{"many": 1200, "some": 500, "few": 200, "fewest": 100}
	stub := &batches{slots: slots, last: last, over: make(chan struct{}), answers: make(map[string]int)}
	server := httptest.NewServer(stub)
	defer server.Close()
	lines := []string{site.Direct.ProviderAt("p", server.Listener.Addr().String(), "max_running 64", "queue 2000 10m")}
	secret := func(tenant string) string { return "sk-" + tenant + "-0123456789abcdef0123" }
	for tenant := range clients {
		stub.answers[tenant] = 0
		t.Setenv("KEY_"+strings.ToUpper(tenant), secret(tenant))
		lines = append(lines, "key "+tenant+" {env.KEY_"+strings.ToUpper(tenant)+"}")
	}
	s := site.Start(t, lines...)
	isOver := func() bool {
		select {
		case <-stub.over:
			return true
		default:
			return false
		}
	}
	var all sync.WaitGroup
	var failed atomic.Int64
	for tenant, n := range clients {
		for range n {
			all.Go(func() {
				for !isOver() {
					if s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", tenant, false), "Authorization", "Bearer "+secret(tenant)).Status != http.StatusOK {
						failed.Add(1)
					}
				}
			})
		}
	}
	all.Wait()
	assert.Zero(t, failed.Load())
	assert.LessOrEqual(t, stub.most, slots)
	for tenant, n := range stub.answers {
		assert.InEpsilon(t, slots*(last-2)/len(clients), n, 0.02, tenant)
	}
}
