package request

import (
	"bytes"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
)

// writeReasoning writes the effort of reasoning.
func (w *writer) writeReasoning() {
	if w.x.Traits.Extension(templateArguments) {
		w.switchThinking(w.x.Options.OneOf(core.ReasoningOn, core.ReasoningOff))
		w.x.LoseEffort(w.x.Options.OneOf(core.EffortNone, core.EffortOther))
		return
	}
	effort, row := w.x.Effort()
	if effort != core.Nothing && w.x.KeepAs(effort, row, nil) {
		w.out.Word("reasoning_effort", core.EffortOf(effort).String())
	}
}

// switchThinking turns the thinking of a template on or off, unless the client has set
// the field itself.
func (w *writer) switchThinking(kind core.Concept) {
	if kind == core.Nothing || bytes.Contains(w.x.Extensions, []byte(`,"`+templateArguments+`":`)) {
		return
	}
	on := "true"
	if kind == core.ReasoningOff {
		on = "false"
	}
	w.out.Raw(templateArguments, []byte(`{"enable_thinking":`+on+`}`))
}
