package core

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// Efforts lists the concepts of reasoning effort in ascending order.
var Efforts = []Concept{EffortNone, EffortMinimal, EffortLow, EffortMedium, EffortHigh, EffortXHigh, EffortMax}

// EffortRows returns the rows of the field at path that states the reasoning effort.
// The format has the words from least upwards.
func EffortRows(path string, least Concept) (rows []Row) {
	for c := least; c <= EffortMax; c++ {
		rows = append(rows, Shaping(path+"="+EffortOf(c).String(), c))
	}
	return append(rows, Shaping(path+"=*", EffortOther))
}

// The budgets, in tokens, below which reasoning counts as low, medium and high.
const (
	lowBudget    = 2048
	mediumBudget = 8192
	highBudget   = 24576
)

// Effort returns the reasoning effort that the client asks for, EffortNone to
// EffortOther, and the row of the field that states it. It returns Nothing if no
// field does.
func (x *Translation) Effort() (effort Concept, row *Row) {
	o := &x.Options
	effort = o.OneOf(EffortNone, EffortOther)
	switch kind := o.OneOf(ReasoningOn, ReasoningOff); {
	case kind == ReasoningOff:
		x.LoseEffort(effort)
		return EffortNone, o[kind].Row
	case effort == Nothing && kind == ReasoningOn:
		return x.effortOfBudget(), o[kind].Row
	default:
		return effort, o[effort].Row
	}
}

// LoseEffort reports the loss of an effort that the provider does not accept together
// with another field.
func (x *Translation) LoseEffort(effort Concept) {
	if effort != Nothing {
		x.Lose(x.Options[effort].Row, nil)
	}
}

// effortOfBudget returns the effort that corresponds to the budget of reasoning.
func (x *Translation) effortOfBudget() Concept {
	budget, ok := jsonscan.Integer(x.Options.Raw(ReasoningBudget))
	switch {
	case !ok:
		if x.Options.Has(ReasoningBudget) {
			x.InvalidOption(ReasoningBudget, "must be an integer")
		}
		return EffortLow
	case budget < lowBudget:
		return EffortLow
	case budget < mediumBudget:
		return EffortMedium
	case budget < highBudget, !x.Can(EffortXHigh):
		return EffortHigh
	default:
		return EffortXHigh
	}
}

// EffortOf returns the trait value of an effort, EffortNone to EffortMax.
func EffortOf(c Concept) trait.Efforts { return trait.EffortNone << (c - EffortNone) }
