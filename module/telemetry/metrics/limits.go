package metrics

import "time"

var (
	limitDecisions = counter("limit_decisions_total",
		"Requests within a limit: admitted, refused by one of its rules, or warned of a soft budget.",
		"limit", "rule", "decision")

	guardVerdicts = counter("guard_verdicts_total",
		"Verdicts of guards that do not pass a text, and failures to check one.",
		"guard", "verdict")

	budgets = gauge("budgets",
		"Keys with a budget, by the largest part of it that was spent or reserved in the period.",
		"limit", "state")

	countersDuration = histogram("counters_duration_seconds",
		"Time that shared counters take for a decision or a settlement.",
		[]float64{.0005, .001, .0025, .005, .01, .025, .05, .1}, "script", "result")

	countersFallback = counter("counters_fallback_total",
		"Decisions without the shared counters, because they do not answer.",
		"action")
)

// The decisions of limits.
const (
	Admitted = "admitted"
	Refused  = "refused"
	Warned   = "warned" // a soft budget is exceeded
)

// LimitDecision counts a decision of a limit. rule is the rule that decided; it is empty for
// an admitted request.
func LimitDecision(limit, rule, decision string) {
	limitDecisions.WithLabelValues(limit, rule, decision).Inc()
}

// The verdicts of guards that are counted.
const (
	GuardBlocked   = "blocked"
	GuardFailed    = "failed"    // the text could not be checked, and does not pass
	GuardUnchecked = "unchecked" // the text could not be checked, and passes
)

// GuardVerdict counts a verdict of a guard.
func GuardVerdict(guard, verdict string) { guardVerdicts.WithLabelValues(guard, verdict).Inc() }

// The states of budgets.
const (
	Below50   = "below_50" // percent
	Below80   = "below_80"
	Below100  = "below_100"
	Exhausted = "exhausted"
)

// MoveBudget counts that a budget changes from one state to another. old is empty for a new
// budget, next is empty for one that ends.
func MoveBudget(limit, old, next string) {
	if old != "" {
		budgets.WithLabelValues(limit, old).Dec()
	}
	if next != "" {
		budgets.WithLabelValues(limit, next).Inc()
	}
}

// CounterCall counts a call of shared counters: its script ("admit", "settle"), and
// its result ("ok", "error", "timeout").
func CounterCall(script, result string, d time.Duration) {
	countersDuration.WithLabelValues(script, result).Observe(d.Seconds())
}

// CounterFallback counts a decision without the shared counters. action is "allow" or
// "deny".
func CounterFallback(action string) { countersFallback.WithLabelValues(action).Inc() }
