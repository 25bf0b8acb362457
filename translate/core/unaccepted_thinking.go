package core

import (
	"bytes"
	"cmp"
	"strconv"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/edit"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

func (r *refusals) effort() {
	efforts := r.traits.ReasoningEffort
	switch {
	case r.switchesOff():
		return
	case efforts == trait.EffortOff, efforts == 0 && r.hasBudgetAlone():
		r.leave(translate.Shaping, EffortLow)
		return
	case efforts&^trait.EffortNone == 0, efforts == trait.EffortAll: // any word, as far as that is known
		return
	}
	row := r.rows.concepts[EffortLow]
	word := jsonscan.TextOf(r.at(EffortLow))
	stated := trait.EffortOf(strings.ToLower(word))
	if stated == 0 || efforts.Has(stated) {
		return
	}
	nearest := efforts.Nearest(stated).String()
	switch {
	case r.rows.names[row.path()+"="+nearest] == nil:
		r.leave(translate.Shaping, EffortLow)
		return
	case word == strings.ToUpper(word):
		nearest = strings.ToUpper(nearest)
	}
	r.change(EffortLow, jsonscan.AppendString(nil, nearest))
}

// switchesOff replaces the effort none with the member that switches thinking off, unless the request
// has the member as well. It reports whether it did. Only chat requests have their effort on top.
func (r *refusals) switchesOff() bool {
	if !r.traits.SwitchesOff() {
		return false
	}
	row := r.rows.concepts[EffortLow]
	if row == nil || strings.Contains(row.path(), ".") || r.statedEffort() != trait.EffortNone {
		return false
	}
	name, member := r.traits.ThinkingSwitch.Member()
	if r.stated.raw(name) != nil {
		return false
	}
	effort := r.stated.at(row.path())
	span := translate.Span{Start: effort.name.Start, End: effort.value.End}
	r.Edits = append(r.Edits, edit.Edit{Span: span, With: []byte(member)})
	return true
}

// switchedOff reports whether the request has the member that switches thinking off.
func (r *refusals) switchedOff() bool {
	path, off := r.traits.ThinkingSwitch.Off()
	return off != "" && string(r.stated.raw(path)) == off
}

// askedEffort returns the effort that the request states, by a word or by the switch of the provider.
func (r *refusals) askedEffort() trait.Efforts {
	if r.switchedOff() {
		return trait.EffortNone
	}
	return r.statedEffort()
}

// thinksNot reports whether the model gets the demand not to think.
func (r *refusals) thinksNot() bool {
	off := r.rows.concepts[ReasoningOff]
	switch {
	case r.switchedOff(), off != nil && r.states(off):
		return true
	case r.traits.SwitchesOff():
		name, _ := r.traits.ThinkingSwitch.Member()
		return r.statedEffort() == trait.EffortNone && r.stated.raw(name) == nil
	}
	return r.traits.ReasoningEffort.Has(trait.EffortNone) && r.statedEffort() == trait.EffortNone
}

// replay gives the reasoning of earlier chat turns, which may be of another service, the name that the
// provider takes, or leaves it out. Few requests contain another name, so that a search for it spares
// reading the turns.
func (r *refusals) replay() {
	replay := r.traits.ReasoningReplay
	if replay == trait.ReplayNone {
		return
	}
	own := replay.Field()
	for _, name := range [...]string{"reasoning_content", "reasoning"} {
		row := r.rows.names["messages[*]."+name]
		switch {
		case row == nil, name == own, !bytes.Contains(r.stated.body, []byte(`"`+name+`"`)):
		case own == "":
			r.Members.Add(translate.Shaping, row.Path)
		default:
			r.renameInTurns(name, own)
		}
	}
}

// renameInTurns gives a member of messages another name, unless the message has this one as well.
func (r *refusals) renameInTurns(from, to string) {
	for turn := range r.stated.objects(r.stated.at("messages")) {
		if old, has := turn[from]; has && turn[to].value.Empty() {
			r.Edits = append(r.Edits, edit.Edit{Span: old.name, With: jsonscan.AppendString(nil, to)})
		}
	}
}

// hasBudgetAlone reports whether a format that has budgets beside efforts asks the model by budgets
// alone, or not at all.
func (r *refusals) hasBudgetAlone() bool {
	style := r.traits.Thinking
	return (style == trait.ThinkingBudget || style == trait.ThinkingNone) && r.rows.Has(ReasoningAdaptive)
}

// thinking is for formats that ask for thinking beside the effort.
func (r *refusals) thinking() {
	style := r.traits.Thinking
	if style == trait.ThinkingDefault || !r.rows.Has(ReasoningAdaptive) {
		return
	}
	adaptive, on := r.rows.concepts[ReasoningAdaptive], r.rows.concepts[ReasoningOn]
	switch {
	case on == nil: // the budget is the only way, and -1 is adaptive
		if !style.TakesBudget() {
			r.leave(translate.Shaping, ReasoningAdaptive)
		}
	case style.Adapts() && !style.TakesBudget() && r.states(on):
		r.replace(on.path(), on.path(), jsonscan.AppendString(nil, adaptive.value))
		r.Members.Add(translate.Shaping, r.rows.concepts[ReasoningBudget].path())
	case style == trait.ThinkingAlways && r.states(r.rows.concepts[ReasoningOff]),
		style == trait.ThinkingNone && r.states(on),
		!style.Adapts() && r.states(adaptive):
		r.leave(translate.Shaping, ReasoningOn)
	}
}

// leastText is the part of an answer that thinking leaves to the text, in tokens.
const leastText = 1024

// budget bounds the budget of thinking. It must be less than the bound of the answer where the bound
// includes it.
func (r *refusals) budget(view *translate.View) {
	bounds, most := r.traits.ThinkingBudget, r.traits.MaxOutputTokens
	long := most > leastText && view.MaxTokens > most && r.rows.Has(ReasoningBudget)
	if bounds.Most == 0 && !long {
		return
	}
	row := cmp.Or(r.rows.concepts[ReasoningBudget], r.rows.concepts[ReasoningAdaptive]) // some formats have one number for both
	if row == nil {
		return
	}
	asked := r.number(row)
	budget := bounds.Clamp(asked)
	if long {
		budget = min(budget, most-leastText)
	}
	if asked > 0 && budget != asked { // 0 and less are words: not at all, or as the model likes
		r.replace(row.path(), row.path(), strconv.AppendInt(nil, budget, 10))
	}
}
