package choices

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
)

// KeepAlive is a comment, which readers of event streams skip.
var KeepAlive = translate.KeepAlive(translate.Chat)

// Errors is how failed requests are answered.
var Errors = format.Errors{
	Status: func(f *translate.Fault) int { return f.Status(translate.Chat) },
	Append: func(dst []byte, f *translate.Fault, requestID string) []byte {
		return translate.AppendFault(dst, f, translate.Chat, requestID)
	},
	AppendEvent: func(dst []byte, f *translate.Fault, requestID string) []byte {
		return translate.AppendFaultEvent(dst, f, translate.Chat, requestID)
	},
	Relayable: func(status int, body []byte) bool { return translate.Relayable(status, body, translate.Chat) },
	RelayableEvent: func(name, data []byte) bool {
		return translate.RelayableEvent(name, data, translate.Chat)
	},
}

// Models is the shape of lists of models.
var Models = format.Models{
	Append: func(dst []byte, m translate.Model) []byte { return translate.AppendModel(dst, translate.Chat, m) },
	AppendList: func(dst []byte, models []translate.Model, more bool) []byte {
		return translate.AppendModelList(dst, translate.Chat, models, more)
	},
}
