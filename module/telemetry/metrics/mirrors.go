package metrics

var mirrors = counter("mirrors_total",
	"Copies of requests for the mirror of a model, by their outcome.",
	"model", "outcome")

// Mirror counts a copy of a request that has ended, or that was dropped. model is the configured name
// or pattern that matches the model of the request.
func Mirror(model, outcome string) { mirrors.WithLabelValues(model, outcome).Inc() }
