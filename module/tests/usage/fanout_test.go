package usage_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// messageOf returns a messages answer with a usage object, as JSON and as a stream.
func messageOf(usage string) (whole, stream string) {
	const head = `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[`
	whole = head + `{"type":"text","text":"Hi"}],"stop_reason":"end_turn","stop_sequence":null,"usage":` + usage + `}`
	for _, data := range []string{
		`{"type":"message_start","message":` + head + `],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi"}}`,
		`{"type":"content_block_stop","index":0}`,
		`{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":` + usage + `}`,
		`{"type":"message_stop"}`,
	} {
		stream += "data: " + data + "\n\n"
	}
	return whole, stream
}

// untilRead answers with a body, and returns when the gateway has read all of it.
func untilRead(contentType, body string) gatewaytest.Step {
	return gatewaytest.Raw(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: %s\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", contentType, len(body), body))
}

// oneThenOther answers the first of two calls, and the second one when the gateway has read
// the first answer.
func oneThenOther(t testing.TB, first, second gatewaytest.Step) gatewaytest.Step {
	gate := gatewaytest.NewGate(t)
	var calls atomic.Int32
	return func(c *gatewaytest.Call) {
		if calls.Add(1) == 1 {
			first(c)
			gate.Open()
			return
		}
		gatewaytest.Stall(gate, second)(c)
	}
}

// twice returns a chat request for two answers.
func twice(stream bool) string {
	return fmt.Sprintf(`{"model":"m","n":2,"max_tokens":2000,"stream":%t,"messages":[{"role":"user","content":"hello"}]}`, stream)
}

// A call that failed beside a whole one dropped the usage that the whole one had reported: a
// prompt that the provider refused late made all others free, with budgets, too.
func TestWholeAnswersCountBesideAFailedCall(t *testing.T) {
	const used = `{"input_tokens":100000,"output_tokens":2000}` // 0.33 USD
	whole, stream := messageOf(used)
	json, events := untilRead("application/json", whole), untilRead("text/event-stream", stream)
	refused := gatewaytest.Status(http.StatusTooManyRequests)
	const none, some, same = 0, 1, -1
	for name, c := range map[string]struct {
		stream        bool
		first, second gatewaytest.Step
		status        int
		outcome       string
		more          int64 // of the input and the cost: none, or some that are estimated, or as the first call
	}{
		"refused":            {false, json, refused, 429, "failed", none},
		"refused, streams":   {true, events, refused, 200, "cut", none},
		"cut":                {false, json, gatewaytest.InOrder(gatewaytest.Chunks("application/json", `{"id":`), gatewaytest.Reset()), 502, "failed", some},
		"cut, streams":       {true, events, gatewaytest.InOrder(gatewaytest.Chunks(gatewaytest.EventStream, strings.SplitAfter(stream, "\n\n")[2]), gatewaytest.Reset()), 200, "cut", some},
		"without usage":      {false, json, gatewaytest.Body(200, "application/json", []byte(strings.Replace(whole, used, "{}", 1))), 200, "answered", some},
		"both, in one order": {false, json, json, 200, "answered", same},
	} {
		t.Run(name, func(t *testing.T) {
			p := gatewaytest.NewProvider(t)
			// What the gateway has read of a stream need not have reached the client yet.
			begun := gatewaytest.NewGate(t)
			if c.stream {
				c.second = gatewaytest.Stall(begun, c.second)
			}
			p.Always(oneThenOther(t, c.first, c.second))
			s := site.Start(t, withLedger(t, site.Direct.Provider("p", p, priced, "format messages"))...)
			answer := s.Open(site.ChatPath, twice(c.stream))
			begun.Open()
			assert.Equal(t, c.status, answer.Rest().Status)
			got := settled(t, s, "outcome", 1)[0]
			assert.Equal(t, c.outcome, got.Outcome)
			assert.EqualValues(t, 2, got.Calls)
			switch c.more {
			case none:
				assert.Equal(t, sum{Outcome: c.outcome, Requests: 1, Calls: 2, Input: 100_000, Output: 2000, Cost: 330_000, Currency: "USD"}, got)
			case same:
				assert.Equal(t, sum{Outcome: c.outcome, Requests: 1, Calls: 2, Input: 200_000, Output: 4000, Cost: 660_000, Currency: "USD"}, got)
			default:
				assert.EqualValues(t, 1, got.Estimated)
				assert.Greater(t, got.Input, int64(100_000))
				assert.Less(t, got.Input, int64(100_050), "an estimate of one call alone")
				assert.Equal(t, 3*got.Input+15*got.Output, got.Cost)
			}
		})
	}
}

func TestWholeAnswersCountBeforeAFallback(t *testing.T) {
	whole, _ := messageOf(`{"input_tokens":100000,"output_tokens":2000}`)
	first, second := gatewaytest.NewProvider(t), gatewaytest.NewProvider(t)
	first.Always(oneThenOther(t, untilRead("application/json", whole), gatewaytest.Status(http.StatusServiceUnavailable)))
	second.Always(twenty)
	s := site.Start(t, withLedger(t,
		site.Direct.Provider("first", first, "format messages", "models off", priced), site.Direct.Provider("second", second, "format chat", "models off", priced),
		"model m {\nto first\nto second\n}")...)
	require.Equal(t, http.StatusOK, s.Ask(site.ChatPath, twice(false)).Status)
	sums := settled(t, s, "provider", 1)
	require.Len(t, sums, 2)
	assert.Equal(t, sum{Provider: "first", Calls: 2, Input: 100_000, Output: 2000, Cost: 330_000, Currency: "USD"}, sums[0])
	assert.Equal(t, sum{Provider: "second", Requests: 1, Calls: 1, Input: 10, Output: 20, Cost: 330, Currency: "USD"}, sums[1])
}

// A budget stayed untouched, and admitted any number of such requests.
func TestABudgetCountsWholeAnswersBesideAFailedCall(t *testing.T) {
	whole, _ := messageOf(`{"input_tokens":100000,"output_tokens":2000}`)
	p := gatewaytest.NewProvider(t)
	s := site.Start(t, withLedger(t, site.Direct.Provider("p", p, priced, "format messages"), "limit all {\nper gateway\nbudget 0.5/30d\n}")...)
	var statuses []int
	for range 4 {
		p.Always(oneThenOther(t, untilRead("application/json", whole), gatewaytest.Status(http.StatusBadRequest)))
		statuses = append(statuses, s.Ask(site.ChatPath, twice(false)).Status)
	}
	assert.Equal(t, []int{400, 400, 429, 429}, statuses)
	assert.Equal(t, 4, p.Count())
	assert.EqualValues(t, 660_000, settled(t, s, "model", 4)[0].Cost)
}

// Of several prompts, each has the usage that was reported for it; the prompt of a call that
// broke off is estimated by its own length.
func TestPromptsAreChargedEachForItself(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	answer := `{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":120000,"completion_tokens":100}}`
	gate := gatewaytest.NewGate(t)
	p.Always(func(c *gatewaytest.Call) {
		body, err := io.ReadAll(c.Request.Body)
		assert.NoError(t, err)
		if bytes.Contains(body, []byte("first")) {
			untilRead("application/json", answer)(c)
			gate.Open()
			return
		}
		gatewaytest.Stall(gate, gatewaytest.Reset())(c)
	})
	s := site.Start(t, withLedger(t, site.Direct.Provider("p", p, "format chat", "price m input 1.25 output 10 edge >200000 input_above 2.5 output_above 15"))...)
	long := strings.Repeat("word ", 4000)
	assert.Equal(t, http.StatusBadGateway, s.Ask(site.CompletionsPath, `{"model":"m","max_tokens":9,"prompt":["first","`+long+`"]}`).Status)
	got := settled(t, s, "model", 1)[0]
	assert.EqualValues(t, 2, got.Calls)
	assert.EqualValues(t, 1, got.Estimated)
	assert.InDelta(t, 120_000+5000, got.Input, 100)
	assert.EqualValues(t, 100, got.Output)
	assert.InDelta(t, 151_000+1.25*5000, got.Cost, 200)
}

// The edge of a price and service tiers applied to the sum of the calls.
func TestAFanOutCostsWhatItsCallsCost(t *testing.T) {
	chat := func(prompt, completion int, tier string) string {
		return fmt.Sprintf(`{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}],
			"service_tier":"%s","usage":{"prompt_tokens":%d,"completion_tokens":%d}}`, tier, prompt, completion)
	}
	for name, c := range map[string]struct {
		price   string
		answers []string
		cost    int64
	}{
		"below the edge":    {"input 1.25 output 10 edge >200000 input_above 2.5 output_above 15", []string{chat(120_000, 100, "default"), chat(120_000, 100, "default")}, 302_000},
		"flex, default":     {"input 6 output 30 flex 0.5 priority 2", []string{chat(1000, 100, "flex"), chat(1000, 100, "default")}, 13_500},
		"priority, default": {"input 6 output 30 flex 0.5 priority 2", []string{chat(1000, 100, "priority"), chat(1000, 100, "default")}, 27_000},
		"priority, flex":    {"input 6 output 30 flex 0.5 priority 2", []string{chat(1000, 100, "priority"), chat(1000, 100, "flex")}, 22_500},
	} {
		t.Run(name, func(t *testing.T) {
			p := gatewaytest.NewProvider(t)
			for _, answer := range c.answers {
				p.Script(gatewaytest.Body(200, "application/json", []byte(answer)))
			}
			s := site.Start(t, withLedger(t, site.Direct.Provider("p", p, "format chat", "price m "+c.price))...)
			require.Equal(t, http.StatusOK, s.Ask(site.CompletionsPath, `{"model":"m","max_tokens":9,"prompt":["a","b"]}`).Status)
			got := settled(t, s, "model", 1)[0]
			assert.Equal(t, c.cost, got.Cost)
			assert.EqualValues(t, 2, got.Calls)
			assert.Zero(t, got.Unpriced)
		})
	}
}
