package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/jsonschema"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/parts"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// readInclude reads what the answer is to have beside what it always has.
func readInclude(x *core.Translation, raw []byte) {
	for _, word := range jsonschema.Elements(raw) {
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

// replaced are the options that a member of a change replaces, the first and the last.
var replaced = map[string][2]core.Concept{
	"reasoning.effort":           {core.EffortNone, core.EffortOther},
	"reasoning.summary":          {core.ReasoningShown, core.ReasoningHidden},
	"reasoning.generate_summary": {core.ReasoningShown, core.ReasoningHidden},
	"text.format":                {core.FormatText, core.SchemaStrict},
	"text.verbosity":             {core.Verbosity, core.Verbosity},
}

// apply puts the settings in place of those of the request.
func (u *update) apply(x *core.Translation) {
	now := x.At
	x.At = u.place
	u.replace(x, "reasoning", u.reasoning)
	u.replace(x, "text", u.text)
	x.At = now
}

// replace reads the object of settings at a path, unless it is absent.
func (u *update) replace(x *core.Translation, path string, raw []byte) {
	for name := range jsonscan.Members(raw) {
		if options, ok := replaced[path+"."+string(name)]; ok {
			x.Options.Clear(options[0], options[1])
		}
	}
	if raw != nil {
		c := jsonscan.Again(raw)
		x.ReadObject(&c, path)
	}
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
	o.FoldTopLogprobs(x, loneTopLogprobsRow)
}
