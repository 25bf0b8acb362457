package core

import (
	"iter"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// Option is a field of a request.
type Option struct {
	Raw []byte // the raw value; nil for none
	Row *Row   // of the reader's table
}

// Options are the fields of a request beside its conversation and its tools, by
// their concepts. When the writer's Finish is called, only the options to be written
// are left.
type Options [optionCount]Option

// Raw returns the raw value of an option, nil for none.
func (o *Options) Raw(c Concept) []byte { return o[c].Raw }

// Has reports whether the request has an option.
func (o *Options) Has(c Concept) bool { return o[c].Raw != nil }

// OneOf returns the first option from first to last that the request has, Nothing for none.
func (o *Options) OneOf(first, last Concept) Concept {
	for c := first; c <= last; c++ {
		if o[c].Raw != nil {
			return c
		}
	}
	return Nothing
}

// StatedEffort returns the effort that the request states in any way, Nothing for none.
func (o *Options) StatedEffort() Concept {
	if effort := o.OneOf(EffortNone, EffortOther); effort != Nothing {
		return effort
	}
	switch o.OneOf(ReasoningOn, ReasoningOff) {
	case ReasoningOn:
		return EffortLow
	case ReasoningOff:
		return EffortNone
	}
	return Nothing
}

// Clear removes the options from first to last.
func (o *Options) Clear(first, last Concept) { clear(o[first : last+1]) }

// Stops returns the raw stop texts with their indices.
func (o *Options) Stops() iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		raw := o[Stops].Raw
		if jsonscan.IsString(raw) {
			yield(0, raw)
		}
		if len(raw) == 0 || raw[0] != '[' {
			return
		}
		c := jsonscan.Again(raw)
		c.EnterArray()
		for i := 0; c.Element() && yield(i, c.Skip()); i++ {
		}
	}
}

// ForcesTool reports whether a tool must be used.
func (o *Options) ForcesTool() bool {
	c := o.OneOf(ToolChoiceAuto, ToolChoiceNamed)
	return c == ToolChoiceRequired || c == ToolChoiceNamed
}

// FoldUser joins EndUser and SafetyIdentifier, two names of the same option. If their
// values differ, it reports the loss of the second one by its row.
func (o *Options) FoldUser(x *Translation, second *Row) {
	user, other := o[EndUser], o[SafetyIdentifier]
	switch {
	case other.Raw == nil:
	case user.Raw == nil:
		o[EndUser] = other
	case string(user.Raw) != string(other.Raw):
		x.Lose(second, nil)
	}
	o.Clear(SafetyIdentifier, SafetyIdentifier)
}

// FoldTopLogprobs removes TopLogprobs without Logprobs, and reports their loss by their row.
func (o *Options) FoldTopLogprobs(x *Translation, alone *Row) {
	if o.Has(TopLogprobs) && !jsonscan.IsTrue(o.Raw(Logprobs)) {
		x.KeepAs(alone.Concept, alone, o.Raw(TopLogprobs))
		o.Clear(TopLogprobs, TopLogprobs)
	}
}

// FoldParallelCalls sets OneCallAtATime if ParallelCalls is false.
func (o *Options) FoldParallelCalls() {
	if string(o.Raw(ParallelCalls)) == "false" {
		o[OneCallAtATime] = Option{Raw: []byte("true"), Row: o[ParallelCalls].Row}
	}
}
