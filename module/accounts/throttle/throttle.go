// Package throttle blocks attempts that fail too often, such as guesses of passwords.
//
// It promises that parallel attempts do not exceed the bound, that the memory is bounded,
// and that new keys do not displace blocked keys. It refuses to wait: the caller gets the
// time after which an attempt may succeed.
//
// Shares bound what one holder has of a common resource at the same time.
package throttle

import (
	"container/list"
	"sync"
	"time"
)

const (
	firstBlock  = time.Minute
	maxBlock    = 16 * time.Minute
	resetAfter  = 30 * time.Minute // time after a block; the next block is then a first one
	maxCounters = 16 << 10         // about 4 MB
)

// Throttle counts failures by key, with a level that decreases at a steady rate. The
// failure that reaches the burst blocks its key for one minute, later failures for
// twice as long each time, up to sixteen minutes. Running attempts count as failures,
// so that parallel attempts do not exceed the burst.
//
// The number of keys is bounded. A throttle keeps keys that are blocked or have running
// attempts, and evicts the least recently used of the others.
type Throttle struct {
	burst    int           // number of failures that may follow each other quickly
	recovery time.Duration // time in which the level decreases by one

	mu       sync.Mutex // guards the fields below and all counters
	counters map[string]*list.Element
	recent   *list.List // of *Counter, most recently used first
}

// Counter is the state of one key.
type Counter struct {
	key     string
	level   float64   // failures, decreasing since at
	updated time.Time // time of level
	running int       // attempts
	blocks  int       // number of blocks in a row
	end     time.Time // end of the last block
}

// New returns a Throttle that blocks a key after burst failures in a row. For each
// recovery that passes, it admits one more failure.
func New(burst int, recovery time.Duration) *Throttle {
	return &Throttle{burst: burst, recovery: recovery, counters: make(map[string]*list.Element), recent: list.New()}
}

// Begin starts an attempt, which the caller ends with End. If the throttle refuses the
// attempt, Begin returns nil and the time to wait.
func (t *Throttle) Begin(key string) (*Counter, time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	c := t.counterOf(key, now)
	if c == nil {
		return nil, time.Second
	}
	c.decay(now, t.recovery)
	if wait := c.end.Sub(now); wait > 0 {
		return nil, wait
	}
	if c.level+float64(c.running) > t.threshold() {
		return nil, time.Second
	}
	c.running++
	return c, 0
}

// threshold returns the level beyond which a key is blocked.
func (t *Throttle) threshold() float64 { return float64(t.burst - 1) }

// Outcome is the result of an attempt.
type Outcome int

// The outcomes of attempts.
const (
	Undecided Outcome = iota // neither a failure nor a success
	Failed
	Succeeded
)

// End ends an attempt.
func (t *Throttle) End(c *Counter, o Outcome) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c.running--
	switch o {
	case Succeeded:
		c.level, c.blocks, c.end = 0, 0, time.Time{}
	case Failed:
		t.fail(c, time.Now())
	}
}

func (t *Throttle) fail(c *Counter, now time.Time) {
	c.decay(now, t.recovery)
	c.level++
	if c.level <= t.threshold() {
		return
	}
	c.end = now.Add(min(firstBlock<<c.blocks, maxBlock))
	c.blocks = min(c.blocks+1, 8) // a larger shift would only exceed maxBlock
}

// decay updates the level to the current time.
func (c *Counter) decay(now time.Time, recovery time.Duration) {
	c.level = max(0, c.level-float64(now.Sub(c.updated))/float64(recovery))
	c.updated = now
	if now.Sub(c.end) > resetAfter {
		c.blocks = 0
	}
}

// counterOf returns the counter of a key. It creates one if necessary, and returns nil if
// there are too many.
func (t *Throttle) counterOf(key string, now time.Time) *Counter {
	if e, ok := t.counters[key]; ok {
		t.recent.MoveToFront(e)
		return e.Value.(*Counter)
	}
	if t.recent.Len() >= maxCounters && !t.evict(now) {
		return nil
	}
	c := &Counter{key: key, updated: now}
	t.counters[key] = t.recent.PushFront(c)
	return c
}

// evict removes the least recently used counter that is idle, and reports whether there
// is one.
func (t *Throttle) evict(now time.Time) bool {
	for e := t.recent.Back(); e != nil; e = e.Prev() {
		if c := e.Value.(*Counter); c.running == 0 && !now.Before(c.end) {
			t.recent.Remove(e)
			delete(t.counters, c.key)
			return true
		}
	}
	return false
}
