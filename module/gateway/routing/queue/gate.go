package queue

import (
	"slices"
	"time"
)

// gate has the slots of a queue, and the requests that wait for them.
type gate struct {
	slots   int
	running int
	waiting int
	turns   uint64             // that tenants have had, or got in line for
	tenants map[string]*tenant // that have slots, or wait
	held    time.Duration      // for which a request keeps its slot: an average that forgets
}

// tenant are the requests of a tenant.
type tenant struct {
	running int
	turn    uint64 // the number of its last turn, or of the time when it came
	lines   [High - Low + 1][]*waiter
}

// waiter is a request that waits. done is closed when it is served, or refused.
type waiter struct {
	Request
	done    chan struct{}
	served  bool
	refused *Refusal
}

func (t *tenant) line(p Priority) *[]*waiter { return &t.lines[p-Low] }

func (g *gate) tenant(name string) *tenant {
	t := g.tenants[name]
	if t == nil {
		g.turns++
		t = &tenant{turn: g.turns}
		g.tenants[name] = t
	}
	return t
}

// take gives a tenant a slot.
func (g *gate) take(name string) {
	t := g.tenant(name)
	g.turns++
	g.running++
	t.running++
	t.turn = g.turns
}

// free takes back a slot that was held for some time, and gives it to the next request.
func (g *gate) free(name string, held time.Duration) {
	g.running--
	g.tenants[name].running--
	g.forget(name)
	const weight = 16 // of what was known, to 1 of the new time
	if g.held == 0 {
		g.held = held
	} else {
		g.held += (held - g.held) / weight
	}
	g.fill()
}

// forget removes a tenant that has no slot and waits for none.
func (g *gate) forget(name string) {
	t := g.tenants[name]
	if t.running == 0 && !slices.ContainsFunc(t.lines[:], func(line []*waiter) bool { return len(line) > 0 }) {
		delete(g.tenants, name)
	}
}

// fill gives the free slots to requests that wait.
func (g *gate) fill() {
	for g.running < g.slots && g.waiting > 0 {
		name, line := g.next()
		w := (*line)[0]
		*line = slices.Delete(*line, 0, 1)
		g.waiting--
		g.take(name)
		w.served = true
		close(w.done)
	}
}

// next returns the tenant whose turn it is, and its line. Some request waits.
func (g *gate) next() (name string, line *[]*waiter) {
	for p := High; p >= Low; p-- {
		var first *tenant
		for other, t := range g.tenants {
			if len(*t.line(p)) > 0 && (first == nil || t.before(first)) {
				name, first = other, t
			}
		}
		if first != nil {
			return name, first.line(p)
		}
	}
	return "", nil
}

// before reports whether the turn of t comes before that of another tenant.
func (t *tenant) before(other *tenant) bool {
	if t.running != other.running {
		return t.running < other.running
	}
	return t.turn < other.turn
}

// add adds a request to its line.
func (g *gate) add(r Request) *waiter {
	w := &waiter{Request: r, done: make(chan struct{})}
	line := g.tenant(r.Tenant).line(r.Priority)
	*line = append(*line, w)
	g.waiting++
	return w
}

// remove removes a request from its line.
func (g *gate) remove(w *waiter) {
	line := g.tenants[w.Tenant].line(w.Priority)
	*line = slices.DeleteFunc(*line, func(other *waiter) bool { return other == w })
	g.waiting--
	g.forget(w.Tenant)
}

// shed makes room for a request: it refuses one of the lowest priority below that of r, or one of the same
// priority of a tenant that would have more in line than the tenant of r all the same: the youngest of the
// tenant with the most of them. It returns false if there is none.
func (g *gate) shed(r Request) bool {
	for lowest := Low; lowest <= r.Priority; lowest++ {
		var most []*waiter
		for _, t := range g.tenants {
			if line := *t.line(lowest); len(line) > len(most) {
				most = line
			}
		}
		if len(most) > 0 && (lowest < r.Priority || len(most) > g.inLine(r)+1) {
			w := most[len(most)-1]
			g.remove(w)
			w.refused = &Refusal{Shed, g.expected(lowest)}
			close(w.done)
			return true
		}
	}
	return false
}

// inLine returns how many requests of the tenant and the priority of r wait.
func (g *gate) inLine(r Request) int {
	if t := g.tenants[r.Tenant]; t != nil {
		return len(*t.line(r.Priority))
	}
	return 0
}

// expected returns the time that a further request of a priority would wait: until all requests that
// wait with at least this priority, and one more, have got a slot.
func (g *gate) expected(p Priority) time.Duration {
	ahead := 1
	for _, t := range g.tenants {
		for other := p; other <= High; other++ {
			ahead += len(*t.line(other))
		}
	}
	return g.held * time.Duration(ahead) / time.Duration(max(1, g.slots))
}
