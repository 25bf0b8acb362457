package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

var (
	attempts = counter("attempts_total",
		"Calls of targets, by their result: answered, client_closed, cut, or the kind of the failure.",
		"provider", "model", "result")

	fallbacks = counter("fallbacks_total",
		"Changes from a failed provider to the next one, by the kind of the failure.",
		"model", "from", "cause")

	choices = counter("choices_total",
		"Requests for which another target than the first of the configuration was asked last, or was selected first, by the reason.",
		"model", "provider", "choice")

	firstEvent = histogram("time_to_first_event_seconds",
		"Time from a call to the first content of its stream.",
		prometheus.ExponentialBuckets(.05, 2, 11), "model", "provider")

	eventGap = histogram("event_gap_seconds",
		"Time between two arrivals of events in a stream, without the time in which the client reads them.",
		[]float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 15}, "provider")

	losses = counter("losses_total",
		"Fields of requests and parts of answers that a translation left out.",
		"provider", "from", "to", "class", "field")
)

// Attempt counts a call of a target for a model. result is an exchange.CallEnd.
func Attempt(provider, model, result string) { attempts.WithLabelValues(provider, model, result).Inc() }

// Fallback counts a change to the next provider after the failure of a provider.
// cause is the exchange.CallEnd of the failed call.
func Fallback(model, provider, cause string) { fallbacks.WithLabelValues(model, provider, cause).Inc() }

// Choice counts a request by why the provider was asked that was asked last: an exchange.Choice.
func Choice(model, provider, choice string) { choices.WithLabelValues(model, provider, choice).Inc() }

// FirstEvent counts the time from a call to the first content of its stream.
func FirstEvent(model, provider string, d time.Duration) {
	firstEvent.WithLabelValues(model, provider).Observe(d.Seconds())
}

// EventGaps returns the observer of the gaps between the events of a provider's streams, in
// seconds. A stream looks it up once.
func EventGaps(provider string) prometheus.Observer { return eventGap.WithLabelValues(provider) }

// Loss counts a field that a translation between two formats has left out. field is one
// of a bounded number of names, in which "?" replaces what a client or a provider chose.
func Loss(provider, client, target, class, field string) {
	losses.WithLabelValues(provider, client, target, class, field).Inc()
}
