package chat

import (
	"bytes"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// The budgets, in tokens, below which reasoning counts as low, medium and high.
const (
	lowBudget    = 2048
	mediumBudget = 8192
	highBudget   = 24576
)

// writeReasoning asks for as much reasoning as the client wants.
func (w *writer) writeReasoning() {
	o := &w.x.Options
	effort := o.OneOf(core.EffortNone, core.EffortOther)
	kind := o.OneOf(core.ReasoningOn, core.ReasoningOff)
	switch {
	case w.x.Traits.Extension(translate.Chat, templateArguments):
		w.switchThinking(kind)
		w.loseEffort(effort)
	case kind == core.ReasoningOff:
		w.loseEffort(effort)
		w.writeEffort(core.EffortNone, o[kind].Row)
	case effort != core.Nothing:
		w.writeEffort(effort, o[effort].Row)
	case kind == core.ReasoningOn:
		w.writeEffort(w.effortOfBudget(), o[kind].Row)
	}
}

// loseEffort reports the loss of an effort that the provider cannot have beside
// something else.
func (w *writer) loseEffort(effort core.Concept) {
	if effort != core.Nothing {
		w.x.Lose(w.x.Options[effort].Row, nil)
	}
}

// writeEffort writes an effort that the provider takes; the row is that of the
// field which asks for it.
func (w *writer) writeEffort(effort core.Concept, row *core.Row) {
	if w.x.KeepAs(effort, row, nil) {
		w.out.Word("reasoning_effort", effortOf(effort).String())
	}
}

// effortOf returns the word of a concept.
func effortOf(c core.Concept) translate.Efforts { return translate.EffortNone << (c - core.EffortNone) }

// switchThinking turns the thinking of a template on or off, unless the client has
// used that field itself.
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

// effortOfBudget returns the effort that a budget of reasoning amounts to.
func (w *writer) effortOfBudget() core.Concept {
	budget, ok := jsonscan.Integer(w.x.Options.Raw(core.ReasoningBudget))
	switch {
	case !ok:
		if w.x.Options.Has(core.ReasoningBudget) {
			w.x.InvalidOption(core.ReasoningBudget, "must be an integer")
		}
		return core.EffortLow
	case budget < lowBudget:
		return core.EffortLow
	case budget < mediumBudget:
		return core.EffortMedium
	case budget < highBudget, !w.x.Can(core.EffortXHigh):
		return core.EffortHigh
	default:
		return core.EffortXHigh
	}
}
