package health

import (
	"sync"
	"time"
)

// Memory remembers the targets that fail, and what runs. The zero value is empty; the
// methods may be called at once.
type Memory struct {
	mu      sync.RWMutex // guards all below
	ill     map[Target]*illness
	running map[Target]int // attempts, of targets and, without key and model, of providers

	answered map[Target]time.Time // when the last attempt that was answered began, of API keys
}

// Process is the memory of the process: all sites share it, and reloads change nothing
// about the health of providers.
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
	probes [2]time.Time // until when others wait for the attempt as the probe, by level of the target; zero if it is none
}

// Begin notes that an attempt at a target begins, unless as many run at its provider as
// may at once; 0 for any number. If a rest of the target is over, the attempt is its
// probe, and the target appears to rest until the attempt ends.
func (m *Memory) Begin(t Target, atOnce int) (v Visit, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if atOnce > 0 && m.running[Target{Provider: t.Provider}] >= atOnce {
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

// Change is what the end of an attempt changes about its target.
type Change uint8

// The changes.
const (
	Same Change = iota
	Down        // the target, or its API key, begins to rest
	Up          // a target that has rested answers again
)

// End notes how the attempt ended. first is the length of the first rest of the target,
// 0 if it never rests.
func (v Visit) End(o Outcome, first time.Duration) Change {
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
	case o.Class == Unknown, first <= 0:
		return Same
	}
	return m.fail(v.target, o, first)
}

// leave counts an attempt as ended.
func (m *Memory) leave(t Target) {
	if m.running[t]--; m.running[t] <= 0 {
		delete(m.running, t)
	}
}

// giveUp ends the wait for the attempt as a probe. A rest that began meanwhile goes on.
func (m *Memory) giveUp(v Visit) {
	for n, level := range v.target.levels() {
		if i := m.ill[level]; i != nil && !v.probes[n].IsZero() && i.until.Equal(v.probes[n]) {
			i.until = time.Now()
		}
	}
}

// recover forgets the failures from before the attempt. An attempt that began earlier
// than the last failure proves nothing.
func (m *Memory) recover(v Visit) Change {
	change := Same
	for _, level := range v.target.levels() {
		i := m.ill[level]
		if i == nil || !i.last.Before(v.began) {
			continue
		}
		if i.rests > 0 {
			change = Up
		}
		delete(m.ill, level)
	}
	return change
}

// fail notes a failure of a target or of its API key.
func (m *Memory) fail(t Target, o Outcome, first time.Duration) Change {
	if o.Class.ofKey() {
		t = t.key()
	}
	now := time.Now()
	i := m.illnessOf(t, now)
	rested := i.rests > 0
	i.fail(o, now, first)
	if !rested && i.rests > 0 {
		return Down
	}
	return Same
}

// illnessOf returns the illness of a target, a new one if it is healthy. Without room,
// any other one is forgotten.
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

// Models returns the models of a provider, asked with an API key, that have failed lately
// or that run, in any order.
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

// State is what is known of a target.
type State struct {
	Until   time.Time // when the rest ends, zero if the target does not rest
	Class   Class     // of the last failure; Healthy if none is remembered
	Running int       // attempts
}

// State returns the state of a target. That of a resting API key is the state of all
// its models.
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
