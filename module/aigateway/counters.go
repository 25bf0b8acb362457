package aigateway

import (
	"context"
	"time"
)

// Counters is the interface of the modules in the namespace ai_gateway.counters.
type Counters interface {
	// Limiter returns a limiter that admits a request only if all of the limits admit
	// it. It is called while a configuration is provisioned, and, for the teams of a store,
	// while requests run, by one goroutine of a site at a time. The limits have passed Check,
	// are ordered from the innermost to the outermost, and are distinct. If several limiters
	// have the same limit, the limit has one count. The counts of a limit should continue
	// after a reload, unless the length of a period changes.
	Limiter(limits []*Limit) (Limiter, error)
}

// Limiter decides about the requests of all keys to which the same limits apply.
type Limiter interface {
	// Admit decides whether a request may run, and reserves its share of every limit:
	// one request of the rate and of the concurrent requests, tokens, and money. An
	// admitted request counts for all rules of all limits, a refused one for none.
	// Many goroutines call Admit at once; requests that together would exceed a rule
	// are not all admitted.
	Admit(ctx context.Context, d Demand) Admission
}

// Amender is an optional interface of a Limiter that can change what its budgets have counted.
type Amender interface {
	// Amend changes what the budgets have counted for a request whose cost became known after its
	// end. Demand.Use is zero. A budget that was read from the ledger after the time of the
	// amendment contains it already.
	Amend(ctx context.Context, d Demand, change Amendment) error
}

// Amendment is a change of the cost of a request that has ended.
type Amendment struct {
	Admitted time.Time // the time of the request
	Nanos    int64     // the difference; may be negative
	At       time.Time // the time of the amendment, before the ledger had it
}

// Demand is the share of the limits that a request needs.
type Demand struct {
	Key *Key
	// Use is the estimated maximum of the usage. Its money is in the currency of the
	// budgets.
	Use
	// Spending returns the costs from before the counters began to count. It is nil if
	// no limit has a budget.
	Spending Spending
}

// Use is the usage of a request. No count is negative.
type Use struct {
	Tokens int64
	Nanos  int64 // money, in billionths of the unit of the currency
}

// Spending reads costs from the ledger.
type Spending interface {
	// Zone returns the time zone of calendar periods.
	Zone() *time.Location

	// Spent returns the costs that count in the budget of a limit for the subject of a
	// key, in the order of time. For a budget with a Calendar it returns the sum, else
	// the costs of each hour. Costs from before since are left out; zero means all
	// time. Limiters call Spent before their first decision about the budget of a
	// subject, not on every request.
	Spent(ctx context.Context, l *Limit, key *Key, since time.Time) ([]Spent, error)
}

// Spent is an amount of money that was spent before a time.
type Spent struct {
	By    time.Time // all of it was spent before this time
	Nanos int64     // in billionths of the unit of the currency
}

// Admission is the decision of a Limiter about a request.
type Admission struct {
	// Reservation is the share of an admitted request; nil if the request is
	// refused.
	Reservation Reservation

	// Reached is the rule that refuses the request, and Limit is the limit with that
	// rule. Both are empty for an admitted request.
	Reached Rule
	Limit   *Limit

	// RetryAfter is the estimated time after which a refused request would be
	// admitted; 0 if it is unknown or never comes.
	RetryAfter time.Duration

	// TooLarge is true if a refused request could never be admitted, because its
	// tokens alone exceed the rate, or its cost exceeds the budget.
	TooLarge bool

	// Left is the unused part of the budget that refuses a request, in nanos: neither
	// spent nor reserved. It is 0 for other rules.
	Left int64

	// Requests and Tokens are the quotas after this request, each of the limit with the
	// smallest remainder.
	Requests, Tokens Quota

	// Exceeded is the innermost limit whose soft budget an admitted request exceeds;
	// nil for none.
	Exceeded *Limit

	// Moves are the budgets whose level has changed since the last decision about them.
	Moves []BudgetMove

	// Err is the reason why no decision was possible: the counters or the ledger cannot
	// be reached. All other fields are empty then. Err is logged.
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

// BudgetMove is a change of the level of a budget. The level is the highest of Levels, in
// percent, that was spent or reserved at once in the period. A request that the budget
// lacks the money for raises the level to 100.
type BudgetMove struct {
	Limit    *Limit
	Subject  Subject
	From, To int // From is Unknown before the first decision
}

// Unknown is the level of a budget before the first decision about it.
const Unknown = -1

// Levels are the levels of a budget, in percent. The gateway reports when a budget reaches
// one.
var Levels = [...]int{0, 50, 80, 100}

// Level returns the highest of Levels that an amount reaches. A budget of 0 has no levels.
func (b *Budget) Level(nanos int64) (percent int) {
	for _, level := range Levels {
		if b.Micros > 0 && nanos >= b.Nanos()/100*int64(level) {
			percent = level
		}
	}
	return percent
}

// Lacks reports whether a hard budget of which used nanos are used refuses a request of n
// nanos that would fit into the whole budget.
func (b *Budget) Lacks(n, used int64) bool {
	return !b.Soft && n <= b.Nanos() && n > b.Nanos()-used
}

// Quota is the state of a rate. The zero Quota means that there is no rate.
type Quota struct {
	Limit     int64         // the amount of the rate
	Remaining int64         // the unused part of the amount
	Reset     time.Duration // time until the whole amount is unused
}

// Tighter returns the quota with the smaller remainder.
func (q Quota) Tighter(other Quota) Quota {
	if q.Limit == 0 || other.Limit != 0 && other.Remaining < q.Remaining {
		return other
	}
	return q
}

// Reservation is the share of its limits that an admitted request holds.
type Reservation interface {
	// Settle replaces the reserved usage by the actual usage. Money counts in the period
	// in which the request was admitted. The gateway calls Settle before Release; a
	// second call has no effect.
	Settle(used Use)

	// Release ends the request, which no longer counts as running. The gateway
	// calls it once.
	Release()
}
