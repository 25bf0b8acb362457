package gemini

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/gemini/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/gemini/request"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/turn"
)

// Descriptor describes the format. It lacks what only clients need.
var Descriptor = format.Descriptor{
	Name:           translate.Gemini,
	TraceOperation: "generate_content",
	Provider:       Provider,
	Requests:       format.Requests{Target: &request.Target},
	Answers: format.Answers{
		NewObserver: turn.NewObserver(answer.NewParser),
		Inspect:     answer.Inspect,
		NewParser:   func(h event.Handler) format.Parser { return answer.NewParser(h) },
		NewEmitter:  func(m *translate.AnswerContext, ids translate.IDs) format.Emitter { return answer.NewEmitter(m, ids) },
		KeepAlive:   answer.KeepAlive,
		TokenCount:  answer.AppendTokenCount,
	},
	Errors: format.Errors{
		Dialect: &answer.Dialect, Status: answer.Status, Append: answer.AppendError, AppendEvent: answer.AppendErrorEvent,
		Aborts: true,
	},
	Models: Models,
}
