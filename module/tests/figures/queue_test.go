package figures_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// batches is a provider that answers requests in batches as large as its slots, so that all of them take
// equally long. It counts the requests of each tenant, whose name is the text of its requests, from the
// third batch on: the first one has those who came first.
type batches struct {
	slots, last int           // the size of a batch, and the number of the last one that counts
	begin       chan struct{} // closed when the first batch may be answered
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
	<-b.begin
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

// 2,000 clients of four keys share the 64 slots of a provider evenly, however many clients a key has. The
// first batch ends when all others wait: on a busy machine, the clients of some keys came after it, and
// these keys had less.
func TestTwoThousandClientsShareSlotsEvenly(t *testing.T) {
	const slots, last = 64, 62
	clients := map[string]int{"many": 1200, "some": 500, "few": 200, "fewest": 100}
	stub := &batches{slots: slots, last: last, begin: make(chan struct{}), over: make(chan struct{}), answers: make(map[string]int)}
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
	assert.EventuallyWithT(t, func(c *assert.CollectT) {
		assert.Contains(c, s.Call(http.MethodGet, s.AdminURL("/api/v1/targets"), "").Body, fmt.Sprintf(`"waiting":%d`, 2000-slots))
	}, site.Patience, site.PollEvery)
	close(stub.begin)
	all.Wait()
	assert.Zero(t, failed.Load())
	assert.LessOrEqual(t, stub.most, slots)
	for tenant, n := range stub.answers {
		assert.InEpsilon(t, slots*(last-2)/len(clients), n, 0.02, tenant)
	}
}
