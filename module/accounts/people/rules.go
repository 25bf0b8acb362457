package people

import (
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/call"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// RuleFields are the members of the body of a request with rules of a key, a user or a team, with
// the words of the Caddyfile. Empty rules are none.
type RuleFields struct {
	Requests   *string `json:"requests"`
	Tokens     *string `json:"tokens"`
	Concurrent *int64  `json:"concurrent"`
	Budget     *string `json:"budget"`
	Priority   *string `json:"priority"`
}

// RuleChange is a change of rules. Fields that are nil stay unchanged.
type RuleChange struct {
	requests, tokens *aigateway.Rate
	concurrent       *int64
	budget           *aigateway.Budget
	priority         *string
}

// Read returns the change that the fields contain.
func (f RuleFields) Read() (change RuleChange, err error) {
	if change.requests, err = readRate("requests", f.Requests); err != nil {
		return change, err
	}
	if change.tokens, err = readRate("tokens", f.Tokens); err != nil {
		return change, err
	}
	change.concurrent, change.priority = f.Concurrent, f.Priority
	change.budget, err = readBudget(f.Budget)
	return change, err
}

// readRate reads a rate; the empty text is the zero Rate.
func readRate(field string, text *string) (*aigateway.Rate, error) {
	if text == nil || *text == "" {
		return empty[aigateway.Rate](text), nil
	}
	rate, err := aigateway.ParseRate(*text)
	if err != nil {
		return nil, answer.Invalid("%s: %s", field, err)
	}
	return &rate, nil
}

// readBudget reads a budget; the empty text is the zero Budget.
func readBudget(text *string) (*aigateway.Budget, error) {
	if text == nil || *text == "" {
		return empty[aigateway.Budget](text), nil
	}
	budget, err := aigateway.ParseBudget(strings.Fields(*text)...)
	if err != nil {
		return nil, answer.Invalid("budget must be an amount and a period, which a currency and soft may follow: 500/month EUR soft")
	}
	return &budget, nil
}

// empty returns a zero value, nil without a text.
func empty[T any](text *string) *T {
	if text == nil {
		return nil
	}
	return new(T)
}

// IsEmpty reports whether the change contains no rule.
func (change RuleChange) IsEmpty() bool { return change == RuleChange{} }

// Prefers reports whether the change contains a priority, which bounds nothing.
func (change RuleChange) Prefers() bool { return change.priority != nil }

// Apply changes rules. It returns an error if the changed ones are invalid.
func (change RuleChange) Apply(rules *aigateway.LimitRules) error {
	rules.Requests, rules.Tokens = call.ValueOr(change.requests, rules.Requests), call.ValueOr(change.tokens, rules.Tokens)
	rules.Concurrent, rules.Budget = call.ValueOr(change.concurrent, rules.Concurrent), call.ValueOr(change.budget, rules.Budget)
	rules.Priority = call.ValueOr(change.priority, rules.Priority)
	if *rules == (aigateway.LimitRules{}) {
		return nil
	}
	if err := rules.Check(); err != nil {
		return answer.Invalid("%s", err)
	}
	return nil
}
