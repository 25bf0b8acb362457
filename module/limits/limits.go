// Package limits contains the counters "memory": they count the use of limits in
// the memory of this process.
//
// It promises that concurrent requests never exceed a limit; that no period of the
// length of a rate, wherever it begins, has more use than the rate allows; that a
// reload which leaves a limit unchanged keeps its counts; and that idle keys free
// their memory: a limit has at most 1024 tallies, or twice as many as were in use
// at the last sweep.
//
// It refuses to keep counts over a restart, and to share them with other processes.
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
// counts of limits whose name and rules are unchanged; a restart loses all counts.
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

// identity distinguishes limits. Changed rules make a different limit.
type identity struct {
	name  string
	rules aigateway.LimitRules
}

// pool contains the limiters in use. A new configuration is provisioned before the
// old one is cleaned up, so that limiters survive a reload. A running request
// has its own reference to its limiter.
var pool = caddy.NewUsagePool()

// Limiter implements aigateway.Counters.
func (m *Memory) Limiter(name string, rules aigateway.LimitRules) (aigateway.Limiter, error) {
	id := identity{name, rules}
	loaded, _, err := pool.LoadOrNew(id, func() (caddy.Destructor, error) { return newLimiter(rules), nil })
	if err != nil {
		return nil, err
	}
	m.used = append(m.used, id)
	return loaded.(*limiter), nil
}

// Cleanup releases the limiters.
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
