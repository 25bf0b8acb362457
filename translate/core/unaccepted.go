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
// whatever their value, by its traits; nil as a rule. It names no items of lists.
func (s *Source) Unaccepted(body []byte, traits *trait.Traits) (lost translate.Losses) {
	leave := func(class translate.LossClass, options ...Concept) {
		for _, c := range options {
			if row := s.Rows.concepts[c]; row != nil && !strings.Contains(row.Path, "[") {
				lost.Add(class, row.Path)
			}
		}
	}
	switch sampling := traits.Sampling; {
	case !sampling.Beside(s.effort(body)):
		for _, c := range samplingOptions {
			leave(s.lossOf(body, c), c)
		}
	case sampling == trait.SamplingOne && s.at(body, Temperature) != nil:
		leave(s.lossOf(body, TopP), TopP)
	}
	if traits.NoPenalties {
		for _, c := range penalties {
			leave(s.lossOf(body, c), c)
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

// lossOf returns the class of the loss of an option of sampling.
func (s *Source) lossOf(body []byte, c Concept) translate.LossClass {
	if slices.Contains(usual[c], string(s.at(body, c))) {
		return translate.Hint
	}
	return translate.Shaping
}

// effort returns the effort that a request states, an empty set for none. A word that no model
// has is some effort.
func (s *Source) effort(body []byte) trait.Efforts {
	switch stated := s.at(body, EffortLow); {
	case stated == nil, string(stated) == "null":
		return 0
	default:
		return cmp.Or(trait.EffortOf(strings.ToLower(jsonscan.TextOf(stated))), trait.EffortMedium)
	}
}

// at returns the value of the member that states an option in a body, nil if there is none.
func (s *Source) at(body []byte, c Concept) (value []byte) {
	row := s.Rows.concepts[c]
	if row == nil || !bytes.Contains(body, []byte(row.Path[strings.LastIndexByte(row.Path, '.')+1:])) {
		return nil // most requests do not have the member, and long bodies are read slowly
	}
	value = bytes.TrimLeft(body, " \t\r\n")
	for name := range strings.SplitSeq(row.Path, ".") {
		object := value
		value = nil
		for member, v := range jsonscan.Members(object) {
			if string(member) == name {
				value = v
			}
		}
	}
	return value
}
