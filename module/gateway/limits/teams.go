package limits

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sync"

	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// teams are the chains of the teams whose rules are in the store, by the name of the team.
// They are built when they are needed, because the store may change while requests run.
type teams struct {
	mu     sync.Mutex // held to build a chain
	chains sync.Map
}

// teamChain is the chain of a team with these rules.
type teamChain struct {
	rules ownRule
	chain *Chain
	err   error // why the rules cannot be applied, if chain is nil
}

// CountStored makes l apply the rules of teams, users and keys of a store. load loads the counters,
// unless l has some.
func (l *Limits) CountStored(load func() (aigateway.Counters, error)) (err error) {
	if l.counters == nil {
		l.counters, err = load()
	}
	return err
}

// ofTeam returns the limits of the keys of a team, or why its rules cannot be applied.
func (l *Limits) ofTeam(t *aigateway.Team) (*Chain, error) {
	if team, ok := l.teams.known(t); ok { // of nearly all requests
		return team.chain, team.err
	}
	limit := t.Limit()
	if limit == nil {
		return l.chains[""], nil
	}
	l.teams.mu.Lock()
	defer l.teams.mu.Unlock()
	if team, ok := l.teams.known(t); ok { // another request has built it
		return team.chain, team.err
	}
	chain, err := l.teamChain(limit)
	if err != nil {
		l.logger.Error("the limit of a team cannot be applied; requests with its keys are refused", zap.String("team", t.Name), zap.Error(err))
	}
	l.teams.chains.Store(t.Name, teamChain{ownRule{t.Rules, t.BudgetSince}, chain, err})
	return chain, err
}

// known returns the chain of a team, and false if none was built for its rules.
func (t *teams) known(team *aigateway.Team) (chain teamChain, ok bool) {
	found, ok := t.chains.Load(team.Name)
	if !ok || found.(teamChain).rules != (ownRule{team.Rules, team.BudgetSince}) {
		return chain, false
	}
	return found.(teamChain), true
}

func (l *Limits) teamChain(limit *aigateway.Limit) (*Chain, error) {
	limits, err := l.ofRules(limit)
	if err != nil {
		return nil, err
	}
	chain, err := newChain(l.counters, limits)
	if err != nil {
		return nil, err
	}
	l.members.add(limit.Name, limits)
	l.attach(chain)
	return chain, nil
}

// CheckTeam returns an error if the limit of a team cannot be applied: if its members could
// evade the limit of the configuration by making more keys, or if its own rules cannot be
// applied.
func (l *Limits) CheckTeam(t *aigateway.Team) error {
	if chain := l.chains[t.Name]; chain != nil {
		return chain.evaded
	}
	if limit := t.Limit(); limit != nil {
		_, err := l.ofRules(limit)
		return err
	}
	return nil
}

// ofRules returns the limits of the keys of a team with rules, the innermost first. It returns an
// error if they cannot be applied.
func (l *Limits) ofRules(limit *aigateway.Limit) ([]*aigateway.Limit, error) {
	limits, err := l.outward("")
	if err != nil {
		return nil, err
	}
	limits = slices.Insert(limits, 0, limit)
	return limits, l.checkApplied(limits)
}

// checkApplied returns an error if limits with rules of a store cannot be applied: if there are
// no counters, if they have a budget, and there is no ledger, or if two have other currencies.
func (l *Limits) checkApplied(limits []*aigateway.Limit) error {
	isBudget := func(limit *aigateway.Limit) bool { return limit.Budget.IsSet() }
	switch {
	case l.counters == nil:
		return errors.New("this build has no counters")
	case l.book == nil && slices.ContainsFunc(limits, isBudget):
		return errNoLedger
	}
	_, err := describe(limits)
	return err
}

// WarnTeams logs the teams of a store whose keys are refused, because their members could evade
// the limit of the configuration.
func (l *Limits) WarnTeams(ctx context.Context, store aigateway.Teams) {
	for _, limit := range l.defined {
		evaded := l.chains[limit.Name].evaded
		if evaded == nil {
			continue
		}
		if _, err := store.Team(ctx, limit.Name); err == nil {
			l.logger.Error("the limit of a team cannot be applied; requests with its keys are refused", zap.String("team", limit.Name), zap.Error(evaded))
		}
	}
}

var errNoLedger = errors.New("budget needs a ledger, but the ledger is off, or there is no store that can keep one")

// teamsOf returns a key without rights of each team that one of the keys belongs to, unless
// the configuration defines its limit.
func (l *Limits) teamsOf(keys iter.Seq[*aigateway.Key]) (all []*aigateway.Key) {
	known := make(map[string]bool)
	for key := range keys {
		if key.Team != nil && !known[key.Limit] && l.chains[key.Limit] == nil {
			known[key.Limit] = true
			all = append(all, &aigateway.Key{Limit: key.Limit, Team: key.Team})
		}
	}
	return all
}
