package request

import (
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// leastBudget is the smallest budget of thinking that providers accept, in tokens.
const leastBudget = 1024

// leastText is the part of an answer that thinking leaves to the text, in tokens.
const leastText = 1024

// budgets are the budgets that correspond to the efforts, in tokens.
var budgets = map[core.Concept]int64{
	core.EffortMinimal: leastBudget,
	core.EffortLow:     leastBudget,
	core.EffortMedium:  4096,
	core.EffortHigh:    16384,
	core.EffortXHigh:   32768,
	core.EffortMax:     65536,
}

// words are the words that the format has for efforts.
const words = trait.EffortAll &^ (trait.EffortNone | trait.EffortMinimal)

// writeThinking writes the effort of thinking and the format of the answer, which share a
// field. It reports whether the model thinks, which leaves less to sampling. most bounds the answer, in tokens; mayThink
// reports whether the provider accepts thinking beside the rest of the request.
func writeThinking(members *core.Members, x *core.Translation, most int64, mayThink bool) (thinks bool) {
	o, word := &x.Options, ""
	effort := o.OneOf(core.EffortNone, core.EffortMax)
	row := o[effort].Row
	if effort != core.Nothing && !x.KeepAs(effort, row, nil) {
		effort = core.Nothing
	}
	adaptive := x.Traits.Thinking.Adapts()
	if adaptive && effort != core.Nothing {
		word = x.Traits.EffortsOr(words).Nearest(core.EffortOf(effort)).String()
	}
	switch {
	case effort == core.Nothing:
	case effort == core.EffortNone:
		members.Raw("thinking", []byte(`{"type":"disabled"}`))
	case !mayThink:
		x.Lose(row, nil)
	case adaptive:
		thinks = true
		members.Name("thinking")
		*members = append(append(append(*members, `{"type":"adaptive"`...), display(x)...), '}')
	default:
		// Thinking counts towards the bound of the answer, so the budget leaves enough
		// for a text that is not cut off after its first words.
		wanted := budgets[effort]
		budget := min(x.Traits.ThinkingBudget.Clamp(wanted), most-leastText)
		if budget != wanted {
			x.Lose(row, nil)
		}
		if thinks = budget >= max(leastBudget, x.Traits.ThinkingBudget.Least); thinks {
			members.Name("thinking")
			*members = strconv.AppendInt(append(*members, `{"type":"enabled","budget_tokens":`...), budget, 10)
			*members = append(append(*members, display(x)...), '}')
		}
	}
	if shown := o[core.ReasoningShown]; !thinks && shown.Raw != nil {
		x.Lose(shown.Row, nil)
	}
	if !x.Traits.IgnoresMessagesSchema {
		core.EnforceSchema(x)
	}
	writeConfig(members, word, o.Raw(core.Schema))
	if !thinks && effort != core.EffortNone {
		effort = core.Nothing
	}
	return thinks || !core.SamplesBeside(x, effort)
}

// display returns the member that shows or hides the thinking, "" if the client leaves
// that open.
func display(x *core.Translation) string {
	switch {
	case x.Options.Has(core.ReasoningShown):
		return `,"display":"summarized"`
	case x.Options.Has(core.ReasoningHidden), x.Answer.Reasoning.Hidden:
		return `,"display":"omitted"`
	default:
		return ""
	}
}

// writeConfig writes an effort, "" for none, and the schema of the answer, nil for none.
func writeConfig(members *core.Members, effort string, schema []byte) {
	if effort == "" && schema == nil {
		return
	}
	members.Name("output_config")
	*members = append(*members, '{')
	if effort != "" {
		*members = append(append(append(*members, `"effort":"`...), effort...), '"')
	}
	if effort != "" && schema != nil {
		*members = append(*members, ',')
	}
	if schema != nil {
		*members = append(append(append(*members, `"format":{"type":"json_schema","schema":`...), schema...), '}')
	}
	*members = append(*members, '}')
}
