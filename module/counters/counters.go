// Package counters contains the counters "memory": they count the use of limits in
// the memory of this process.
//
// A request counts for all of its limits or for none. Concurrent requests never exceed a
// limit. In no period of the length of a rate or of a sliding budget, wherever it begins,
// is more used than the limit allows. A reload that does not change the periods of a limit
// keeps its counts. Idle keys free their memory: a limit has at most 1024 tallies, or
// twice as many as were in use at the last sweep. A limit per customer or tag has at most
// 65537: further customers are counted together.
//
// After a restart, rates begin with nothing, and budgets with the money that the ledger has
// recorded. The package does not share counts with other processes.
//
// The limits themselves, with the periods of rates and budgets, are types of package
// aigateway. Package gateway/limits finds the limits of a request, and reserves its use in them.
package counters

import (
	"sync"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

func init() {
	caddy.RegisterModule(new(Memory))
}

// Memory counts the use of limits in the memory of this process. A reload keeps the
// counts of limits whose name and periods are unchanged. A restart loses the counts of
// rates. Budgets continue with the money that the ledger has recorded.
type Memory struct {
	mu       sync.Mutex // guards the following fields: sites add the limits of teams while requests run
	used     []identity // keys of pool that Cleanup releases
	released bool       // Cleanup was called
}

// CaddyModule returns the Caddy module information.
func (*Memory) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID:  "ai_gateway.counters.memory",
		New: func() caddy.Module { return new(Memory) },
	}
}

// UnmarshalCaddyfile reads the name of the module, which has no arguments.
func (*Memory) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // the name of the module
	if d.NextArg() || d.NextBlock(0) {
		return d.Err("counters memory has no arguments and no block")
	}
	return nil
}

// identity identifies counts: limits with the same name and periods share their counts, so
// that a reload that changes an amount keeps them.
type identity struct {
	name, currency            string
	scope                     aigateway.Scope
	requests, tokens, sliding caddy.Duration
	calendar                  aigateway.Calendar
}

func identityOf(l *aigateway.Limit) identity {
	return identity{
		name: l.Name, scope: l.Per, requests: l.Requests.Per, tokens: l.Tokens.Per,
		sliding: l.Budget.Per, calendar: l.Budget.Calendar, currency: l.Budget.Unit(),
	}
}

// pool contains the counts in use. Caddy provisions a new configuration before it cleans up
// the old one, so counts survive a reload. A running request has references to its
// tallies, which are valid after the counts have been released.
var pool = caddy.NewUsagePool()

// Limiter implements aigateway.Counters.
func (m *Memory) Limiter(limits []*aigateway.Limit) (aigateway.Limiter, error) {
	return newLimiter(limits, m.counts)
}

// counts returns the counts of a limit, which Cleanup releases. After Cleanup, requests of the
// old configuration may still need them; a new one keeps them if it has the limit.
func (m *Memory) counts(l *aigateway.Limit) (*counts, error) {
	id := identityOf(l)
	m.mu.Lock()
	defer m.mu.Unlock()
	loaded, _, err := pool.LoadOrNew(id, func() (caddy.Destructor, error) { return newCounts(), nil })
	if err != nil {
		return nil, err
	}
	m.used = append(m.used, id)
	if m.released {
		err = m.release()
	}
	return loaded.(*counts), err
}

// Cleanup releases the counts.
func (m *Memory) Cleanup() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.released = true
	return m.release()
}

func (m *Memory) release() error {
	var last error
	for _, id := range m.used {
		if _, err := pool.Delete(id); err != nil {
			last = err
		}
	}
	m.used = nil
	return last
}

// Interface guards
var (
	_ caddy.CleanerUpper    = (*Memory)(nil)
	_ caddyfile.Unmarshaler = (*Memory)(nil)
	_ aigateway.Counters    = (*Memory)(nil)
	_ aigateway.Limiter     = (*limiter)(nil)
	_ aigateway.LimitViewer = (*limiter)(nil)
	_ aigateway.Reservation = (*reservation)(nil)
)
