// Package queue lets requests wait until one of a bounded number of slots is free.
//
// A request of a higher priority is served before all of lower ones. Among requests of one priority, a
// free slot goes to the tenant that has the fewest slots, so that neither many requests nor long ones of a
// tenant keep others from theirs; among tenants with equally many, to the one that was served longest
// ago; and among the requests of a tenant, to the oldest. What runs is never interrupted. A queue that is
// full refuses the youngest request of the lowest priority, and of the tenant with the most of them. The memory of a queue is bounded by its
// length and its slots. The package does not know what requests are.
package queue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/caddyserver/caddy/v2"
)

// Config configures a queue.
type Config struct {
	// Length is the largest number of requests that wait: 1 to 100000.
	Length int `json:"length"`

	// Patience is the longest time for which a request waits: up to 1h. Default: 10s.
	Patience caddy.Duration `json:"patience,omitempty"`
}

const (
	longest         = 100_000
	mostPatience    = time.Hour
	defaultPatience = 10 * time.Second
)

// Check returns an error for a queue without bounds, or in front of slots without a bound.
func (c *Config) Check(slots int) error {
	switch {
	case c == nil:
		return nil
	case c.Length < 1 || c.Length > longest:
		return fmt.Errorf("queue: the length must be 1 to %d", longest)
	case c.Patience < 0 || time.Duration(c.Patience) > mostPatience:
		return fmt.Errorf("queue: requests may wait for at most %s", mostPatience)
	case slots == 0:
		return errors.New("queue needs max_running: without it, no request waits")
	}
	return nil
}

// String returns the queue as in the Caddyfile, such as "200 30s"; "" for none.
func (c *Config) String() string {
	if c == nil {
		return ""
	}
	return fmt.Sprint(c.Length, " ", c.patience())
}

func (c *Config) patience() time.Duration {
	return cmp.Or(time.Duration(c.Patience), defaultPatience)
}

// Request is what a queue knows of a request.
type Request struct {
	Tenant   string // whose requests share slots evenly with those of others
	Priority Priority
}

// Priority is the priority of a request. The zero Priority is the normal one.
type Priority int8

// The priorities.
const (
	Low    Priority = -1
	Normal Priority = 0
	High   Priority = 1
)

// priorities are the priorities by the words of limits.
var priorities = map[string]Priority{"low": Low, "normal": Normal, "high": High}

// String returns the name of a priority.
func (p Priority) String() string {
	for name, value := range priorities {
		if value == p {
			return name
		}
	}
	return ""
}

// PriorityOf returns the priority with a name, the normal one for any other text.
func PriorityOf(name string) Priority { return priorities[name] }

// Reason is why a request got no slot.
type Reason string

// The reasons. They are also the values of a label of metrics.
const (
	Full Reason = "full" // the queue was full
	Shed Reason = "shed" // the queue was full, and a request of a higher priority came, or of a tenant with fewer
	Late Reason = "late" // the patience was over
	Left Reason = "left" // the context of the request has ended
)

// Refusal is why a request got no slot, and the time that a request of its priority would wait now.
type Refusal struct {
	Reason Reason
	Wait   time.Duration
}

// Served is the result of a request that has waited, and got a slot.
const Served = "served"

// Result returns the reason, or Served for nil.
func (r *Refusal) Result() string {
	if r == nil {
		return Served
	}
	return string(r.Reason)
}

// Seconds returns the time that a request would wait now, rounded up.
func (r *Refusal) Seconds() int { return int((r.Wait + time.Second - 1) / time.Second) }

// Queues are queues by their names. The zero value has none.
type Queues struct {
	mu    sync.Mutex // guards gates, and all that is in them
	gates map[string]*gate
}

// Process are the queues of the process, which survive reloads.
var Process = new(Queues)

// TryEnter returns a function that frees the slot which the request gets, nil if all slots are taken.
func (q *Queues) TryEnter(name string, slots int, r Request) (leave func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	g := q.gate(name, slots)
	if g.running >= g.slots {
		return nil
	}
	return q.serve(g, r)
}

// Enter waits for a slot. It returns a function that frees the slot, or why there is none.
func (q *Queues) Enter(ctx context.Context, name string, slots int, c *Config, r Request) (leave func(), refused *Refusal) {
	q.mu.Lock()
	g := q.gate(name, slots)
	if g.running < g.slots {
		defer q.mu.Unlock()
		return q.serve(g, r), nil
	}
	if g.waiting >= c.Length && !g.shed(r) {
		defer q.mu.Unlock()
		return nil, &Refusal{Full, g.expected(r.Priority)}
	}
	w := g.add(r)
	q.mu.Unlock()
	return q.wait(ctx, g, w, c.patience())
}

// wait waits until a waiter is served or refused, or gives up.
func (q *Queues) wait(ctx context.Context, g *gate, w *waiter, patience time.Duration) (leave func(), refused *Refusal) {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	gaveUp := Late
	select {
	case <-w.done:
	case <-timer.C:
	case <-ctx.Done():
		gaveUp = Left
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case w.refused != nil:
		return nil, w.refused
	case !w.served:
		g.remove(w)
		return nil, &Refusal{gaveUp, g.expected(w.Priority)}
	}
	return q.leave(g, w.Tenant), nil
}

// gate returns the gate with a name, and sets its slots: the latest configuration counts. The caller
// holds mu.
func (q *Queues) gate(name string, slots int) *gate {
	g := q.gates[name]
	if g == nil {
		if q.gates == nil {
			q.gates = make(map[string]*gate)
		}
		g = &gate{tenants: make(map[string]*tenant)}
		q.gates[name] = g
	}
	g.slots = slots
	g.fill()
	return g
}

// serve gives a request a slot that is free. The caller holds mu.
func (q *Queues) serve(g *gate, r Request) (leave func()) {
	g.take(r.Tenant)
	return q.leave(g, r.Tenant)
}

// leave returns the function that frees a slot.
func (q *Queues) leave(g *gate, tenant string) func() {
	began := time.Now()
	return sync.OnceFunc(func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		g.free(tenant, time.Since(began))
	})
}

// Waiting returns the number of requests that wait in a queue.
func (q *Queues) Waiting(name string) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	if g := q.gates[name]; g != nil {
		return g.waiting
	}
	return 0
}
