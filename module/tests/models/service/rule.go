package service

import (
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Format is a wire format of a service.
type Format string

// The formats.
const (
	Chat        Format = "chat"
	Completions Format = "completions"
	Responses   Format = "responses"
	Messages    Format = "messages"
	Gemini      Format = "gemini"
	Converse    Format = "converse"
	Cohere      Format = "cohere"     // the chat of Cohere
	Recordings  Format = "recordings" // transcriptions of the audio API
)

// Set is members of a request by their paths, such as reasoning.effort.
type Set map[string]any

// Rule is a refusal: requests of some models that a service does not accept.
type Rule struct {
	// ID is the number of the refusal in the list. Refusals that differ by model or format
	// have several rules.
	ID string
	// Services and Formats are words. Without Formats, the rule holds in all.
	Services, Formats string
	// Models are patterns of names. A name that matches one with a leading "!" is excepted.
	// "" are all names.
	Models string
	// When is the condition on the request, see condition. "" is always true.
	When string

	// Status is 400 unless it is set. Param, Code and Type are members of the error.
	Status            int
	Param, Code, Type string
	// Message is the sentence. {model}, {param}, {value}, {count}, {limit}, {word} and {words} stand for
	// the name of the model, Param, what the first term of When has found, its length, and what
	// the terms of When compare with. If no sentence is known, Message is "".
	Message string

	// Example are the members with which a request is refused that is accepted without them.
	Example Set
	// Source is where the refusal was seen.
	Source string

	models   []*regexp.Regexp // of Models, and excluded of those with "!"
	excluded []*regexp.Regexp
	terms    condition
}

// Rules is the table, in the order of the list.
var Rules = compiled(openAI, claude, google, xai, mistral, deepSeek, groq, bedrock, cohere, moonshot, dashScope, zai, miniMax, siliconFlow, cerebras, nvidia)

func compiled(tables ...[]Rule) []Rule {
	all := slices.Concat(tables...)
	for i := range all {
		r := &all[i]
		for pattern := range strings.FieldsSeq(r.Models) {
			if rest, excepted := strings.CutPrefix(pattern, "!"); excepted {
				r.excluded = append(r.excluded, glob(rest))
			} else {
				r.models = append(r.models, glob(pattern))
			}
		}
		r.terms = parseCondition(r.When)
	}
	return all
}

// glob returns the expression of a pattern, in which * is any text.
func glob(pattern string) *regexp.Regexp {
	return regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, ".*") + "$")
}

// Refusal returns the first rule that refuses a request, nil if the service accepts it.
func Refusal(r *Request) *Rule {
	for i := range Rules {
		if Rules[i].refuses(r) {
			return &Rules[i]
		}
	}
	return nil
}

func (r *Rule) refuses(q *Request) bool {
	return slices.Contains(strings.Fields(r.Services), q.Service) &&
		(r.Formats == "" || slices.Contains(strings.Fields(r.Formats), string(q.Format))) &&
		(r.models == nil || matches(r.models, q.Model)) && !matches(r.excluded, q.Model) &&
		r.terms.holds(q)
}

func matches(patterns []*regexp.Regexp, name string) bool {
	return slices.ContainsFunc(patterns, func(p *regexp.Regexp) bool { return p.MatchString(name) })
}

// status returns the status of the answer.
func (r *Rule) status() int {
	if r.Status == 0 {
		return http.StatusBadRequest
	}
	return r.Status
}

// unknownSentence is the message of refusals whose sentence nobody has reported.
const unknownSentence = "Invalid request."

// Sentence returns the message for a request.
func (r *Rule) Sentence(q *Request) string {
	if r.Message == "" {
		return unknownSentence
	}
	var found []any
	if len(r.terms) > 0 {
		found = q.Find(r.terms[0].path)
	}
	value, count := "", 0
	if len(found) > 0 {
		value = text(found[0])
		count = int(size(found[0]))
	}
	return strings.NewReplacer(
		"{model}", q.Model, "{param}", r.param(q.Format), "{value}", value, "{count}", strconv.Itoa(count),
		"{limit}", r.terms.limit(), "{words}", quoted(r.terms.words()), "{word}", strings.ToUpper(strings.Join(r.terms.words(), " ")),
	).Replace(r.Message)
}

// quoted returns words as sentences list them: 'low', 'medium', and 'high'.
func quoted(words []string) string {
	var list strings.Builder
	for i, word := range words {
		switch {
		case i > 0 && i == len(words)-1:
			list.WriteString(", and ")
		case i > 0:
			list.WriteString(", ")
		}
		list.WriteString("'" + word + "'")
	}
	return list.String()
}
