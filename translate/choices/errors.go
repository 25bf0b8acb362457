package choices

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/modelcard"
)

// KeepAlive is a comment, which readers of event streams skip.
var KeepAlive = fault.KeepAlive(translate.Chat)

// Errors is how failed requests are answered.
var Errors = format.Errors{
	Status: func(f *fault.Fault) int { return f.Status(translate.Chat) },
	Append: func(dst []byte, f *fault.Fault, requestID string) []byte {
		return fault.AppendBody(dst, f, translate.Chat, requestID)
	},
	AppendEvent: func(dst []byte, f *fault.Fault, requestID string) []byte {
		return fault.AppendEvent(dst, f, translate.Chat, requestID)
	},
	Relayable: func(status int, body []byte) bool { return fault.Relayable(status, body, translate.Chat) },
	RelayableEvent: func(name, data []byte) bool {
		return fault.RelayableEvent(name, data, translate.Chat)
	},
}

// Models is the shape of lists of models.
var Models = format.Models{
	Append: func(dst []byte, m modelcard.Card) []byte { return modelcard.AppendEntry(dst, translate.Chat, m) },
	AppendList: func(dst []byte, models []modelcard.Card, more bool) []byte {
		return modelcard.Append(dst, translate.Chat, models, more)
	},
}
