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
	core.EffortLow:    leastBudget,
	core.EffortMedium: 4096,
	core.EffortHigh:   16384,
	core.EffortXHigh:  32768,
	core.EffortMax:    65536,
}

// writeThinking writes the effort of thinking and the format of the answer, which share a
// field. It reports whether thinking is on. most bounds the answer, in tokens.
func (w *requestWriter) writeThinking(most int64) (on bool) {
	effort, row := w.effort()
	adaptive := w.x.Traits.Thinking == trait.ThinkingAdaptive
	switch {
	case effort == core.Nothing:
	case effort == core.EffortNone:
		w.out.Raw("thinking", []byte(`{"type":"disabled"}`))
	case adaptive:
		if on = w.mayThink(row); on {
			w.out.Name("thinking")
			w.out = append(append(append(w.out, `{"type":"adaptive"`...), w.display()...), '}')
		}
	default:
		on = w.mayThink(row) && w.writeBudget(budgets[effort], most, row)
	}
	word := ""
	if adaptive && effort != core.EffortNone {
		word = core.EffortOf(effort).String()
	}
	w.writeConfig(word)
	return on
}

// effort returns the effort for the provider, Nothing for none, and the row of the field
// that states the effort.
func (w *requestWriter) effort() (core.Concept, *core.Row) {
	effort := w.x.Options.OneOf(core.EffortNone, core.EffortMax)
	row := w.x.Options[effort].Row
	switch {
	case effort == core.Nothing || !w.x.KeepAs(effort, row, nil):
		return core.Nothing, nil
	case effort == core.EffortMinimal:
		return core.EffortLow, row
	default:
		return effort, row
	}
}

// mayThink reports whether the provider accepts thinking beside the rest of the request.
// Providers refuse thinking if a tool must be used; thinking with a budget also if the
// signed thinking in front of the last calls is missing.
func (w *requestWriter) mayThink(row *core.Row) bool {
	forced := w.x.Options.ForcesTool() && !w.tools.empty()
	if forced || w.unsigned && w.x.Traits.Thinking == trait.ThinkingBudget {
		w.x.Lose(row, nil)
		return false
	}
	return true
}

// writeBudget writes a budget of thinking, and reports whether there is one. Thinking
// counts towards the bound of the answer, so the budget leaves enough for a text that is
// not cut off after its first words.
func (w *requestWriter) writeBudget(budget, most int64, row *core.Row) bool {
	if budget > most-leastText {
		w.x.Lose(row, nil)
		budget = most - leastText
	}
	if budget < leastBudget {
		return false
	}
	w.out.Name("thinking")
	w.out = append(w.out, `{"type":"enabled","budget_tokens":`...)
	w.out = append(append(strconv.AppendInt(w.out, budget, 10), w.display()...), '}')
	return true
}

// display returns the member that shows or hides the thinking, "" if the client leaves
// that open.
func (w *requestWriter) display() string {
	switch {
	case w.x.Options.Has(core.ReasoningShown):
		return `,"display":"summarized"`
	case w.x.Options.Has(core.ReasoningHidden), w.x.Answer.HideReasoning:
		return `,"display":"omitted"`
	default:
		return ""
	}
}

// writeConfig writes an effort, "" for none, and the schema of the answer.
func (w *requestWriter) writeConfig(effort string) {
	schema := w.x.Options.Raw(core.Schema)
	if effort == "" && schema == nil {
		return
	}
	w.out.Name("output_config")
	w.out = append(w.out, '{')
	if effort != "" {
		w.out = append(append(append(w.out, `"effort":"`...), effort...), '"')
	}
	if effort != "" && schema != nil {
		w.out = append(w.out, ',')
	}
	if schema != nil {
		w.out = append(append(append(w.out, `"format":{"type":"json_schema","schema":`...), schema...), '}')
	}
	w.out = append(w.out, '}')
}
