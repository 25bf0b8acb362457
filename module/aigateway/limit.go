package aigateway

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
)

// LimitRules are the rules of a limit. At least one of them is set.
type LimitRules struct {
	// Requests is the rate of requests. A request counts when it has passed all
	// other checks, and counts once, whatever its outcome and however many
	// providers are called for it.
	Requests Rate `json:"requests,omitzero"`

	// Tokens is the rate of tokens, of the input (cached tokens included) and of
	// the output. A running request counts with an estimate of its input, and with
	// the most output that it allows, or 4096 tokens if it does not limit its
	// output. The gateway does not send that number to the provider, so an answer
	// may be longer.
	Tokens Rate `json:"tokens,omitzero"`

	// Concurrent is how many requests may run at once, from 1 to 1000000000000
	// (10^12). Default: any number.
	Concurrent int64 `json:"concurrent,omitempty"`
}

// Rate is an amount per period. It applies to every period of that length, not
// only to those that begin at a full minute or day. The zero Rate means no rule.
type Rate struct {
	// Most is the largest amount within a period: 1 to 1000000000000 (10^12).
	Most int64 `json:"most"`

	// Per is the length of the period: 1s to 8784h, which are 366 days.
	Per caddy.Duration `json:"per"`
}

// The bounds of rules.
const (
	maxAmount = 1_000_000_000_000
	minPeriod = time.Second
	maxPeriod = 366 * 24 * time.Hour
)

// The errors of rules.
var (
	errNoRule     = errors.New("a limit needs at least one of requests, tokens and concurrent")
	errRate       = errors.New("a rate is a number from 1 to 1000000000000, a slash and a period from 1s to 366d: 60/1m")
	errConcurrent = errors.New("concurrent must be 1 to 1000000000000")
)

// ParseRate parses a rate, such as "60/1m" or "400000/1d".
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
	if r.Most < 1 || r.Most > maxAmount || per < minPeriod || per > maxPeriod {
		return errRate
	}
	return nil
}

// Check returns an error if r has no rule, or a rule out of bounds.
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
	if r.Concurrent < 0 || r.Concurrent > maxAmount {
		return errConcurrent
	}
	return nil
}
