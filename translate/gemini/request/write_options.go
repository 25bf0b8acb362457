package request

import (
	"math"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// writeConfig writes the options of the answer.
func (w *writer) writeConfig(members *core.Members) {
	x, o := w.x, &w.x.Options
	var config core.Members
	if n, ok := x.MaxTokens(); ok {
		config.Number("maxOutputTokens", n)
	}
	if !core.SamplesBeside(x, o.StatedEffort()) {
		core.SampleBesideReasoning(x)
	}
	config.Option("temperature", &o[core.Temperature])
	config.Option("topP", &o[core.TopP])
	writeInteger(&config, x, "topK", core.TopK)
	writeInteger(&config, x, "seed", core.Seed)
	config.Option("presencePenalty", &o[core.PresencePenalty])
	config.Option("frequencyPenalty", &o[core.FrequencyPenalty])
	core.AppendStops(&config, w.x, "stopSequences", maxStops, false)
	if o.OneOf(core.Images, core.ImagesAlone) != core.Nothing {
		config.Raw("responseModalities", []byte(`["TEXT","IMAGE"]`))
	}
	w.asks.writeFormat(&config, x)
	w.asks.writeThinking(&config, x)
	if len(config) > 0 {
		config[0] = '{'
		members.Raw("generationConfig", append(config, '}'))
	}
}

// writeInteger writes an option that is a number of 32 bits. The loss of a larger one is
// reported.
func writeInteger(members *core.Members, x *core.Translation, name string, c core.Concept) {
	option := &x.Options[c]
	if option.Raw == nil {
		return
	}
	n, ok := jsonscan.Integer(option.Raw)
	switch {
	case !ok:
		x.InvalidOption(c, "must be an integer")
	case n < math.MinInt32, n > math.MaxInt32:
		x.Lose(option.Row, nil)
	default:
		members.Number(name, n)
	}
}

// maxStops is the largest number of stop texts that services accept.
const maxStops = 5

// writeFormat writes the format of the answer.
func (p properties) writeFormat(members *core.Members, x *core.Translation) {
	schema := x.Options[core.Schema]
	if schema.Raw == nil && !x.Options.Has(core.FormatObject) {
		return
	}
	members.Word("responseMimeType", "application/json")
	switch {
	case schema.Raw == nil:
	case p.takesJSONSchema():
		members.Raw("responseJsonSchema", schema.Raw)
	default:
		converted, looser, anyObject, err := appendSchema(nil, schema.Raw)
		if err != nil {
			x.InvalidOption(core.Schema, err.Error())
			return
		}
		if looser {
			core.Report(x, core.Schema, core.Shaped)
		}
		if !anyObject {
			members.Raw("responseSchema", converted)
		}
	}
}

// writeThinking writes how much the model thinks: by a budget or a level, as its generation
// accepts, never by both. Answers show their thoughts to clients that have asked for thinking.
func (p properties) writeThinking(members *core.Members, x *core.Translation) {
	o := &x.Options
	effort, row := x.Effort()
	adaptive := effort == core.Nothing && o.Has(core.ReasoningAdaptive)
	shown := effort != core.EffortNone && !o.Has(core.ReasoningHidden) && !x.Answer.Reasoning.Hidden
	if effort == core.Nothing && !adaptive && !o.Has(core.ReasoningShown) {
		return
	}
	if effort != core.Nothing && !x.KeepAs(effort, row, nil) {
		return
	}
	var config core.Members
	budget, exact := jsonscan.Integer(o.Raw(core.ReasoningBudget))
	exact = exact && o.Has(core.ReasoningOn) && !o.Has(effort)
	byBudget, byLevel := p.asked(x.Traits)
	switch {
	case !byBudget && !byLevel:
		x.Lose(row, nil)
		return
	case byBudget && adaptive:
		config.Number("thinkingBudget", -1)
	case byBudget && effort != core.Nothing:
		if !exact {
			budget = budgets[effort]
		}
		most := p.budget(budget, x.Traits)
		if most != budget {
			x.Lose(row, nil)
		}
		config.Number("thinkingBudget", most)
	case effort != core.Nothing:
		level := p.level(effort, x.Traits.ReasoningEffort)
		if level != core.EffortOf(effort).String() {
			x.Lose(row, nil)
		}
		config.Word("thinkingLevel", level)
	}
	if shown {
		config.Raw("includeThoughts", []byte("true"))
	} else {
		config.Raw("includeThoughts", []byte("false"))
	}
	config[0] = '{'
	members.Raw("thinkingConfig", append(config, '}'))
}

// budgets are the budgets that correspond to the efforts, in tokens.
var budgets = map[core.Concept]int64{
	core.EffortMinimal: 1024, core.EffortLow: 1024, core.EffortMedium: 8192,
	core.EffortHigh: 24576, core.EffortXHigh: 24576, core.EffortMax: 24576,
}

// tiers are the service tiers of the format. It has no word for the choice of the service.
var tiers = map[core.Concept]string{core.TierStandard: "standard", core.TierFlex: "flex", core.TierPriority: "priority"}

func writeTier(members *core.Members, o *core.Options) {
	if word, ok := tiers[o.OneOf(core.TierAuto, core.TierPriority)]; ok {
		members.Word("serviceTier", word)
	}
}
