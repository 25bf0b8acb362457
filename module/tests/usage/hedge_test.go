package usage_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// racers is a gateway whose model calls its second target as well after a time.
func racers(t *testing.T, hedge string, lines ...string) (s *site.Site, first, second *gatewaytest.Provider) {
	first, second = gatewaytest.NewProvider(t), gatewaytest.NewProvider(t)
	return site.Start(t, withLedger(t, append(lines, site.Steady, "target_header on",
		site.Direct.Provider("first", first, "models off", "price m input 1 output 1"),
		site.Direct.Provider("second", second, "models off", "price m input 1 output 1"),
		"model m {\nto first\nto second\nhedge "+hedge+"\n}")...)...), first, second
}

func streaming(limit string) string {
	return `{"model":"m","stream":true,"max_completion_tokens":` + limit + `,"messages":[{"role":"user","content":"hello"}]}`
}

// ends are the attempts of a request, with how they ended.
func ends(t *testing.T, s *site.Site, id string) (all []string) {
	for _, a := range attempts(t, s, id) {
		all = append(all, a.Provider+" "+a.End)
	}
	return all
}

// The target that has content first answers. The other call is cancelled, and both are in the ledger.
func TestAHedgedRequestIsAnsweredByTheFasterTarget(t *testing.T) {
	stuck := func(t *testing.T) gatewaytest.Step {
		return gatewaytest.Stall(gatewaytest.NewGate(t), gatewaytest.Answer())
	}
	down := gatewaytest.Status(http.StatusServiceUnavailable)
	for name, test := range map[string]struct {
		steps  func(t *testing.T, first, second *gatewaytest.Provider)
		hedge  string
		status int
		target string
		choice string
		ends   string // of the attempts; a failure may be read behind the content of the other call
	}{
		"the second": {func(t *testing.T, first, _ *gatewaytest.Provider) { first.Script(stuck(t)) },
			"20ms", 200, "second/m", "hedge", "first lost, second answered"},
		"the first, later": {func(t *testing.T, first, second *gatewaytest.Provider) {
			slow, stuck := gatewaytest.NewGate(t), gatewaytest.NewGate(t)
			first.Script(gatewaytest.Stall(slow, gatewaytest.Answer()))
			second.Script(gatewaytest.Stall(stuck, gatewaytest.Answer()))
			go func() { _ = stuck.WaitArrived(context.Background()); slow.Open() }()
		}, "1ms", 200, "first/m", "", "second lost, first answered"},
		"the first, in time": {func(*testing.T, *gatewaytest.Provider, *gatewaytest.Provider) {},
			"1h", 200, "first/m", "", "first answered"},
		"the second, after a failure of the first": {func(t *testing.T, first, second *gatewaytest.Provider) {
			failing, slow := gatewaytest.NewGate(t), gatewaytest.NewGate(t)
			first.Script(gatewaytest.Stall(failing, down))
			second.Script(gatewaytest.Stall(slow, gatewaytest.Answer()))
			go func() {
				_ = slow.WaitArrived(context.Background())
				failing.Open()
				_ = first.WaitSettled(context.Background())
				slow.Open()
			}()
		}, "1ms", 200, "second/m", "hedge", "first (overloaded|lost), second answered"},
		"the first, after a failure of the second": {func(t *testing.T, first, second *gatewaytest.Provider) {
			slow := gatewaytest.NewGate(t)
			first.Script(gatewaytest.Stall(slow, gatewaytest.Answer()))
			second.Script(func(c *gatewaytest.Call) { down(c); slow.Open() })
		}, "1ms", 200, "first/m", "", "second (overloaded|lost), first answered"},
		"the second, after a failure in time": {func(_ *testing.T, first, _ *gatewaytest.Provider) { first.Script(down) },
			"1h", 200, "second/m", "fallback", "first overloaded, second answered"},
		"none": {func(t *testing.T, first, second *gatewaytest.Provider) {
			failing := gatewaytest.NewGate(t)
			first.Script(gatewaytest.Stall(failing, down))
			second.Script(func(c *gatewaytest.Call) { down(c); failing.Open() })
		}, "1ms", 503, "", "", "first overloaded, second overloaded"},
	} {
		t.Run(name, func(t *testing.T) {
			s, first, second := racers(t, test.hedge)
			test.steps(t, first, second)
			answer := s.Ask(site.ChatPath, streaming("40"))
			require.Equal(t, test.status, answer.Status, answer.Body)
			assert.Equal(t, []string{test.target, test.choice}, []string{answer.Header.Get("X-Gateway-Target"), answer.Header.Get("X-Gateway-Choice")})
			assert.Equal(t, test.status == 200, strings.HasSuffix(answer.Body, "data: [DONE]\n\n"))
			assert.Regexp(t, "^"+test.ends+"$", strings.Join(ends(t, s, answer.ID()), ", "))
			require.NoError(t, first.WaitSettled(site.Waiting(t)))
			require.NoError(t, second.WaitSettled(site.Waiting(t)))
			var page struct {
				Items []struct{ Calls []struct{ Provider string } }
			}
			get(t, s.AdminURL("/api/v1/records?request="+answer.ID()), &page)
			require.Len(t, page.Items, 1)
			assert.Len(t, page.Items[0].Calls, 1+strings.Count(test.ends, ", "))
		})
	}
}

// A client that leaves ends both calls.
func TestAClientThatLeavesEndsBothCallsOfARace(t *testing.T) {
	s, first, second := racers(t, "1ms")
	stuck := gatewaytest.NewGate(t)
	first.Script(gatewaytest.Stall(stuck, gatewaytest.Answer()))
	second.Script(gatewaytest.Stall(stuck, gatewaytest.Answer()))
	ctx, leave := context.WithCancel(t.Context())
	go func() {
		_, _ = stuck.WaitArrived(ctx), stuck.WaitArrived(ctx)
		leave()
	}()
	_, err := s.Send(ctx, site.ChatPath, streaming("40"))
	require.Error(t, err)
	require.NoError(t, first.WaitSettled(site.Waiting(t)))
	require.NoError(t, second.WaitSettled(site.Waiting(t)))
}

// slow answers after more than the time of a hedge of 1 ms.
func slow(c *gatewaytest.Call) {
	select {
	case <-time.After(50 * time.Millisecond):
	case <-c.Request.Context().Done():
	}
	gatewaytest.Answer()(c)
}

// Only streams are hedged, and nothing that would act twice.
func TestWhatIsNotHedged(t *testing.T) {
	s, first, second := racers(t, "1ms")
	for name, body := range map[string]string{
		"JSON":         strings.Replace(streaming("20"), "true", "false", 1),
		"a tool":       strings.Replace(streaming("20"), `"messages"`, `"tools":[{"type":"function","function":{"name":"f"}}],"messages"`, 1),
		"a web search": strings.Replace(streaming("20"), `"messages"`, `"web_search_options":{"search_context_size":"low"},"messages"`, 1),
		"stored":       strings.Replace(streaming("20"), `"messages"`, `"store":true,"messages"`, 1),
	} {
		before := second.Count()
		first.Script(slow)
		s.Ask(site.ChatPath, body)
		assert.Equal(t, before, second.Count(), name)
	}
}

// Limits reserve the use of both calls. A stream was refused that they had room for, but not twice.
func TestAStreamIsNotHedgedWhereTheLimitsHaveRoomForOneCall(t *testing.T) {
	for _, rule := range []string{"budget 0.01/month", "tokens 10000/1h"} {
		t.Run(rule, func(t *testing.T) {
			s, first, second := racers(t, "1ms", "limit all {\nper gateway\n"+rule+"\n}")
			first.Always(slow)
			assert.Equal(t, http.StatusTooManyRequests, s.Ask(site.ChatPath, streaming("11000")).Status)
			require.Equal(t, http.StatusOK, s.Ask(site.ChatPath, streaming("7000")).Status, "twice 7,000 are more than 10,000")
			assert.Zero(t, second.Count())
			require.Equal(t, http.StatusOK, s.Ask(site.ChatPath, streaming("2000")).Status)
			require.NoError(t, second.WaitRequests(site.Waiting(t), 1))
		})
	}
}

// Each hedge called a target that had sent Retry-After, and was to be left alone for a minute.
func TestAHedgeCallsNoTargetThatRests(t *testing.T) {
	first, second, third := gatewaytest.NewProvider(t), gatewaytest.NewProvider(t), gatewaytest.NewProvider(t)
	s := site.Start(t, withLedger(t, "retry off", site.Direct.Provider("first", first, "models off"), site.Direct.Provider("second", second, "models off"),
		site.Direct.Provider("third", third, "models off"), "model m {\nto first\nto second\nhedge 1ms\n}", "model spare {\nto first/m\nto second/m\nto third/m\nhedge 1ms\n}")...)
	first.Script(gatewaytest.Status(http.StatusTooManyRequests, "Retry-After", "60"))
	second.Always(slow)
	for range 6 {
		require.Equal(t, http.StatusOK, s.Ask(site.ChatPath, streaming("40")).Status)
	}
	assert.Equal(t, []int{1, 6}, []int{first.Count(), second.Count()})
	require.Equal(t, http.StatusOK, s.Ask(site.ChatPath, strings.Replace(streaming("40"), `"m"`, `"spare"`, 1)).Status)
	require.NoError(t, third.WaitSettled(site.Waiting(t)))
	assert.Equal(t, []int{1, 7, 1}, []int{first.Count(), second.Count(), third.Count()}, "the next target that does not rest is called")
}

// Calls that lost were no failures: a first target that answered nothing was called again with each stream,
// which cost the time of the hedge and a second call. A target that loses as the second one has no failures.
func TestAFirstTargetThatStaysSilentRests(t *testing.T) {
	first, second := gatewaytest.NewProvider(t), gatewaytest.NewProvider(t)
	s := site.Start(t, withLedger(t, "retry off", site.Direct.Provider("first", first, "models off"), site.Direct.Provider("second", second, "models off"),
		"model m {\nto first\nto second\nhedge 1ms\n}", "model turned {\nto second/m\nto first/m\nhedge 1ms\n}")...)
	stuck := gatewaytest.NewGate(t)
	ask := func(model string) {
		t.Helper()
		require.Equal(t, http.StatusOK, s.Ask(site.ChatPath, strings.Replace(streaming("40"), `"m"`, `"`+model+`"`, 1)).Status)
		require.NoError(t, first.WaitSettled(site.Waiting(t)))
	}
	first.Always(gatewaytest.Stall(stuck, gatewaytest.Answer()))
	second.Always(slow)
	for range 6 {
		ask("turned")
	}
	require.Equal(t, []int{6, 6}, []int{first.Count(), second.Count()})
	for range 5 {
		ask("m")
	}
	assert.Equal(t, []int{11, 11}, []int{first.Count(), second.Count()}, "as the second target, it has not failed")
	ask("m")
	assert.Equal(t, []int{11, 12}, []int{first.Count(), second.Count()}, "the first target rests")
}

// Second calls that found no room in their provider used the share up, and counted as called.
func TestAHedgeWithoutRoomIsNotCounted(t *testing.T) {
	first, second := gatewaytest.NewProvider(t), gatewaytest.NewProvider(t)
	s := site.Start(t, withLedger(t, site.Steady, site.Direct.Provider("first", first, "models off"), site.Direct.Provider("second", second, "models off", "max_running 1"),
		"model m {\nto first\nto second\nhedge 1ms 1%\n}", "model busy {\nto second/m\n}")...)
	first.Always(slow)
	stuck := gatewaytest.NewGate(t)
	second.Script(gatewaytest.Stall(stuck, gatewaytest.Answer()))
	ended := make(chan int)
	go func() { ended <- s.Ask(site.ChatPath, strings.Replace(streaming("40"), `"m"`, `"busy"`, 1)).Status }()
	require.NoError(t, stuck.WaitArrived(site.Waiting(t)))
	for range 12 { // more than the burst of the share
		require.Equal(t, http.StatusOK, s.Ask(site.ChatPath, streaming("40")).Status)
	}
	assert.NotContains(t, site.ReadReply(s.Get(s.AdminURL("/metrics"))).Body, `hedges_total{model="m"`)
	stuck.Open()
	require.Equal(t, http.StatusOK, <-ended)
	require.Equal(t, http.StatusOK, s.Ask(site.ChatPath, streaming("40")).Status)
	assert.Contains(t, site.ReadReply(s.Get(s.AdminURL("/metrics"))).Body, `hedges_total{model="m",result="called"} 1`)
}

// A provider that was slow for long doubled the cost of each request.
func TestHedgesAreAShareOfTheRequests(t *testing.T) {
	s, first, second := racers(t, "1ms 10%")
	first.Always(slow)
	const requests, most = 30, 12 // a burst, and one for each ten requests
	for range requests {
		require.Equal(t, http.StatusOK, s.Ask(site.ChatPath, streaming("20")).Status)
	}
	require.NoError(t, second.WaitSettled(site.Waiting(t)))
	assert.LessOrEqual(t, second.Count(), most)
	metrics := site.ReadReply(s.Get(s.AdminURL("/metrics"))).Body
	assert.Contains(t, metrics, `hedges_total{model="m",result="withheld"}`)
	assert.Contains(t, metrics, fmt.Sprintf(`hedges_total{model="m",result="called"} %d`, second.Count()))
	var explained struct{ Hedge string }
	get(t, s.AdminURL("/api/v1/explain?model=m"), &explained)
	assert.Equal(t, "1ms 10%", explained.Hedge)
}

// The record of a request had what was passed over for it, but nobody could see it before.
func TestOperatorsSeeWhatIsPassedOverNow(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	p.Always(twenty)
	s := site.Start(t, withLedger(t, site.Direct.Provider("bounded", p, "models off", "format chat", "price * input 0 output 0", "limit {\nrequests 1/1d\ntokens 500/1d\n}"),
		site.Direct.Provider("dear", p, "models off", "format chat", "price * input 0 output 1000000"),
		site.Direct.Provider("free", p, "models off", "format chat", "price * input 0 output 0"),
		"limit all {\nper gateway\nbudget 50/month\n}", "model m {\nto bounded\nto dear\nto free\nfallback_on default budget\n}")...)
	passedOver := func(query, body string) (words []string) {
		method := http.MethodGet
		if body != "" {
			method = http.MethodPost
		}
		var explained struct {
			Targets []struct {
				PassedOver string `json:"passed_over"`
			}
		}
		answer := s.Call(method, s.AdminURL("/api/v1/explain?format=chat&model=m"+query), body)
		require.NoError(t, json.Unmarshal([]byte(answer.Body), &explained), answer.Body)
		for _, target := range explained.Targets {
			words = append(words, target.PassedOver)
		}
		return words
	}
	const client = "&key=client"
	assert.Equal(t, []string{"", "", ""}, passedOver(client, ""))
	assert.Equal(t, []string{"", "", ""}, passedOver("", asking(60)), "no key, no budget of it")
	assert.Equal(t, []string{"", "budget of the limit all: 50 USD left of 50 USD per month", ""}, passedOver(client, asking(60)))
	assert.Equal(t, "tokens of the limit provider/bounded: 500 left of 500 per 1d", passedOver("", asking(600))[0])
	require.Equal(t, http.StatusOK, statusOf(s, 20))
	const used = "requests of the limit provider/bounded: 0 left of 1 per 1d"
	assert.Equal(t, []string{used, "", ""}, passedOver("", ""))
	for range 2 {
		require.Equal(t, http.StatusOK, statusOf(s, 20))
	}
	assert.Equal(t, []string{used, "budget of the limit all: 10 USD left of 50 USD per month", ""}, passedOver(client, asking(20)))
	require.Equal(t, http.StatusOK, statusOf(s, 10))
	assert.Equal(t, []string{used, "budget of the limit all: 0 USD left of 50 USD per month", ""}, passedOver(client, ""), "what is free is not passed over")
}

// Guards and the log of contents exclude hedges, but explain showed the hedge of the model all the same.
func TestNoHedgeIsShownWhereContentsAreCheckedOrLogged(t *testing.T) {
	for name, lines := range map[string]string{"logged": "log_content", "checked": "guard pii regex {\nblock card\n}"} {
		t.Run(name, func(t *testing.T) {
			s, _, _ := racers(t, "1ms", lines)
			var explained struct{ Hedge string }
			get(t, s.AdminURL("/api/v1/explain?model=m"), &explained)
			assert.Empty(t, explained.Hedge)
		})
	}
}
