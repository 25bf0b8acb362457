package metrics

var hedges = counter("hedges_total",
	"Requests whose first target had no content in time, by whether a second one was called.",
	"model", "result")

// Hedge counts a request whose first target had no content in time: a second one was "called", or it was
// "withheld" since the share of the model is used up. model is the configured name or pattern that matches the
// model of the request.
func Hedge(model, result string) { hedges.WithLabelValues(model, result).Inc() }
