package meter

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// fannedOut returns the result of a fan-out whose calls have requests of the same length.
func fannedOut(whole exchange.Result, parts ...*exchange.Result) *exchange.Result {
	for _, part := range parts {
		whole.Parts = append(whole.Parts, exchange.Part{Result: part, Share: 1 / float64(len(parts))})
	}
	return &whole
}

// All calls of a fan-out were one call with one usage. If one of them failed, the reported
// usage of the others was dropped, and nothing or an estimate of the input was charged.
func TestEachCallOfAFanOutIsChargedForItself(t *testing.T) {
	million := map[string]string{"input": "1", "output": "1"} // 1000 nanos for each token
	answer := whole(token.Usage{Counts: token.Counts{Fresh: 600, Answer: 40}})
	refused := &exchange.Result{State: exchange.Broken, Sent: true, Status: 429, Fault: fault.Unusable(nil)}
	cancelled := &exchange.Result{State: exchange.Broken, Sent: true, Fault: fault.Unreachable(nil)}
	cut := &exchange.Result{State: exchange.Broken, Sent: true, Status: 200, Fault: fault.Truncated(nil), Usage: token.Usage{Counts: token.Counts{Fresh: 70, Answer: 1}, Known: true}}
	unsent := &exchange.Result{State: exchange.Broken, Fault: fault.Unreachable(nil)}
	none, provider, partial, estimated := accounting.SourceNone, accounting.SourceProvider, accounting.SourcePartial, accounting.SourceEstimated
	failed := exchange.Result{State: exchange.Broken, Sent: true, Status: 429, Fault: fault.Unusable(nil)}
	for name, c := range map[string]struct {
		result  *exchange.Result
		earlier []*exchange.Result
		sources []accounting.Source
		tokens  int64 // that limits count; each half of the reservation has 2500
		nanos   int64
	}{
		"one refused":       {fannedOut(failed, answer, refused), nil, []accounting.Source{provider, none}, 640, 640_000},
		"one cancelled":     {fannedOut(failed, refused, cancelled), nil, []accounting.Source{none, estimated}, 2500, 50_000},
		"one cut":           {fannedOut(failed, answer, cut), nil, []accounting.Source{provider, partial}, 640 + 2500, 640_000 + 71_000},
		"one not sent":      {fannedOut(failed, answer, unsent), nil, []accounting.Source{provider, none}, 640, 640_000},
		"one not reported":  {fannedOut(*whole(token.Usage{}), answer, &exchange.Result{State: exchange.Finished, Sent: true, Status: 200}), nil, []accounting.Source{provider, estimated}, 640 + 2500, 640_000 + 50_000},
		"before a fallback": {answer, []*exchange.Result{fannedOut(failed, answer, refused)}, []accounting.Source{provider, none, provider}, 2 * 640, 2 * 640_000},
	} {
		t.Run(name, func(t *testing.T) {
			use, record := settledWith(t, million, c.result, c.earlier...)
			var sources []accounting.Source
			for _, call := range record.Calls {
				sources = append(sources, call.Source)
			}
			assert.Equal(t, c.sources, sources)
			assert.Equal(t, aigateway.Use{Tokens: c.tokens, Nanos: c.nanos}, use)
		})
	}
}

// The edge, the service tier and the bound of plausible counts applied to the sum of the
// calls: two prompts below the edge cost the price above it.
func TestEachCallOfAFanOutHasItsOwnPrice(t *testing.T) {
	long := whole(token.Usage{Counts: token.Counts{Fresh: 120_000, Answer: 100}})
	flex := whole(token.Usage{Counts: token.Counts{Fresh: 1000, Answer: 100}, Terms: token.Flex})
	priority := whole(token.Usage{Counts: token.Counts{Fresh: 1000, Answer: 100}, Terms: token.Priority})
	standard := whole(token.Usage{Counts: token.Counts{Fresh: 1000, Answer: 100}})
	many := whole(token.Usage{Counts: token.Counts{Fresh: 3_000_000}})
	tiers := map[string]string{"input": "6", "output": "30", "flex": "0.5", "priority": "2"}
	for name, c := range map[string]struct {
		price  map[string]string
		parts  []*exchange.Result
		micros int64
	}{
		"below the edge":     {map[string]string{"input": "1.25", "output": "10", "edge": ">200000", "input_above": "2.5", "output_above": "15"}, []*exchange.Result{long, long}, 302_000},
		"flex and standard":  {tiers, []*exchange.Result{flex, standard}, 13_500},
		"priority, standard": {tiers, []*exchange.Result{priority, standard}, 27_000},
		"priority and flex":  {tiers, []*exchange.Result{priority, flex}, 22_500},
		"a large sum":        {map[string]string{"input": "3", "output": "15"}, []*exchange.Result{many, many, many, many, many, many, many, many}, 72_000_000},
	} {
		nanos, record := charged(t, c.price, fannedOut(*whole(token.Usage{}), c.parts...))
		assert.Equal(t, c.micros*1000, nanos, name)
		assert.Len(t, record.Calls, len(c.parts), name)
	}
}

// The compaction of a conversation cost nothing. It is a run of its own, with its own edge,
// and may be of another model.
func TestRunsBesideAnAnswerAreCallsOfTheRecord(t *testing.T) {
	summary := token.Run{Usage: token.Usage{Counts: token.Counts{Fresh: 190_000, Answer: 3000}, Known: true}}
	long := token.Run{Usage: token.Usage{Counts: token.Counts{Fresh: 210_000}, Known: true}}
	picture := token.Run{Usage: token.Usage{Counts: token.Counts{Fresh: 10, Answer: 4000}, Known: true, Units: token.Units{ImageTokens: token.MediaTokens{Output: 4000}}}}
	advice := token.Run{Usage: token.Usage{Counts: token.Counts{Fresh: 100}, Known: true}, Model: "unpriced"}
	price := map[string]string{"input": "1", "output": "5", "edge": ">200000", "input_above": "2", "output_above": "8", "priority": "2", "image_output": "30"}
	const answer = 30_000*1000 + 10*5000
	for name, c := range map[string]struct {
		terms  token.Terms
		runs   []token.Run
		nanos  int64
		models []string
	}{
		"a summary":     {0, []token.Run{summary}, answer + 190_000*1000 + 3000*5000, []string{"m", "m"}},
		"its tier":      {token.Priority, []token.Run{summary}, 2 * (answer + 190_000*1000 + 3000*5000), []string{"m", "m"}},
		"its edge":      {0, []token.Run{long}, answer + 210_000*2000, []string{"m", "m"}},
		"an image":      {0, []token.Run{picture}, answer + 10*1000 + 4000*30_000, []string{"m", "m"}},
		"another model": {0, []token.Run{summary, advice}, answer + 190_000*1000 + 3000*5000, []string{"m", "m", "unpriced"}},
	} {
		use, record := settledWith(t, price, whole(token.Usage{Counts: token.Counts{Fresh: 30_000, Answer: 10}, Terms: c.terms, Beside: c.runs}))
		assert.Equal(t, c.nanos, use.Nanos, name)
		var models []string
		var tokens int64
		for _, call := range record.Calls {
			models = append(models, call.Model)
			tokens += call.Tokens.Fresh + call.Tokens.Answer
			assert.Equal(t, accounting.SourceProvider, call.Source, name)
		}
		assert.Equal(t, c.models, models, name)
		assert.Equal(t, tokens, use.Tokens, name)
	}
}

func TestCallsOfUnknownCostHoldTheReservedCostTogether(t *testing.T) {
	search := whole(token.Usage{Counts: token.Counts{Fresh: 1, Searches: 1}}) // without a price
	nanos, record := charged(t, map[string]string{"input": "0.1", "output": "1"}, fannedOut(*whole(token.Usage{}), search, search, search))
	require.Len(t, record.Calls, 3)
	assert.EqualValues(t, 777, nanos)
}
