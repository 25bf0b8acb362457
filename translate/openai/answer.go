package openai

import (
	"errors"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/signal"
)

var errNoChoice = errors.New("no choices")

// InspectAnswer reads a whole JSON answer of either format. It returns a fault for an answer
// that contains an error object, or no choice.
func InspectAnswer(body []byte, _ translate.Operation) (signal.Answer, *fault.Fault) {
	var d document
	if err := d.read(body, true, nil, nil); err != nil {
		return signal.Answer{}, fault.Unusable(err)
	}
	if d.failed() {
		return signal.Answer{}, fault.ReadAnswer(body)
	}
	if d.count == 0 {
		return signal.Answer{}, fault.Unusable(errNoChoice)
	}
	a := signal.Answer{Model: d.model()}
	if d.hasUsage {
		a.Usage = d.report.Usage()
	}
	return a, nil
}
