package choices

import (
	"errors"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

var errNoChoice = errors.New("no choices")

// InspectAnswer reads a whole JSON answer. An error object in it is a fault,
// and so is what has no choice.
func InspectAnswer(body []byte) (translate.Answer, *translate.Fault) {
	c := jsonscan.New(body)
	var e envelope
	if err := e.read(&c, func() { c.Skip() }); err != nil {
		return translate.Answer{}, translate.Unusable(err)
	}
	if e.failed() {
		return translate.Answer{}, translate.ReadAnswerFault(body)
	}
	if e.count == 0 {
		return translate.Answer{}, translate.Unusable(errNoChoice)
	}
	a := translate.Answer{Model: e.name()}
	if e.hasUsage {
		a.Usage = e.counts.usage()
	}
	return a, nil
}
