package aigateway

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
)

// Limit bounds the usage of the keys to which it applies.
type Limit struct {
	// Name is the name that keys use: 1 to 64 letters, digits or ._@+- with a letter
	// or digit first.
	Name string `json:"name"`

	// Per is the group of keys that share the counts of the limit. Default: "user".
	Per Scope `json:"per,omitempty"`

	LimitRules

	// BudgetSince is the time since which the budget has counted each request of its subject
	// without a gap. What was read from the ledger before then is not valid. Zero: for as long as
	// the limit is in use. A Store sets it when a budget is set, or gets another period.
	BudgetSince time.Time `json:"-"`
}

// Scope is the group of keys that share the counts of a limit.
type Scope string

// The scopes.
const (
	PerKey  Scope = "key"  // each key has counts of its own
	PerUser Scope = "user" // all keys of an owner; a key without an owner has counts of its own
	// PerGroup is the group of all keys that name the limit, or a limit within it.
	PerGroup Scope = "group"
	// PerGateway is the group of all keys.
	PerGateway Scope = "gateway"
	// PerCustomer is the group of the requests of one customer. Requests without a customer
	// have counts of their own.
	PerCustomer Scope = "customer"

	// PerProvider is the group of all calls of a provider, and PerTarget that of the calls of a
	// target of a model. Only the limits that ProviderLimit and TargetLimit return have them.
	PerProvider Scope = "provider"
	PerTarget   Scope = "target"
)

// tagScope is the prefix of the scopes of tags.
const tagScope = "tag:"

// PerTag is the group of the requests with one value of a tag: "tag:team". Requests without
// the tag have counts of their own.
func PerTag(name string) Scope { return Scope(tagScope + name) }

// Tag returns the name of the tag of a scope that PerTag has returned.
func (s Scope) Tag() (name string, ok bool) { return strings.CutPrefix(string(s), tagScope) }

// Labelled reports whether the scope depends on the labels of requests.
func (s Scope) Labelled() bool {
	_, ok := s.Tag()
	return ok || s == PerCustomer
}

// OfCalls reports whether the limit counts calls of a provider, whatever key they are for.
func (s Scope) OfCalls() bool { return s == PerProvider || s == PerTarget }

// IsShared reports whether a subject of the scope may consist of keys of several users.
func (s Scope) IsShared() bool {
	return s.Labelled() || s.OfCalls() || s == PerGroup || s == PerGateway
}

// isChosen reports whether users can have many subjects in the scope: by making keys, or by
// choosing labels.
func (s Scope) isChosen() bool { return s == PerKey || s.Labelled() }

// CheckChosen returns an error if users can evade the limits that apply to their keys
// together, because nothing bounds all their subjects of a limit. A bound of money needs
// another bound of money, and a rate another rate.
func CheckChosen(limits []*Limit) error {
	var evaded *Limit
	bound := none
	for _, limit := range limits {
		switch {
		case !limit.Per.isChosen():
			bound = max(bound, limit.strength())
		case evaded == nil || limit.strength() > evaded.strength():
			evaded = limit
		}
	}
	if evaded == nil || evaded.strength() <= bound {
		return nil
	}
	return fmt.Errorf("the limit '%s' counts each key, customer or tag alone, and users can have many: name one per user, or within one%s", evaded.Name, need[evaded.strength()])
}

// need is what the limit around a limit of each strength must have.
var need = [...]string{rates: " with a rate or a budget", money: " with a budget that is not soft"}

// The strengths of what a limit refuses.
const (
	none = iota // there is no limit
	soft        // a budget that refuses nothing
	running
	rates
	money
)

// strength returns the strongest rule of the limit.
func (r *LimitRules) strength() int {
	switch {
	case r.Budget.IsSet() && !r.Budget.Soft:
		return money
	case r.Requests.Most != 0 || r.Tokens.Most != 0:
		return rates
	case r.Concurrent != 0:
		return running
	}
	return soft
}

// Subject identifies a group of keys that share the counts of a limit. Subjects can be
// compared.
type Subject struct {
	Per  Scope
	Name string // the ID of a key, the name of a user or customer, or the value of a tag; else empty
}

// Subject returns the subject of a key for the limit. The key has the labels of the request.
func (l *Limit) Subject(key *Key) Subject {
	switch tag, tagged := l.Per.Tag(); {
	case tagged:
		return Subject{l.Per, key.Tag(tag)}
	case l.Per == PerCustomer:
		return Subject{l.Per, key.Customer}
	case l.Per == PerGroup || l.Per == PerGateway || l.Per.OfCalls():
		return Subject{Per: l.Per}
	case l.Per == PerKey || key.Owner == "":
		return Subject{PerKey, key.ID}
	}
	return Subject{PerUser, key.Owner}
}

// Check returns an error if the limit has no rule, or a value out of bounds.
func (l *Limit) Check() error {
	if err := CheckLimitName(l.Name); err != nil {
		return err
	}
	switch l.Per {
	case "", PerKey, PerUser, PerGroup, PerGateway, PerCustomer:
		return l.LimitRules.Check()
	}
	if tag, ok := l.Per.Tag(); ok && CheckTagName(tag) == nil {
		return l.LimitRules.Check()
	}
	return errScope
}

// LimitRules are the rules of a limit. At least one of them is set.
type LimitRules struct {
	// Requests is the rate of requests. A request counts when it has passed all
	// other checks, and counts once, whatever its outcome and however many
	// providers are called for it.
	Requests Rate `json:"requests,omitzero"`

	// Tokens is the rate of tokens, of the input (cached tokens included) and of the
	// output. A running request counts with an estimate of its input and the longest
	// output that it allows. For a request that does not limit its output, that is the
	// trait default_max_tokens, or 4096 tokens; agent_max_tokens, or 32000 tokens, for
	// responses requests that are translated to the messages format. Other formats
	// require no bound, so that the gateway sends none, and an answer may be longer.
	Tokens Rate `json:"tokens,omitzero"`

	// Concurrent is how many requests may run at once, from 1 to 1000000000000
	// (10^12). Default: any number.
	Concurrent int64 `json:"concurrent,omitempty"`

	// Budget is the money that requests may cost. A running request counts with its
	// highest possible cost, by an estimate of its input. A budget needs a ledger.
	Budget Budget `json:"budget,omitzero"`

	// AllowUnpriced admits requests whose price is unknown, or lacks a part of what they
	// can use. What is known of their costs counts in the budget. Default: false: such
	// requests are refused.
	AllowUnpriced bool `json:"allow_unpriced,omitempty"`

	// Priority is the priority of the requests of the keys in queues: "high", "normal" or "low". Of
	// nested limits, the innermost one that has a priority decides. It bounds nothing. Default: that of
	// the limit around it, else normal. Limits of providers and targets have none.
	Priority string `json:"priority,omitempty"`
}

// priorities are the words for the priority of a limit.
var priorities = []string{"high", "normal", "low"}

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
	errScope      = errors.New("per must be key, user, group, gateway, customer or tag and a name")
	errNoRule     = errors.New("a limit needs at least one of requests, tokens, concurrent, budget and priority")
	errUnpriced   = errors.New("unpriced needs a budget")
	errRate       = errors.New("a rate is a number from 1 to 1000000000000, a slash and a period from 1s to 366d: 60/1m")
	errConcurrent = errors.New("concurrent must be 1 to 1000000000000")
)

// ParseRate parses a rate, such as "60/1m" or "400000/1d".
func ParseRate(s string) (Rate, error) {
	number, length, _ := strings.Cut(s, "/")
	limit, err := strconv.ParseInt(number, 10, 64)
	if err != nil || s[0] == '+' {
		return Rate{}, errRate
	}
	period, err := caddy.ParseDuration(length)
	rate := Rate{Most: limit, Per: caddy.Duration(period)}
	if err != nil || rate.check() != nil {
		return Rate{}, errRate
	}
	return rate, nil
}

func (r Rate) check() error {
	if r.Most < 1 || r.Most > maxAmount || !isPeriod(r.Per) {
		return errRate
	}
	return nil
}

// Notation returns the rate as ParseRate reads it: "60/1m"; empty for none.
func (r Rate) Notation() string {
	if r.Most == 0 {
		return ""
	}
	return strconv.FormatInt(r.Most, 10) + "/" + r.PeriodName()
}

// String returns the rules in words, such as "60 requests per 1m, 8 at once".
func (r LimitRules) String() string {
	var rules []string
	if r.Requests.Most > 0 {
		rules = append(rules, r.Requests.words("requests"))
	}
	if r.Tokens.Most > 0 {
		rules = append(rules, r.Tokens.words("tokens"))
	}
	if r.Concurrent > 0 {
		rules = append(rules, fmt.Sprint(r.Concurrent, " at once"))
	}
	if r.Budget.IsSet() {
		rules = append(rules, r.Budget.String())
	}
	if r.Priority != "" {
		rules = append(rules, r.Priority+" priority")
	}
	return strings.Join(rules, ", ")
}

// PeriodName returns the period in the notation of configurations: "1m".
func (r Rate) PeriodName() string { return words(time.Duration(r.Per)) }

func (r Rate) words(unit string) string {
	return fmt.Sprintf("%d %s per %s", r.Most, unit, r.PeriodName())
}

func isPeriod(d caddy.Duration) bool {
	return time.Duration(d) >= minPeriod && time.Duration(d) <= maxPeriod
}

// Check returns an error if r has no rule, or a rule out of bounds.
func (r LimitRules) Check() error {
	if (r == LimitRules{AllowUnpriced: r.AllowUnpriced}) {
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
	if r.Budget == (Budget{}) && r.AllowUnpriced {
		return errUnpriced
	}
	if err := r.Budget.check(); r.Budget != (Budget{}) && err != nil {
		return fmt.Errorf("budget: %w", err)
	}
	if r.Priority != "" && !slices.Contains(priorities, r.Priority) {
		return fmt.Errorf("a priority is high, normal or low, not '%s'", r.Priority)
	}
	return nil
}
