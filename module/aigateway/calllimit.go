package aigateway

import "errors"

// ProviderLimit returns the limit of the calls of a provider, nil without rules. Its name, such as
// "provider/openai", is that of no limit that keys can name.
func ProviderLimit(provider string, rules *LimitRules) *Limit {
	return callLimit(PerProvider, provider, rules)
}

// TargetLimit returns the limit of the calls of a target of a model, nil without rules. model is the name
// or pattern of the model in the configuration, and target is the target as in the Caddyfile. The name is
// such as "target/assistant/openai/gpt-5".
func TargetLimit(model, target string, rules *LimitRules) *Limit {
	return callLimit(PerTarget, model+"/"+target, rules)
}

// The errors of limits of calls.
var (
	errNoCallRule   = errors.New("a limit needs at least one of requests, tokens, concurrent and budget")
	errCallPriority = errors.New("priority is for limits of keys: a provider or a target has none")
)

// CheckOfCalls returns an error if r has no rule, a rule out of bounds, or one that calls cannot have.
func (r *LimitRules) CheckOfCalls() error {
	switch err := r.Check(); {
	case r.Priority != "":
		return errCallPriority
	case errors.Is(err, errNoRule):
		return errNoCallRule
	default:
		return err
	}
}

func callLimit(scope Scope, counted string, rules *LimitRules) *Limit {
	if rules == nil {
		return nil
	}
	return &Limit{Name: string(scope) + "/" + counted, Per: scope, LimitRules: *rules}
}
