package answer

import (
	"errors"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/members"
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
	var r reading
	switch err := r.read(body, responses, nil); {
	case err != nil:
		return signal.Answer{}, fault.Unusable(err)
	case r.isFault():
		failed := r.is(failed) && r.hasOutput() && Dialect.RelayableAnswer(body)
		return signal.Answer{Failed: failed}, r.fault()
	case !r.hasOutput():
		return signal.Answer{}, fault.Unusable(errNoOutput)
	}
	var report token.Report
	r.count(&report)
	return signal.Answer{Model: jsonscan.TextOf(r.Raw(responseModel)), Usage: report.Usage()}, nil
}

// The members of an answer to a request that only counts its input.
var (
	counted       = members.New(inAnswer)
	countedTokens = counted.Maybe(members.Number, "input_tokens")
	countedError  = counted.Maybe(members.Any, "error")
)

// inspectCount reads the answer to a request that only counts its input.
func inspectCount(body []byte) (signal.Answer, *fault.Fault) {
	var r reading
	err := r.read(body, counted, nil)
	tokens := r.Raw(countedTokens)
	switch n, isCount := jsonscan.Integer(tokens); {
	case err != nil:
		return signal.Answer{}, fault.Unusable(err)
	case isSet(r.Raw(countedError)):
		return signal.Answer{}, fault.ReadAnswer(body)
	case !isCount || n < 0:
		return signal.Answer{}, fault.Unusable(errNoCount)
	}
	return signal.Answer{Usage: token.Usage{Counts: token.Counts{Fresh: token.CountOf(tokens)}}}, nil
}
