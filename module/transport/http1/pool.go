package http1

import (
	"slices"
	"sync"
	"time"
)

// pool has the connections that are idle between two requests.
type pool struct {
	limit   int           // for a host
	timeout time.Duration // after which a connection is closed; 0 for none

	mu     sync.Mutex
	idle   map[string][]*conn // by host, the last one used at the end
	timer  *time.Timer        // for sweep, while connections are idle; nil before
	closed bool
}

// sweepsPerTimeout is the number of sweeps in the time after which an idle connection is
// closed.
const sweepsPerTimeout = 8

// take returns a connection to a host, nil if there is none. The connection that was used last
// is the one that its provider has most probably not closed.
func (p *pool) take(host string) *conn {
	for {
		c := p.pop(host)
		if c == nil || p.serves(c) {
			return c
		}
		_ = c.Close()
	}
}

// serves reports whether an idle connection can serve another request.
func (p *pool) serves(c *conn) bool {
	return (p.timeout <= 0 || time.Since(c.idle) < p.timeout) && c.renew()
}

func (p *pool) pop(host string) *conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	conns := p.idle[host]
	if len(conns) == 0 {
		return nil
	}
	last := len(conns) - 1
	c := conns[last]
	conns[last] = nil
	p.idle[host] = conns[:last]
	return c
}

// put keeps a connection, or closes it if there are too many.
func (p *pool) put(c *conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || len(p.idle[c.host]) >= p.limit {
		_ = c.Close()
		return
	}
	if p.idle == nil {
		p.idle = make(map[string][]*conn)
	}
	p.idle[c.host] = append(p.idle[c.host], c)
	c.idle = time.Now()
	if p.timeout > 0 && p.timer == nil {
		p.timer = time.AfterFunc(p.timeout/sweepsPerTimeout, p.sweep)
	}
}

// sweep closes the connections that have been idle for too long, or that their providers have
// closed.
func (p *pool) sweep() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for host, conns := range p.idle {
		conns = slices.DeleteFunc(conns, func(c *conn) bool {
			ended := !p.serves(c)
			if ended {
				_ = c.Close()
			}
			return ended
		})
		if p.idle[host] = conns; len(conns) == 0 {
			delete(p.idle, host)
		}
	}
	if p.timer = nil; len(p.idle) > 0 {
		p.timer = time.AfterFunc(p.timeout/sweepsPerTimeout, p.sweep)
	}
}

// clear closes the idle connections.
func (p *pool) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, conns := range p.idle {
		for _, c := range conns {
			_ = c.Close()
		}
	}
	clear(p.idle)
}

// close closes the idle connections, and those that are put afterwards.
func (p *pool) close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.clear()
}
