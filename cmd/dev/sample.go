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
	note := func(finding string, target translate.Format) { found[finding] = append(found[finding], string(target)) }
	if s.Side == "request" && s.refusedByItsFormat() {
		note(refusedByFormat, s.Format)
	}
	for _, d := range formats.OfProviders() {
		target := d.Name
		if s.Side == "answer" && d.Answers.NewEmitter == nil || !pairs.CanTranslate(s.Format, target) {
			continue
		}
		if finding := s.towards(target); finding != "" {
			note(finding, target)
		}
	}
	for _, finding := range []string{refusedByFormat, silent, unnamed, unknown} {
		if affected := found[finding]; affected != nil {
			list = append(list, fmt.Sprintf("%s %s %s: %s: %s", s.Side, s.Format, s.Path, finding, strings.Join(affected, " ")))
		}
	}
	return list
}

// refusedByItsFormat reports whether the strict pass refuses the body, though not the one without
// the member.
func (s *sample) refusedByItsFormat() bool {
	inspect := formats.Of(s.Format).Requests.Inspect
	_, full := inspect(s.With, translate.Generate)
	_, reduced := inspect(s.Without, translate.Generate)
	return full != nil && reduced == nil
}

// towards returns what is wrong with the member in a translation, "" for nothing.
func (s *sample) towards(target translate.Format) string {
	translated := s.request
	if s.Side == "answer" {
		translated = s.answer
	}
	reduced := translated(s.Without, target)
	if reduced.fault != nil {
		return "" // it is another member that is refused
	}
	full := translated(s.With, target)
	lost := slices.DeleteFunc(full.losses, func(path string) bool { return slices.Contains(reduced.losses, path) })
	switch {
	case s.Side == "answer" && s.Other != nil && full.fault == nil && !slices.ContainsFunc(full.losses, s.inside) &&
		full.same(translated(s.Other, target)) && !bytes.Contains(full.body, []byte(s.word())):
		return unknown
	case full.fault != nil && s.Side == "answer":
		return ""
	case full.fault != nil:
		if !s.names(full.fault.Param) && !s.names(full.fault.Message) {
			return unnamed
		}
	case len(lost) > 0:
		if !slices.ContainsFunc(lost, s.names) {
			return unnamed
		}
	case bytes.Equal(full.body, reduced.body) && s.word() != "null" && !slices.ContainsFunc(full.losses, func(loss string) bool { return s.inside(loss) || slices.Equal(steps(loss), steps(s.Path)) }):
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

func (s *sample) request(body []byte, target translate.Format) outcome {
	if _, f := formats.Of(s.Format).Requests.Inspect(body, translate.Generate); f != nil {
		return outcome{fault: f}
	}
	request, rendered, f := pairs.Render(nil, s.Format, target, body, &core.RequestInfo{Model: "m", Upstream: "m"})
	return outcome{request, paths(rendered.Losses), f}
}

func (s *sample) answer(body []byte, target translate.Format) outcome {
	ids := translate.IDs{Message: "id", Model: "m", NewToolID: func() string { return "call" }}
	t := pairs.NewTranslator(s.Format, target, new(translate.AnswerContext), ids)
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
	outer, own := steps(loss), steps(s.Path)
	return len(outer) < len(own) && slices.Equal(outer, own[:len(outer)])
}

// names reports whether a path or a message names the member, or an object around it.
func (s *sample) names(text string) bool {
	members := steps(s.Path)
	return slices.ContainsFunc(names.FindAllString(text, -1), func(word string) bool { return slices.Contains(members, word) })
}
