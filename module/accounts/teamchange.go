package accounts

import (
	"net/http"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/call"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/people"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// teamChange is a change of a team. Fields that are nil stay unchanged.
type teamChange struct {
	models           *[]aigateway.Pattern
	requests, tokens *aigateway.Rate
	concurrent       *int64
	budget           *aigateway.Budget

	check func(*aigateway.Team) error // of the sites; nil if they are not known
}

// teamFields are the members of the body of a request about a team, with the words of the
// Caddyfile. Empty rules are none.
type teamFields struct {
	Models     []string `json:"models"`
	Requests   *string  `json:"requests"`
	Tokens     *string  `json:"tokens"`
	Concurrent *int64   `json:"concurrent"`
	Budget     *string  `json:"budget"`
}

// read reads a change of a team. It refuses rules for a team whose limit is defined by the
// configuration, because they would have no effect.
func (t teams) read(fields teamFields, name string) (change teamChange, err error) {
	if t.people.Limits != nil {
		change.check = t.people.Limits.CheckTeam
	}
	if fields.Models != nil {
		names, err := people.Patterns("models", fields.Models)
		if err != nil {
			return change, err
		}
		change.models = new([]aigateway.Pattern)
		for _, name := range *names {
			*change.models = append(*change.models, aigateway.Pattern(name))
		}
	}
	if change.requests, err = readRate("requests", fields.Requests); err != nil {
		return change, err
	}
	if change.tokens, err = readRate("tokens", fields.Tokens); err != nil {
		return change, err
	}
	if change.budget, err = readBudget(fields.Budget); err != nil {
		return change, err
	}
	change.concurrent = fields.Concurrent
	if t.configured(name) && (change.requests != nil || change.tokens != nil || change.concurrent != nil || change.budget != nil) {
		return change, answer.Refuse(http.StatusConflict, "the configuration defines a limit with the name of the team: change the rules there")
	}
	return change, nil
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

// apply changes a team.
func (change teamChange) apply(team *aigateway.Team) error {
	team.Models = call.ValueOr(change.models, team.Models)
	rules := &team.Rules
	rules.Requests, rules.Tokens = call.ValueOr(change.requests, rules.Requests), call.ValueOr(change.tokens, rules.Tokens)
	rules.Concurrent, rules.Budget = call.ValueOr(change.concurrent, rules.Concurrent), call.ValueOr(change.budget, rules.Budget)
	var err error
	if limit := team.Limit(); limit != nil {
		err = limit.Check()
	}
	if err == nil && change.check != nil {
		err = change.check(team)
	}
	if err != nil {
		return answer.Invalid("%s", err)
	}
	return nil
}
