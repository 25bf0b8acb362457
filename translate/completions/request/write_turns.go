package request

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// lineFeed separates texts of a user, escaped.
const lineFeed = `\n`

// Turn begins a turn.
func (w *writer) Turn(role core.Role) {
	p := &w.prompt
	switch w.role = role; role {
	case core.Instructions:
		p.join(&p.system)
	case core.System:
		w.lateSystem()
	case core.User:
		p.open(p.user, lineFeed)
	default:
		p.open(p.assistant, "")
	}
}

// lateSystem begins a late turn of the system at the place that the provider accepts.
func (w *writer) lateSystem() {
	p := &w.prompt
	switch mid := cmp.Or(w.x.Traits.MidSystem, lateSystem); {
	case mid == trait.MidSystemHoist, len(p.turns) == 0 && mid != trait.MidSystemKeep:
		p.join(&p.hoisted)
	case mid == trait.MidSystemUser:
		p.open(p.user, blankLine)
	default:
		p.open(p.note, blankLine)
	}
}

// Text adds a text to the turn.
func (w *writer) Text(text []byte) { w.prompt.add(text) }

// Refusal adds a text by which the assistant refuses.
func (w *writer) Refusal(text []byte) { w.prompt.add(text) }

// EndTurn ends the turn.
func (w *writer) EndTurn() {
	text := w.prompt.turnText()
	if w.guard(text); len(text) == 0 && w.role != core.Instructions {
		w.x.Keep(core.EmptyTurn, nil)
	}
	w.prompt.close(w.role == core.Assistant)
}

// guard refuses a turn whose text would forge other turns. Labels count only if the trait
// template_guard is set, since such lines are common in prose.
func (w *writer) guard(text []byte) {
	labels := w.prompt.labels
	if !w.x.Traits.TemplateGuard {
		labels = nil
	}
	if len(w.prompt.controls)+len(labels) == 0 {
		return
	}
	if bytes.Contains(text, []byte(`\u`)) {
		text = w.unhidden(text)
	}
	if sign := forged(text, w.prompt.controls, labels); sign != "" {
		w.refuse(sign, slices.Contains(labels, sign))
	}
}

// refuse refuses the turn because of a sign in its text.
func (w *writer) refuse(sign string, isLabel bool) {
	text := core.TurnText
	if w.role == core.Instructions {
		text = core.SystemText
	}
	fault := w.x.Info.RefuseControl(w.x.PathOf(text), sign)
	if fault.Trait = "prompt_template"; isLabel {
		fault.Trait = "template_guard"
	}
	w.x.Fail(fault)
}

// unhidden returns an escaped text with no more escapes than it needs. It is valid
// until the next call.
func (w *writer) unhidden(text []byte) []byte {
	decoded := jsonscan.AppendUnescaped(w.scratch[:0], text)
	w.scratch = jsonscan.AppendEscaped(decoded, decoded)
	return w.scratch[len(decoded):]
}
