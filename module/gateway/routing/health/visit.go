package health

import "time"

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
			h.end = now.Add(probePatience)
			v.probes[n] = h.end
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
	return m.fail(v, o, rules)
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
		if h := m.histories[level]; h != nil && !v.probes[n].IsZero() && h.end.Equal(v.probes[n]) {
			h.end = time.Now()
		}
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
		ended := h.rate.hasEnded(now)
		h.rate.add(now, false)
		switch {
		case !h.last.Before(v.began):
		case h.rests > 0:
			change = Up
			delete(m.histories, level)
		case ended:
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
func (m *Memory) fail(v Visit, o Outcome, rules Rules) Change {
	t := v.target
	if o.Class.ofKey() {
		t = t.key()
	}
	now := time.Now()
	h := m.historyOf(t, now)
	rested := h.rests > 0
	h.fail(o, v.began, now, rules)
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
