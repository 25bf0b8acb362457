package converse

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/converse/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/converse/request"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/singleanswer"
)

// Descriptor describes the format. It lacks what only clients need.
var Descriptor = format.Descriptor{
	Name:           translate.Converse,
	TraceOperation: "chat",
	Provider:       Provider,
	Requests:       format.Requests{Target: &request.Target},
	Answers: format.Answers{
		NewObserver: singleanswer.NewObserver(answer.NewParser),
		Inspect:     answer.Inspect,
		NewParser:   func(h event.Handler) format.Parser { return answer.NewParser(h) },
		TokenCount:  answer.AppendTokenCount,
	},
	Errors: format.Errors{Dialect: &answer.Dialect, Status: (*fault.Fault).Status},
}
