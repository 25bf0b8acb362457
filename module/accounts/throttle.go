package accounts

import (
	"container/list"
	"net/netip"
	"sync"
	"time"
)

const (
	firstBlock  = time.Minute
	longest     = 16 * time.Minute
	forgetAfter = 30 * time.Minute // without a failure, after which a block is the first again
	maxCounters = 16 << 10         // about 4 MB
)

// throttle counts failures by a key. As many as it has room for may follow one
// another quickly; room comes back at a steady pace. A failure that leaves no
// room blocks its key, for one minute first and then for twice as long each
// time, up to sixteen. Attempts that are under way take room too, so that
// parallel ones are no way around it.
//
// It remembers a bounded number of keys: those that are blocked or have attempts
// under way, and of the others those that were used last.
type throttle struct {
	room int
	pace time.Duration // in which room for one comes back

	mu       sync.Mutex // guards all below and every counter
	counters map[string]*list.Element
	recent   *list.List // of *counter, the latest in front
}

// counter is what is known of one key.
type counter struct {
	key     string
	level   float64 // failures, less the room that came back
	at      time.Time
	running int
	blocks  int
	until   time.Time
}

func newThrottle(room int, pace time.Duration) *throttle {
	return &throttle{room: room, pace: pace, counters: make(map[string]*list.Element), recent: list.New()}
}

// begin starts an attempt, which the caller must end. When there is no room for
// one it returns nil and how long to wait.
func (t *throttle) begin(key string) (*counter, time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	c := t.counter(key, now)
	if c == nil {
		return nil, time.Second
	}
	c.settle(now, t.pace)
	if wait := c.until.Sub(now); wait > 0 {
		return nil, wait
	}
	if c.level+float64(c.running) > t.last() {
		return nil, time.Second
	}
	c.running++
	return c, 0
}

// last is the level from which on there is no room for another failure.
func (t *throttle) last() float64 { return float64(t.room - 1) }

// outcome of an attempt.
type outcome int

const (
	undecided outcome = iota // it says nothing about who tries
	failed
	succeeded
)

// end ends an attempt.
func (t *throttle) end(c *counter, o outcome) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c.running--
	switch o {
	case succeeded:
		c.level, c.blocks, c.until = 0, 0, time.Time{}
	case failed:
		t.fail(c, time.Now())
	}
}

func (t *throttle) fail(c *counter, now time.Time) {
	c.settle(now, t.pace)
	c.level++
	if c.level <= t.last() {
		return
	}
	c.until = now.Add(min(firstBlock<<c.blocks, longest))
	c.blocks = min(c.blocks+1, 8) // beyond, the shift is longer than the longest
}

// settle lets room come back.
func (c *counter) settle(now time.Time, pace time.Duration) {
	c.level = max(0, c.level-float64(now.Sub(c.at))/float64(pace))
	c.at = now
	if now.Sub(c.until) > forgetAfter {
		c.blocks = 0
	}
}

// counter finds the counter of a key, or makes one, nil where there is no room.
func (t *throttle) counter(key string, now time.Time) *counter {
	if e, ok := t.counters[key]; ok {
		t.recent.MoveToFront(e)
		return e.Value.(*counter)
	}
	if t.recent.Len() >= maxCounters && !t.forget(now) {
		return nil
	}
	c := &counter{key: key, at: now}
	t.counters[key] = t.recent.PushFront(c)
	return c
}

// forget makes room in place of the idle counter that was used least recently.
// It reports whether there is one.
func (t *throttle) forget(now time.Time) bool {
	for e := t.recent.Back(); e != nil; e = e.Prev() {
		if c := e.Value.(*counter); c.running == 0 && !now.Before(c.until) {
			t.recent.Remove(e)
			delete(t.counters, c.key)
			return true
		}
	}
	return false
}

// network is what one client can be assumed to have addresses of.
func network(address netip.Addr) string {
	bits := 64
	if address.Is4() {
		bits = 24
	}
	prefix, err := address.Prefix(bits)
	if err != nil || !prefix.IsValid() {
		return "unknown"
	}
	return prefix.String()
}
