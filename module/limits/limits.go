// Package limits counts in the memory of this process what the limits of keys
// bound: requests and tokens within a time, and how many run at once.
//
// It promises that a limit is never exceeded by a race, however many requests
// come at once; that within no time of the length of a rate more is admitted
// than that rate allows; that what was counted outlives a reload which leaves
// the limit as it is; and that whoever is idle makes room, in memory, for others
// who come: there are never more than 1024 accounts, or twice as many as were
// in use when it was last looked. It refuses to remember anything over a restart, or to know of other processes: each counts
// by itself.
package limits

import (
	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

func init() {
	caddy.RegisterModule(Memory{})
}

// Memory counts in the memory of this process. A restart forgets; a reload does
// not, for limits whose name and rules stay the same.
type Memory struct {
	used []identity
}

// CaddyModule returns the Caddy module information.
func (Memory) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID:  "ai_gateway.counters.memory",
		New: func() caddy.Module { return new(Memory) },
	}
}

// UnmarshalCaddyfile reads nothing: there is nothing to say.
func (*Memory) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // the name of the module
	if d.NextArg() || d.NextBlock(0) {
		return d.Err("counters memory takes nothing more")
	}
	return nil
}

// identity is what tells one limit from another.
type identity struct {
	name  string
	rules aigateway.LimitRules
}

// pool holds the counters in use. A new configuration is provisioned before the
// old one is cleaned up, so that they last over a reload. Requests that still
// run after the last configuration has gone hold theirs themselves.
var pool = caddy.NewUsagePool()

// Limiter returns the counter of a limit.
func (m *Memory) Limiter(name string, rules aigateway.LimitRules) (aigateway.Limiter, error) {
	id := identity{name, rules}
	loaded, _, err := pool.LoadOrNew(id, func() (caddy.Destructor, error) { return newCounter(rules), nil })
	if err != nil {
		return nil, err
	}
	m.used = append(m.used, id)
	return loaded.(*counter), nil
}

// Cleanup gives the counters back.
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
	_ aigateway.Limiter     = (*counter)(nil)
	_ aigateway.Reservation = (*reservation)(nil)
)
