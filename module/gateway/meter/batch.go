package meter

import (
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// Tally adds up what the requests of a batch have used. Each answer has the cost of its own: an edge
// of the price is one of a prompt, and not of the batch. A Tally must be used by one goroutine at a
// time.
type Tally struct {
	Charge *accounting.Deferred // of the batch

	pricer  Pricer
	attempt exchange.Attempt
	counts  accounting.BatchCounts
	lines   int64             // that were added
	calls   []accounting.Call // sums of calls that differ in their numbers alone
	partial bool
}

// mostSums is the largest number of sums in the record of a batch. The provider chooses the names of
// models in answers.
const mostSums = 64

// NewTally returns a Tally of the batch of a deferred charge. a is an attempt at its provider.
func NewTally(pricer Pricer, charge *accounting.Deferred, a *exchange.Attempt) *Tally {
	t := &Tally{Charge: charge, pricer: pricer, attempt: *a}
	t.attempt.Model = t.held().Model
	return t
}

// held returns the call of the record, which has what was reserved.
func (t *Tally) held() *accounting.Call {
	return &t.Charge.Record.Calls[len(t.Charge.Record.Calls)-1]
}

// Add adds a line of the results, which has an answer of the format of the batch if its request has
// succeeded. Nil is a line that cannot be read: the batch then costs at least what was reserved.
func (t *Tally) Add(line []byte) {
	t.lines++
	if line == nil {
		t.partial = true
		return
	}
	result := t.attempt.Format.Objects.ReadResult(line)
	switch result.End {
	case translate.Succeeded:
		t.counts.Succeeded++
		t.addAnswer(&result)
	case translate.Canceled:
		t.counts.Canceled++
	case translate.Expired:
		t.counts.Expired++
	default:
		t.counts.Errored++
	}
}

// IsEmpty reports whether no line was added.
func (t *Tally) IsEmpty() bool { return t.lines == 0 }

// Unanswered adds the numbers of requests without an answer that are not in the results.
func (t *Tally) Unanswered(u translate.Unanswered) {
	t.counts.Errored += u.Errored
	t.counts.Canceled += u.Canceled
	t.counts.Expired += u.Expired
}

// addAnswer adds the usage of an answer.
func (t *Tally) addAnswer(result *translate.BatchResult) {
	spoken := formats.Of(result.Format)
	answer, _ := spoken.Answers.Inspect(result.Answer, result.Operation)
	if !answer.Usage.Known {
		t.partial = true
		return
	}
	answer.Usage.Terms |= token.Batch
	r := exchange.Result{Status: t.held().Status, Sent: true, Head: exchange.Head{AnsweredBy: answer.Model}}
	r.Finish(answer.Usage)
	a := t.attempt
	if a.Model == "" { // of a batch with several models
		a.Model = answer.Model
	}
	a.Format = spoken
	a.Exchange = &exchange.Exchange{Request: exchange.Request{Operation: result.Operation, Format: spoken}}
	c := call{result: &r, ex: a.Exchange, share: 1}
	if c.reported() == 0 {
		t.partial = true
		return
	}
	e := Entry{pricer: t.pricer, record: t.Charge.Record}
	e.record.Calls, e.record.Operation = nil, a.Exchange.Request.Operation.String()
	e.add(&a, c)
	for i := range e.record.Calls {
		t.sum(&e.record.Calls[i])
	}
}

// sum adds a call to the sum of those like it.
func (t *Tally) sum(c *accounting.Call) {
	index := slices.IndexFunc(t.calls, func(s accounting.Call) bool {
		return s.Model == c.Model && s.Answered == c.Answered && s.Source == c.Source && s.Terms == c.Terms &&
			s.Price == c.Price && s.CostSource == c.CostSource && s.Cost.Currency == c.Cost.Currency
	})
	switch {
	case index >= 0:
	case len(t.calls) == mostSums:
		t.partial = true
		return
	default:
		t.calls = append(t.calls, *c)
		return
	}
	s := &t.calls[index]
	s.Tokens = s.Tokens.Add(c.Tokens)
	s.Cost.Nanos = atMost(s.Cost.Nanos + c.Cost.Nanos)
}

// mostNanos bounds the sum of costs, in nanos: a provider chooses the numbers of its answers.
const mostNanos = 1 << 58

func atMost(nanos int64) int64 { return min(nanos, mostNanos) }

// End returns the calls of the record of the batch, and sets its counts. It is not whole if the usage of an
// answer is unknown, or the results have fewer lines than they must have: a call beside those of known usage
// then has what was reserved for the rest. The calls are nil if no usage is known: the batch costs what was
// reserved. What is unknown of the costs of models without a price, budgets count as reserved.
func (t *Tally) End(lines int64) (calls []accounting.Call, whole bool) {
	t.Charge.Record.Batch = t.counts
	t.partial = t.partial || t.lines < lines
	rest := *t.held()
	rest.Held.Nanos = max(0, rest.Held.Nanos-Spent(t.calls, rest.Held.Currency))
	switch {
	case t.partial && t.calls == nil:
		return nil, false
	case t.partial:
		return append(t.calls, rest), false
	case t.calls == nil: // no request has an answer
		rest.Source, rest.Held = accounting.SourceNone, aigateway.Cost{}
		return []accounting.Call{rest}, true
	}
	if i := slices.IndexFunc(t.calls, func(c accounting.Call) bool { return !c.Priced() }); i >= 0 {
		t.calls[i].Held = rest.Held
	}
	return t.calls, true
}
