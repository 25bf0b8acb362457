package core

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/edit"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// Unaccepted is what of a valid request a provider of the same format refuses by its traits.
type Unaccepted struct {
	Members translate.Losses // to leave out, if the request has them
	Moved   []string         // paths of members to leave out, since Edits put them elsewhere
	Edits   []edit.Edit      // of values; the provider gets the nearest that it accepts
	Changed translate.Losses // the members with these values
}

// Empty reports whether the provider accepts the request.
func (u *Unaccepted) Empty() bool { return u.Members == nil && u.Moved == nil && u.Edits == nil }

// Unaccepted returns what a provider of the same format refuses, nothing as a rule. Of the items of
// lists, it changes the name of earlier reasoning, the ids of calls and the last breakpoint of the cache alone. It reads the body only
// if the traits need it.
func (s *Source) Unaccepted(body []byte, view *translate.View, traits *trait.Traits) Unaccepted {
	r := refusals{stated: stated{body: body}, rows: s.Rows, traits: traits}
	r.sampling()
	r.penalties()
	r.schemas()
	r.calls()
	r.effort()
	r.thinking()
	r.replay()
	r.callIDs()
	r.budget(view)
	r.bounds(view)
	r.requestCache()
	return r.Unaccepted
}

// refusals collect what is refused. Each of their methods is about one kind.
type refusals struct {
	Unaccepted
	stated stated
	rows   *Rows
	traits *trait.Traits
}

// samplingOptions are the options that models without sampling refuse.
var samplingOptions = []Concept{Temperature, TopP, TopK, Logprobs, TopLogprobs}

func (r *refusals) sampling() {
	switch sampling := r.traits.Sampling; {
	case !sampling.BesideAny() && !sampling.Beside(r.askedEffort()):
		r.leaveUnusual(samplingOptions)
	case sampling == trait.SamplingOne && r.at(Temperature) != nil:
		r.leaveUnusual([]Concept{TopP})
	}
}

// penalties are the options that weigh tokens.
var penalties = []Concept{PresencePenalty, FrequencyPenalty, LogitBias}

func (r *refusals) penalties() {
	if r.traits.NoPenalties {
		r.leaveUnusual(penalties)
	}
}

// schemas are those of answers and of tools, which a model without an option for them refuses.
func (r *refusals) schemas() {
	if kind := r.traits.JSONSchema; kind != trait.JSONSchemaInstruct && kind != trait.JSONSchemaObject {
		return
	}
	if row := r.rows.concepts[FormatSchema]; row != nil && r.states(row) {
		r.leave(translate.Shaping, FormatSchema)
	}
	if r.traits.JSONSchema == trait.JSONSchemaInstruct {
		r.leave(translate.Shaping, ToolStrict)
	}
}

func (r *refusals) calls() {
	if r.traits.MaxStops == trait.NoStops {
		r.leave(translate.Shaping, Stops)
	}
	if r.traits.NoParallelToolCalls {
		r.leave(translate.Hint, ParallelCalls)
	}
	switch r.traits.ToolChoice {
	case trait.ToolChoiceAny:
		return
	case trait.ToolChoiceEffortNone:
		if r.thinksNot() {
			return
		}
	case trait.ToolChoiceAuto:
	}
	for i := range r.rows.list {
		if row := &r.rows.list[i]; (row.Concept == ToolChoiceRequired || row.Concept == ToolChoiceNamed) && r.states(row) {
			r.choose(row)
		}
	}
}

// choose replaces a choice that forces a call with the one that is free: at the same place, or else
// as a whole.
func (r *refusals) choose(forced *Row) {
	free := r.rows.concepts[ToolChoiceAuto]
	for i := range r.rows.list {
		if row := &r.rows.list[i]; row.Concept == ToolChoiceAuto && row.path() == forced.path() {
			free = row
			r.Members.Add(translate.Shaping, r.rows.concepts[ToolChoiceName].path())
			break
		}
	}
	r.replace(forced.Path, free.path(), jsonscan.AppendString(nil, free.value))
}

// bounds are those of the answer.
func (r *refusals) bounds(view *translate.View) {
	most := r.traits.MaxOutputTokens
	for _, c := range [...]Concept{MaxTokens, OlderMaxTokens} {
		if most > 0 && view.MaxTokens > most && r.number(r.rows.concepts[c]) > most {
			r.change(c, strconv.AppendInt(nil, most, 10))
		}
	}
	if efforts := r.traits.ReasoningEffort; r.traits.MaxCompletionTokens && efforts != 0 && efforts != trait.EffortOff {
		r.rename(OlderMaxTokens, MaxTokens) // models that reason refuse the older name
	}
}

// usual are the values of options that change nothing. Many clients send them with every request.
var usual = map[Concept][]string{
	Temperature: {"1", "1.0"}, TopP: {"1", "1.0"}, PresencePenalty: {"0", "0.0"}, FrequencyPenalty: {"0", "0.0"}, LogitBias: {"{}", "null"},
}

// leaveUnusual leaves out options. Those whose values are usual shape nothing.
func (r *refusals) leaveUnusual(options []Concept) {
	for _, c := range options {
		class := translate.Shaping
		if slices.Contains(usual[c], string(r.at(c))) {
			class = translate.Hint
		}
		r.leave(class, c)
	}
}

// leave leaves out the member that states a concept.
func (r *refusals) leave(class translate.LossClass, c Concept) {
	if row := r.rows.concepts[c]; row != nil && !strings.Contains(row.Path, "[") {
		r.Members.Add(class, row.Path)
	}
}

// change replaces the value of the member that states a concept.
func (r *refusals) change(c Concept, value []byte) {
	row := r.rows.concepts[c]
	r.replace(row.Path, row.path(), value)
}

// replace replaces the value at a path, and reports another one, which may be that of its object.
func (r *refusals) replace(reported, path string, value []byte) {
	r.Changed.Add(translate.Shaping, reported)
	r.Edits = append(r.Edits, edit.Edit{Span: r.stated.at(path).value, With: value})
}

// rename gives the member that states a concept the name that another concept has, unless the request
// has both.
func (r *refusals) rename(from, to Concept) {
	old, name := r.rows.concepts[from], r.rows.concepts[to]
	if old != nil && name != nil && r.at(from) != nil && r.at(to) == nil {
		r.Edits = append(r.Edits, edit.Edit{Span: r.stated.at(old.path()).name, With: jsonscan.AppendString(nil, name.path())})
	}
}

// at returns the value of the member that states a concept, nil for none.
func (r *refusals) at(c Concept) []byte {
	if row := r.rows.concepts[c]; row != nil {
		return r.stated.raw(row.path())
	}
	return nil
}

// states reports whether the value of a member is the one that a row is about.
func (r *refusals) states(row *Row) bool {
	return row.value != "" && jsonscan.TextOf(r.stated.raw(row.path())) == row.value
}

// number returns the number that the member of a row states, 0 for none.
func (r *refusals) number(row *Row) int64 {
	if row == nil {
		return 0
	}
	n, _ := jsonscan.Integer(r.stated.raw(row.path()))
	return n
}

// statedEffort returns the effort that the request states, an empty set for none. A word that no model
// has is some effort.
func (r *refusals) statedEffort() trait.Efforts {
	switch stated := r.at(EffortLow); {
	case stated == nil, string(stated) == "null":
		return 0
	default:
		return cmp.Or(trait.EffortOf(strings.ToLower(jsonscan.TextOf(stated))), trait.EffortMedium)
	}
}
