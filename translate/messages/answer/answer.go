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

// answer contains the members read from a JSON answer.
type answer struct {
	wireEvent
	usage      token.Report
	hasContent bool
	isError    bool
	tokens     int64 // of a count_tokens answer, -1 for none
}

// Inspect reads a whole JSON answer to the operation. It returns a fault for an answer
// that contains an error object, no content, or no count of tokens. Counted tokens are
// the Input of the usage, which is not Known, since counting uses no tokens.
func Inspect(body []byte, op translate.Operation) (signal.Answer, *fault.Fault) {
	a := answer{tokens: -1}
	c := jsonscan.New(body)
	if err := a.read(&c); err != nil {
		return signal.Answer{}, fault.Unusable(err)
	}
	switch {
	case a.isError:
		return signal.Answer{}, fault.ReadAnswer(body)
	case op == translate.CountTokens && a.tokens < 0:
		return signal.Answer{}, fault.Unusable(errNoCount)
	case op == translate.CountTokens:
		return signal.Answer{Usage: token.Usage{Counts: token.Counts{Fresh: a.tokens}}}, nil
	case !a.hasContent:
		return signal.Answer{}, fault.Unusable(errNoContent)
	}
	return signal.Answer{Model: a.name(), Usage: a.usage.Usage()}, nil
}

// read reads the answer. A repeated member is no error: reading stops there, and keeps
// the members before it.
func (a *answer) read(c *jsonscan.Cursor) error {
	if !c.EnterObject() {
		c.Skip()
		return errors.Join(errNoContent, c.Finish())
	}
	for c.Member() {
		a.member(c)
	}
	return jsonscan.Broken(c.Finish())
}

func (a *answer) member(c *jsonscan.Cursor) {
	switch string(c.Name()) {
	case "type":
		a.isError = a.isError || string(c.StringOrSkip()) == `"error"`
	case "error":
		a.isError = a.isError || c.Kind() != jsonscan.Null
		c.Skip()
	case "content":
		a.hasContent = c.ArrayOrSkip() != nil
	case "model":
		a.model = c.StringOrSkip()
	case "usage":
		a.usage.Read(c, usageRows)
	case "input_tokens":
		a.tokens = -1
		token.ReadCount(c, &a.tokens)
	default:
		c.Skip()
	}
}

// AppendTokenCount appends the answer to a request that only counts its input.
func AppendTokenCount(dst []byte, tokens int64) []byte {
	return append(strconv.AppendInt(append(dst, `{"input_tokens":`...), tokens, 10), '}')
}
