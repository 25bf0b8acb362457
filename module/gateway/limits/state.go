package limits

import (
	"context"
	"fmt"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// counted identifies the counts of a limit for a subject. Sites may have a limit as copies.
type counted struct {
	limit   aigateway.Limit
	subject aigateway.Subject
}

// states collects the states of limits, each once. Keys share limits, and sites share the
// limits of the global option.
type states struct {
	list []aigateway.LimitState
	// wants selects limits and their subjects; nil selects all.
	wants func(*aigateway.Limit, aigateway.Subject) bool
	// ledger is true if the money of budgets that the counters do not know is read from the
	// ledger. Otherwise such budgets are left out.
	ledger bool

	seen map[counted]bool
}

// choose returns the limits of a key that were not chosen before, by their index. They are
// not chosen again.
func (s *states) choose(c *Chain, key *aigateway.Key) map[int]aigateway.Subject {
	if s.seen == nil {
		s.seen = make(map[counted]bool)
	}
	chosen := make(map[int]aigateway.Subject)
	for i, limit := range c.limits {
		subject := limit.Subject(key)
		count := counted{*limit, subject}
		unlabelled := subject.Per.Labelled() && subject.Name == "" // the labels of requests are not known here
		if s.seen[count] || unlabelled || s.wants != nil && !s.wants(limit, subject) {
			continue
		}
		s.seen[count] = true
		chosen[i] = subject
	}
	return chosen
}

// add adds the states of the limits of a key. It returns an error that wraps
// aigateway.ErrUnavailable if the counters or the ledger cannot be read.
func (s *states) add(ctx context.Context, c *Chain, key *aigateway.Key) error {
	chosen := s.choose(c, key)
	if len(chosen) == 0 {
		return nil
	}
	uses := make([]aigateway.LimitUse, len(c.limits))
	viewer, views := c.limiter.(aigateway.LimitViewer)
	if views {
		var err error
		if uses, err = viewer.View(ctx, aigateway.Demand{Key: key, Spending: c.spending}); err != nil {
			return fmt.Errorf("%w: reading the use of limits: %w", aigateway.ErrUnavailable, err)
		}
	}
	for i, limit := range c.limits {
		subject, ok := chosen[i]
		if !ok {
			continue
		}
		if err := c.readMoney(ctx, limit, key, &uses[i], s.ledger); err != nil {
			return err
		}
		if views {
			s.list = append(s.list, rates(limit, subject, &uses[i])...)
		}
		if uses[i].Money != nil {
			s.list = append(s.list, c.budgetState(limit, subject, *uses[i].Money))
		}
	}
	return nil
}

// readMoney reads the use of a budget from the ledger, if the counters do not know it.
func (c *Chain) readMoney(ctx context.Context, limit *aigateway.Limit, key *aigateway.Key, use *aigateway.LimitUse, ledger bool) error {
	if !limit.Budget.IsSet() || use.Money != nil || !ledger {
		return nil
	}
	spent, err := c.spending.Spent(ctx, limit, key, limit.Budget.Since(time.Now().In(c.spending.Zone())))
	if err != nil {
		return fmt.Errorf("%w: reading the use of budgets: %w", aigateway.ErrUnavailable, err)
	}
	use.Money = new(aigateway.RuleUse)
	for _, s := range spent {
		use.Money.Used += s.Nanos
		if s.Nanos > 0 && limit.Budget.Calendar == "" {
			use.Money.Reset = max(0, time.Until(s.By.Add(time.Duration(limit.Budget.Per))))
		}
	}
	return nil
}

// rates returns the states of the rules of a limit, except for its budget.
func rates(limit *aigateway.Limit, subject aigateway.Subject, use *aigateway.LimitUse) (all []aigateway.LimitState) {
	add := func(rule aigateway.Rule, period string, most int64, used aigateway.RuleUse) {
		if most != 0 {
			all = append(all, ruleState(limit, subject, rule, period, most, 1, used))
		}
	}
	add(aigateway.RequestRate, limit.Requests.PeriodName(), limit.Requests.Most, use.Requests)
	add(aigateway.TokenRate, limit.Tokens.PeriodName(), limit.Tokens.Most, use.Tokens)
	add(aigateway.ConcurrentRequests, "", limit.Concurrent, aigateway.RuleUse{Used: use.Running})
	return all
}

// ruleState returns the state of a rule of a limit, whose numbers are divided by a unit.
func ruleState(limit *aigateway.Limit, subject aigateway.Subject, rule aigateway.Rule, period string, most, unit int64, use aigateway.RuleUse) aigateway.LimitState {
	state := aigateway.LimitState{
		Limit: limit.Name, Per: subject.Per, Subject: subject.Name, Rule: rule.Word(), Period: period, Amount: most / unit,
		Used: (use.Used + unit - 1) / unit, Reserved: (use.Reserved + unit - 1) / unit, Left: max(0, most-use.Used-use.Reserved) / unit,
	}
	if use.Reset > 0 {
		state.Renews = new(time.Now().Add(use.Reset).Truncate(time.Second))
	}
	return state
}

const nanosPerMicro = 1000

// budgetState returns the state of the budget of a limit. A period of the calendar ends
// whether or not something is used.
func (c *Chain) budgetState(limit *aigateway.Limit, subject aigateway.Subject, use aigateway.RuleUse) aigateway.LimitState {
	b := &limit.Budget
	state := ruleState(limit, subject, aigateway.MoneyBudget, b.PeriodName(), b.Nanos(), nanosPerMicro, use)
	state.Currency, state.Soft = b.Unit(), b.Soft
	if b.Calendar != "" {
		state.Renews = nil
		if _, end := b.Period(time.Now().In(c.spending.Zone())); !end.IsZero() {
			state.Renews = &end
		}
	}
	return state
}

// addShared adds the states of the limits per group and per gateway of a site, and those of the
// teams of its known keys.
func (s *states) addShared(ctx context.Context, site *Site) error {
	wants := s.wants
	defer func() { s.wants = wants }()
	s.wants = func(limit *aigateway.Limit, subject aigateway.Subject) bool {
		return subject.Per.IsShared() && (wants == nil || wants(limit, subject))
	}
	keys := site.Limits.teamsOf(site.Keys)
	for _, limit := range site.Limits.defined {
		keys = append(keys, &aigateway.Key{Limit: limit.Name})
	}
	for _, key := range keys {
		if chain := site.Limits.Of(key); chain != nil {
			if err := s.add(ctx, chain, key); err != nil {
				return err
			}
		}
	}
	for _, chain := range site.Limits.Calls.sorted() {
		if err := s.add(ctx, chain, new(aigateway.Key)); err != nil {
			return err
		}
	}
	return nil
}
