package health

import (
	"net/http"
	"strconv"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

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

// Class is the meaning of an attempt's end for the health of its target.
type Class uint8

// The classes.
const (
	Unknown           Class = iota // none: the request caused the failure, or the client has left
	Healthy                        // the target has answered
	Failed                         // the provider has failed, or could not be reached
	RateLimited                    // the provider refuses the rate of requests
	Overloaded                     // the provider has no capacity
	TimedOut                       // the provider did not answer in time
	CredentialRefused              // the provider does not accept the API key
	AccountExhausted               // the account of the API key has no credit
)

var classNames = [...]string{
	"unknown", "healthy", "failed", "rate_limited", "overloaded", "timed_out", "credential_refused", "account_exhausted",
}

// String returns the name of the class in logs and in the admin API.
func (c Class) String() string { return classNames[c] }

// ofKey reports whether the API key caused the failure, so that all models fail.
func (c Class) ofKey() bool { return c == CredentialRefused || c == AccountExhausted }

// Outcome is how an attempt ended, for the health of its target.
type Outcome struct {
	Class      Class
	RetryAfter time.Duration // the wait that the provider asks for, 0 for none
}

// OutcomeOf returns the outcome of an attempt. It is Unknown for other operations than the
// generation of text: they do not show whether the target can generate, and clients can provoke
// their failures, by asking for embeddings of a model that has none.
func OutcomeOf(a *exchange.Attempt, r *exchange.Result) Outcome {
	switch {
	case a.Exchange.Operation != translate.Generate:
		return Outcome{}
	case r.Whole(), r.Fault == nil && r.State == exchange.Content, r.Fault == nil && r.State == exchange.Finishing:
		return Outcome{Class: Healthy}
	case r.Fault == nil || r.State == exchange.Unasked:
		return Outcome{}
	}
	o := Outcome{Class: classOf(r)}
	if o.Class == RateLimited || o.Class == Overloaded {
		o.RetryAfter = RetryAfter(r.Header)
	}
	return o
}

// BlamesKey reports whether a failed attempt may succeed with another API key of the
// provider.
func BlamesKey(a *exchange.Attempt, r *exchange.Result) bool {
	class := OutcomeOf(a, r).Class
	if a.Exchange.Operation.Beside() {
		class = classOf(r)
	}
	return class.ofKey() || class == RateLimited || r.Fault.Kind == fault.Forbidden
}

// classOf returns the class of a failed attempt. An answer that blames the request is
// Unknown, whatever its status, because clients can provoke it: by a model that does not
// exist, for example. So is a 403: OpenRouter and xAI send it for prompts that their
// moderation refuses, and firewalls for texts that look like an attack.
func classOf(r *exchange.Result) Class {
	f := r.Fault
	blamesCall := r.Status >= 400 && r.Status < 500
	switch {
	case f.BlamesRequest():
		return Unknown
	case f.Kind == fault.CredentialRefused:
		return CredentialRefused
	case f.Kind == fault.AccountExhausted:
		return AccountExhausted
	case f.Kind == fault.RateLimited:
		return RateLimited
	case f.Kind == fault.Overloaded:
		return Overloaded
	case f.Kind == fault.Timeout:
		return TimedOut
	case f.Kind == fault.BadGateway && !blamesCall:
		return Failed
	case f.Kind == fault.Internal && (r.Status >= 500 || f.Quoted):
		return Failed
	}
	return Unknown
}

// RetryAfter returns the time after which a provider allows a retry, by the headers of its
// answer; 0 if they do not contain it.
func RetryAfter(h http.Header) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		return time.Duration(ms * float64(time.Millisecond))
	}
	value := h.Get("Retry-After")
	if seconds, err := strconv.ParseFloat(value, 64); err == nil {
		return time.Duration(seconds * float64(time.Second))
	}
	if date, err := http.ParseTime(value); err == nil {
		return max(0, time.Until(date))
	}
	return 0
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
