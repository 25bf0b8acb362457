package usage_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// mirrored has the model "m" with a target and a mirror, whose answer of twenty tokens costs twenty
// dollars. The target is free.
func mirrored(t *testing.T, w site.Way) (lines []string, target, mirror *gatewaytest.Provider) {
	target, mirror = gatewaytest.NewProvider(t), gatewaytest.NewProvider(t)
	target.Always(twenty)
	mirror.Always(twenty)
	return []string{
		w.Provider("target", target, "models off", "format chat", "price * input 0 output 0"),
		w.Provider("mirror", mirror, "models off", "format chat", "price other input 0 output 1000000"),
		"model m {\nto target\nmirror mirror/other 100%\n}",
	}, target, mirror
}

// copies are the records of the mirror, by how they ended.
func copies(t testing.TB, s *site.Site, outcome string, number int64) (found sum) {
	t.Helper()
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		found = sum{}
		for _, sum := range read(c, s, "key,user,model,upstream_model,outcome") {
			if sum.Key == "(mirror)" && sum.Outcome == outcome {
				found = sum
			}
		}
		assert.Equal(c, number, found.Requests)
	}, site.Patience, site.PollEvery)
	return found
}

// The budget of the gateway would refuse the second request if it counted what the mirror costs.
func TestAMirrorGetsACopyThatNoKeyPaysFor(t *testing.T) {
	site.EachWay(t, func(t *testing.T, w site.Way) {
		lines, target, mirror := mirrored(t, w)
		s := site.Start(t, withLedger(t, append(lines, "limit all {\nper gateway\nbudget 1/month\n}")...)...)
		for range 3 {
			answer := s.Ask(site.ChatPath, asking(20))
			require.Equal(t, http.StatusOK, answer.Status, answer.Body)
		}
		require.NoError(t, mirror.WaitRequests(site.Waiting(t), 3))
		assert.Equal(t, 3, target.Count())
		sent := mirror.LastJSON(t)
		assert.Equal(t, "other", sent["model"])
		assert.Equal(t, target.LastJSON(t)["messages"], sent["messages"])
		found := copies(t, s, "answered", 3)
		assert.Equal(t, sum{
			Key: "(mirror)", Model: "m", Outcome: "answered", Upstream: "other", Requests: 3, Calls: 3, Input: 30, Output: 60, Cost: 60_000_000, Currency: "USD",
		}, found)
		var compared struct {
			Items []struct {
				Provider         string
				Mirror           bool
				Requests, Failed int64
				Cost             struct{ Value float64 }            `json:"cost_micro"`
				Finishes         map[string]struct{ Value float64 } `json:"finish_percent"`
			}
		}
		get(t, s.AdminURL("/api/v1/records/comparison?model=m"), &compared)
		require.Len(t, compared.Items, 2)
		assert.Equal(t, "target", compared.Items[0].Provider)
		assert.False(t, compared.Items[0].Mirror)
		assert.Zero(t, compared.Items[0].Cost.Value)
		assert.Equal(t, "mirror", compared.Items[1].Provider)
		assert.True(t, compared.Items[1].Mirror)
		assert.Equal(t, int64(3), compared.Items[1].Requests)
		assert.Equal(t, 20_000_000.0, compared.Items[1].Cost.Value)
		for _, item := range compared.Items {
			assert.Len(t, item.Finishes, 1)
			assert.Equal(t, 100.0, item.Finishes["stop"].Value)
		}
	})
}

func TestAMirrorNeitherDelaysNorFailsTheClient(t *testing.T) {
	const stream = `{"model":"m","stream":true,"messages":[{"role":"user","content":"hello"}]}`
	for name, test := range map[string]struct {
		step    gatewaytest.Step
		outcome string
	}{
		"error":     {gatewaytest.Status(http.StatusBadGateway), "failed"},
		"broken":    {gatewaytest.HeadersThenReset(), "failed"},
		"no answer": {gatewaytest.Reset(), "failed"},
		"endless":   {gatewaytest.InOrder(gatewaytest.Chunks("text/event-stream"), gatewaytest.Flood()), "client_closed"},
		"100 MB":    {gatewaytest.Body(http.StatusOK, "application/json", make([]byte, 100<<20)), "failed"},
	} {
		t.Run(name, func(t *testing.T) {
			lines, target, mirror := mirrored(t, site.Direct)
			target.Always(gatewaytest.Answer())
			mirror.Always(test.step)
			s := site.Start(t, withLedger(t, lines...)...)
			assert.True(t, s.Ask(site.ChatPath, stream).Read(t, site.ChatPath).Complete)
			copies(t, s, test.outcome, 1)
		})
	}
}

// The client has its whole answer while the mirror hangs: the mirror goes on when that was seen.
func TestAMirrorThatHangsDelaysNoClient(t *testing.T) {
	lines, target, mirror := mirrored(t, site.Direct)
	target.Always(gatewaytest.Answer())
	stuck := gatewaytest.NewGate(t)
	mirror.Always(gatewaytest.Stall(stuck, twenty))
	s := site.Start(t, withLedger(t, lines...)...)
	for range 3 {
		require.Equal(t, http.StatusOK, statusOf(s, 20))
		require.NoError(t, stuck.WaitArrived(site.Waiting(t)))
	}
	assert.Equal(t, 3, target.Count())
	stuck.Open()
	copies(t, s, "answered", 3)
}

// Copies that failed let the targets of clients at the same address rest.
func TestFailedCopiesLetNoTargetRest(t *testing.T) {
	lines, target, mirror := mirrored(t, site.Direct)
	target.Always(gatewaytest.Answer())
	mirror.Always(gatewaytest.Status(http.StatusBadGateway))
	s := site.Start(t, withLedger(t, append(lines, "model direct {\nto mirror/other\nto target\n}")...)...)
	for range 20 {
		require.Equal(t, http.StatusOK, statusOf(s, 20))
	}
	copies(t, s, "failed", 20)
	mirror.Always(twenty)
	before := target.Count()
	require.Equal(t, http.StatusOK, s.Ask(site.ChatPath, strings.Replace(asking(20), `"m"`, `"direct"`, 1)).Status)
	assert.Equal(t, before, target.Count(), "the first target of clients does not rest")
}

// Each further copy went to a mirror that had sent Retry-After.
func TestCopiesPauseForAsLongAsTheMirrorWants(t *testing.T) {
	lines, target, mirror := mirrored(t, site.Direct)
	mirror.Script(gatewaytest.Status(http.StatusTooManyRequests, "Retry-After", "60"))
	s := site.Start(t, withLedger(t, append(lines, "model direct {\nto mirror/other\nto target/m\n}")...)...)
	require.Equal(t, http.StatusOK, statusOf(s, 20))
	copies(t, s, "failed", 1)
	for range 2 {
		require.Equal(t, http.StatusOK, statusOf(s, 20))
	}
	assert.Contains(t, site.ReadReply(s.Get(s.AdminURL("/metrics"))).Body, `mirrors_total{model="m",outcome="dropped"} 2`)
	before := target.Count()
	require.Equal(t, http.StatusOK, s.Ask(site.ChatPath, strings.Replace(asking(20), `"m"`, `"direct"`, 1)).Status)
	assert.Equal(t, []int{before, 2}, []int{target.Count(), mirror.Count()}, "clients still ask it")
}

// What a copy might have cost was lost with the process: after a restart, the budget of the mirror had room
// for another one.
func TestTheBudgetOfAMirrorKeepsWhatAKilledCopyReserved(t *testing.T) {
	t.Parallel()
	lines, target, mirror := mirrored(t, site.Direct)
	lines[1] = site.Direct.Provider("mirror", mirror, "models off", "format chat", "price other input 0 output 1000000", "limit {\nbudget 50/total\n}")
	lines = withLedger(t, lines...)
	gate := gatewaytest.NewGate(t)
	mirror.Script(gatewaytest.Stall(gate, twenty))
	first := site.StartProcess(t, "", lines...)
	require.Equal(t, http.StatusOK, statusOf(first, 40))
	require.NoError(t, gate.WaitArrived(site.Waiting(t)))
	first.Kill()
	second := site.StartProcess(t, "", lines...)
	require.Equal(t, http.StatusOK, statusOf(second, 40))
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		var page struct{ Items []sum }
		get(c, second.AdminURL("/api/v1/usage?by=key,outcome"), &page)
		assert.True(c, slices.ContainsFunc(page.Items, func(s sum) bool { return s.Key == "(mirror)" && s.Outcome == "refused" }), page.Items)
	}, site.Patience, site.PollEvery)
	assert.Equal(t, []int{2, 1}, []int{target.Count(), mirror.Count()})
}

// A panic of a copy would end the process: no server recovers it.
func TestAPanicEndsTheCopyAlone(t *testing.T) {
	target := gatewaytest.NewProvider(t)
	target.Always(twenty)
	s := site.Start(t, withLedger(t, site.Direct.Provider("target", target, "models off", "format chat"),
		"provider panicking {\nmodels off\n}", "model m {\nto target\nmirror panicking/now\n}")...)
	require.Equal(t, http.StatusOK, statusOf(s, 20))
	copies(t, s, "failed", 1)
	require.Equal(t, http.StatusOK, statusOf(s, 20))
}

// The limits of a provider bound what it may cost, whoever asks.
func TestCopiesCountInTheLimitsOfTheirProvider(t *testing.T) {
	lines, target, mirror := mirrored(t, site.Direct)
	lines[1] = site.Direct.Provider("mirror", mirror, "models off", "format chat", "limit {\nrequests 1/1d\n}")
	s := site.Start(t, withLedger(t, lines...)...)
	for range 3 {
		require.Equal(t, http.StatusOK, statusOf(s, 20))
	}
	copies(t, s, "answered", 1)
	copies(t, s, "refused", 2)
	assert.Equal(t, 3, target.Count())
	assert.Equal(t, 1, mirror.Count())
}

func TestWhatAGuardForbidsIsNotMirrored(t *testing.T) {
	lines, target, mirror := mirrored(t, site.Direct)
	s := site.Start(t, withLedger(t, append(lines, "guard pii regex {\nblock card\nmask email\non request\n}")...)...)
	const body = `{"model":"m","messages":[{"role":"user","content":"I am TEXT"}]}`
	assert.Equal(t, http.StatusBadRequest, s.Ask(site.ChatPath, strings.Replace(body, "TEXT", "4111 1111 1111 1111", 1)).Status)
	require.Equal(t, http.StatusOK, s.Ask(site.ChatPath, strings.Replace(body, "TEXT", "me@example.com", 1)).Status)
	copies(t, s, "answered", 1)
	assert.Equal(t, 1, mirror.Count())
	assert.Equal(t, target.LastJSON(t)["messages"], mirror.LastJSON(t)["messages"])
	assert.NotContains(t, string(mirror.Requests()[0].Body), "me@example.com")
}

// A copy of a request that refers to what one provider stores cannot succeed, and one that stores
// something would leave it where nobody reads it.
func TestRequestsAboutWhatIsStoredAreNotMirrored(t *testing.T) {
	lines, _, mirror := mirrored(t, site.Direct)
	s := site.Start(t, withLedger(t, lines...)...)
	require.Equal(t, http.StatusOK, s.Ask(site.ChatPath, `{"model":"m","store":true,"messages":[{"role":"user","content":"hi"}]}`).Status)
	s.Ask("/v1/responses", `{"model":"m","previous_response_id":"resp_1","input":"hi"}`)
	s.Ask("/v1/responses", `{"model":"m","background":true,"input":"hi"}`)
	require.Equal(t, http.StatusOK, statusOf(s, 20))
	copies(t, s, "answered", 1)
	assert.Equal(t, 1, mirror.Count())
}

// A shutdown cancels copies, and a reload leaves them. A gateway that starts again does not count in its
// budget what they have cost: the sum over all keys had it.
func TestCopiesEndWithTheProcess(t *testing.T) {
	t.Parallel()
	lines, _, mirror := mirrored(t, site.Direct)
	lines = withLedger(t, append(lines, "limit all {\nper gateway\nbudget 1/month\n}")...)
	gate := gatewaytest.NewGate(t)
	mirror.Script(twenty, gatewaytest.Stall(gate, twenty), gatewaytest.Stall(gate, twenty))
	first := site.StartProcess(t, "", lines...)
	for n := range 2 {
		require.Equal(t, http.StatusOK, statusOf(first, 20))
		require.NoError(t, mirror.WaitRequests(site.Waiting(t), n+1))
	}
	first.Reload("", lines...)
	require.Equal(t, http.StatusOK, statusOf(first, 20))
	require.NoError(t, mirror.WaitRequests(site.Waiting(t), 3))
	assert.Zero(t, mirror.Cancelled(), "a reload leaves running copies")
	first.Terminate()
	first.AssertExits()
	require.NoError(t, mirror.WaitCancelledN(site.Waiting(t), 2))
	second := site.StartProcess(t, "", lines...)
	require.Equal(t, http.StatusOK, statusOf(second, 20))
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		var page struct{ Items []sum }
		get(c, second.AdminURL("/api/v1/usage?by=key,outcome"), &page)
		outcomes := make(map[string]int64)
		for _, sum := range page.Items {
			outcomes[sum.Key+" "+sum.Outcome] = sum.Requests
		}
		assert.Equal(c, int64(2), outcomes["(mirror) answered"])
		assert.Equal(c, int64(2), outcomes["(mirror) failed"])
	}, site.Patience, 200e6)
}
