package core

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// Efforts are the concepts of the words for how much to reason, the least first.
var Efforts = []Concept{EffortNone, EffortMinimal, EffortLow, EffortMedium, EffortHigh, EffortXHigh, EffortMax}

// EffortRows returns the rows about the word for how much to reason at a path, for a
// format with the words from the least one on.
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

// Effort returns how much reasoning the client asks for, EffortNone to EffortOther, and
// the row of the field that says so; Nothing where no field does.
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

// LoseEffort reports the loss of an effort that the provider cannot have beside
// something else.
func (x *Translation) LoseEffort(effort Concept) {
	if effort != Nothing {
		x.Lose(x.Options[effort].Row, nil)
	}
}

// effortOfBudget returns the effort that a budget of reasoning amounts to.
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

// EffortOf returns the effort of a concept.
func EffortOf(c Concept) trait.Efforts { return trait.EffortNone << (c - EffortNone) }
