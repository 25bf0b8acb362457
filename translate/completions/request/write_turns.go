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

// Turn begins a turn. A late turn of the system has the place that the provider accepts.
func (w *writer) Turn(role core.Role) {
	p, mid := &w.prompt, cmp.Or(w.x.Traits.MidSystem, lateSystem)
	switch w.role = role; {
	case role == core.Instructions:
		p.join(&p.system)
	case role == core.User:
		p.open(p.user, lineFeed)
	case role == core.Assistant:
		p.open(p.assistant, "")
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
	sign := forged(text, w.prompt.controls, labels)
	if sign == "" {
		return
	}
	path := w.x.PathOf(core.TurnText)
	if w.role == core.Instructions {
		path = w.x.PathOf(core.SystemText)
	}
	fault := w.x.Info.RefuseControl(path, sign)
	if fault.Log.Trait = "prompt_template"; slices.Contains(labels, sign) {
		fault.Log.Trait = "template_guard"
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
