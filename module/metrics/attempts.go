package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

var (
	attempts = counter("attempts_total",
		"Targets that were asked, by what came of it: answered, client_closed, cut, or the kind of the failure.",
		"provider", "model", "result")

	fallbacks = counter("fallbacks_total",
		"Requests that went on to the next target, by the provider that failed and the kind of its failure.",
		"model", "from", "cause")

	firstEvent = histogram("time_to_first_event_seconds",
		"Time from a call to the first content of its stream.",
		prometheus.ExponentialBuckets(.05, 2, 11), "model", "provider")

	eventGap = histogram("event_gap_seconds",
		"Time between two arrivals of events in a stream, without the time in which the client takes them.",
		[]float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 15}, "provider")

	losses = counter("losses_total",
		"Fields of requests and parts of answers that a translation left behind.",
		"provider", "from", "to", "class", "field")
)

// Attempt counts a target that was asked for a model. The result is one of a few words.
func Attempt(provider, model, result string) { attempts.WithLabelValues(provider, model, result).Inc() }

// Fallback counts a request that goes on to the next target, because of the failure of
// a provider. The cause is one of a few words.
func Fallback(model, from, cause string) { fallbacks.WithLabelValues(model, from, cause).Inc() }

// FirstEvent counts the time from a call to the first content of its stream.
func FirstEvent(model, provider string, d time.Duration) {
	firstEvent.WithLabelValues(model, provider).Observe(d.Seconds())
}

// EventGaps returns where the gaps between the events of a provider's streams are
// counted, in seconds. One observer serves a whole stream.
func EventGaps(provider string) prometheus.Observer { return eventGap.WithLabelValues(provider) }

// Loss counts a field that a translation between two formats left behind. The field has
// the name that the tables of this repository give it, or "?".
func Loss(provider, from, to, class, field string) {
	losses.WithLabelValues(provider, from, to, class, field).Inc()
}
