package meter

import (
	"iter"
	"math"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// call is a call of a provider, with its part of the estimate of the exchange.
type call struct {
	result   *exchange.Result
	ex       *exchange.Exchange
	share    float64 // of the request, from 0 to 1
	prompt   int64   // estimated tokens of the input
	reserved int64   // tokens of the input and the longest answer
	sent     int64   // estimated tokens of the text of the answer

	expected token.Units
	searches int64 // that the provider makes whatever its answer states
}

// calls returns the calls of the last attempt: those of a fan-out, or the only one.
func (m *Meter) calls(ex *exchange.Exchange) iter.Seq[call] {
	return func(yield func(call) bool) {
		r := ex.Course.Result
		if r.Parts == nil {
			yield(call{r, ex, 1, m.Prompt, m.Reserved, m.sent(r, 1), m.Units, m.Searches})
			return
		}
		for _, p := range r.Parts {
			if !yield(call{p.Result, ex, p.Share, portion(m.Prompt, p.Share), portion(m.Reserved, p.Share), m.sent(p.Result, len(r.Parts)), token.Units{}, m.Searches}) {
				return
			}
		}
	}
}

// sent estimates the tokens of the text that was passed on of one of several calls. There are
// no more than the bound of the request allows, if it has one.
func (m *Meter) sent(r *exchange.Result, calls int) int64 {
	tokens := r.Text.Tokens()
	if m.Assumed.Tokens == 0 {
		return min(tokens, (m.Reserved-m.Prompt)/int64(calls))
	}
	return tokens
}

// portion returns a share of n, rounded up.
func portion(n int64, share float64) int64 {
	if share == 1 {
		return n
	}
	return int64(math.Ceil(float64(n) * share))
}

// maxPlausible is the largest plausible number of tokens in the usage that a provider
// reports. It is more than the context and the output of any model.
const maxPlausible = 1 << 24

// reported returns the tokens that the provider has reported so far. Usage with an
// implausible number counts as 0, because one such answer would exhaust the limit of a key.
func (c call) reported() int64 {
	reported := &c.result.Usage
	n := reported.Charged()
	if !reported.Known || n > maxPlausible || reported.Searches > token.MaxSearches {
		return 0
	}
	return n
}

// missing returns the estimated tokens of the side of a whole call, its input or its output, for
// which a provider reports none although there was some, as some servers do. The size of the text
// is known for streams alone.
func (c call) missing() (n token.Counts) {
	if c.ex.Request.Operation.Beside() || len(c.result.Usage.Beside) > 0 {
		return n
	}
	if c.result.Usage.Total() == c.result.Usage.Output() {
		n.Fresh = c.prompt
	}
	if c.result.Usage.Output() == 0 && c.ex.Request.Streaming() {
		n.Answer = c.sent
	}
	return n
}

// unused reports whether a call has used no more tokens than the provider has reported: it asked for
// no answer; or it failed, since it was not sent, or its answer is an error, before which no content
// came.
// The usage of a call that timed out, broke off or was cancelled is unknown.
func (c call) unused() bool {
	switch {
	case c.ex.Request.View.Beyond.Idle && c.result.Whole():
		return true
	case !c.result.Times.Began.IsZero():
		return false
	case c.result.Status == 0:
		return c.result.State == exchange.Unasked || !c.result.Sent
	case c.result.Status/100 == 2:
		return c.result.Fault != nil && !c.result.Fault.Interrupted()
	}
	return true
}

// cost returns the tokens of the call. If the provider does not report the final usage, it
// is the largest of the reported tokens, the reserved tokens, and the estimate by the text
// that was passed on; for a call that was ended at a stop text, without the reserved tokens.
func (c call) cost() int64 {
	n := c.reported()
	switch {
	case c.result.Reading.Cached:
		return 0
	case c.result.Reading.Stopped:
		return max(n, c.prompt+c.sent)
	case c.unused():
		return n
	case c.result.Whole() && n > 0:
		return n + c.missing().Total()
	}
	return max(n, c.reserved, c.prompt+c.sent)
}

// usage is the usage of a call, with its source.
type usage struct {
	tokens token.Counts
	source accounting.Source
	terms  token.Terms
	units  token.Units
}

// usage returns the usage of the call by kind of tokens; cost returns the sum by the same
// rules.
func (c call) usage() usage {
	n := c.reported()
	tokens, terms := token.Counts{}, token.Terms(0)
	switch {
	case n > 0:
		tokens, terms = c.result.Usage.Counts, c.result.Usage.Terms
	case c.result.Usage.Searches <= token.MaxSearches:
		tokens.Searches = c.result.Usage.Searches
	}
	if !c.unused() {
		tokens.Searches = max(tokens.Searches, c.searches)
	}
	switch {
	case c.ex.Request.Operation == translate.MCP:
		if c.fixed().Known {
			return usage{source: accounting.SourceProvider}
		}
		return usage{}
	case c.result.Usage.Known && c.result.Usage.Units.Seconds > 0 && c.prompt == 0: // it costs by time alone
		return usage{tokens, sourceOf(c.result.Usage), terms, c.units()}
	case n > 0 && c.unused():
		return usage{tokens, sourceOf(c.result.Usage), terms, c.units()}
	case n > 0 && c.result.Whole() && !c.result.Reading.Stopped:
		source := sourceOf(c.result.Usage)
		if missing := c.missing(); missing != (token.Counts{}) {
			tokens, source = tokens.Add(missing), accounting.SourcePartial
		}
		return usage{tokens, source, terms, c.units()}
	case c.unused():
		return usage{}
	}
	tokens.Fresh = max(tokens.Fresh, c.prompt-tokens.CacheRead-tokens.Written())
	tokens.Answer = max(tokens.Answer, c.sent-tokens.Reasoning)
	if n > 0 {
		return usage{tokens, accounting.SourcePartial, terms, c.units()}
	}
	return usage{tokens, accounting.SourceEstimated, terms, c.units()}
}

// finishes are the reasons why answers end, in the words of records.
var finishes = [...]accounting.Finish{
	event.FinishStop: accounting.FinishStop, event.FinishLength: accounting.FinishLength, event.FinishTools: accounting.FinishTools,
	event.FinishFiltered: accounting.FinishFiltered, event.FinishRefused: accounting.FinishFiltered, event.FinishPaused: accounting.FinishPaused,
}

// finish returns why a whole answer ended.
func (c call) finish() accounting.Finish {
	if !c.result.Whole() || int(c.result.EndedBy) >= len(finishes) {
		return accounting.FinishUnknown
	}
	return finishes[c.result.EndedBy]
}

// fixed returns the cost of a call that depends on nothing that it uses. A server that has refused the
// call, that the call has not reached, or whose answer has failed, gets nothing for it. A client that leaves
// pays.
func (c call) fixed() token.StatedCost {
	nanos := c.ex.Request.View.Costs.FixedNanos()
	return token.StatedCost{Nanos: nanos, Known: nanos > 0 && !c.unused() && c.result.Fault == nil}
}

// stated returns the cost that the provider has stated for the whole call, if it is believed.
func (c call) stated(traits *trait.Traits) token.StatedCost {
	switch {
	case c.ex.Request.Operation == translate.MCP:
		return c.fixed()
	case traits == nil || !traits.StatedCost:
		return token.StatedCost{}
	case c.result.Usage.Stated.Doubtful || c.result.Whole() && !c.result.Reading.Stopped || c.unused():
		return c.result.Usage.Stated
	}
	return token.StatedCost{}
}

// units returns the units of a call: those of its answer, and for what a whole answer does not
// report, those that were expected.
func (c call) units() token.Units {
	if n := c.result.Usage.Searches; n > 0 && n <= token.MaxSearches {
		c.expected.Queries = 0
	}
	switch {
	case c.unused():
		return c.result.Usage.Units
	case c.result.Whole():
		return c.result.Usage.Units.Or(c.expected)
	}
	return c.result.Usage.Units.AtLeast(c.expected)
}

// sourceOf returns the source of the final counts of a provider.
func sourceOf(u token.Usage) accounting.Source {
	if u.Inconsistent {
		return accounting.SourcePartial
	}
	return accounting.SourceProvider
}
