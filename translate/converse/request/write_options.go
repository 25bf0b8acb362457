package request

import (
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// writeConfig writes the options that all models have in common. effort is the word for the
// effort of thinking, "" for none.
func (w *writer) writeConfig(members *core.Members, effort string) {
	x, o := w.x, &w.x.Options
	var config core.Members
	if n, ok := x.MaxTokens(); ok {
		config.Number("maxTokens", n)
	}
	if raw := o.Raw(core.Temperature); raw != nil && samples(x, w.thinks, core.Temperature, core.TemperatureBesideReasoning) {
		config.Raw("temperature", clamped(x, raw))
	}
	if o.Has(core.TopP) && samples(x, w.thinks, core.TopP, core.TopPBesideReasoning) {
		config.Option("topP", &o[core.TopP])
	}
	stopped := core.AppendStops(&config, x, "stopSequences", w.vendor.stops, false)
	writeObject(members, "inferenceConfig", config)
	if stopped { // the model's own answer states which text has ended it
		members.Raw("additionalModelResponseFieldPaths", []byte(`["/stop_sequence","/delta/stop_sequence"]`))
	}
	if core.EnforceSchema(x); string(o.Raw(core.SchemaStrict)) == "false" { // the service enforces every schema
		x.Lose(o[core.SchemaStrict].Row, nil)
	}
	writeOutput(members, o, effort)
	if word, ok := tiers[o.OneOf(core.TierAuto, core.TierPriority)]; ok {
		members.Name("serviceTier")
		*members = append(append(append(*members, `{"type":"`...), word...), `"}`...)
	}
}

// samples reports whether the model accepts an option of sampling, other than 1, beside its
// thinking.
func samples(x *core.Translation, thinks bool, c, companion core.Concept) bool {
	option := &x.Options[c]
	one, _ := jsonscan.Integer(option.Raw)
	return !thinks || one == 1 || x.KeepAs(companion, option.Row, nil)
}

// writeObject writes a member that is an object, unless it is empty.
func writeObject(members *core.Members, name string, object core.Members) {
	if len(object) > 0 {
		object[0] = '{'
		members.Raw(name, append(object, '}'))
	}
}

// clamped returns a temperature within the bounds of the format, whose maximum is the default of
// other formats.
func clamped(x *core.Translation, raw []byte) []byte {
	switch t, _ := strconv.ParseFloat(string(raw), 64); { // out of range, it is an infinity
	case t < 0:
		x.InvalidOption(core.Temperature, "must be at least 0")
	case t > 1:
		x.KeepAs(core.HighTemperature, x.Options[core.Temperature].Row, nil)
		return []byte("1")
	}
	return raw
}

// writeOutput writes an effort and the schema of the answer, which is a text.
func writeOutput(members *core.Members, o *core.Options, effort string) {
	var config core.Members
	if effort != "" {
		config.Word("effort", effort)
	}
	if schema := o.Raw(core.Schema); schema != nil {
		config.Name("textFormat")
		config = append(config, `{"type":"json_schema","structure":{"jsonSchema":{"schema":`...)
		config = jsonscan.AppendString(config, jsonscan.AppendCompact(nil, schema))
		config.Option("name", &o[core.SchemaName])
		config.Option("description", &o[core.SchemaDescription])
		config = append(config, `}}}`...)
	}
	writeObject(members, "outputConfig", config)
}

// tiers are the service tiers of the format. It has no word for the choice of the service.
var tiers = map[core.Concept]string{core.TierStandard: "default", core.TierFlex: "flex", core.TierPriority: "priority"}

// additional is the member with the fields that only some models have.
const additional = "additionalModelRequestFields"

// writeAdditional writes the fields of the model, the client's own among them, and the
// extensions.
func (w *writer) writeAdditional(members *core.Members, own core.Members) {
	if !w.x.Info.Counts() {
		w.writeTopK(&own)
	}
	if len(w.x.Extensions) > 0 {
		for name, value := range jsonscan.Members(append(append([]byte{'{'}, w.x.Extensions[1:]...), '}')) {
			if string(name) != additional || value[0] != '{' {
				members.Named(name, value)
				continue
			}
			for name, value := range jsonscan.Members(value) {
				own.Named(name, value)
			}
		}
	}
	writeObject(members, additional, own)
}

// writeTopK writes the option where the model has it.
func (w *writer) writeTopK(members *core.Members) {
	raw, path := w.x.Options.Raw(core.TopK), w.vendor.topK
	switch _, ok := jsonscan.Integer(raw); {
	case raw == nil:
	case !ok:
		w.x.InvalidOption(core.TopK, "must be an integer")
	case len(path) == 0:
		w.x.Lose(w.x.Options[core.TopK].Row, nil)
	case !samples(w.x, w.thinks, core.TopK, core.TopKBesideReasoning):
	case len(path) == 1:
		members.Raw(path[0], raw)
	default:
		var nested core.Members
		nested.Raw(path[1], raw)
		writeObject(members, path[0], nested)
	}
}

// writeThinking writes how much the model thinks, as its vendor asks for it. It returns the word
// for the effort if that is an option of the format.
func (w *writer) writeThinking(members *core.Members) (option string) {
	x := w.x
	effort, row := x.Effort()
	if effort == core.Nothing || !x.KeepAs(effort, row, nil) {
		w.thinks = !core.SamplesBeside(x, core.Nothing)
		return ""
	}
	w.thinks = !core.SamplesBeside(x, effort)
	word := w.vendor.word(effort, x.Traits)
	switch {
	case w.vendor.isClaude():
		return w.writeClaude(members, effort, row, word)
	case effort == core.EffortNone && w.vendor.isNova2():
		members.Raw("reasoningConfig", []byte(`{"type":"disabled"}`))
		return ""
	case word != core.EffortOf(effort).String():
		x.Lose(row, nil)
	}
	switch {
	case word == "":
	case w.vendor.isNova2():
		members.Name("reasoningConfig")
		*members = append(append(append(*members, `{"type":"enabled","maxReasoningEffort":"`...), word...), `"}`...)
	default:
		members.Word("reasoning_effort", word)
	}
	return ""
}

// The budgets of thinking, in tokens: the smallest that services accept, and those of efforts.
const leastBudget = 1024

var budgets = map[core.Concept]int64{
	core.EffortMinimal: leastBudget, core.EffortLow: leastBudget, core.EffortMedium: 4096,
	core.EffortHigh: 16384, core.EffortXHigh: 32768, core.EffortMax: 65536,
}

// writeClaude writes the thinking of a model of Anthropic, which accepts none if a tool must be
// used. word is that of the effort, which writeClaude returns where it is an option.
func (w *writer) writeClaude(members *core.Members, effort core.Concept, row *core.Row, word string) (option string) {
	budget := w.x.Traits.ThinkingBudget.Clamp(budgets[effort])
	if most, bounded := w.x.MaxTokens(); bounded {
		budget = min(budget, most-leastBudget)
	}
	adaptive := w.x.Traits.Thinking != trait.ThinkingBudget
	switch {
	case effort == core.EffortNone:
		members.Raw("thinking", []byte(`{"type":"disabled"}`))
	case w.x.Options.ForcesTool() && !w.tools.empty(), !adaptive && budget < max(leastBudget, w.x.Traits.ThinkingBudget.Least):
		w.x.Lose(row, nil)
	case adaptive:
		w.thinks = true
		members.Raw("thinking", []byte(`{"type":"adaptive"}`))
		return word
	default:
		if w.thinks = true; budget != budgets[effort] {
			w.x.Lose(row, nil)
		}
		members.Name("thinking")
		*members = append(strconv.AppendInt(append(*members, `{"type":"enabled","budget_tokens":`...), budget, 10), '}')
	}
	return ""
}
