package responses

import (
	"errors"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

var errNoCount = errors.New("no input_tokens")

// InspectAnswer reads a whole JSON answer to the operation. An error in it is a
// fault, and so is what has no output, or no count of tokens. The tokens counted
// are the Input of its usage, which is not Known: counting uses none up.
func InspectAnswer(body []byte, op translate.Operation) (translate.Answer, *translate.Fault) {
	if op == translate.CountTokens {
		return inspectCount(body)
	}
	c := jsonscan.New(body)
	var h head
	if err := h.skim(&c); err != nil {
		return translate.Answer{}, translate.Unusable(err)
	}
	switch {
	case h.isFault():
		return translate.Answer{}, readFault(body)
	case h.output == nil:
		return translate.Answer{}, translate.Unusable(errNoOutput)
	}
	return translate.Answer{Model: string(jsonscan.AppendText(nil, h.model)), Usage: h.counts.usage()}, nil
}

// inspectCount reads the answer to a request that only counted its input.
func inspectCount(body []byte) (translate.Answer, *translate.Fault) {
	c := jsonscan.New(body)
	tokens, failed := int64(-1), false
	if !c.EnterObject() {
		c.Skip()
		return translate.Answer{}, translate.Unusable(errors.Join(errNoObject, c.Finish()))
	}
	for c.Member() {
		switch string(c.Name()) {
		case "input_tokens":
			translate.ReadCount(&c, &tokens)
		case "error":
			failed = c.Kind() != jsonscan.Null
			c.Skip()
		default:
			c.Skip()
		}
	}
	switch err := jsonscan.Broken(c.Finish()); {
	case err != nil:
		return translate.Answer{}, translate.Unusable(err)
	case failed:
		return translate.Answer{}, readFault(body)
	case tokens < 0:
		return translate.Answer{}, translate.Unusable(errNoCount)
	}
	return translate.Answer{Usage: translate.Usage{Input: tokens}}, nil
}
