package redis

import (
	"errors"
	"sync"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/redisclient"
)

// applied are the budgets that a configuration has applied. The server keeps a count for longer than a
// configuration has the budget: while it has not, no request counts there.
type applied struct {
	server redisclient.Connection

	mu       sync.Mutex // guards the following fields: sites add the limits of teams while requests run
	budgets  []appliedBudget
	released bool // the configuration has ended
}

// appliedBudget identifies a budget that configurations of this process apply, as its key on the server does.
type appliedBudget struct {
	server   redisclient.Connection
	name     string
	scope    aigateway.Scope
	currency string
	calendar aigateway.Calendar
	period   caddy.Duration
}

// since is the time since which the process applies a budget without a gap.
type since struct{ time.Time }

// Destruct implements caddy.Destructor. It does nothing.
func (since) Destruct() error { return nil }

// budgets contains the budgets that are applied. A reload that keeps a budget makes no gap, because Caddy
// provisions a new configuration before it cleans up the old one.
var budgets = caddy.NewUsagePool()

// date returns a copy of a limit whose BudgetSince is not before the process has begun to apply its budget.
func (a *applied) date(l *aigateway.Limit, now time.Time) (*aigateway.Limit, error) {
	key := appliedBudget{a.server, l.Name, l.Per, l.Budget.Unit(), l.Budget.Calendar, l.Budget.Per}
	a.mu.Lock()
	defer a.mu.Unlock()
	loaded, _, err := budgets.LoadOrNew(key, func() (caddy.Destructor, error) { return since{now}, nil })
	if err != nil {
		return nil, err
	}
	a.budgets = append(a.budgets, key)
	if a.released { // a request of the old configuration still needs the limit
		err = a.releaseAll()
	}
	dated := *l
	if begun := loaded.(since).Time; dated.BudgetSince.Before(begun) {
		dated.BudgetSince = begun
	}
	return &dated, err
}

// release ends the configuration.
func (a *applied) release() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.released = true
	return a.releaseAll()
}

func (a *applied) releaseAll() (err error) {
	for _, key := range a.budgets {
		_, failed := budgets.Delete(key)
		err = errors.Join(err, failed)
	}
	a.budgets = nil
	return err
}
