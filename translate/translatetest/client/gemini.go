package client

import (
	"encoding/base64"
	"errors"
	"reflect"
	"strings"
)

// Gemini is the gemini format. Its clients accept nothing but lines of data with one object each.
var Gemini = Format{
	framed: true,
	open:   func(r reading) accumulator { return &content{reading: r} },
	kinds: kinds{
		texts:   "text role finishReason id name thoughtSignature",
		numbers: "index promptTokenCount cachedContentTokenCount candidatesTokenCount thoughtsTokenCount totalTokenCount",
		flags:   "thought", objects: "content functionCall args usageMetadata",
		lists: "candidates parts", free: "args logprobsResult error",
	},
	check: func(o Object) error {
		if len(list(o, "candidates")) == 0 {
			return errors.New("the answer has no candidate")
		}
		return nil
	},
	texts: func(o Object) (texts []string) {
		for _, c := range list(o, "candidates") {
			var all strings.Builder
			for _, part := range list(object(c.(Object), "content"), "parts") {
				if part := part.(Object); part["thought"] != true {
					all.WriteString(text(part, "text"))
				}
			}
			texts = append(texts, all.String())
		}
		return texts
	},
}

// content is the accumulator of the gemini format.
type content struct {
	reading
	answer     Object
	candidates []*candidate // by index
}

// candidate is the state of one candidate.
type candidate struct {
	last  Object
	parts []any
	ended bool // the reason of the end came
}

// maxCandidate is the highest number of a candidate.
const maxCandidate = 127

// sum adds up the candidates. Texts of one kind that follow each other are one part, and empty
// texts without a signature none.
func (g *content) sum() Object {
	if g.answer == nil {
		return Object{}
	}
	all := []any{}
	g.complete = len(g.candidates) > 0
	for _, c := range g.candidates {
		g.complete = g.complete && c.ended && g.failure == nil
		if len(c.parts) == 0 {
			c.parts = []any{Object{"text": ""}}
		}
		if object(c.last, "content") == nil {
			c.last = Object{"content": Object{}}
		}
		object(c.last, "content")["parts"] = c.parts
		all = append(all, c.last)
	}
	g.answer["candidates"] = all
	return g.answer
}

func (g *content) take(e Event, data Object) error {
	_, failed := data["error"]
	switch {
	case e.Name != "":
		return errors.New("a named event, which clients do not read")
	case len(data) == 0: // keeps the connection alive
		return nil
	case failed:
		return g.fail(e)
	}
	if g.emitted {
		if err := g.lawful(data); err != nil {
			return err
		}
	}
	g.answer = data
	for _, next := range list(data, "candidates") {
		if err := g.candidate(next.(Object)); err != nil {
			return err
		}
	}
	if g.emitted && data["usageMetadata"] != nil && !g.candidates[number(list(data, "candidates")[0].(Object), "index")].ended {
		return errors.New("usage before the end")
	}
	return counts(data["usageMetadata"])
}

// lawful checks what the gateway keeps beyond what every client needs.
func (g *content) lawful(data Object) error {
	candidates := list(data, "candidates")
	switch {
	case text(data, "modelVersion") == "" || text(data, "responseId") == "":
		return errors.New("no model or no id")
	case g.answer != nil && (data["responseId"] != g.answer["responseId"] || data["modelVersion"] != g.answer["modelVersion"]):
		return errors.New("another answer")
	case len(candidates) != 1:
		return errors.New("not one candidate")
	}
	next, _ := candidates[0].(Object)
	parts := list(object(next, "content"), "parts")
	switch {
	case number(next, "index") < 0:
		return errors.New("no number of a candidate")
	case text(object(next, "content"), "role") != "model" || len(parts) == 0:
		return errors.New("no parts of a model, which clients do not keep")
	}
	return nil
}

// candidate takes a candidate of an event.
func (g *content) candidate(next Object) error {
	index := max(number(next, "index"), 0)
	if index > maxCandidate {
		return errors.New("no number of a candidate")
	}
	for index >= len(g.candidates) { // they may begin in any order
		g.candidates = append(g.candidates, new(candidate))
	}
	c := g.candidates[index]
	if c.ended && g.emitted {
		return errors.New("behind the end")
	}
	for _, part := range list(object(next, "content"), "parts") {
		if err := c.add(part.(Object)); err != nil {
			return err
		}
	}
	c.keep(next)
	c.ended = c.ended || text(next, "finishReason") != ""
	return nil
}

// keep keeps the members beside the parts. Of a list of probabilities, later events contain
// the next tokens.
func (c *candidate) keep(next Object) {
	earlier, later := object(c.last, "logprobsResult"), object(next, "logprobsResult")
	c.last = next
	switch {
	case earlier == nil:
	case later == nil:
		next["logprobsResult"] = earlier
	default:
		for name := range later {
			later[name] = append(list(earlier, name), list(later, name)...)
		}
	}
}

// add adds a part.
func (c *candidate) add(part Object) error {
	call := object(part, "functionCall")
	_, isText := part["text"].(string)
	signature, signed := part["thoughtSignature"].(string)
	if _, err := base64.StdEncoding.DecodeString(signature); err != nil { // the client for Go reads no other
		return errors.New("a signature that is no standard base64")
	}
	switch {
	case call != nil:
		if object(call, "args") == nil || text(call, "name") == "" || text(call, "id") == "" {
			return errors.New("not a whole call")
		}
	case object(part, "inlineData") != nil:
	case !isText:
		return errors.New("a part of an unknown kind")
	case signed:
	case part["text"] == "":
		return nil
	case len(c.parts) > 0 && joins(c.parts[len(c.parts)-1].(Object), part):
		last := c.parts[len(c.parts)-1].(Object)
		last["text"] = text(last, "text") + text(part, "text")
		return nil
	}
	c.parts = append(c.parts, part)
	return nil
}

// joins reports whether clients join the text of a part with the part before.
func joins(last, part Object) bool {
	_, isText := last["text"]
	return isText && last["thoughtSignature"] == nil && reflect.DeepEqual(last["thought"], part["thought"])
}
