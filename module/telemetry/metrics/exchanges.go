package metrics

import "time"

var (
	exchanges = counter("exchanges_total",
		"Requests of clients, by their outcome and the provider that was asked last.",
		"format", "model", "provider", "outcome")

	exchangeDuration = histogram("exchange_duration_seconds",
		"Time from the request of a client to the end of its answer.",
		[]float64{.1, .25, .5, 1, 2.5, 5, 10, 20, 40, 80, 160, 320, 600}, "model", "provider")

	overhead = histogram("overhead_seconds",
		"Time from the last byte of a request to the first call of a provider.",
		[]float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1}, "format")

	inFlight = gauge("in_flight", "Requests of clients that are being served.", "format")

	queued = counter("queued_total",
		"Requests that waited for a provider, or for the gateway (no provider), by what became of them.",
		"provider", "result")

	openSockets = gauge("open_websockets", "WebSockets of clients that are open.", "format")
)

// Exchange has the numbers and labels of an ended request of a client.
type Exchange struct {
	Format   string // of the client
	Model    string // the configured name or pattern that matches the model; empty for none
	Provider string // the provider that was asked last; empty for none
	Outcome  string
	Duration time.Duration
}

// BeginExchange counts a request of a client as running, until EndExchange.
func BeginExchange(format string) { inFlight.WithLabelValues(format).Inc() }

// Queued counts a request that has waited for a provider, "" for the gateway, and is served, or is not for
// a reason: "full", "shed", "late" or "left".
func Queued(provider, result string) { queued.WithLabelValues(provider, result).Inc() }

// OpenSocket counts a WebSocket of a client as open, until it is closed.
func OpenSocket(format string) (closed func()) {
	open := openSockets.WithLabelValues(format)
	open.Inc()
	return open.Dec
}

// EndExchange counts the end of a request. e.Format must be the format of BeginExchange.
func EndExchange(e Exchange) {
	inFlight.WithLabelValues(e.Format).Dec()
	exchanges.WithLabelValues(e.Format, e.Model, e.Provider, e.Outcome).Inc()
	if e.Provider != "" {
		exchangeDuration.WithLabelValues(e.Model, e.Provider).Observe(e.Duration.Seconds())
	}
}

// Overhead counts the time from the last byte of a request to the first call of a provider.
func Overhead(format string, d time.Duration) { overhead.WithLabelValues(format).Observe(d.Seconds()) }
