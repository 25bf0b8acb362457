package answer

import (
	"errors"
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/signal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

var (
	errNoContent = errors.New("no content")
	errNoCount   = errors.New("no input_tokens")
)

// Inspect reads a whole JSON answer to the operation. It returns a fault for an answer
// that contains an error object, no content, or no count of tokens. Counted tokens are
// the Input of the usage, which is not Known, since counting uses no tokens.
func Inspect(body []byte, op translate.Operation) (signal.Answer, *fault.Fault) {
	var r reading
	if err := r.read(body, messages, nil); err != nil {
		return signal.Answer{}, fault.Unusable(err)
	}
	switch {
	case r.isError():
		return signal.Answer{}, fault.ReadAnswer(body)
	case op == translate.CountTokens:
		raw := r.whole.Raw(messageTokens)
		if n, ok := jsonscan.Integer(raw); !ok || n < 0 {
			return signal.Answer{}, fault.Unusable(errNoCount)
		}
		return signal.Answer{Usage: token.Usage{Counts: token.Counts{Fresh: token.CountOf(raw)}}}, nil
	case !r.hasContent():
		return signal.Answer{}, fault.Unusable(errNoContent)
	}
	var report token.Report
	r.count(&r.whole, messageUsage, &report)
	return signal.Answer{Model: jsonscan.TextOf(r.whole.Raw(messageModel)), Usage: report.Usage()}, nil
}

// isError reports whether a JSON answer is an error.
func (r *reading) isError() bool {
	raw := r.whole.Raw(messageError)
	return raw != nil && string(raw) != "null" || string(r.whole.Raw(messageType)) == `"error"`
}

// hasContent reports whether a JSON answer has a list of blocks. Servers written in Go send
// null for an empty one.
func (r *reading) hasContent() bool {
	raw := r.whole.Raw(messageContent)
	return raw != nil && (raw[0] == '[' || raw[0] == 'n')
}

// AppendTokenCount appends the answer to a request that only counts its input.
func AppendTokenCount(dst []byte, tokens int64) []byte {
	return append(strconv.AppendInt(append(dst, `{"input_tokens":`...), tokens, 10), '}')
}
