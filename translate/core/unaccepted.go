package core

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// samplingOptions are the options that models without sampling refuse.
var samplingOptions = []Concept{Temperature, TopP, TopK, Logprobs, TopLogprobs}

// penalties are the options that weigh tokens.
var penalties = []Concept{PresencePenalty, FrequencyPenalty, LogitBias}

// Unaccepted returns the members of a valid request that a provider of the same format refuses
// whatever their value, by its traits; nil as a rule. It names no items of lists. It reads the body
// only if the traits need it.
func (s *Source) Unaccepted(body []byte, traits *trait.Traits) (lost translate.Losses) {
	stated := &statedOptions{body: body, rows: s.Rows}
	leave := func(class translate.LossClass, options ...Concept) {
		for _, c := range options {
			if row := s.Rows.concepts[c]; row != nil && !strings.Contains(row.Path, "[") {
				lost.Add(class, row.Path)
			}
		}
	}
	switch sampling := traits.Sampling; {
	case !sampling.BesideAny() && !sampling.Beside(stated.effort()):
		for _, c := range samplingOptions {
			leave(stated.lossOf(c), c)
		}
	case sampling == trait.SamplingOne && stated.at(Temperature) != nil:
		leave(stated.lossOf(TopP), TopP)
	}
	if traits.NoPenalties {
		for _, c := range penalties {
			leave(stated.lossOf(c), c)
		}
	}
	if traits.MaxStops == trait.NoStops {
		leave(translate.Shaping, Stops)
	}
	if traits.NoParallelToolCalls {
		leave(translate.Hint, ParallelCalls)
	}
	if traits.ReasoningEffort == trait.EffortOff {
		leave(translate.Shaping, EffortLow)
	}
	return lost
}

// usual are the values of options that change nothing. Many clients send them with every request.
var usual = map[Concept][]string{
	Temperature: {"1", "1.0"}, TopP: {"1", "1.0"}, PresencePenalty: {"0", "0.0"}, FrequencyPenalty: {"0", "0.0"}, LogitBias: {"{}", "null"},
}

// statedOptions reads the values of options from a valid request.
type statedOptions struct {
	body    []byte
	rows    *Rows
	members map[string][]byte // of the body; nil until the first of them is read, since bodies may be long
}

// lossOf returns the class of the loss of an option of sampling.
func (o *statedOptions) lossOf(c Concept) translate.LossClass {
	if slices.Contains(usual[c], string(o.at(c))) {
		return translate.Hint
	}
	return translate.Shaping
}

// effort returns the effort that the request states, an empty set for none. A word that no model
// has is some effort.
func (o *statedOptions) effort() trait.Efforts {
	switch stated := o.at(EffortLow); {
	case stated == nil, string(stated) == "null":
		return 0
	default:
		return cmp.Or(trait.EffortOf(strings.ToLower(jsonscan.TextOf(stated))), trait.EffortMedium)
	}
}

// at returns the value of the member that states an option, nil if there is none.
func (o *statedOptions) at(c Concept) (value []byte) {
	row := o.rows.concepts[c]
	if row == nil {
		return nil
	}
	if o.members == nil {
		o.members = membersOf(o.body)
	}
	name, below, nested := strings.Cut(row.Path, ".")
	value = o.members[name]
	for nested {
		name, below, nested = strings.Cut(below, ".")
		value = membersOf(value)[name]
	}
	return value
}

// membersOf returns the values of the members of an object by their names. It is empty for a value of
// another kind.
func membersOf(object []byte) map[string][]byte {
	members := make(map[string][]byte)
	for name, value := range jsonscan.Members(bytes.TrimLeft(object, " \t\r\n")) {
		members[string(name)] = value
	}
	return members
}
