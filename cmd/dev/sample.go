package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/models"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/pairs"
)

// sample is a body with one member or word, and the same body without it. If its side is "model", it
// is the name of a model, which is the Path, at the provider that is the Format.
type sample struct {
	Format  translate.Format
	Side    string // "request", "answer" or "model"
	Path    string // of the member, with its word: messages.*[user].content, service_tier=flex
	With    json.RawMessage
	Without json.RawMessage
	Other   json.RawMessage // with an invented word in place of that of With; nil for a member without words
}

func readSample(line []byte) (*sample, error) {
	var s sample
	if err := json.Unmarshal(line, &s); err != nil {
		return nil, fmt.Errorf("reading a sample: %w", err)
	}
	return &s, nil
}

// The findings, of which each is one for all formats to which it applies.
const (
	refusedByFormat = "refused by its own format" // of which a provider gets the same bytes
	silent          = "lost without a word"
	unnamed         = "lost or refused by another name"
	unknown         = "read as an invented word"
)

// findings returns "request chat stop: lost without a word: messages gemini" and the like.
func (s *sample) findings() (list []string) {
	if s.Side == "model" {
		if models.Builtin().Find(string(s.Format), s.Path) == nil {
			list = append(list, fmt.Sprintf("model %s %s: has no row in the table of models", s.Format, s.Path))
		}
		return list
	}
	found := make(map[string][]string)
	note := func(finding string, to translate.Format) { found[finding] = append(found[finding], string(to)) }
	if s.Side == "request" && s.refusedByItsFormat() {
		note(refusedByFormat, s.Format)
	}
	for _, d := range formats.OfProviders() {
		to := d.Name
		if s.Side == "answer" && d.Answers.NewEmitter == nil || !pairs.CanTranslate(s.Format, to) {
			continue
		}
		if finding := s.towards(to); finding != "" {
			note(finding, to)
		}
	}
	for _, finding := range []string{refusedByFormat, silent, unnamed, unknown} {
		if to := found[finding]; to != nil {
			list = append(list, fmt.Sprintf("%s %s %s: %s: %s", s.Side, s.Format, s.Path, finding, strings.Join(to, " ")))
		}
	}
	return list
}

// refusedByItsFormat reports whether the strict pass refuses the body, though not the one without
// the member.
func (s *sample) refusedByItsFormat() bool {
	inspect := formats.Of(s.Format).Requests.Inspect
	_, with := inspect(s.With, translate.Generate)
	_, without := inspect(s.Without, translate.Generate)
	return with != nil && without == nil
}

// towards returns what is wrong with the member in a translation, "" for nothing.
func (s *sample) towards(to translate.Format) string {
	translated := s.request
	if s.Side == "answer" {
		translated = s.answer
	}
	without := translated(s.Without, to)
	if without.fault != nil {
		return "" // it is another member that is refused
	}
	with := translated(s.With, to)
	lost := slices.DeleteFunc(with.losses, func(path string) bool { return slices.Contains(without.losses, path) })
	switch {
	case s.Side == "answer" && s.Other != nil && with.fault == nil && !slices.ContainsFunc(with.losses, s.inside) &&
		with.same(translated(s.Other, to)) && !bytes.Contains(with.body, []byte(s.word())):
		return unknown
	case with.fault != nil && s.Side == "answer":
		return ""
	case with.fault != nil:
		if !s.names(with.fault.Param) && !s.names(with.fault.Message) {
			return unnamed
		}
	case len(lost) > 0:
		if !slices.ContainsFunc(lost, s.names) {
			return unnamed
		}
	case bytes.Equal(with.body, without.body) && s.word() != "null" && !slices.ContainsFunc(with.losses, func(loss string) bool { return s.inside(loss) || slices.Equal(steps(loss), steps(s.Path)) }):
		return silent // null is the absence of a member
	}
	return ""
}

// outcome is the result of a translation. The body of an answer has its usage behind it, since
// money depends on it as well.
type outcome struct {
	body   []byte
	losses []string
	fault  *fault.Fault
}

func (o outcome) same(other outcome) bool {
	return other.fault == nil && bytes.Equal(o.body, other.body)
}

func (s *sample) request(body []byte, to translate.Format) outcome {
	if _, f := formats.Of(s.Format).Requests.Inspect(body, translate.Generate); f != nil {
		return outcome{fault: f}
	}
	out, rendered, f := pairs.Render(nil, s.Format, to, body, &core.RequestInfo{Model: "m", Upstream: "m"})
	return outcome{out, paths(rendered.Losses), f}
}

func (s *sample) answer(body []byte, to translate.Format) outcome {
	ids := translate.IDs{Message: "id", Model: "m", NewToolID: func() string { return "call" }}
	t := pairs.NewTranslator(s.Format, to, new(translate.AnswerContext), ids)
	f := t.Answer(body)
	return outcome{fmt.Append(t.Output(), t.Usage()), paths(t.Losses()), f}
}

func paths(losses translate.Losses) (list []string) {
	for _, loss := range losses {
		list = append(list, loss.Path)
	}
	return list
}

// word returns the word of the sample, "" for none.
func (s *sample) word() string {
	_, word, _ := strings.Cut(s.Path, "=")
	return word
}

var (
	kinds = regexp.MustCompile(`\[[^\]]*\]|=.*`)
	names = regexp.MustCompile(`[\w-]+`)
)

// steps returns the names in a path, without indices, kinds and words.
func steps(path string) []string { return names.FindAllString(kinds.ReplaceAllString(path, ""), -1) }

// inside reports whether the path of a loss is that of an object around the member.
func (s *sample) inside(loss string) bool {
	if object, kind, isKind := strings.Cut(loss, ".type="); isKind && strings.Contains(s.Path, "["+kind+"]") {
		loss = object
	}
	around, own := steps(loss), steps(s.Path)
	return len(around) < len(own) && slices.Equal(around, own[:len(around)])
}

// names reports whether a path or a message names the member, or an object around it.
func (s *sample) names(text string) bool {
	members := steps(s.Path)
	return slices.ContainsFunc(names.FindAllString(text, -1), func(word string) bool { return slices.Contains(members, word) })
}
