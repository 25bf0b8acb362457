// Package limits applies the limits of a site. It finds the limits of a key, reserves
// the expected usage of an exchange in them, and reports the decision to the client and
// to operators.
//
// A request is admitted only if all limits of its key admit it. A budget continues with
// the costs in the ledger after a restart. A key with an unknown limit is refused.
//
// The rules and the periods of limits are types of package aigateway. The packages counters
// and counters/redis count.
package limits

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/suggest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/backends"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/queue"
)

// Limit configures a limit that keys may name.
type Limit struct {
	aigateway.Limit

	// Parent is the name of another limit that must admit each request, too. Limits per
	// gateway need not be named here, because they apply to every request. Default:
	// none.
	Parent string `json:"within,omitempty"`

	// Models are names of models, by which clients ask for them, or patterns in which "*" matches
	// anything. The limit counts only requests for these models. Default: all requests.
	Models []aigateway.Pattern `json:"models,omitempty"`

	// Sockets is how many WebSockets may be open with each key at a site of one gateway, from 1 to
	// 1000000. Default: that of the limit around it, else 64.
	Sockets int `json:"sockets,omitempty"`
}

// The number of open WebSockets of a key: the usual one, and the largest that a limit can have. An idle one
// takes memory, and a connection to the provider, although it counts in no other limit.
const (
	usualSockets = 64
	mostSockets  = 1_000_000
)

var errSockets = errors.New("sockets must be 1 to 1000000")

// Check returns an error for an invalid limit.
func (l *Limit) Check() error {
	if l.Per == aigateway.PerGateway && l.Parent != "" {
		return errors.New("a limit per gateway is within no other")
	}
	if l.Sockets < 0 || l.Sockets > mostSockets {
		return errSockets
	}
	if l.Sockets > 0 && l.LimitRules == (aigateway.LimitRules{}) {
		return aigateway.CheckLimitName(l.Name)
	}
	for _, pattern := range l.Models {
		if _, err := aigateway.ParsePattern(string(pattern)); err != nil {
			return fmt.Errorf("models: %w", err)
		}
	}
	return l.Limit.Check()
}

// Limits are the limits of a site, including those that it inherits.
type Limits struct {
	Calls Calls // of providers and targets; none before CountCalls

	defined  []*Limit
	counters aigateway.Counters // nil while there is no limit
	chains   map[string]*Chain  // by the name of a limit; "" for keys without a limit
	members  *members
	models   models
	teams    *teams
	own      *own

	book   *backends.Book // of budgets; nil without a ledger
	logger *zap.Logger
}

// New returns an empty set of limits.
func New() *Limits {
	return &Limits{chains: map[string]*Chain{"": {}}, members: newMembers(), models: make(models), teams: new(teams), own: new(own), logger: zap.NewNop()}
}

// Extend returns a copy of l with additional limits. load loads the counters; it is called
// only if l has none.
func (l *Limits) Extend(more []*Limit, load func() (aigateway.Counters, error)) (extended *Limits, err error) {
	extended = &Limits{defined: slices.Clone(l.defined), counters: l.counters, members: l.members, models: make(models), teams: new(teams), own: new(own), logger: l.logger}
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

// Sockets returns how many WebSockets may be open with a key: the number of its limit, or else of the next
// limit around it that has one.
func (l *Limits) Sockets(key *aigateway.Key) int {
	for limit := l.find(key.Limit); limit != nil; limit = l.find(limit.Parent) {
		if limit.Sockets > 0 {
			return limit.Sockets
		}
	}
	return usualSockets
}

// Priority returns the priority of the requests of a key in queues: that of the innermost of its limits
// that has one.
func (l *Limits) Priority(key *aigateway.Key) queue.Priority {
	chain := l.Of(key)
	if chain == nil {
		return queue.Normal
	}
	for _, limit := range chain.limits {
		if limit.Priority != "" {
			return queue.PriorityOf(limit.Priority)
		}
	}
	return queue.Normal
}

// Counters returns the counters, nil if there is no limit.
func (l *Limits) Counters() aigateway.Counters { return l.counters }

// Names returns the names of the limits.
func (l *Limits) Names() (names []string) {
	for _, limit := range l.defined {
		names = append(names, limit.Name)
	}
	return names
}

// CurrenciesOf returns the currencies in which budgets of keys need prices, sorted.
func CurrenciesOf(l *Limits) (all []string) {
	for _, chain := range l.chains {
		if chain.priced {
			all = append(all, chain.currency)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// build builds the chains of all limits.
func (l *Limits) build() error {
	l.chains = make(map[string]*Chain)
	l.models.addAll(l.defined)
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

// outward returns the limit with a name, the limits that it is within, from the innermost
// to the outermost, and then all limits per gateway.
func (l *Limits) outward(name string) (limits []*aigateway.Limit, err error) {
	for name != "" {
		limit := l.find(name)
		switch {
		case limit == nil:
			return nil, UndefinedWithin(name, l.Names())
		case slices.Contains(limits, &limit.Limit):
			return nil, fmt.Errorf("within leads from '%s' to itself", name)
		case limit.Per != aigateway.PerGateway:
			limits = append(limits, &limit.Limit)
		}
		name = limit.Parent
	}
	for _, limit := range l.defined {
		if limit.Per == aigateway.PerGateway {
			limits = append(limits, &limit.Limit)
		}
	}
	return limits, nil
}

// Attach connects budgets to the ledger that has their costs, and to the logger for their
// changes. book is nil if there is no ledger; then a limit with a budget is an error.
func (l *Limits) Attach(book *backends.Book, logger *zap.Logger) error {
	for _, limit := range l.defined {
		if limit.Budget.IsSet() && book == nil {
			return fmt.Errorf("limit '%s': %w", limit.Name, errNoLedger)
		}
	}
	l.book, l.logger = book, logger
	for _, chain := range l.chains {
		l.attach(chain)
	}
	return l.Calls.attach(book, logger)
}

// attach connects a chain to the ledger and the logger.
func (l *Limits) attach(chain *Chain) {
	chain.logger, chain.models = l.logger, l.models
	if evaded := l.models.bounding(chain.limits); len(evaded) < len(chain.limits) {
		chain.evaded = aigateway.CheckChosen(evaded)
	}
	if chain.currency != "" {
		chain.spending, chain.book = &spending{book: l.book, members: l.members, models: l.models}, l.book
	}
}

// Of returns the limits of a key: its own rules and those of its user, within the limits of the
// configuration, or else those of the key's team. It returns nil if the key names a limit that is
// not defined, and if the limit of its team or the own rules cannot be applied.
func (l *Limits) Of(key *aigateway.Key) *Chain {
	chain, user := l.outer(key), l.own.ofUser(key.Owner)
	if chain != nil && (key.Own != nil || user != nil) {
		chain, _ = l.withOwn(chain, key.Own, user)
	}
	return chain
}

// outer returns the limits of a key without own rules, nil if they cannot be applied.
func (l *Limits) outer(key *aigateway.Key) *Chain {
	chain := l.chains[key.Limit]
	switch {
	case key.Team == nil:
		return chain
	case chain == nil:
		chain, _ = l.ofTeam(key.Team)
	case chain.evaded != nil:
		return nil
	}
	return chain
}

// Problem returns why Of returns nil for a key.
func (l *Limits) Problem(key *aigateway.Key) error {
	if outer := l.outer(key); outer != nil {
		_, err := l.withOwn(outer, key.Own, l.own.ofUser(key.Owner))
		return err
	}
	chain := l.chains[key.Limit]
	switch {
	case key.Team == nil:
		return fmt.Errorf("the limit '%s' is not configured", key.Limit)
	case chain != nil:
		return chain.evaded
	}
	_, err := l.ofTeam(key.Team)
	return err
}

// CheckAccounts returns an error if the limit for the keys of accounts is not defined, or
// if users could evade it by making more keys, or by choosing other labels.
func (l *Limits) CheckAccounts(accounts aigateway.Accounts) error {
	if accounts == nil || accounts.LimitOfKeys() == "" {
		return nil
	}
	name := accounts.LimitOfKeys()
	chain := l.chains[name]
	if chain == nil {
		return fmt.Errorf("accounts: the limit '%s' is not defined%s", name, hint(name, l.Names()))
	}
	if chain.evaded != nil {
		return fmt.Errorf("accounts: %w", chain.evaded)
	}
	return nil
}

// Check returns an error for a key whose limit is not defined.
func (l *Limits) Check(keys iter.Seq[*aigateway.Key]) error {
	for key := range keys {
		if l.chains[key.Limit] == nil {
			return &aigateway.KeyError{ID: key.ID, Problem: "names the limit '" + key.Limit + "', which is not defined" + hint(key.Limit, l.Names())}
		}
	}
	return nil
}

// UndefinedWithin returns the error of a limit that is within one which is not defined; known are
// the names of the limits that are.
func UndefinedWithin(name string, known []string) error {
	return fmt.Errorf("within names the limit '%s', which is not defined%s", name, hint(name, known))
}

// hint returns the end of an error about an undefined limit: the name that was probably
// meant, and the defined names.
func hint(name string, known []string) string {
	if len(known) == 0 {
		return ""
	}
	known = slices.Sorted(slices.Values(known))
	return "; " + suggest.DidYouMean(name, known) + "known are: " + strings.Join(known, ", ")
}
