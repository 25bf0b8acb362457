package meter

import (
	"bytes"
	"context"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/ledger/prices"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// pages is a ledger in memory.
type pages struct {
	accounting.LedgerReader
	begun, ended []accounting.Record
}

func (p *pages) Begin(r *accounting.Record) error {
	r.Admitted = time.Now()
	begun := *r
	begun.Calls = slices.Clone(r.Calls)
	p.begun = append(p.begun, begun)
	return nil
}
func (p *pages) End(r *accounting.Record)    { p.ended = append(p.ended, *r) }
func (*pages) Release() error                { return nil }
func (*pages) Settled(context.Context) error { return nil }

// list is a table of prices.
type list struct{ *prices.Table }

func (l list) Price(_, provider, model string, moment time.Time) *prices.Price {
	return l.Find(provider, model, moment)
}

func priceOf(t *testing.T, columns map[string]string) Pricer {
	columns["models"] = "m"
	table, err := prices.FromRows("p", []map[string]string{columns})
	require.NoError(t, err)
	return list{table}
}

func begun(t *testing.T, l *pages, price Pricer) (*exchange.Exchange, *Meter) {
	chat := formats.Of(translate.Chat)
	ex := &exchange.Exchange{
		ID:      "req_1",
		Start:   time.Now(),
		Key:     &aigateway.Key{ID: "k"},
		Request: exchange.Request{Format: chat, Operation: translate.Generate},
		Course:  exchange.Course{Attempt: &exchange.Attempt{Provider: "p", Model: "m", Format: chat}},
	}
	entry := NewEntry(price, ex, Bound{})
	require.NoError(t, entry.Begin(l))
	m := New(Estimate{Prompt: 100, Reserved: 5000}, nil, entry)
	return ex, &m
}

// Clients may write the name of a model in any letter case. Each spelling was a model of its own in records and
// sums, so that a comparison left requests out, and any key could fill the names of the ledger.
func TestAModelHasOneNameInRecords(t *testing.T) {
	for _, c := range []struct{ configured, asked, want string }{
		{"gpt-dear", "gpt-dear", "gpt-dear"}, {"gpt-dear", " GPT-Dear", "gpt-dear"}, {"GPT-Dear", "gpt-dear", "GPT-Dear"},
		{"gpt-*", "GPT-Dear", "GPT-Dear"}, {"", "GPT-Dear", "GPT-Dear"},
	} {
		ex := &exchange.Exchange{Key: new(aigateway.Key), Covering: c.configured, Request: exchange.Request{Format: formats.Of(translate.Chat)}}
		ex.Request.View.Model = c.asked
		assert.Equal(t, c.want, NewEntry(nil, ex, Bound{}).record.Model, c)
	}
}

// If the provider has not reported the final counts, each count is the larger of the
// reported and the relayed number. In other gateways, answers that break off are free.
func TestSourcesOfCounts(t *testing.T) {
	reported := token.Usage{Counts: token.Counts{Fresh: 10, CacheRead: 20, CacheWrite: 25, CacheWriteLong: 5, Answer: 33, Reasoning: 7, Searches: 2}, Known: true}
	counts := token.Counts{Fresh: 10, CacheRead: 20, CacheWrite: 25, CacheWriteLong: 5, Answer: 33, Reasoning: 7, Searches: 2}
	for name, c := range map[string]struct {
		result exchange.Result
		text   int64 // tokens that were passed on
		want   token.Counts
		source accounting.Source
	}{
		"whole":                {exchange.Result{State: exchange.Finished, Usage: reported}, 50, counts, accounting.SourceProvider},
		"whole, not reported":  {exchange.Result{State: exchange.Finished}, 50, token.Counts{Fresh: 100, Answer: 50}, accounting.SourceEstimated},
		"cut, reported before": {exchange.Result{Usage: token.Usage{Counts: token.Counts{Fresh: 120, Answer: 1}, Known: true}}, 50, token.Counts{Fresh: 120, Answer: 50}, accounting.SourcePartial},
		"refused":              {exchange.Result{Sent: true, Status: 400, Fault: fault.Unusable(nil)}, 0, token.Counts{}, accounting.SourceNone},
		"broken in its coding": {exchange.Result{Sent: true, Status: 200, Fault: fault.Unusable(io.ErrUnexpectedEOF)}, 0, token.Counts{Fresh: 100}, accounting.SourceEstimated}, // it was free
		"not reached":          {exchange.Result{Fault: fault.Unreachable(nil)}, 0, token.Counts{}, accounting.SourceNone},
		"silent":               {exchange.Result{Sent: true, Fault: fault.UpstreamTimeout(nil)}, 0, token.Counts{Fresh: 100}, accounting.SourceEstimated},
		"counts that contradict each other": { // their source was once provider, as if they were reliable
			exchange.Result{State: exchange.Finished, Usage: token.Usage{Counts: token.Counts{Fresh: 1, Answer: 3, Reasoning: 9}, Known: true, Inconsistent: true}}, 1,
			token.Counts{Fresh: 1, Answer: 3, Reasoning: 9}, accounting.SourcePartial,
		},
		// Some servers report 0 of what they do not count: prompts and answers were free.
		"whole, without an input":  {exchange.Result{State: exchange.Finished, Usage: token.Usage{Counts: token.Counts{Answer: 7, Reasoning: 2}, Known: true}}, 50, token.Counts{Fresh: 100, Answer: 7, Reasoning: 2}, accounting.SourcePartial},
		"whole, without an output": {exchange.Result{State: exchange.Finished, Usage: token.Usage{Counts: token.Counts{Fresh: 3}, Known: true}}, 50, token.Counts{Fresh: 3, Answer: 50}, accounting.SourcePartial},
		"whole, all from a cache":  {exchange.Result{State: exchange.Finished, Usage: token.Usage{Counts: token.Counts{CacheRead: 90, Answer: 7}, Known: true}}, 50, token.Counts{CacheRead: 90, Answer: 7}, accounting.SourceProvider},
		"whole, without a text":    {exchange.Result{State: exchange.Finished, Usage: token.Usage{Counts: token.Counts{Fresh: 3}, Known: true}}, 0, token.Counts{Fresh: 3}, accounting.SourceProvider},
	} {
		l := new(pages)
		ex, m := begun(t, l, priceOf(t, map[string]string{"input": "1", "output": "1"}))
		ex.Request.View.Stream = true
		if c.text > 0 {
			c.result.Sent, c.result.Times.Began, c.result.Text = true, time.Now(), textOf(c.text)
		}
		ex.Course.Result = &c.result
		m.Settle(ex, exchange.Cut)
		m.Settle(ex, exchange.Cut)
		require.Len(t, l.ended, 1, "one record: %s", name)
		require.Len(t, l.ended[0].Calls, 1, name)
		assert.Equal(t, c.want, l.ended[0].Calls[0].Tokens, name)
		assert.Equal(t, c.source, l.ended[0].Calls[0].Source, name)
	}
}

// The number of searches once had no bound: an answer with 2^50 searches cost millions, and
// exhausted the budget of its key.
func TestSearchesThatCannotBeTrueCostNothing(t *testing.T) {
	l := new(pages)
	ex, m := begun(t, l, priceOf(t, map[string]string{"input": "1", "output": "1", "search": "1"}))
	usage := token.Usage{Counts: token.Counts{Fresh: 10, Answer: 40, Searches: 1 << 50}, Known: true}
	ex.Course.Result = &exchange.Result{State: exchange.Finished, Usage: usage, Sent: true, Text: textOf(10)}
	m.Settle(ex, exchange.Answered)
	call := l.ended[0].Calls[0]
	assert.Equal(t, accounting.SourceEstimated, call.Source)
	assert.Equal(t, token.Counts{Fresh: 100, Answer: 10}, call.Tokens)
	assert.EqualValues(t, 110*1000, call.Cost.Nanos)
}

// An answer of a model that searches once for each was recorded without its search, whose number
// such answers do not state.
func TestSearchesThatEveryAnswerHasNeedNotBeStated(t *testing.T) {
	for name, c := range map[string]struct {
		result exchange.Result
		want   int64
	}{
		"an answer":              {exchange.Result{State: exchange.Finished, Sent: true, Status: 200, Usage: token.Usage{Counts: token.Counts{Fresh: 10, Answer: 40}, Known: true}}, 1},
		"one with a number":      {exchange.Result{State: exchange.Finished, Sent: true, Status: 200, Usage: token.Usage{Counts: token.Counts{Fresh: 10, Answer: 40, Searches: 3}, Known: true}}, 3},
		"one without usage":      {exchange.Result{State: exchange.Finished, Sent: true, Status: 200}, 1},
		"one that breaks off":    {exchange.Result{Sent: true, Fault: fault.UpstreamTimeout(nil)}, 1},
		"a call that is refused": {exchange.Result{Sent: true, Status: 400, Fault: fault.Unusable(nil)}, 0},
	} {
		l := new(pages)
		ex, m := begun(t, l, priceOf(t, map[string]string{"input": "1", "output": "1", "search": "1"}))
		m.Searches = 1
		ex.Course.Result = &c.result
		m.Settle(ex, exchange.Answered)
		assert.Equal(t, c.want, l.ended[0].Calls[0].Tokens.Searches, name)
	}
}

func TestCostsAreThoseOfThePrice(t *testing.T) {
	usage := token.Usage{Counts: token.Counts{Fresh: 10, CacheWrite: 20, CacheWriteLong: 10, Answer: 40, Searches: 1}, Known: true}
	floor := map[string]string{"input": "1", "output": "1"} // the price of a search is unknown
	for want, columns := range map[aigateway.Cost]map[string]string{
		{Nanos: 10*1000 + 20*2000 + 10*3000 + 40*4000 + 5_000_000, Currency: "CNY"}: {
			"input": "1", "cache_write": "2", "cache_write_1h": "3", "output": "4", "search": "0.005", "currency": "CNY",
		},
		{Nanos: 10*1000 + 20*1000 + 10*1000 + 40*1000, Currency: "USD"}: floor,
	} {
		l := new(pages)
		ex, m := begun(t, l, priceOf(t, columns))
		ex.Course.Result = &exchange.Result{State: exchange.Finished, Usage: usage}
		m.Settle(ex, exchange.Answered)
		call := l.ended[0].Calls[0]
		assert.Equal(t, want, call.Cost)
		assert.NotEmpty(t, call.Price)
		assert.Equal(t, want.Currency != "USD", call.Priced(), "a part of the cost is not the whole")
	}
}

func TestTargetsThatWereNotAskedAreNoCalls(t *testing.T) {
	l := new(pages)
	ex, m := begun(t, l, nil)
	ex.Course.Result = &exchange.Result{State: exchange.Unasked, Fault: fault.Unusable(nil)}
	m.AddFailed(ex)
	m.Settle(ex, exchange.Refused)
	assert.Empty(t, l.ended[0].Calls)
	assert.Equal(t, "refused", l.ended[0].Outcome)
}

// A call that the provider refused was repeated in another form, and the repetition found
// the provider busy: the refused attempt became the current one again, and its call was in
// the record twice.
func TestAnAttemptThatBecomesTheCurrentOneAgainIsCountedOnce(t *testing.T) {
	l := new(pages)
	ex, m := begun(t, l, nil)
	refused := &exchange.Result{State: exchange.Broken, Sent: true, Status: 400, Fault: fault.Unusable(nil)}
	for _, r := range []*exchange.Result{refused, {State: exchange.Unasked, Fault: fault.ProviderBusy("m")}} {
		ex.Course.Result = r
		m.AddFailed(ex)
	}
	ex.Course.Result = refused
	m.Settle(ex, exchange.Refused)
	assert.Len(t, l.ended[0].Calls, 1)
}

// textOf returns the size of a text of that many tokens.
func textOf(tokens int64) (text token.Text) {
	text.Add(bytes.Repeat([]byte("word"), int(tokens)))
	return text
}

// A provider can send more text than the request allows, and the estimate of it once used up
// a budget of 10 USD in thirty streams whose clients left.
func TestAnEstimateOfTheOutputIsWithinTheBoundOfTheRequest(t *testing.T) {
	for name, c := range map[string]struct {
		assumed int64
		want    int64
	}{
		"bounded":   {0, 4900},
		"unbounded": {4900, 100_000},
	} {
		l := new(pages)
		ex, m := begun(t, l, priceOf(t, map[string]string{"input": "1", "output": "1"}))
		m.Assumed.Tokens = c.assumed
		ex.Course.Result = &exchange.Result{Text: textOf(100_000), Sent: true}
		m.Settle(ex, exchange.ClientClosed)
		assert.Equal(t, c.want, l.ended[0].Calls[0].Tokens.Answer, name)
	}
}
