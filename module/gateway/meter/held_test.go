package meter

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// settlement is a reservation that stores the usage with which it is settled.
type settlement struct{ used []aigateway.Use }

func (s *settlement) Settle(used aigateway.Use) { s.used = append(s.used, used) }
func (*settlement) Release()                    {}

// charged returns the cost of an exchange in a budget, and the ledger with its record.
func charged(t *testing.T, price map[string]string, result *exchange.Result, earlier ...*exchange.Result) (int64, accounting.Record) {
	use, record := settledWith(t, price, result, earlier...)
	return use.Nanos, record
}

// settledWith returns the usage with which the reservation of an exchange is settled, and
// its record.
func settledWith(t *testing.T, price map[string]string, result *exchange.Result, earlier ...*exchange.Result) (aigateway.Use, accounting.Record) {
	l, held := new(pages), new(settlement)
	chat := formats.Of(translate.Chat)
	ex := &exchange.Exchange{
		Key:     new(aigateway.Key),
		Request: exchange.Request{Format: chat, Operation: translate.Generate},
		Course:  exchange.Course{Attempt: &exchange.Attempt{Provider: "p", Model: "m", Format: chat}},
	}
	bound := aigateway.Cost{Nanos: 777, Currency: "USD"}
	entry := NewEntry(priceOf(t, price), ex, Bound{Cost: bound})
	require.NoError(t, entry.Begin(l))
	require.Len(t, l.begun[0].Calls, 1, "the record if the process is killed")
	assert.Equal(t, accounting.Call{Source: accounting.SourceReserved, Held: bound}, l.begun[0].Calls[0])
	m := New(Estimate{Prompt: 100, Reserved: 5000, Cost: bound}, held, entry)
	for _, failed := range earlier {
		ex.Course.Result = failed
		m.AddFailed(ex)
	}
	ex.Course.Result = result
	m.Settle(ex, exchange.Answered)
	m.Settle(ex, exchange.Answered)
	require.Len(t, held.used, 1)
	require.Len(t, l.ended, 1)
	return held.used[0], l.ended[0]
}

func whole(u token.Usage) *exchange.Result {
	u.Known = true
	return &exchange.Result{State: exchange.Finished, Status: 200, Sent: true, Usage: u}
}

// A budget counts the costs in the ledger, so that it is the same after a restart.
func TestABudgetIsChargedWhatTheLedgerHas(t *testing.T) {
	dollar := map[string]string{"input": "1", "output": "1"}
	answer := whole(token.Usage{Counts: token.Counts{Fresh: 2, Answer: 3}})
	refused := &exchange.Result{Sent: true, Status: 500, Fault: fault.Unusable(nil), Usage: token.Usage{Counts: token.Counts{Fresh: 500}, Known: true}}
	for name, c := range map[string]struct {
		price  map[string]string
		result *exchange.Result
		before []*exchange.Result
		want   int64
	}{
		"an answer":                    {dollar, answer, nil, 5000},
		"an answer after a failed one": {dollar, answer, []*exchange.Result{refused}, 505_000},
		"nothing was used":             {dollar, &exchange.Result{Fault: fault.Unreachable(nil)}, nil, 0},
		"an unknown end":               {dollar, &exchange.Result{Sent: true, Fault: fault.UpstreamTimeout(nil)}, nil, 100_000},
		"searches without a price":     {map[string]string{"input": "0.1", "output": "1"}, whole(token.Usage{Counts: token.Counts{Fresh: 2, Searches: 1}}), nil, 777},
		"a known part that is more":    {dollar, whole(token.Usage{Counts: token.Counts{Fresh: 2, Searches: 1}}), nil, 2000},
		"a tier without a factor":      {dollar, whole(token.Usage{Counts: token.Counts{Fresh: 2}, Terms: token.Flex}), nil, 777},
		"another currency":             {map[string]string{"input": "1", "output": "1", "currency": "EUR"}, answer, nil, 0},
	} {
		nanos, record := charged(t, c.price, c.result, c.before...)
		assert.Equal(t, c.want, nanos, name)
		var inLedger int64
		for _, call := range record.Calls {
			if call.Cost.Currency != "EUR" {
				inLedger += call.Cost.Nanos + call.Held.Nanos
			}
		}
		assert.Equal(t, c.want, inLedger, name)
	}
}

// A call whose price lacks a factor was once added to a sum in another currency, and the sum
// in its own did not look like a lower bound.
func TestACallThatLacksAPartOfItsPriceKeepsTheCurrency(t *testing.T) {
	_, record := charged(t, map[string]string{"input": "1", "output": "1", "currency": "EUR"}, whole(token.Usage{Counts: token.Counts{Fresh: 2, Searches: 1}}))
	require.Len(t, record.Calls, 1)
	assert.Equal(t, aigateway.Cost{Nanos: 2000, Currency: "EUR"}, record.Calls[0].Cost)
	assert.Equal(t, accounting.CostingFloor, record.Calls[0].Costing())
	assert.Zero(t, record.Calls[0].Held, "the budget is in dollars")
}
