package openai

import (
	"errors"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/signal"
)

var errNoChoice = errors.New("no choices")

// InspectAnswer reads a whole JSON answer. It returns a fault for an answer that
// contains an error object, or no choice.
func InspectAnswer(body []byte) (signal.Answer, *fault.Fault) {
	c := jsonscan.New(body)
	var e envelope
	if err := e.read(&c, func() { c.Skip() }); err != nil {
		return signal.Answer{}, fault.Unusable(err)
	}
	if e.failed() {
		return signal.Answer{}, fault.ReadAnswer(body)
	}
	if e.count == 0 {
		return signal.Answer{}, fault.Unusable(errNoChoice)
	}
	a := signal.Answer{Model: e.name()}
	if e.hasUsage {
		a.Usage = e.counts.Usage()
	}
	return a, nil
}
