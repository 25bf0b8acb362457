package health

import (
	"sync"
	"time"
)

// Memory has the health of targets, and the number of their running attempts. The zero
// value is an empty memory. Its methods may be called concurrently.
type Memory struct {
	mu        sync.RWMutex // guards the fields below
	histories map[ID]*history
	running   map[ID]int // attempts by target; also by provider, in an ID without key and model

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
