package translatetest

import (
	"errors"
	"fmt"
	"reflect"
)

// generated is the state of an accumulator of the gemini format.
type generated struct {
	answer     Object
	candidates []*candidate // by index
}

// candidate is the state of one candidate.
type candidate struct {
	last  Object
	parts []any
	over  bool // the reason of the end came
}

// maxCandidate is the highest number of a candidate.
const maxCandidate = 127

// Generated adds up a stream of the gemini format. Texts of one kind that follow each other
// become one part, and empty texts without a signature none.
func Generated(stream []byte) (Object, error) {
	events, err := Events(stream)
	if err != nil {
		return nil, err
	}
	var g generated
	for _, e := range events {
		if err := g.take(e); err != nil {
			return nil, fmt.Errorf("%s: %w", e.Data, err)
		}
	}
	list := []any{}
	for _, c := range g.candidates {
		if !c.over {
			return nil, errors.New("a candidate does not end")
		}
		if len(c.parts) == 0 {
			c.parts = []any{Object{"text": ""}}
		}
		object(c.last, "content")["parts"] = c.parts
		list = append(list, c.last)
	}
	if len(list) == 0 {
		return nil, errors.New("the stream does not end")
	}
	g.answer["candidates"] = list
	return g.answer, nil
}

func (g *generated) take(e Event) error {
	data, err := Decode([]byte(e.Data))
	switch {
	case err != nil:
		return err
	case e.Name != "":
		return errors.New("a named event, which clients do not read")
	case len(data) == 0: // keeps the connection alive
		return nil
	case data["error"] != nil:
		return ErrFailed
	case text(data, "modelVersion") == "" || text(data, "responseId") == "":
		return errors.New("no model or no id")
	case g.answer != nil && (data["responseId"] != g.answer["responseId"] || data["modelVersion"] != g.answer["modelVersion"]):
		return errors.New("another answer")
	}
	g.answer = data
	list, _ := data["candidates"].([]any)
	if len(list) != 1 {
		return errors.New("not one candidate")
	}
	next, _ := list[0].(Object)
	index := number(next, "index")
	if index < 0 || index > maxCandidate {
		return errors.New("no number of a candidate")
	}
	for index >= len(g.candidates) { // they may begin in any order
		g.candidates = append(g.candidates, new(candidate))
	}
	c := g.candidates[index]
	if err := c.take(next); err != nil {
		return err
	}
	usage := object(data, "usageMetadata")
	if usage != nil && !c.over {
		return errors.New("usage before the end")
	}
	return counts(data["usageMetadata"])
}

// take takes a candidate of an event.
func (c *candidate) take(next Object) error {
	if c.over {
		return errors.New("behind the end")
	}
	parts, _ := object(next, "content")["parts"].([]any)
	if text(object(next, "content"), "role") != "model" || len(parts) == 0 {
		return errors.New("no parts of a model, which clients do not keep")
	}
	for _, part := range parts {
		if err := c.add(part); err != nil {
			return err
		}
	}
	c.keep(next)
	c.over = next["finishReason"] != nil
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
		for name, list := range later {
			of, _ := earlier[name].([]any)
			more, _ := list.([]any)
			later[name] = append(of, more...)
		}
	}
}

// add adds a part.
func (c *candidate) add(value any) error {
	part, _ := value.(Object)
	call := object(part, "functionCall")
	_, isText := part["text"].(string)
	switch {
	case call != nil:
		if args, ok := call["args"].(Object); !ok || text(call, "name") == "" || text(call, "id") == "" || args == nil {
			return errors.New("not a whole call")
		}
	case object(part, "inlineData") != nil:
	case !isText:
		return errors.New("a part of an unknown kind")
	case part["thoughtSignature"] != nil:
	case part["text"] == "":
		return nil
	case len(c.parts) > 0 && joins(c.parts[len(c.parts)-1], part):
		last := c.parts[len(c.parts)-1].(Object)
		last["text"] = text(last, "text") + text(part, "text")
		return nil
	}
	c.parts = append(c.parts, part)
	return nil
}

// joins reports whether clients join the text of a part with the part before.
func joins(before any, part Object) bool {
	last := before.(Object)
	_, isText := last["text"]
	return isText && last["thoughtSignature"] == nil && reflect.DeepEqual(last["thought"], part["thought"])
}
