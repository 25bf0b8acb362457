package usage_test

import (
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/counters/counterstest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// twoProviders returns the lines of a site with a provider whose tokens cost a dollar each, and that has
// the rules of a limit, and with a provider that is free.
func twoProviders(t testing.TB, rules string) (dear, free *gatewaytest.Provider, lines []string) {
	dear, free = gatewaytest.NewProvider(t), gatewaytest.NewProvider(t)
	dear.Always(twenty)
	free.Always(twenty)
	return dear, free, []string{
		site.Direct.Provider("dear", dear, "models off", "format chat", dollars, "limit {\n"+rules+"\n}"),
		site.Direct.Provider("free", free, "models off", "format chat", "price m input 0 output 0"),
	}
}

// passedOver returns the targets that an exchange did not ask, with the reasons.
func passedOver(t *testing.T, s *site.Site, answer *site.Reply) (all []string) {
	for _, a := range attempts(t, s, answer.ID()) {
		if a.Status == 0 {
			all = append(all, a.Provider+" "+a.End)
		}
	}
	return all
}

// While a limit of a provider is used up, its models are answered by the next target.
func TestALimitOfAProviderIsPassedOver(t *testing.T) {
	for _, c := range []struct {
		rules string
		max   int
		want  int // answers of the provider
	}{
		{"requests 3/1h", 20, 3},
		{"tokens 100/1h", 20, 2}, // 30 tokens each, of 100; a request reserves more than the 40 that are left
		{"budget 100/month", 20, 5},
		{"budget 100/month", 40, 4},   // after four answers, 20 dollars are left
		{"budget 100/month", 1000, 0}, // no answer of this length fits
	} {
		t.Run(c.rules, func(t *testing.T) {
			dear, free, lines := twoProviders(t, c.rules)
			s := site.Start(t, withLedger(t, append(lines, "model m {\nto dear\nto free\n}", "target_header on")...)...)
			for range c.want {
				answer := s.Ask(site.ChatPath, asking(c.max))
				require.Equal(t, http.StatusOK, answer.Status, answer.Body)
				assert.Equal(t, "dear/m", answer.Header.Get("X-Gateway-Target"))
			}
			answer := s.Ask(site.ChatPath, asking(c.max))
			require.Equal(t, http.StatusOK, answer.Status, answer.Body)
			assert.Equal(t, "free/m", answer.Header.Get("X-Gateway-Target"))
			assert.Empty(t, answer.Header.Get("Retry-After"))
			assert.Equal(t, []string{"dear limited"}, passedOver(t, s, &answer))
			assert.Equal(t, []int{c.want, 1}, []int{dear.Count(), free.Count()})
		})
	}
}

// If no target is left, the client reads which rule refuses, in its own format, and no name of a provider.
func TestALimitOfAProviderRefusesWithoutAnotherTarget(t *testing.T) {
	for rules, want := range map[string]string{
		"requests 1/1h":  "request rate limit reached for the upstream for model 'm'",
		"budget 20/day":  "the budget of the upstream for model 'm' is used up: 20 USD per day; there is room again at ",
		"budget 50/day":  "the budget of the upstream for model 'm', 50 USD per day, has less left than this request may cost, 40 USD: ",
		"budget 1/total": "this request alone may cost 40 USD, more than the budget of the upstream for model 'm', 1 USD in total: ",
	} {
		t.Run(rules, func(t *testing.T) {
			_, _, lines := twoProviders(t, rules)
			s := site.Start(t, withLedger(t, append(lines, "model m {\nto dear\n}")...)...)
			limit := 40
			if rules != "budget 1/total" {
				if rules == "budget 20/day" {
					limit = 20
				}
				require.Equal(t, http.StatusOK, statusOf(s, limit))
			}
			for _, path := range []string{site.ChatPath, site.MessagesPath} {
				answer := s.Ask(path, strings.Replace(asking(limit), "max_completion_tokens", map[string]string{site.ChatPath: "max_completion_tokens", site.MessagesPath: "max_tokens"}[path], 1), "anthropic-version", "2023-06-01")
				require.Equal(t, http.StatusTooManyRequests, answer.Status, answer.Body)
				assert.Contains(t, answer.Body, want)
				assert.NotContains(t, answer.Body, "dear")
				assert.NotContains(t, answer.Body, "127.0.0.1")
				assert.Equal(t, path == site.MessagesPath, strings.Contains(answer.Body, `{"type":"error"`))
				assert.Equal(t, rules == "budget 1/total", answer.Header.Get("Retry-After") == "")
				assert.Equal(t, []string{"dear limited"}, passedOver(t, s, &answer))
			}
		})
	}
}

// What requests of another model had cost counted in the limit of a target whose pattern matches its name, too.
func TestALimitOfATargetCountsTheRequestsOfItsModel(t *testing.T) {
	dear, free, lines := twoProviders(t, "budget 1000/day")
	s := site.Start(t, withLedger(t, append(lines, "model zz-* {\nto dear/m {\nlimit {\nbudget 40/day\n}\n}\nto free/m\n}", "model zz-dear {\nto dear/m\n}")...)...)
	for _, model := range []string{"zz-dear", "zz-dear", "zz-a", "zz-b", "zz-c"} {
		require.Equal(t, http.StatusOK, s.Ask(site.ChatPath, strings.Replace(asking(20), `"m"`, `"`+model+`"`, 1)).Status)
	}
	assert.Equal(t, []int{4, 1}, []int{dear.Count(), free.Count()}, "the target may spend 40")
}

// A target counts its own calls, within the limit of its provider.
func TestALimitOfATargetIsWithinThatOfItsProvider(t *testing.T) {
	dear, free, lines := twoProviders(t, "budget 100/day")
	s := site.Start(t, withLedger(t, append(lines, "model m {\nto dear/m {\nlimit {\nbudget 40/day\n}\n}\nto free/m\n}", "model other {\nto dear/m\n}")...)...)
	for range 3 {
		require.Equal(t, http.StatusOK, statusOf(s, 20))
	}
	assert.Equal(t, []int{2, 1}, []int{dear.Count(), free.Count()}, "the target may spend 40")
	other := strings.Replace(asking(20), `"m"`, `"other"`, 1)
	for range 3 {
		require.Equal(t, http.StatusOK, s.Ask(site.ChatPath, other).Status)
	}
	assert.Equal(t, http.StatusTooManyRequests, s.Ask(site.ChatPath, other).Status, "the provider has spent 100")
	assert.Equal(t, 5, dear.Count())
	var states []string
	for line := range strings.Lines(site.RunCommand(t, "ai-gateway limits --address "+strings.TrimPrefix(s.AdminURL(""), "http://"))) {
		fields := strings.Fields(line)
		states = append(states, strings.Join(fields[:min(len(fields), 2)], " "))
	}
	assert.Subset(t, states, []string{"provider/dear provider", "target/m/dear/m target"})
}

// An attempt that failed counts where it was made, and the next one at its own target.
func TestEachAttemptCountsInTheLimitOfItsTarget(t *testing.T) {
	dear, free, lines := twoProviders(t, "requests 2/1h\nbudget 1000/day")
	dear.Always(gatewaytest.Status(http.StatusServiceUnavailable))
	s := site.Start(t, withLedger(t, append(lines, "cooldown off", "model m {\nto dear\nto free {\nlimit {\nrequests 3/1h\n}\n}\n}")...)...)
	for range 3 {
		require.Equal(t, http.StatusOK, statusOf(s, 20))
	}
	assert.Equal(t, []int{2, 3}, []int{dear.Count(), free.Count()})
	assert.Equal(t, http.StatusTooManyRequests, statusOf(s, 20))
	assert.Equal(t, []int{2, 3}, []int{dear.Count(), free.Count()})
}

// A key whose budget is used up was served by a paid target, when the free one in front of it had used up
// its own limit.
func TestALimitedFreeTargetWithAPaidFallbackIsNoWayAroundABudgetOfAKey(t *testing.T) {
	s, dear, _, _, free := startSteps(t, "model m {\nto free {\nlimit {\nrequests 1/1h\n}\n}\nto dear\nfallback_on default budget\n}")
	require.Equal(t, http.StatusOK, statusOf(s, 1000))
	require.Equal(t, []int{0, 1}, []int{dear.Count(), free.Count()})
	assert.Equal(t, http.StatusTooManyRequests, statusOf(s, 1000), "the budget of the key cannot pay for 1000 dollars")
	assert.Equal(t, []int{0, 1}, []int{dear.Count(), free.Count()})
	assert.Equal(t, http.StatusOK, statusOf(s, 90), "but for 90")
	assert.Equal(t, []int{1, 1}, []int{dear.Count(), free.Count()})
}

// Fifty clients spend the budget of a provider exactly, while the gateway is killed again and again.
func TestABudgetOfAProviderIsExactUnderManyClientsAndKills(t *testing.T) {
	t.Parallel()
	assertExact(t, "budget 6000/total")
}

// So they do with a budget of all keys.
func TestABudgetThatFallsBackIsExactUnderManyClientsAndKills(t *testing.T) {
	t.Parallel()
	assertExact(t, "requests 1000000/1h", "limit all {\nper gateway\nbudget 6000/total\n}")
}

// assertExact asserts that a budget of 6,000 dollars, among the rules of a provider or in further lines, is
// spent exactly.
func assertExact(t *testing.T, rules string, more ...string) {
	dear, free, lines := twoProviders(t, rules)
	lines = append(withLedger(t, append(lines, more...)...), "model m {\nto dear\nto free\nfallback_on default budget\n}")
	for range kills(t, 3) {
		gateway := site.StartProcess(t, "", lines...)
		var answered atomic.Int64
		var clients sync.WaitGroup
		for range 50 {
			clients.Go(func() {
				for answered.Load() < 25 && asksDear(gateway, 20) {
					if answered.Add(1) == 25 {
						gateway.Kill()
					}
				}
			})
		}
		clients.Wait()
	}
	gateway := site.StartProcess(t, "", lines...)
	before := dear.Count()
	require.LessOrEqual(t, before, 300)
	var clients sync.WaitGroup
	for range 50 {
		clients.Go(func() {
			for range 6 {
				assert.Equal(t, http.StatusOK, statusOf(gateway, 20))
			}
		})
	}
	clients.Wait()
	assert.LessOrEqual(t, dear.Count(), 300, "6000 dollars pay for 300 answers of 20")
	assert.Greater(t, dear.Count(), before)
	asked := dear.Count()
	assert.Equal(t, http.StatusOK, statusOf(gateway, 20))
	assert.Equal(t, asked, dear.Count(), "nothing is left, with what was reserved for killed requests")
	assert.Positive(t, free.Count())
}

// asksDear reports whether a request was answered, also with a gateway that may be gone.
func asksDear(gateway *site.Process, limit int) bool {
	request, _ := http.NewRequest(http.MethodPost, "http://"+gateway.Address+site.ChatPath, strings.NewReader(asking(limit)))
	request.Header.Set("Authorization", "Bearer "+site.ClientKey)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false
	}
	defer response.Body.Close()
	return response.StatusCode == http.StatusOK
}

// Two gateways that count in one Redis server spend the budget of a provider once.
func TestTwoGatewaysSpendTheBudgetOfAProviderTogether(t *testing.T) {
	t.Parallel()
	server, ok := counterstest.StartRedis(t)
	if !ok {
		return
	}
	dear, _, lines := twoProviders(t, "budget 200/month")
	gateways := sharing(t, server, "deny", append(lines, "model m {\nto dear\nto free\n}")...)
	var clients sync.WaitGroup
	for i := range 50 {
		clients.Go(func() { assert.Equal(t, http.StatusOK, statusOf(gateways[i%2], 20)) })
	}
	clients.Wait()
	assert.LessOrEqual(t, dear.Count(), 10)
	for range 10 - dear.Count() {
		assert.Equal(t, http.StatusOK, statusOf(gateways[0], 20))
	}
	assert.Equal(t, 10, dear.Count())
	assert.Equal(t, http.StatusOK, statusOf(gateways[1], 20))
	assert.Equal(t, 10, dear.Count())
}

// A key may spend 60 dollars on one model, and more on others; a restart changes nothing about it.
func TestALimitOfAModelOfAKey(t *testing.T) {
	t.Parallel()
	p := gatewaytest.NewProvider(t)
	p.Always(twenty)
	lines := withLedger(t, site.Direct.Provider("p", p, "format chat", strings.Replace(dollars, "price m", "price *", 1)),
		"limit all {\nper gateway\nbudget 200/month\n}", "limit careful {\nper key\nmodels m m-*\nbudget 60/month\n}",
		"key ada {env.KEY_ALICE} {\nlimit careful\n}")
	gateway := site.StartProcess(t, "", lines...)
	ask := func(model string) site.Reply {
		return gateway.Ask(site.ChatPath, strings.Replace(asking(20), `"m"`, `"`+model+`"`, 1), "Authorization", "Bearer "+site.AliceKey)
	}
	for _, model := range []string{"m", "other", "m-1"} {
		require.Equal(t, http.StatusOK, ask(model).Status, model)
	}
	gateway.Kill()
	gateway = site.StartProcess(t, "", lines...)
	require.Equal(t, http.StatusOK, ask("m").Status, "40 of 60 are spent on the models of the limit")
	refused := ask("m-2")
	assert.Equal(t, http.StatusTooManyRequests, refused.Status)
	assert.Contains(t, refused.Body, "the budget of this key for model 'm-2' is used up: 60 USD per month")
	// Once, a limit knew a model in one spelling alone, and services take others for it as well: a key
	// spent its budget for each of them.
	for _, name := range []string{"M", " m", "m ", "models/m", "M-2", "publishers/google/models/M-2"} {
		assert.Equal(t, http.StatusTooManyRequests, ask(name).Status, "%q", name)
	}
	assert.Equal(t, http.StatusOK, ask("other").Status, "another model")
	assert.Equal(t, http.StatusOK, statusOf(gateway, 20), "another key")
	for range 4 {
		require.Equal(t, http.StatusOK, ask("other").Status)
	}
	refused = ask("other")
	assert.Contains(t, refused.Body, "the budget of this gateway is used up: 200 USD per month")
}

// A key with a budget of 0 uses what is free.
func TestABudgetOfZeroAdmitsWhatIsFree(t *testing.T) {
	dear, free, lines := twoProviders(t, "requests 100/1h")
	s := site.Start(t, withLedger(t, append(lines, "model m {\nto dear\nto free\nfallback_on default budget\n}", "model paid {\nto dear/m\n}", "limit none {\nper gateway\nbudget 0/month\n}")...)...)
	assert.Equal(t, http.StatusOK, statusOf(s, 20))
	assert.Equal(t, []int{0, 1}, []int{dear.Count(), free.Count()})
	refused := s.Ask(site.ChatPath, strings.Replace(asking(20), `"m"`, `"paid"`, 1))
	assert.Equal(t, http.StatusTooManyRequests, refused.Status)
	assert.Contains(t, refused.Body, "this request alone may cost 20 USD, more than the budget of this gateway, 0 USD per month")
}
