package usage_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// startSteps starts a gateway with a budget of 100 dollars. The targets of its model are dear, at a
// dollar a token, half, at 50 cents, one without a price, and free.
func startSteps(t *testing.T, lines ...string) (s *site.Site, dear, half, unpriced, free *gatewaytest.Provider) {
	provider := func(name, price string) (*gatewaytest.Provider, string) {
		p := gatewaytest.NewProvider(t)
		p.Always(twenty)
		return p, site.Direct.Provider(name, p, "models off", "format chat", price)
	}
	dear, a := provider("dear", "price m input 0 output 1000000")
	half, b := provider("half", "price m input 0 output 500000")
	unpriced, c := provider("unpriced", "")
	free, d := provider("free", "price m input 0 output 0")
	lines = append(lines, a, b, c, d, "limit all {\nper gateway\nbudget 100/month\n}")
	return site.Start(t, withLedger(t, lines...)...), dear, half, unpriced, free
}

// A target that the budget cannot pay for is passed over, and the record has the reason. Without
// fallback_on budget, one dear target made a budget refuse the whole model.
func TestABudgetFallsBackToWhatItCanPayFor(t *testing.T) {
	s, dear, half, unpriced, free := startSteps(t, "target_header on", "model m {\nto dear\nto half\nto unpriced\nto free\nfallback_on default budget\n}")
	asked := func() []int { return []int{dear.Count(), half.Count(), unpriced.Count(), free.Count()} }
	for _, step := range []struct {
		limit int
		want  []int
		over  string
	}{
		{60, []int{1, 0, 0, 0}, "unpriced"},             // 20 dollars of 100 are spent
		{90, []int{1, 1, 0, 0}, "unpriced dear"},        // 90 are too many for 80; 45 are not; 10 are spent
		{1000, []int{1, 1, 0, 1}, "unpriced dear half"}, // 70 are left
		{70, []int{2, 1, 0, 1}, "unpriced"},
		{50, []int{3, 1, 0, 1}, "unpriced"},
		{50, []int{3, 2, 0, 1}, "unpriced dear"}, // 30 are left
		{20, []int{4, 2, 0, 1}, "unpriced"},
		{1, []int{4, 2, 0, 2}, "unpriced dear half"}, // nothing is left
	} {
		answer := s.Ask(site.ChatPath, asking(step.limit))
		require.Equal(t, http.StatusOK, answer.Status, answer.Body)
		assert.Equal(t, step.want, asked(), "an answer of at most %d tokens", step.limit)
		assert.Empty(t, answer.Header.Get("Retry-After"))
		var over []string
		for _, target := range attempts(t, s, answer.ID()) {
			if target.End == "costly" {
				over = append(over, target.Provider)
			}
		}
		assert.Equal(t, step.over, strings.Join(over, " "))
		logged, _ := s.Record(answer.ID())["choice"].(string)
		choice := "" // that a later target was left out changed nothing
		if strings.Contains(step.over, "dear") {
			choice = "budget"
		}
		assert.Equal(t, []string{choice, choice}, []string{logged, answer.Header.Get("X-Gateway-Choice")})
	}
}

// The budget of a key, a user, a group of keys or a customer leads to what it can pay for, like that of the
// gateway. A soft budget refuses nothing, and so leaves no target out.
func TestEachBudgetFallsBackToWhatItCanPayFor(t *testing.T) {
	t.Setenv("KEY_ALICE", site.AliceKey)
	for name, test := range map[string]struct {
		rules string
		want  [2]int // answers of the dear and of the free target
	}{
		"key":      {"per key\nbudget 30/month", [2]int{1, 2}},
		"user":     {"per user\nbudget 30/month", [2]int{1, 2}},
		"group":    {"per group\nbudget 30/month", [2]int{1, 2}},
		"customer": {"per customer\nbudget 30/month", [2]int{1, 2}},
		"soft":     {"per key\nbudget 30/month soft", [2]int{3, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			s, dear, _, _, free := startSteps(t, "customer header.X-Customer", "limit some {\n"+test.rules+"\n}", "key alice {env.KEY_ALICE} {\nlimit some\n}",
				"model m {\nto dear\nto free\nfallback_on default budget\n}")
			for range 3 {
				answer := s.Ask(site.ChatPath, asking(20), "Authorization", "Bearer "+site.AliceKey, "X-Customer", "acme")
				require.Equal(t, http.StatusOK, answer.Status, answer.Body)
			}
			assert.Equal(t, test.want, [2]int{dear.Count(), free.Count()})
		})
	}
}

// With a free target first, every request was admitted, and its paid fallback could spend any sum.
func TestAFreeTargetWithAPaidFallbackIsNoWayAroundABudget(t *testing.T) {
	t.Run("budget", func(t *testing.T) {
		s, dear, _, _, free := startSteps(t, "model m {\nto free\nto dear\nfallback_on default budget\n}")
		free.Always(gatewaytest.Status(http.StatusServiceUnavailable))
		assert.Equal(t, http.StatusOK, statusOf(s, 100))
		require.Equal(t, 1, dear.Count(), "80 dollars are left")
		assert.Equal(t, http.StatusServiceUnavailable, statusOf(s, 90), "only the free target may be asked")
		assert.Equal(t, 1, dear.Count())
	})
	t.Run("default", func(t *testing.T) {
		s, dear, _, _, free := startSteps(t, "model m {\nto free\nto dear\n}")
		assert.Equal(t, http.StatusTooManyRequests, statusOf(s, 101), "all targets must be paid for")
		assert.Zero(t, dear.Count()+free.Count())
	})
}

// Fifty clients spend a budget exactly, and then get the answers of the free target.
func TestManyClientsFallBackTogether(t *testing.T) {
	s, dear, _, _, free := startSteps(t, "model m {\nto dear\nto free\nfallback_on default budget\n}")
	var clients sync.WaitGroup
	for range 50 {
		clients.Go(func() { assert.Equal(t, http.StatusOK, statusOf(s, 20)) })
	}
	clients.Wait()
	assert.LessOrEqual(t, dear.Count(), 5, "100 dollars pay for five answers of 20")
	assert.Equal(t, 50, dear.Count()+free.Count())
	for range 5 - dear.Count() {
		require.Equal(t, http.StatusOK, statusOf(s, 20))
	}
	before := free.Count()
	assert.Equal(t, http.StatusOK, statusOf(s, 20))
	assert.Equal(t, before+1, free.Count())
}

// What costs nothing was refused for a key whose budget was overspent, as after a correction of costs.
func TestWhatIsFreeNeedsNoBudget(t *testing.T) {
	s, dear, _, _, free := startSteps(t, "model m {\nto dear\n}", "model gratis {\nto free/m\n}")
	dear.Always(gatewaytest.Body(200, "application/json", []byte(`{"id":"c","object":"chat.completion","created":1,"model":"m",
		"choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}],
		"usage":{"prompt_tokens":10,"completion_tokens":300,"total_tokens":310}}`)))
	require.Equal(t, http.StatusOK, statusOf(s, 90))
	assert.Equal(t, http.StatusTooManyRequests, statusOf(s, 1), "300 dollars of 100 are spent")
	answer := s.Ask(site.ChatPath, `{"model":"gratis","max_completion_tokens":9,"messages":[{"role":"user","content":"hello"}]}`)
	assert.Equal(t, http.StatusOK, answer.Status, answer.Body)
	assert.Equal(t, 1, free.Count())
}
