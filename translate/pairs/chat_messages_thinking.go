package pairs

import (
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// leastBudget is the smallest budget of thinking that providers take, in tokens.
const leastBudget = 1024

// leastText is what of an answer thinking leaves to the text, in tokens.
const leastText = 1024

// budgets are what the efforts amount to, in tokens.
var budgets = map[translate.Efforts]int64{
	translate.EffortMinimal: leastBudget,
	translate.EffortLow:     leastBudget,
	translate.EffortMedium:  4096,
	translate.EffortHigh:    16384,
	translate.EffortXHigh:   32768,
	translate.EffortMax:     65536,
}

const effortPath = "reasoning_effort"

// writeThinking asks for as much thinking as the client wants, and for the
// format of the answer, which stands beside it. It reports whether thinking is
// on. most bounds the answer, in tokens.
func (x *chatMessages) writeThinking(most int64) (on bool) {
	effort := translate.Efforts(0)
	if raw := x.request.ReasoningEffort; raw != nil {
		effort = x.effortFor(translate.EffortOf(x.str(raw, effortPath)))
	}
	adaptive := x.traits.Thinking == translate.ThinkingAdaptive
	switch {
	case effort == translate.EffortNone:
		x.field("thinking", []byte(`{"type":"disabled"}`))
		effort = 0
	case effort != 0 && adaptive:
		on = x.mayThink()
	case effort != 0:
		on = x.mayThink() && x.writeBudget(budgets[effort], most)
	}
	if on && adaptive {
		x.field("thinking", []byte(`{"type":"adaptive"}`))
	}
	if !adaptive {
		effort = 0
	}
	x.writeConfig(effort)
	return on
}

// effortFor is an effort in the words of the format, none where the provider
// cannot be asked for any.
func (x *chatMessages) effortFor(effort translate.Efforts) translate.Efforts {
	switch {
	case effort == 0 || x.traits.Thinking == translate.ThinkingNone:
		x.shaping(effortPath)
		return 0
	case effort == translate.EffortMinimal:
		return translate.EffortLow
	}
	return effort
}

// mayThink reports whether thinking goes together with all else. Providers
// refuse it where a tool must be used, and with a budget also where the thinking
// that led to the calls at hand is gone.
func (x *chatMessages) mayThink() bool {
	forced := x.choice.forced() && !x.tools.empty()
	if forced || x.unsigned && x.traits.Thinking == translate.ThinkingBudget {
		x.shaping(effortPath)
		return false
	}
	return true
}

// writeBudget writes a budget of thinking. Providers take any below the bound of
// the answer, which the thinking counts towards: of that, enough stays for a text
// that is not cut off after its first words.
func (x *chatMessages) writeBudget(budget, most int64) bool {
	if budget > most-leastText {
		x.shaping(effortPath)
		budget = most - leastText
	}
	if budget < leastBudget {
		return false
	}
	x.name("thinking")
	x.out = append(x.out, `{"type":"enabled","budget_tokens":`...)
	x.out = strconv.AppendInt(x.out, budget, 10)
	x.out = append(x.out, '}')
	return true
}

// writeConfig writes the effort and the format of the answer.
func (x *chatMessages) writeConfig(effort translate.Efforts) {
	if effort == 0 && x.format.schema == nil {
		return
	}
	x.name("output_config")
	x.out = append(x.out, '{')
	if effort != 0 {
		x.out = append(x.out, `"effort":"`+effort.String()+`"`...)
	}
	if x.format.schema != nil {
		if effort != 0 {
			x.out = append(x.out, ',')
		}
		x.out = append(x.out, `"format":{"type":"json_schema","schema":`...)
		x.out = append(append(x.out, x.format.schema...), '}')
	}
	x.out = append(x.out, '}')
}
