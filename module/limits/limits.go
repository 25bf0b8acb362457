// Package limits contains the counters "memory": they count the use of limits in
// the memory of this process.
//
// It promises that a request counts for all of its limits or for none; that concurrent
// requests never exceed a limit; that no period of the length of a rate or of a budget,
// wherever it begins, has more use than the limit allows; that a reload which leaves the
// periods of a limit unchanged keeps its counts; and that idle keys free their memory: a
// limit has at most 1024 tallies, or twice as many as were in use at the last sweep.
//
// After a restart, rates begin anew, and budgets with what the ledger has. The package
// refuses to share counts with other processes.
package limits

import (
	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

func init() {
	caddy.RegisterModule(Memory{})
}

// Memory counts the use of limits in the memory of this process. A reload keeps the
// counts of limits whose name and periods are unchanged. A restart loses the counts of
// rates; budgets continue with what the ledger has.
type Memory struct {
	used []identity // in pool
}

// CaddyModule returns the Caddy module information.
func (Memory) CaddyModule() caddy.ModuleInfo {
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

// identity distinguishes counts: limits whose names and periods are equal share theirs,
// so that a reload which changes an amount keeps what is used.
type identity struct {
	name, currency            string
	per                       aigateway.Scope
	requests, tokens, sliding caddy.Duration
	calendar                  aigateway.Calendar
}

func identityOf(l *aigateway.Limit) identity {
	return identity{
		name: l.Name, per: l.Per, requests: l.Requests.Per, tokens: l.Tokens.Per,
		sliding: l.Budget.Per, calendar: l.Budget.Calendar, currency: l.Budget.Unit(),
	}
}

// pool contains the counts in use. A new configuration is provisioned before the
// old one is cleaned up, so that counts survive a reload. A running request has its
// own reference to its tallies.
var pool = caddy.NewUsagePool()

// Limiter implements aigateway.Counters.
func (m *Memory) Limiter(limits []*aigateway.Limit) (aigateway.Limiter, error) {
	return newLimiter(limits, m.counts)
}

// counts returns the counts of a limit, which Cleanup releases.
func (m *Memory) counts(l *aigateway.Limit) (*counts, error) {
	id := identityOf(l)
	loaded, _, err := pool.LoadOrNew(id, func() (caddy.Destructor, error) { return newCounts(), nil })
	if err != nil {
		return nil, err
	}
	m.used = append(m.used, id)
	return loaded.(*counts), nil
}

// Cleanup releases the counts.
func (m *Memory) Cleanup() error {
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
	_ aigateway.Reservation = (*reservation)(nil)
)
