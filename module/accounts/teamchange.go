package accounts

import (
	"net/http"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/call"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/people"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// teamChange is a change of a team. Fields that are nil stay unchanged.
type teamChange struct {
	models *[]aigateway.Pattern
	rules  people.RuleChange

	check func(*aigateway.Team) error // of the sites; nil if they are not known
}

// teamFields are the members of the body of a request about a team.
type teamFields struct {
	Models []string `json:"models"`
	people.RuleFields
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
	if change.rules, err = fields.RuleFields.Read(); err != nil {
		return change, err
	}
	if t.configured(name) && !change.rules.IsEmpty() {
		return change, answer.Refuse(http.StatusConflict, "the configuration defines a limit with the name of the team: change the rules there")
	}
	return change, nil
}

// apply changes a team.
func (change teamChange) apply(team *aigateway.Team) error {
	team.Models = call.ValueOr(change.models, team.Models)
	if err := change.rules.Apply(&team.Rules); err != nil {
		return err
	}
	if change.check == nil {
		return nil
	}
	if err := change.check(team); err != nil {
		return answer.Invalid("%s", err)
	}
	return nil
}
