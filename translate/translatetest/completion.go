package translatetest

import (
	"errors"
	"fmt"
)

// completion is the state of an accumulator of the completions and the chat
// formats.
type completion struct {
	first   func(data Object) (Object, error) // returns a choice from its first fragment
	add     func(known, data Object) error    // adds another one
	answer  Object
	choices []Object // by index
	usage   bool     // the usage chunk came
	over    bool     // [DONE] came
}

// Completion adds up a stream of the completions format. asked reports whether the client
// asked for usage.
func Completion(stream []byte, asked bool) (Object, error) {
	c := completion{add: addText, first: func(data Object) (Object, error) { return data, nil }}
	return c.read(stream, asked)
}

func (c *completion) read(stream []byte, asked bool) (Object, error) {
	events, err := Events(stream)
	if err != nil {
		return nil, err
	}
	for _, e := range events {
		if err := c.take(e, asked); err != nil {
			return nil, fmt.Errorf("%s: %w", e.Data, err)
		}
	}
	return c.end(asked)
}

func (c *completion) take(e Event, asked bool) error {
	switch {
	case e.Name != "":
		return errors.New("an event with a name")
	case c.over:
		return errors.New("behind the end")
	case e.Data == "[DONE]":
		c.over = true
		return nil
	}
	data, err := Decode([]byte(e.Data))
	if err != nil {
		return err
	}
	if _, failed := data["error"]; failed {
		return ErrFailed
	}
	if c.usage {
		return errors.New("behind the usage")
	}
	if err := c.same(data); err != nil {
		return err
	}
	list, ok := data["choices"].([]any)
	usage, has := data["usage"]
	switch {
	case !ok || has != asked:
		return errors.New("no choices, or no usage where it was asked for")
	case usage != nil:
		if c.usage = len(list) == 0; !c.usage {
			return errors.New("usage beside choices")
		}
		if err := counts(usage); err != nil {
			return err
		}
		c.answer["usage"] = usage
		return nil
	case len(list) != 1:
		return errors.New("not one choice")
	}
	return c.choice(list[0].(Object))
}

// same checks that the members which every chunk repeats do not change.
func (c *completion) same(data Object) error {
	if c.answer == nil {
		c.answer = Object{}
		for _, name := range []string{"id", "object", "created", "model"} {
			c.answer[name] = data[name]
		}
	}
	if tier, ok := data["service_tier"]; ok && c.answer["service_tier"] == nil { // of providers that state it late
		c.answer["service_tier"] = tier
	}
	for _, name := range []string{"id", "object", "created", "model"} {
		if data[name] == nil || data[name] != c.answer[name] {
			return fmt.Errorf("%s changes", name)
		}
	}
	if data["service_tier"] != c.answer["service_tier"] {
		return errors.New("service_tier changes")
	}
	return nil
}

// choice adds a fragment of one choice.
func (c *completion) choice(data Object) error {
	index := number(data, "index")
	if index < 0 {
		return errors.New("no index")
	}
	for len(c.choices) <= index {
		c.choices = append(c.choices, nil)
	}
	known := c.choices[index]
	if known == nil {
		var err error
		c.choices[index], err = c.first(data)
		return err
	}
	if known["finish_reason"] != nil {
		return errors.New("behind the end of its choice")
	}
	known["finish_reason"] = data["finish_reason"]
	known["logprobs"] = joinLogprobs(object(known, "logprobs"), object(data, "logprobs"))
	return c.add(known, data)
}

func addText(known, data Object) error {
	known["text"] = text(known, "text") + text(data, "text")
	return nil
}

// joinLogprobs joins the parallel lists of two chunks.
func joinLogprobs(a, b Object) any {
	switch {
	case a == nil && b == nil:
		return nil
	case a == nil:
		return b
	}
	for name, list := range b {
		if more, ok := list.([]any); ok {
			a[name] = append(a[name].([]any), more...)
		}
	}
	return a
}

// end checks the complete answer.
func (c *completion) end(asked bool) (Object, error) {
	if !c.over || c.usage != asked {
		return nil, errors.New("the stream does not end")
	}
	list := []any{}
	for _, choice := range c.choices {
		if choice == nil {
			continue
		}
		if choice["finish_reason"] == nil {
			return nil, errors.New("a choice that does not end")
		}
		list = append(list, choice)
	}
	c.answer["choices"] = list
	return c.answer, nil
}
