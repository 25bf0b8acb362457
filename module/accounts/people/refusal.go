package people

import (
	"fmt"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/call"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// Refusal returns why requests with a key of an owner are refused now, "" if they are not, and the
// rule that refuses them, nil for none. A rule is named to everyone who sees the key, as the
// refusals of requests name it.
func (p *People) Refusal(c *call.Call, key *aigateway.StoredKey, owner *aigateway.User) (reason string, rule *aigateway.LimitState, err error) {
	switch {
	case key.Disabled:
		return "the key is disabled", nil, nil
	case owner.Disabled:
		return "the user of the key is disabled", nil, nil
	case !key.Expires.IsZero() && !time.Now().Before(key.Expires):
		return "the key has expired", nil, nil
	case p.Limits == nil:
		return "", nil, nil
	}
	id := aigateway.StoredKeyID(key.ID)
	if err := p.Limits.Unusable(id); err != nil {
		return err.Error(), nil, nil
	}
	page, err := p.Limits.Limits(c.Context(), aigateway.LimitQuery{Key: id, Most: mostStates})
	if rule = reached(page.States); err != nil || rule == nil {
		return "", nil, err
	}
	return ruleIn(rule) + " of " + whoseIs(rule) + " is used up", rule, nil
}

// reached returns the rule that refuses requests for the longest time, nil for none. A rule that
// never renews refuses them for ever.
func reached(states []aigateway.LimitState) (longest *aigateway.LimitState) {
	for i := range states {
		state := &states[i]
		if state.Left > 0 || state.Soft {
			continue
		}
		if longest == nil || longest.Renews != nil && (state.Renews == nil || state.Renews.After(*longest.Renews)) {
			longest = state
		}
	}
	return longest
}

// ruleIn returns the rule of a state in words: "the budget of 20 USD per month".
func ruleIn(s *aigateway.LimitState) string {
	switch {
	case s.Currency != "":
		return "the budget of " + aigateway.Cost{Nanos: s.Amount * 1000, Currency: s.Currency}.String() + periodIn(s)
	case s.Period == "":
		return fmt.Sprintf("the number of %d requests at once", s.Amount)
	}
	return fmt.Sprintf("the rate of %d %s%s", s.Amount, s.Rule, periodIn(s))
}

func periodIn(s *aigateway.LimitState) string {
	if s.Period == string(aigateway.Total) {
		return " in total"
	}
	return " per " + s.Period
}

// whoseIs returns the subject of a state in the words of the refusals of requests, with the name of
// the limit that is in the configuration.
func whoseIs(s *aigateway.LimitState) string {
	if tag, ok := s.Per.Tag(); ok {
		return "the tag " + tag + "=" + s.Subject
	}
	own := (&aigateway.Limit{Name: s.Limit, Per: s.Per}).IsOwn()
	switch {
	case own && s.Per == aigateway.PerKey:
		return "this key (its own rule)"
	case own:
		return "this user (their own rule)"
	case s.Per == aigateway.PerGroup:
		return "the group '" + s.Limit + "'"
	}
	return fmt.Sprintf("this %s (limit '%s')", s.Per, s.Limit)
}
