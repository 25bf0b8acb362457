package health

import "time"

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

// isDown reports whether the target has rested, and has not answered since.
func (h *history) isDown(now time.Time) bool { return h.rests > 0 && !h.forgotten(now) }
