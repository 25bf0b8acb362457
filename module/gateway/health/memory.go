package health

import (
	"sync"
	"time"
)

// Memory has the health of targets, and the number of their running attempts. The zero
// value is an empty memory. Its methods may be called concurrently.
type Memory struct {
	mu      sync.RWMutex // guards the fields below
	ill     map[Target]*illness
	running map[Target]int // attempts by target; also by provider, in a Target without key and model

	answered map[Target]time.Time // by API key, when the last attempt with an answer began
}

// Process is the memory of the process. All sites share it, and it survives reloads,
// because a reload does not change the health of providers.
var Process = new(Memory)

// RestsUntil returns when the rest of a target ends, the zero time if it does not rest.
func (m *Memory) RestsUntil(t Target) (until time.Time) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if len(m.ill) == 0 {
		return until
	}
	now := time.Now()
	for _, level := range t.levels() {
		if i := m.ill[level]; i != nil && i.resting(now) && i.until.After(until) {
			until = i.until
		}
	}
	return until
}

// Visit is a running attempt.
type Visit struct {
	memory *Memory
	target Target
	began  time.Time
	// probes has, for each level of the target, the time until which other requests
	// wait for this attempt as the probe; zero if it is not the probe.
	probes [2]time.Time
}

// Begin records the beginning of an attempt at a target. It returns false if maxRunning
// attempts run at the provider already; 0 means no bound. If a rest of the target is
// over, the attempt is its probe, and the target appears to rest until the probe ends.
func (m *Memory) Begin(t Target, maxRunning int) (v Visit, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if maxRunning > 0 && m.running[Target{Provider: t.Provider}] >= maxRunning {
		return v, false
	}
	now := time.Now()
	v = Visit{memory: m, target: t, began: now}
	if m.running == nil {
		m.running = make(map[Target]int)
	}
	m.running[t]++
	m.running[Target{Provider: t.Provider}]++
	for n, level := range t.levels() {
		if i := m.ill[level]; i != nil && i.awaitsProbe(now) {
			i.until = now.Add(probePatience)
			v.probes[n] = i.until
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
	m.leave(Target{Provider: v.target.Provider})
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
func (m *Memory) leave(t Target) {
	if m.running[t]--; m.running[t] <= 0 {
		delete(m.running, t)
	}
}

// giveUp ends the wait for the attempt as a probe. A rest that began in the meantime
// continues.
func (m *Memory) giveUp(v Visit) {
	for n, level := range v.target.levels() {
		if i := m.ill[level]; i != nil && !v.probes[n].IsZero() && i.until.Equal(v.probes[n]) {
			i.until = time.Now()
		}
	}
}

// EndRest ends the rest of an API key, whose value has changed. The next attempt is the
// probe. Rests of single models continue.
func (m *Memory) EndRest(provider, key string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if i := m.ill[Target{Provider: provider, Key: key}]; i != nil && i.resting(time.Now()) {
		i.until = time.Now()
	}
}

// recover ends the row of failures from before the attempt, and the rests. An attempt that
// began before the last failure does not prove that the target has recovered.
func (m *Memory) recover(v Visit) Change {
	change, now := Same, time.Now()
	for _, level := range v.target.levels() {
		i := m.ill[level]
		if i == nil {
			continue
		}
		over := i.rate.over(now)
		i.rate.add(now, false)
		switch {
		case !i.last.Before(v.began):
		case i.rests > 0:
			change = Up
			delete(m.ill, level)
		case over:
			delete(m.ill, level)
		default:
			i.answer()
		}
	}
	return change
}

// fail records a failure of a target or of its API key.
func (m *Memory) fail(t Target, o Outcome, rules Rules) Change {
	if o.Class.ofKey() {
		t = t.key()
	}
	now := time.Now()
	i := m.illnessOf(t, now)
	rested := i.rests > 0
	i.fail(o, now, rules)
	if !rested && i.rests > 0 {
		return Down
	}
	return Same
}

// illnessOf returns the illness of a target, a new one if the target is healthy. If the
// memory is full, it removes any other illness.
func (m *Memory) illnessOf(t Target, now time.Time) *illness {
	if i := m.ill[t]; i != nil && !i.forgotten(now) {
		return i
	}
	if m.ill == nil {
		m.ill = make(map[Target]*illness)
	}
	for other := range m.ill {
		if len(m.ill) < maxRemembered {
			break
		}
		delete(m.ill, other)
	}
	m.ill[t] = new(illness)
	return m.ill[t]
}

// Models returns the models of a provider that have recently failed or that have running
// attempts with an API key, in any order.
func (m *Memory) Models(provider, key string) (models []string) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	of := func(t Target) bool { return t.Provider == provider && t.Key == key && t.Model != "" }
	for t := range m.running {
		if of(t) {
			models = append(models, t.Model)
		}
	}
	for t, i := range m.ill {
		if of(t) && m.running[t] == 0 && !i.forgotten(time.Now()) {
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
func (m *Memory) State(t Target) State {
	m.mu.RLock()
	defer m.mu.RUnlock()
	now := time.Now()
	s := State{Class: Healthy, Running: m.running[t]}
	for _, level := range t.levels() {
		i := m.ill[level]
		if i == nil || i.forgotten(now) || i.until.Before(s.Until) {
			continue
		}
		s.Class = i.class
		if i.resting(now) {
			s.Until = i.until
		}
	}
	return s
}
