package event

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
)

// ClientSignature returns the signature of an event as clients keep it beside the
// thinking that it signs. ok is false if that takes a seal and m has none.
func ClientSignature(m *translate.AnswerContext, e *Event) (signature []byte, ok bool) {
	switch {
	case e.Origin == "":
		return e.Text, true
	case m.Seals == nil:
		return nil, false
	}
	return m.Seals.Append(nil, seal.Item, e.Text), true
}
