package limits

import (
	"errors"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// own are the chains of keys with own rules, of the key or of its owner. They are built when
// they are needed, as those of teams. Keys with the same rules share a chain.
type own struct {
	users  aigateway.RuledUsers // nil if users have no rules
	mu     sync.Mutex           // held to build a chain
	chains sync.Map             // of ownChain by ownRules
}

// ownRules are what a chain with own rules is built of. A chain of rules that are no longer in
// use stays until the configuration is loaded anew.
type ownRules struct {
	outer     *Chain // of the configuration, or of the team
	key, user ownRule
}

// ownRule are the rules of a key or of a user, and since when they have the budget.
type ownRule struct {
	aigateway.LimitRules
	budgetSince time.Time
}

// limit returns the limit with the rules, nil without rules.
func (r ownRule) limit(scope aigateway.Scope) *aigateway.Limit {
	limit := aigateway.OwnLimit(scope, r.LimitRules)
	if limit != nil {
		limit.BudgetSince = r.budgetSince
	}
	return limit
}

type ownChain struct {
	chain *Chain
	err   error // why the rules cannot be applied, if chain is nil
}

// rulesWithin returns own rules within the limits outer. A nil limit has no rules.
func rulesWithin(outer *Chain, key, user *aigateway.Limit) ownRules {
	rules := ownRules{outer: outer}
	if key != nil {
		rules.key = ownRule{key.LimitRules, key.BudgetSince}
	}
	if user != nil {
		rules.user = ownRule{user.LimitRules, user.BudgetSince}
	}
	return rules
}

// limits returns the limits of the rules, the innermost first.
func (r *ownRules) limits() (limits []*aigateway.Limit) {
	for _, limit := range []*aigateway.Limit{r.key.limit(aigateway.PerKey), r.user.limit(aigateway.PerUser)} {
		if limit != nil {
			limits = append(limits, limit)
		}
	}
	return append(limits, r.outer.limits...)
}

// CountUsers makes l apply the own rules of users of a store.
func (l *Limits) CountUsers(store aigateway.Store) {
	l.own.users, _ = store.(aigateway.RuledUsers)
}

// ofUser returns the limit with the own rules of a user, nil for none.
func (o *own) ofUser(name string) *aigateway.Limit {
	if o.users == nil || name == "" {
		return nil
	}
	return o.users.LimitOfUser(name)
}

// withOwn returns the limits outer with own rules within them, or why they cannot be applied. key
// and user are nil without own rules. A user has a limit without any rule if the store could not
// read the rules.
func (l *Limits) withOwn(outer *Chain, key, user *aigateway.Limit) (*Chain, error) {
	if user != nil && user.LimitRules == (aigateway.LimitRules{}) {
		return nil, errDamaged
	}
	rules := rulesWithin(outer, key, user)
	if found, ok := l.own.chains.Load(rules); ok { // of nearly all requests
		return found.(ownChain).chain, found.(ownChain).err
	}
	return l.buildOwn(rules)
}

var errDamaged = errors.New("the own rules of the user cannot be read")

func (l *Limits) buildOwn(rules ownRules) (*Chain, error) {
	l.own.mu.Lock()
	defer l.own.mu.Unlock()
	if found, ok := l.own.chains.Load(rules); ok { // another request has built it
		return found.(ownChain).chain, found.(ownChain).err
	}
	limits := rules.limits()
	err := l.checkApplied(limits)
	var chain *Chain
	if err == nil {
		chain, err = newChain(l.counters, limits)
	}
	if err == nil {
		l.attach(chain)
	} else {
		l.logger.Error("own rules cannot be applied; requests with the keys are refused",
			zap.Stringer("key_rules", rules.key), zap.Stringer("user_rules", rules.user), zap.Error(err))
	}
	l.own.chains.Store(rules, ownChain{chain, err})
	return chain, err
}

// CheckOwn returns an error if the own rules of a key cannot be applied within its other limits,
// beside the own rules of its user, nil for none. A key whose other limits cannot be applied
// themselves passes.
func (l *Limits) CheckOwn(key *aigateway.Key, user *aigateway.Limit) error {
	outer := l.outer(key)
	if outer == nil || key.Own == nil && user == nil {
		return nil
	}
	rules := rulesWithin(outer, key.Own, user)
	return l.checkApplied(rules.limits())
}
