package request

import (
	"bytes"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
)

// writeReasoning writes the effort of reasoning. Without one, the provider's default
// replaces adaptive reasoning.
func (w *writer) writeReasoning() {
	if !w.writeEffort() && w.x.Options.Has(core.ReasoningAdaptive) {
		w.x.Keep(core.ReasoningAdaptive, nil)
	}
}

// writeEffort writes the effort, or the switch, of reasoning. It reports whether one of
// them decides for the provider.
func (w *writer) writeEffort() bool {
	if w.x.Traits.Extension(templateArguments) {
		w.switchThinking(w.x.Options.OneOf(core.ReasoningOn, core.ReasoningOff))
		w.x.LoseEffort(w.x.Options.OneOf(core.EffortNone, core.EffortOther))
		return true
	}
	effort, row := w.x.Effort()
	if effort == core.Nothing || !w.x.KeepAs(effort, row, nil) {
		return false
	}
	w.out.Word("reasoning_effort", core.EffortOf(effort).String())
	return true
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
