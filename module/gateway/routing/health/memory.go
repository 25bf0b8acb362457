// Package health records which targets fail, so that requests can go to others for a
// while, how fast they answer, and for which models providers refuse to count tokens. It also
// counts the running attempts of providers, and bounds retries.
//
// A target rests only after failures of its provider, never after a request that the
// provider blames. After every rest, a single request is the probe that ends the rest or
// begins a longer one, as in a circuit breaker. The memory is bounded. The package does not
// choose targets: its callers order them, and may ask a target that rests.
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
	slowFailures   = 10               // times that a failed call took: both windows are at least that long
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
func (m *Memory) RestsUntil(t ID) (end time.Time) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if len(m.histories) == 0 {
		return end
	}
	now := time.Now()
	for _, level := range t.levels() {
		if h := m.histories[level]; h != nil && h.resting(now) && h.end.After(end) {
			end = h.end
		}
	}
	return end
}

// EndRest ends the rest of an API key, whose value has changed. The next attempt is the
// probe. Rests of single models continue.
func (m *Memory) EndRest(provider, key string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if h := m.histories[ID{Provider: provider, Key: key}]; h != nil && h.resting(time.Now()) {
		h.end = time.Now()
	}
}

// Models returns the models of a provider that have recently failed or that have running
// attempts with an API key, in any order.
func (m *Memory) Models(provider, key string) (models []string) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	isModel := func(t ID) bool { return t.Provider == provider && t.Key == key && t.Model != "" }
	for t := range m.running {
		if isModel(t) {
			models = append(models, t.Model)
		}
	}
	for t, h := range m.histories {
		if isModel(t) && m.running[t] == 0 && !h.forgotten(time.Now()) {
			models = append(models, t.Model)
		}
	}
	return models
}

// State is the state of a target.
type State struct {
	RestEnd time.Time // when the rest ends, zero if the target does not rest
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
		if h == nil || h.forgotten(now) || h.end.Before(s.RestEnd) {
			continue
		}
		s.Class = h.class
		if h.resting(now) {
			s.RestEnd = h.end
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
