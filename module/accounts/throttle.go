package accounts

import (
	"container/list"
	"net/netip"
	"sync"
	"time"
)

const (
	firstBlock  = time.Minute
	maxBlock    = 16 * time.Minute
	resetAfter  = 30 * time.Minute // after a block; then the next block is a first one
	maxCounters = 16 << 10         // about 4 MB
)

// throttle counts failures by key, with a level that decreases at a steady rate. The
// failure that reaches the burst blocks its key for one minute, later failures for
// twice as long each time, up to sixteen minutes. Running attempts count as failures,
// so that parallel attempts do not exceed the burst.
//
// The number of keys is bounded. A throttle keeps keys that are blocked or have running
// attempts, and evicts the least recently used of the others.
type throttle struct {
	burst    int           // number of failures that may follow each other quickly
	recovery time.Duration // time in which the level decreases by one

	mu       sync.Mutex // guards the fields below and all counters
	counters map[string]*list.Element
	recent   *list.List // of *counter, most recently used first
}

// counter is the state of one key.
type counter struct {
	key     string
	level   float64   // failures, decreasing since at
	at      time.Time // time of level
	running int       // attempts
	blocks  int       // number of blocks in a row
	until   time.Time // end of the last block
}

func newThrottle(burst int, recovery time.Duration) *throttle {
	return &throttle{burst: burst, recovery: recovery, counters: make(map[string]*list.Element), recent: list.New()}
}

// begin starts an attempt, which the caller ends with end. If the throttle refuses the
// attempt, begin returns nil and the time to wait.
func (t *throttle) begin(key string) (*counter, time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	c := t.counterOf(key, now)
	if c == nil {
		return nil, time.Second
	}
	c.decay(now, t.recovery)
	if wait := c.until.Sub(now); wait > 0 {
		return nil, wait
	}
	if c.level+float64(c.running) > t.threshold() {
		return nil, time.Second
	}
	c.running++
	return c, 0
}

// threshold returns the level beyond which a key is blocked.
func (t *throttle) threshold() float64 { return float64(t.burst - 1) }

// outcome of an attempt.
type outcome int

const (
	undecided outcome = iota // neither a failure nor a success
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
	c.decay(now, t.recovery)
	c.level++
	if c.level <= t.threshold() {
		return
	}
	c.until = now.Add(min(firstBlock<<c.blocks, maxBlock))
	c.blocks = min(c.blocks+1, 8) // a larger shift would only exceed maxBlock
}

// decay updates the level to the current time.
func (c *counter) decay(now time.Time, recovery time.Duration) {
	c.level = max(0, c.level-float64(now.Sub(c.at))/float64(recovery))
	c.at = now
	if now.Sub(c.until) > resetAfter {
		c.blocks = 0
	}
}

// counterOf returns the counter of a key. It creates one if necessary, and returns nil if
// there are too many.
func (t *throttle) counterOf(key string, now time.Time) *counter {
	if e, ok := t.counters[key]; ok {
		t.recent.MoveToFront(e)
		return e.Value.(*counter)
	}
	if t.recent.Len() >= maxCounters && !t.evict(now) {
		return nil
	}
	c := &counter{key: key, at: now}
	t.counters[key] = t.recent.PushFront(c)
	return c
}

// evict removes the least recently used counter that is idle, and reports whether there
// is one.
func (t *throttle) evict(now time.Time) bool {
	for e := t.recent.Back(); e != nil; e = e.Prev() {
		if c := e.Value.(*counter); c.running == 0 && !now.Before(c.until) {
			t.recent.Remove(e)
			delete(t.counters, c.key)
			return true
		}
	}
	return false
}

// network returns the network whose addresses one client is assumed to have.
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
