package observe

import "github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"

// capturedCall is a call of a provider in a capture.
type capturedCall struct {
	Provider string           `json:"provider"`
	Model    string           `json:"upstream_model"`
	End      exchange.CallEnd `json:"end"`
	Status   int              `json:"status"`
}

// passedOver is a target in a capture that was not asked.
type passedOver struct {
	Provider string          `json:"provider"`
	Model    string          `json:"upstream_model"`
	Reason   exchange.Reason `json:"reason"`
}

// captured returns what a capture contains of an ended exchange beside the wire: the fields of
// the log, each call of a provider with its end, and the targets that were passed over. What
// is unknown is left out.
func captured(ex *exchange.Exchange) map[string]any {
	fields := make(map[string]any)
	for _, p := range placeholders {
		if value := p.value(ex); value != nil {
			fields[p.name] = value
		}
	}
	calls, passed := []capturedCall{}, []passedOver{}
	for _, c := range ex.Course.Calls {
		calls = append(calls, capturedCall{c.Provider, c.Model, c.End, c.Status})
	}
	for _, p := range ex.Course.PassedOver {
		passed = append(passed, passedOver{p.Provider, p.Model, p.Reason})
	}
	fields["calls"], fields["passed_over"] = calls, passed
	return fields
}
