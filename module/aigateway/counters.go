package aigateway

import (
	"context"
	"time"
)

// Counters is the interface of the modules in the namespace ai_gateway.counters.
type Counters interface {
	// Limiter returns the limiter of the limit with this name. It is called while
	// a configuration is provisioned, once for each limit, with rules that have
	// passed Check. Over a reload, the counts of a limit whose name and rules are
	// unchanged should continue.
	Limiter(name string, rules LimitRules) (Limiter, error)
}

// Limiter counts the requests of the keys of one limit. Keys with the same
// Key.Subject are counted together, all other keys each on their own.
type Limiter interface {
	// Admit decides whether a request may run, and reserves its share: one request
	// of the rate and of the concurrent requests, and tokens, from 0, of the
	// rate of tokens. An admitted request counts for all rules, a refused one for
	// none. Many goroutines call Admit at once; requests that together would
	// exceed a rule are not all admitted. If the counters cannot be reached, the
	// limiter decides without them, before the context ends.
	Admit(ctx context.Context, key *Key, tokens int64) Admission
}

// Admission is the decision of a Limiter about a request.
type Admission struct {
	// Reservation is the share of an admitted request; nil if the request is
	// refused.
	Reservation Reservation

	// Reached, of a refused request, is the rule that refuses it: RequestRate,
	// TokenRate or ConcurrentRequests. It is empty for an admitted request.
	Reached string

	// RetryAfter is the estimated time after which a refused request would be
	// admitted.
	RetryAfter time.Duration

	// TooLarge is true if a refused request could never be admitted, because its
	// tokens alone exceed the rate.
	TooLarge bool

	// Requests and Tokens are the quotas after this request.
	Requests, Tokens Quota
}

// The values of Admission.Reached. Error messages for clients contain them.
const (
	RequestRate        = "request rate"
	TokenRate          = "token rate"
	ConcurrentRequests = "concurrent request"
)

// Quota is what is left of a rate. The zero Quota means that there is no rate.
type Quota struct {
	Limit     int64         // the amount of the rate
	Remaining int64         // the part of it that is not used
	Reset     time.Duration // until nothing of it is used any more
}

// Reservation is the share of a limit that an admitted request holds.
type Reservation interface {
	// Settle replaces the reserved tokens by the tokens that the request has used,
	// from 0. The gateway calls it at most once, before Release.
	Settle(tokens int64)

	// Release ends the request, which no longer counts as running. The gateway
	// calls it once.
	Release()
}
