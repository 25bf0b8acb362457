package aigateway

import (
	"context"
	"time"
)

// Counters is the interface of the modules in the namespace ai_gateway.counters.
type Counters interface {
	// Limiter returns the limiter of limits that a request has to pass all. It is
	// called while a configuration is provisioned, with limits that have passed Check,
	// the innermost first, and none of them twice. A limit that several limiters have
	// is counted once. Over a reload, the counts of a limit should continue unless the
	// length of a period changes.
	Limiter(limits []*Limit) (Limiter, error)
}

// Limiter decides about the requests of the keys that lead to the same limits.
type Limiter interface {
	// Admit decides whether a request may run, and reserves its share of every limit:
	// one request of the rate and of the concurrent requests, tokens, and money. An
	// admitted request counts for all rules of all limits, a refused one for none.
	// Many goroutines call Admit at once; requests that together would exceed a rule
	// are not all admitted.
	Admit(ctx context.Context, d Demand) Admission
}

// Demand is what a request asks of its limits.
type Demand struct {
	Key *Key
	// Use is the most that the request may use, as far as can be known before it runs.
	// Its money is in the currency of the budgets.
	Use
	// Spending has what was spent before the counters began to count. It is nil if no
	// limit has a budget.
	Spending Spending
}

// Use is what a request uses. No count is negative.
type Use struct {
	Tokens int64
	Nanos  int64 // money, in billionths of the unit of the currency
}

// Spending reads what was spent from the ledger.
type Spending interface {
	// Zone returns the time zone of calendar periods.
	Zone() *time.Location

	// Spent returns what the subject of a key has spent of the budget of a limit since
	// a moment, zero for all time, in the order of time: in total for a budget with a
	// Calendar, else by the hour. Limiters call it before they first decide about the
	// budget of a subject, which does not happen on every request.
	Spent(ctx context.Context, l *Limit, key *Key, since time.Time) ([]Spent, error)
}

// Spent is an amount of money that was spent by a moment.
type Spent struct {
	By    time.Time
	Nanos int64
}

// Admission is the decision of a Limiter about a request.
type Admission struct {
	// Reservation is the share of an admitted request; nil if the request is
	// refused.
	Reservation Reservation

	// Reached, of a refused request, is the rule that refuses it, and Limit has that
	// rule. Both are empty for an admitted request.
	Reached Rule
	Limit   *Limit

	// RetryAfter is the estimated time after which a refused request would be
	// admitted; 0 if it is unknown or never comes.
	RetryAfter time.Duration

	// TooLarge is true if a refused request could never be admitted, because its
	// tokens alone exceed the rate, or its cost exceeds the budget.
	TooLarge bool

	// Requests and Tokens are the quotas after this request, of the limits with the
	// least left.
	Requests, Tokens Quota

	// Exceeded is the innermost limit whose soft budget an admitted request exceeds;
	// nil for none.
	Exceeded *Limit

	// Moves are budgets that have reached another level since the last decision about
	// them.
	Moves []BudgetMove

	// Err is why nothing could be decided: the counters or the ledger cannot be
	// reached. All other fields are empty then. It is for the log.
	Err error
}

// Rule is a rule of a limit. Error messages for clients contain it.
type Rule string

// The rules.
const (
	RequestRate        Rule = "request rate"
	TokenRate          Rule = "token rate"
	ConcurrentRequests Rule = "concurrent request"
	MoneyBudget        Rule = "budget"
)

// BudgetMove is the change of the level of a budget: the highest of Levels, in percent,
// that was spent or reserved in the period.
type BudgetMove struct {
	Limit    *Limit
	Subject  Subject
	From, To int // From is Unknown before the first decision
}

// Unknown is the level of a budget before the first decision about it.
const Unknown = -1

// Levels are the parts of a budget, in percent, that are reported when they are reached.
var Levels = [...]int{0, 50, 80, 100}

// Level returns the highest of Levels that an amount reaches.
func (b *Budget) Level(nanos int64) (percent int) {
	for _, level := range Levels {
		if nanos >= b.Nanos()/100*int64(level) {
			percent = level
		}
	}
	return percent
}

// Quota is what is left of a rate. The zero Quota means that there is no rate.
type Quota struct {
	Limit     int64         // the amount of the rate
	Remaining int64         // the part of it that is not used
	Reset     time.Duration // until nothing of it is used any more
}

// Tighter returns the quota with less left.
func (q Quota) Tighter(other Quota) Quota {
	if q.Limit == 0 || other.Limit != 0 && other.Remaining < q.Remaining {
		return other
	}
	return q
}

// Reservation is the share of its limits that an admitted request holds.
type Reservation interface {
	// Settle replaces what is reserved by what the request has used. Money counts in
	// the period in which the request was admitted. The gateway calls Settle before
	// Release; a second call has no effect.
	Settle(used Use)

	// Release ends the request, which no longer counts as running. The gateway
	// calls it once.
	Release()
}
