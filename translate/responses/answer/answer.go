package answer

import (
	"errors"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/signal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

var errNoCount = errors.New("no input_tokens")

// Inspect reads a whole JSON answer to the operation. It returns a fault for an answer
// that contains an error object, no output, or no count of tokens. Counted tokens are
// the Input of the usage, which is not Known, since counting uses no tokens.
func Inspect(body []byte, op translate.Operation) (signal.Answer, *fault.Fault) {
	if op == translate.CountTokens {
		return inspectCount(body)
	}
	c := jsonscan.New(body)
	var h head
	if err := h.skim(&c); err != nil {
		return signal.Answer{}, fault.Unusable(err)
	}
	switch {
	case h.isFault():
		failed := string(h.status) == `"failed"` && h.output != nil && Dialect.RelayableAnswer(body)
		return signal.Answer{Failed: failed}, h.readFault(body)
	case h.output == nil:
		return signal.Answer{}, fault.Unusable(errNoOutput)
	}
	return signal.Answer{Model: string(jsonscan.AppendText(nil, h.model)), Usage: h.counts.Usage()}, nil
}

// inspectCount reads the answer to a request that only counts its input.
func inspectCount(body []byte) (signal.Answer, *fault.Fault) {
	c := jsonscan.New(body)
	tokens, failed := int64(-1), false
	if !c.EnterObject() {
		c.Skip()
		return signal.Answer{}, fault.Unusable(errors.Join(errNoObject, c.Finish()))
	}
	for c.Member() {
		switch string(c.Name()) {
		case "input_tokens":
			token.ReadCount(&c, &tokens)
		case "error":
			failed = c.Kind() != jsonscan.Null
			c.Skip()
		default:
			c.Skip()
		}
	}
	switch err := jsonscan.Broken(c.Finish()); {
	case err != nil:
		return signal.Answer{}, fault.Unusable(err)
	case failed:
		return signal.Answer{}, fault.ReadAnswer(body)
	case tokens < 0:
		return signal.Answer{}, fault.Unusable(errNoCount)
	}
	return signal.Answer{Usage: token.Usage{Counts: token.Counts{Fresh: tokens}}}, nil
}
