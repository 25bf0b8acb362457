package usage_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest/client"
)

// dollars is a price of one dollar for each token of the answer, and nothing else.
const dollars = "price m input 0 output 1000000"

// twenty answers with an answer of twenty tokens.
var twenty = gatewaytest.Body(200, "application/json", []byte(`{"id":"c","object":"chat.completion","created":1,"model":"m",
	"choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}],
	"usage":{"prompt_tokens":10,"completion_tokens":20,"total_tokens":30}}`))

// asking returns a chat request for an answer of so many tokens at most.
func asking(limit int) string {
	return fmt.Sprintf(`{"model":"m","max_completion_tokens":%d,"messages":[{"role":"user","content":"hello"}]}`, limit)
}

// budget returns the lines of a site whose gateway has a budget.
func budget(p *gatewaytest.Provider, words ...string) []string {
	return []string{site.Direct.Provider("p", p, dollars, "format chat"), "limit all {\nper gateway\n" + strings.Join(words, "\n") + "\n}"}
}

// asker is a gateway, in this process or another.
type asker interface {
	Ask(path, body string, headers ...string) site.Reply
}

func statusOf(a asker, limit int) int { return a.Ask(site.ChatPath, asking(limit)).Status }

// An exhausted budget and a rate that is too high have different errors, in the words
// that each client knows. A budget with something left was called used up until the next
// month, though smaller requests were served; and no warning came.
func TestAnExhaustedBudgetIsNoRateLimit(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	p.Always(twenty)
	s := site.Start(t, withLedger(t, budget(p, "budget 50/month")...)...)
	require.Equal(t, http.StatusOK, statusOf(s, 40))
	const refill = `; there is room again at \d{4}-\d\d-01 00:00 UTC$`
	for _, path := range site.CallPaths {
		for _, stream := range []bool{false, true} {
			answer := s.Ask(path, strings.Replace(site.BodyFor(path, "m", "hello", stream), "1000", "40", 1), "X-Stainless-Retry-Count", "0")
			if path != site.MessagesPath {
				answer = s.Ask(path, bounded(path, 40, stream))
			}
			failure := answer.Failure(t)
			want := client.Failure{Type: "insufficient_quota", Code: "insufficient_quota"}
			if path == site.MessagesPath {
				want = client.Failure{Type: "rate_limit_error"}
			}
			assert.Regexp(t, `^the budget of this gateway, 50 USD per month, has less left than this request may cost, 40 USD: send less, or lower the bound of its answer`+refill, failure.Message, path)
			failure.Message = ""
			assert.Equal(t, want, failure, path)
			assert.Equal(t, http.StatusTooManyRequests, answer.Status)
			assert.Equal(t, "false", answer.Header.Get("X-Should-Retry"))
			assert.Regexp(t, `^[1-9]\d*$`, answer.Header.Get("Retry-After"))
		}
	}
	answer := s.Ask(site.ChatPath, asking(60))
	assert.Equal(t, "this request alone may cost 60 USD, more than the budget of this gateway, 50 USD per month: send less, or lower the bound of its answer", answer.Failure(t).Message)
	assert.Empty(t, answer.Header.Get("Retry-After"))
	for _, once := range []string{"a budget is used up, or has less left than a request may cost", "ai_gateway_budget_threshold"} {
		require.NoError(t, s.Logs.Wait(site.Waiting(t), once)) // handlers of events run in the background
		assert.Equal(t, 1, strings.Count(s.Logs.String(), once), once)
	}
	assert.Equal(t, http.StatusOK, statusOf(s, 30), "what was not used is free")
	assert.Equal(t, http.StatusOK, statusOf(s, 10), "though it uses 20")
	assert.Regexp(t, "^the budget of this gateway is used up: 50 USD per month"+refill, s.Ask(site.ChatPath, asking(1)).Failure(t).Message)
	assert.Equal(t, 3, p.Count())
}

// bounded returns a request for an answer of so many tokens at most.
func bounded(path string, limit int, stream bool) string {
	word := map[string]string{site.ChatPath: "max_completion_tokens", site.CompletionsPath: "max_tokens", site.ResponsesPath: "max_output_tokens"}[path]
	return fmt.Sprintf(`%s,"%s":%d}`, strings.TrimSuffix(site.BodyFor(path, "m", "hello", stream), "}"), word, limit)
}

// A key with a budget could spend what it likes on a model whose price nobody knows.
func TestL018AModelWithoutAPriceIsRefusedByABudget(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	p.Always(twenty)
	unpriced := func(t *testing.T, words ...string) *site.Site {
		lines := budget(p, words...)
		lines[0] = site.Direct.Provider("p", p, "format chat", "price another input 1 output 1", "price euros input 1 output 1 currency EUR")
		return site.Start(t, withLedger(t, lines...)...)
	}
	t.Run("refused", func(t *testing.T) {
		s := unpriced(t, "budget 50/month")
		// A price in another currency was answered as an unknown one, which sent operators to a price that was
		// there; explain answered that the key may use the model.
		for model, missing := range map[string]string{
			"m":     "the price of 'm' is unknown, and a budget needs it: an administrator can set a price",
			"euros": "the price of 'euros' is in EUR, not in USD, and a budget needs it: an administrator can set it, or the budget, in the same currency",
		} {
			answer := s.Ask(site.ChatPath, strings.Replace(asking(10), `"m"`, `"`+model+`"`, 1))
			assert.Equal(t, http.StatusForbidden, answer.Status)
			assert.Equal(t, "model: "+missing, answer.Failure(t).Message)
			require.NoError(t, s.Logs.Wait(site.Waiting(t), missing+" for the target p/"+model))
			assert.Contains(t, s.Call(http.MethodGet, s.AdminURL("/api/v1/explain?key=client&model="+model), "").Body, `"allowed":false,"reason":"`+missing)
		}
		assert.Contains(t, s.Call(http.MethodGet, s.AdminURL("/api/v1/explain?model=euros"), "").Body, "The price is in EUR, and keys with a budget in USD are refused.")
		assert.Contains(t, s.Call(http.MethodGet, s.AdminURL("/api/v1/explain?key=client&model=another"), "").Body, `"allowed":true`)
		assert.Zero(t, p.Count())
		assert.Equal(t, http.StatusOK, s.Ask(site.ChatPath, strings.Replace(asking(10), `"m"`, `"another"`, 1)).Status)
	})
	for name, words := range map[string][]string{"allowed": {"budget 50/month", "unpriced allow"}, "soft": {"budget 50/month soft"}} {
		t.Run(name, func(t *testing.T) {
			s := unpriced(t, words...)
			assert.Equal(t, http.StatusOK, statusOf(s, 10))
			sums := settled(t, s, "model", 1)
			assert.EqualValues(t, 1, sums[0].Unpriced)
		})
	}
}

func TestASoftBudgetWarns(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	p.Always(twenty)
	s := site.Start(t, withLedger(t, budget(p, "budget 30/30d soft")...)...)
	assert.Empty(t, s.Ask(site.ChatPath, asking(20)).Header.Get("X-Gateway-Budget-Exceeded"))
	beyond := s.Ask(site.ChatPath, asking(20))
	assert.Equal(t, http.StatusOK, beyond.Status)
	assert.Equal(t, "all", beyond.Header.Get("X-Gateway-Budget-Exceeded"))
	require.Equal(t, http.StatusOK, statusOf(s, 20))
	assert.Equal(t, 2, strings.Count(s.Logs.String(), "budget is used up"), "50 and 100 percent, once each")
}

// L050: a budget that begins anew with each start is none. L051: what a killed process
// had reserved is not known to be unused.
func TestL050L051ABudgetOutlivesTheProcess(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := gatewaytest.NewProvider(t)
	lines := append(budget(p, "budget 110/month"), "store sqlite "+dir+"/gateway.db", "ledger {\njournal "+dir+"/journal\n}")
	gateway := site.StartProcess(t, "", lines...)
	p.Always(twenty)
	for range 4 {
		require.Equal(t, http.StatusOK, statusOf(gateway, 20))
	}
	gateway.Kill()
	gateway = site.StartProcess(t, "", lines...)
	assert.Equal(t, http.StatusTooManyRequests, statusOf(gateway, 31), "80 of 110 are spent")
	stalledStream(t, p, func(path, _ string, headers ...string) *site.Stream {
		return gateway.Open(path, strings.Replace(asking(25), "{", `{"stream":true,`, 1), headers...)
	})
	gateway.Kill()
	p.Always(twenty)
	gateway = site.StartProcess(t, "", lines...)
	assert.Equal(t, http.StatusTooManyRequests, statusOf(gateway, 6), "25 are held")
	assert.Equal(t, http.StatusOK, statusOf(gateway, 5))
}

// L033: a budget that is not written down has no end.
func TestL033WithoutALedgerOnlyBudgetsAreRefused(t *testing.T) {
	site.SetKeys(t)
	p := gatewaytest.NewProvider(t)
	p.Always(twenty)
	dir := t.TempDir()
	s := site.Start(t, site.Direct.Provider("p", p, dollars, "format chat"), "store sqlite "+dir+"/gateway.db",
		"ledger {\njournal "+noDirectory(t)+"/journal\n}", "limit small {\nbudget 50/month\n}",
		"key alice {env.KEY_ALICE} {\nlimit small\n}")
	for range 2 {
		answer := s.Ask(site.ChatPath, asking(20), "Authorization", "Bearer "+site.AliceKey)
		assert.Equal(t, http.StatusServiceUnavailable, answer.Status, answer.Body)
		assert.Equal(t, "limits_unavailable", answer.Failure(t).Code, "what has been spent is unknown")
	}
	assert.Equal(t, http.StatusOK, statusOf(s, 20))
}

// Limits of a team and of its members hold together, and the answer names the one that
// refuses.
func TestNestedBudgetsHoldTogether(t *testing.T) {
	site.SetKeys(t)
	p := gatewaytest.NewProvider(t)
	p.Always(twenty)
	lines := withLedger(t, site.Direct.Provider("p", p, dollars, "format chat"), "limit team {\nper group\nbudget 50/month\n}",
		"key alice {env.KEY_ALICE} {\nowner alice\nlimit member\n}", "key bob {env.KEY_BOB} {\nowner bob\nlimit member\n}")
	s := site.Start(t, append(lines, "limit member {\nwithin team\nbudget 30/month\n}")...)
	replyFor := func(key string) site.Reply {
		return s.Ask(site.ChatPath, asking(20), "Authorization", "Bearer "+key)
	}
	assert.Equal(t, http.StatusOK, replyFor(site.AliceKey).Status)
	assert.Contains(t, replyFor(site.AliceKey).Failure(t).Message, "the budget of this user, 30 USD per month, has less left")
	assert.Equal(t, http.StatusOK, replyFor(site.BobKey).Status)
	assert.Contains(t, replyFor(site.BobKey).Failure(t).Message, "the budget of this user")

	// A reload with a larger budget does not begin anew.
	require.NoError(t, s.Reload(site.Block("", append(lines, "limit member {\nwithin team\nbudget 45/month\n}")...)))
	assert.Contains(t, replyFor(site.AliceKey).Failure(t).Message, "the budget of the group 'team', 50 USD per month, has less left")
}
