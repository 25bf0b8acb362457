// Package health records which targets fail, so that requests can go to others for a
// while. It also counts the running attempts of providers, and bounds retries.
//
// A target rests only after failures of its provider, never after a request that the
// provider blames. After every rest, a single request is the probe that ends the rest or
// begins a longer one. The memory is bounded. The package does not choose targets: its
// callers order them, and may ask a target that rests.
package health

import (
	"sync"
	"time"
)

// ID identifies a target, which fails and recovers: a model of a provider, asked with one of
// the provider's API keys. An ID without a model is the API key for all models.
type ID struct {
	Provider string // identity of the service, which several provider names may share
	Key      string // reference to the API key, "" for none
	Model    string // the provider's own name
}

// key returns the target that represents the API key of t.
func (t ID) key() ID { return ID{Provider: t.Provider, Key: t.Key} }

// levels returns the targets whose rest makes t rest: t itself, and its API key.
func (t ID) levels() [2]ID { return [2]ID{t, t.key()} }

// Rules are when a target rests, and for how long.
type Rules struct {
	First    time.Duration // length of the first rest; 0 or less: the target never rests
	FailRate int           // percentage of failed calls that begins a rest; 0 or less for none
}

// The rules of all rests.
const (
	failuresToRest = 5 // consecutive failures within failureWindow, or failures within rateWindow, that begin a rest
	failureWindow  = 10 * time.Second
	rateWindow     = time.Minute      // in which calls are counted for Rules.FailRate
	longestRest    = 10 * time.Minute // also if the Retry-After of a provider is longer
	probePatience  = 30 * time.Second // after it, another request may be the probe
	forgetAfter    = longestRest      // after the last failure and the last rest

	// DefaultRest is the default length of the first rest of a target. Each rest after a
	// failed probe is twice as long as the one before.
	DefaultRest = 30 * time.Second

	// DefaultFailRate is the default of Rules.FailRate.
	DefaultFailRate = 40

	maxRemembered = 4096 // targets; clients may use any number of model names of some providers
)

// Memory has the health of targets, and the number of their running attempts. The zero
// value is an empty memory. Its methods may be called concurrently.
type Memory struct {
	mu        sync.RWMutex // guards the fields below
	histories map[ID]*history
	running   map[ID]int // attempts by target; also by provider, in an ID that has only the provider

	answered map[ID]time.Time // by API key, when the last attempt with an answer began
}

// Process is the memory of the process. All sites share it, and it survives reloads,
// because a reload does not change the health of providers.
var Process = new(Memory)

// RestsUntil returns when the rest of a target ends, the zero time if it does not rest.
func (m *Memory) RestsUntil(t ID) (until time.Time) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if len(m.histories) == 0 {
		return until
	}
	now := time.Now()
	for _, level := range t.levels() {
		if h := m.histories[level]; h != nil && h.resting(now) && h.until.After(until) {
			until = h.until
		}
	}
	return until
}

// Visit is a running attempt.
type Visit struct {
	memory *Memory
	target ID
	began  time.Time
	// probes has, for each level of the target, the time until which other requests
	// wait for this attempt as the probe; zero if it is not the probe.
	probes [2]time.Time
}

// Begin records the beginning of an attempt at a target. It returns false if maxRunning
// attempts run at the provider already; 0 means no bound. If a rest of the target is
// over, the attempt is its probe, and the target appears to rest until the probe ends.
func (m *Memory) Begin(t ID, maxRunning int) (v Visit, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if maxRunning > 0 && m.running[ID{Provider: t.Provider}] >= maxRunning {
		return v, false
	}
	now := time.Now()
	v = Visit{memory: m, target: t, began: now}
	if m.running == nil {
		m.running = make(map[ID]int)
	}
	m.running[t]++
	m.running[ID{Provider: t.Provider}]++
	for n, level := range t.levels() {
		if h := m.histories[level]; h != nil && h.awaitsProbe(now) {
			h.until = now.Add(probePatience)
			v.probes[n] = h.until
		}
	}
	return v, true
}

// Change is the change of the health of a target by the end of an attempt.
type Change uint8

// The changes.
const (
	Same Change = iota
	Down        // the target, or its API key, begins to rest
	Up          // a target that has rested answers again
)

// End records the outcome of the attempt.
func (v Visit) End(o Outcome, rules Rules) Change {
	m := v.memory
	m.mu.Lock()
	defer m.mu.Unlock()
	m.leave(v.target)
	m.leave(ID{Provider: v.target.Provider})
	m.giveUp(v)
	switch {
	case o.Class == Healthy:
		defer m.noteAnswer(v)
		return m.recover(v)
	case o.Class == Unknown, rules.First <= 0:
		return Same
	}
	return m.fail(v.target, o, rules)
}

// leave counts an attempt as ended.
func (m *Memory) leave(t ID) {
	if m.running[t]--; m.running[t] <= 0 {
		delete(m.running, t)
	}
}

// giveUp ends the wait for the attempt as a probe. A rest that began in the meantime
// continues.
func (m *Memory) giveUp(v Visit) {
	for n, level := range v.target.levels() {
		if h := m.histories[level]; h != nil && !v.probes[n].IsZero() && h.until.Equal(v.probes[n]) {
			h.until = time.Now()
		}
	}
}

// EndRest ends the rest of an API key, whose value has changed. The next attempt is the
// probe. Rests of single models continue.
func (m *Memory) EndRest(provider, key string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if h := m.histories[ID{Provider: provider, Key: key}]; h != nil && h.resting(time.Now()) {
		h.until = time.Now()
	}
}

// recover ends the row of failures from before the attempt, and the rests. An attempt that
// began before the last failure does not prove that the target has recovered.
func (m *Memory) recover(v Visit) Change {
	change, now := Same, time.Now()
	for _, level := range v.target.levels() {
		h := m.histories[level]
		if h == nil {
			continue
		}
		over := h.rate.over(now)
		h.rate.add(now, false)
		switch {
		case !h.last.Before(v.began):
		case h.rests > 0:
			change = Up
			delete(m.histories, level)
		case over:
			delete(m.histories, level)
		default:
			h.answer()
		}
	}
	return change
}

// noteAnswer notes that a model has answered an attempt, as long as other targets fail.
func (m *Memory) noteAnswer(v Visit) {
	if len(m.histories) == 0 {
		m.answered = nil
		return
	}
	if m.answered == nil {
		m.answered = make(map[ID]time.Time)
	}
	m.answered[v.target.key()] = v.began
}

// fail records a failure of a target or of its API key.
func (m *Memory) fail(t ID, o Outcome, rules Rules) Change {
	if o.Class.ofKey() {
		t = t.key()
	}
	now := time.Now()
	h := m.historyOf(t, now)
	rested := h.rests > 0
	h.fail(o, now, rules)
	if !rested && h.rests > 0 {
		return Down
	}
	return Same
}

// historyOf returns the history of a target, a new one if the target is healthy. If the
// memory is full, it removes any other history.
func (m *Memory) historyOf(t ID, now time.Time) *history {
	if h := m.histories[t]; h != nil && !h.forgotten(now) {
		return h
	}
	if m.histories == nil {
		m.histories = make(map[ID]*history)
	}
	for other := range m.histories {
		if len(m.histories) < maxRemembered {
			break
		}
		delete(m.histories, other)
	}
	m.histories[t] = new(history)
	return m.histories[t]
}

// Models returns the models of a provider that have recently failed or that have running
// attempts with an API key, in any order.
func (m *Memory) Models(provider, key string) (models []string) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	of := func(t ID) bool { return t.Provider == provider && t.Key == key && t.Model != "" }
	for t := range m.running {
		if of(t) {
			models = append(models, t.Model)
		}
	}
	for t, h := range m.histories {
		if of(t) && m.running[t] == 0 && !h.forgotten(time.Now()) {
			models = append(models, t.Model)
		}
	}
	return models
}

// State is the state of a target.
type State struct {
	Until   time.Time // when the rest ends, zero if the target does not rest
	Class   Class     // of the last failure; Healthy if none is remembered
	Running int       // attempts
}

// State returns the state of a target. If its API key rests, that is the state of all
// models with this key.
func (m *Memory) State(t ID) State {
	m.mu.RLock()
	defer m.mu.RUnlock()
	now := time.Now()
	s := State{Class: Healthy, Running: m.running[t]}
	for _, level := range t.levels() {
		h := m.histories[level]
		if h == nil || h.forgotten(now) || h.until.Before(s.Until) {
			continue
		}
		s.Class = h.class
		if h.resting(now) {
			s.Until = h.until
		}
	}
	return s
}

// IsDown reports whether a target, or its API key, has begun to rest and has not answered
// since. A target whose rest is over is down until its probe succeeds.
func (m *Memory) IsDown(t ID) bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	for _, level := range t.levels() {
		if h := m.histories[level]; h != nil && h.isDown(time.Now()) {
			return true
		}
	}
	return false
}

// AllDown reports whether all models of a provider, asked with an API key, are down as far
// as is known: one or the key is, and no model has answered since it failed.
func (m *Memory) AllDown(provider, key string) bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	answered := m.answered[ID{Provider: provider, Key: key}]
	now := time.Now()
	for t, h := range m.histories {
		if t.Provider == provider && t.Key == key && h.isDown(now) && (t.Model == "" || !answered.After(h.last)) {
			return true
		}
	}
	return false
}
