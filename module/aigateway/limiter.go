package aigateway

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
)

// Rules are what a limit allows, of what it bounds; at least one of them is set.
type LimitRules struct {
	// Requests bounds how many requests are admitted within a time. Each that
	// passed all checks counts, however many calls of providers it becomes, and
	// whatever comes of it.
	Requests Rate `json:"requests,omitzero"`

	// Tokens bounds how many tokens are used within a time: of the input, cached
	// ones included, and of the output. While a request runs, an estimate of its
	// input and all that it allows as output count for it; 4096 where it sets no
	// bound, which is not sent, so that an answer may have more.
	Tokens Rate `json:"tokens,omitzero"`

	// Concurrent is how many requests may run at once. Default: any number.
	Concurrent int64 `json:"concurrent,omitempty"`
}

// Rate is how much there may be in any time of a length. The zero Rate bounds
// nothing.
type Rate struct {
	// Most is how much there may be: 1 to 1000000000000 (10^12).
	Most int64 `json:"most"`

	// Per is the length of the time: 1s to 8784h, which are 366 days.
	Per caddy.Duration `json:"per"`
}

// The bounds of rules.
const (
	mostOfRule  = 1_000_000_000_000
	shortestPer = time.Second
	longestPer  = 366 * 24 * time.Hour
)

// The errors of rules.
var (
	errLimitName  = errors.New("the name of a limit is 1 to 64 letters, digits or ._@+- with a letter or digit first")
	errNoRule     = errors.New("a limit needs at least one of requests, tokens and concurrent")
	errRate       = errors.New("a rate is a number, a slash and a time from 1s to 366d: 60/1m; the number is 1 to 1000000000000")
	errConcurrent = errors.New("concurrent must be 1 to 1000000000000")
)

var limitName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}$`)

// CheckLimitName reports whether a limit may be called so: 1 to 64 letters,
// digits or ._@+- with a letter or digit first.
func CheckLimitName(s string) error {
	if !limitName.MatchString(s) {
		return errLimitName
	}
	return nil
}

// ParseRate reads a rate: "60/1m", "400000/1d".
func ParseRate(s string) (Rate, error) {
	number, length, _ := strings.Cut(s, "/")
	most, err := strconv.ParseInt(number, 10, 64)
	if err != nil || s[0] == '+' {
		return Rate{}, errRate
	}
	per, err := caddy.ParseDuration(length)
	rate := Rate{Most: most, Per: caddy.Duration(per)}
	if err != nil || rate.check() != nil {
		return Rate{}, errRate
	}
	return rate, nil
}

func (r Rate) check() error {
	per := time.Duration(r.Per)
	if r.Most < 1 || r.Most > mostOfRule || per < shortestPer || per > longestPer {
		return errRate
	}
	return nil
}

// Check reports what is wrong with r.
func (r LimitRules) Check() error {
	if r == (LimitRules{}) {
		return errNoRule
	}
	if err := r.Requests.check(); r.Requests != (Rate{}) && err != nil {
		return fmt.Errorf("requests: %w", err)
	}
	if err := r.Tokens.check(); r.Tokens != (Rate{}) && err != nil {
		return fmt.Errorf("tokens: %w", err)
	}
	if r.Concurrent < 0 || r.Concurrent > mostOfRule {
		return errConcurrent
	}
	return nil
}

// Counters is what a guest module in the namespace ai_gateway.counters
// implements: where is counted what limits bound.
type Counters interface {
	// Limiter returns what counts for the limit of this name, whose rules have
	// been checked. It is called while a configuration is provisioned, once a
	// limit. What was counted for the same name and rules under the
	// configuration before counts on.
	Limiter(name string, rules LimitRules) (Limiter, error)
}

// Limiter counts for the keys that name one limit, for each Subject by itself.
type Limiter interface {
	// Admit decides about one request that may use up to this many tokens, from
	// 0, and reserves what it takes. The decision is one: what is admitted under
	// all rules is counted under all, else under none. It is called from many
	// goroutines at once. A limiter whose counters cannot be reached decides by
	// itself what becomes of the request, and within the context.
	Admit(ctx context.Context, key *Key, tokens int64) Admission
}

// Admission is what a Limiter has decided about a request.
type Admission struct {
	// Reservation is what was reserved; nil where the request is refused.
	Reservation Reservation

	Reached    string        // what the rule that refuses it bounds: Requests...; empty where it is admitted
	RetryAfter time.Duration // how long until it would be admitted, as far as is known
	TooLarge   bool          // it would be under no circumstances: its tokens alone are too many

	// Requests and Tokens are what is left, this request included.
	Requests, Tokens Quota
}

// What a rule bounds, as sentences for clients say it.
const (
	RequestRate        = "request rate"
	TokenRate          = "token rate"
	ConcurrentRequests = "concurrent request"
)

// Quota is what is left of a rate. The zero Quota is that of none.
type Quota struct {
	Limit     int64         // what the rate allows
	Remaining int64         // how much of that is left now
	Reset     time.Duration // how long until all of it is there again
}

// Reservation is what a request has reserved of a limit.
type Reservation interface {
	// Settle replaces the tokens that were reserved by those that the request has
	// used, from 0. It is called once, before Release.
	Settle(tokens int64)

	// Release ends the request: it does not run any more. It is called once.
	Release()
}
