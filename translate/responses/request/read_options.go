package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/parts"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// readInclude reads what the answer is to have beside what it always has.
func readInclude(x *core.Translation, raw []byte) {
	for _, word := range elementsOf(raw) {
		switch string(jsonscan.Inner(word)) {
		case includeReasoning:
			x.Answer.Seals = x.Info.Seals
		case includeLogprobs:
			x.SetOption(logprobsRow, []byte("true"))
		default:
			x.Lose(otherIncludeRow, nil)
		}
	}
}

// update is a change of settings in the middle of the input: raw objects at a place.
type update struct {
	place           core.Place
	reasoning, text []byte
}

// apply puts the settings in place of those of the request.
func (u *update) apply(x *core.Translation) {
	o := &x.Options
	for name := range jsonscan.Members(u.reasoning) {
		switch string(name) {
		case "effort":
			o.Clear(core.EffortNone, core.EffortOther)
		case "summary", "generate_summary":
			o.Clear(core.ReasoningShown, core.ReasoningHidden)
		}
	}
	for name := range jsonscan.Members(u.text) {
		switch string(name) {
		case "format":
			o.Clear(core.FormatText, core.SchemaStrict)
		case "verbosity":
			o.Clear(core.Verbosity, core.Verbosity)
		}
	}
	now := x.At
	x.At = u.place
	if u.reasoning != nil {
		c := jsonscan.Again(u.reasoning)
		x.ReadObject(&c, "reasoning")
	}
	if u.text != nil {
		c := jsonscan.Again(u.text)
		x.ReadObject(&c, "text")
	}
	x.At = now
}

// foldOptions makes one option of those that the client may give in two ways, and drops
// options that depend on others.
func foldOptions(x *core.Translation) {
	o := &x.Options
	o.FoldUser(x, secondUserRow)
	o.FoldParallelCalls()
	parts.FoldModeration(x)
	if !o.Has(core.FormatSchema) { // only this format of the answer has a schema
		for c := core.Schema; c <= core.SchemaStrict; c++ {
			if o.Has(c) {
				x.Lose(strayFormatRow, nil)
			}
		}
		o.Clear(core.Schema, core.SchemaStrict)
	} else if !o.Has(core.Schema) {
		x.Invalid("text.format.schema", "required")
	}
	o.FoldTopLogprobs(x)
}
