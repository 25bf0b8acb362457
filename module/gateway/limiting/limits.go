// Package limiting is the limits of a site: which of them hold for a key, what an
// exchange may use of them, and what clients and operators see of that.
//
// It promises that a key with an unknown limit is refused, that all limits of a key admit
// a request or none, and that budgets continue with what the ledger has. It counts
// nothing itself.
package limiting

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/userbase"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/suggest"
)

// Limit configures a limit that keys may name.
type Limit struct {
	aigateway.Limit

	// Within is the name of another limit, of which a request needs its share as well.
	// Limits per gateway need not be named: every request needs a share of them.
	// Default: none.
	Within string `json:"within,omitempty"`
}

// Check returns an error for a limit that cannot be.
func (l *Limit) Check() error {
	if l.Per == aigateway.PerGateway && l.Within != "" {
		return errors.New("a limit per gateway is within no other")
	}
	return l.Limit.Check()
}

// Limits are the limits of a site, those that it inherits included.
type Limits struct {
	defined  []*Limit
	counters aigateway.Counters // nil while there is no limit
	chains   map[string]*Chain  // by the name of a limit; empty for keys without one
	members  *members
}

// New returns no limits.
func New() *Limits {
	return &Limits{chains: map[string]*Chain{"": {}}, members: newMembers()}
}

// Extend returns the limits with more of them. It leaves l as it is. load loads the
// counters; it is called if no counters are inherited.
func (l *Limits) Extend(more []*Limit, load func() (aigateway.Counters, error)) (extended *Limits, err error) {
	extended = &Limits{defined: slices.Clone(l.defined), counters: l.counters, members: l.members}
	for _, limit := range more {
		if err := extended.define(limit); err != nil {
			return nil, fmt.Errorf("limit '%s': %w", limit.Name, err)
		}
	}
	if len(more) > 0 && extended.counters == nil {
		if extended.counters, err = load(); err != nil {
			return nil, fmt.Errorf("loading counters: %w", err)
		}
	}
	return extended, extended.build()
}

func (l *Limits) define(limit *Limit) error {
	if l.find(limit.Name) != nil {
		return errors.New("is defined twice")
	}
	l.defined = append(l.defined, limit)
	return limit.Check()
}

// find returns the limit with a name, nil if there is none.
func (l *Limits) find(name string) *Limit {
	i := slices.IndexFunc(l.defined, func(limit *Limit) bool { return limit.Name == name })
	if i < 0 {
		return nil
	}
	return l.defined[i]
}

// Names returns the names of the limits.
func (l *Limits) Names() (names []string) {
	for _, limit := range l.defined {
		names = append(names, limit.Name)
	}
	return names
}

// build builds the chains of all limits.
func (l *Limits) build() error {
	l.chains = make(map[string]*Chain)
	for _, name := range append(l.Names(), "") {
		limits, err := l.outward(name)
		if err != nil {
			return fmt.Errorf("limit '%s': %w", name, err)
		}
		if l.chains[name], err = newChain(l.counters, limits); err != nil {
			return fmt.Errorf("limit '%s': %w", name, err)
		}
		l.members.add(name, limits)
	}
	return nil
}

// outward returns a limit and those that it is within, and then those of the gateway.
func (l *Limits) outward(name string) (limits []*aigateway.Limit, err error) {
	for name != "" {
		limit := l.find(name)
		switch {
		case limit == nil:
			return nil, fmt.Errorf("within names the limit '%s', which is not defined%s", name, l.hint(name))
		case slices.Contains(limits, &limit.Limit):
			return nil, fmt.Errorf("within leads from '%s' to itself", name)
		case limit.Per != aigateway.PerGateway:
			limits = append(limits, &limit.Limit)
		}
		name = limit.Within
	}
	for _, limit := range l.defined {
		if limit.Per == aigateway.PerGateway {
			limits = append(limits, &limit.Limit)
		}
	}
	return limits, nil
}

// Attach has budgets continue with what a ledger has, and shows their changes in a log.
// The book is nil without a ledger, which is an error for a limit with a budget.
func (l *Limits) Attach(book *userbase.Book, logger *zap.Logger) error {
	for _, limit := range l.defined {
		if limit.Budget.Micros != 0 && book == nil {
			return fmt.Errorf("limit '%s': budget needs a ledger, which has what was spent: the ledger is off, or there is no store that keeps one", limit.Name)
		}
	}
	for _, chain := range l.chains {
		chain.logger = logger
		if chain.currency != "" {
			chain.spending = &spending{book: book, members: l.members}
		}
	}
	return nil
}

// Of returns the limits of a key, nil if the key names a limit that is not defined.
func (l *Limits) Of(key *aigateway.Key) *Chain { return l.chains[key.Limit] }

// CheckAccounts refuses accounts whose keys have a limit that is not defined, or that
// users get round by making keys.
func (l *Limits) CheckAccounts(accounts aigateway.Accounts) error {
	if accounts == nil || accounts.LimitOfKeys() == "" {
		return nil
	}
	name := accounts.LimitOfKeys()
	chain := l.chains[name]
	if chain == nil {
		return fmt.Errorf("accounts: the limit '%s' is not defined%s", name, l.hint(name))
	}
	if !slices.ContainsFunc(chain.limits, func(limit *aigateway.Limit) bool { return limit.Per != aigateway.PerKey }) {
		return fmt.Errorf("accounts: the limit '%s' counts each key alone, and users can make many: name one per user, or within one", name)
	}
	return nil
}

// Check refuses keys whose limit is not defined: without it they would be unlimited.
func (l *Limits) Check(keys iter.Seq[*aigateway.Key]) error {
	for key := range keys {
		if l.chains[key.Limit] == nil {
			return &aigateway.KeyError{ID: key.ID, Problem: "names the limit '" + key.Limit + "', which is not defined" + l.hint(key.Limit)}
		}
	}
	return nil
}

// hint returns the end of an error about a limit that is not defined: the name that was
// probably meant, and those that are defined.
func (l *Limits) hint(name string) string {
	if len(l.defined) == 0 {
		return ""
	}
	known := slices.Sorted(slices.Values(l.Names()))
	return "; " + suggest.DidYouMean(name, known) + "known are: " + strings.Join(known, ", ")
}
