package client

import (
	"errors"
	"fmt"
)

// Completions is the completions format.
var Completions = Format{
	open: func(r reading) accumulator {
		return &completion{reading: r, object: "text_completion", begin: func(Object) error { return nil }, add: addText}
	},
	kinds: choiceKinds, end: done, check: checkChoices,
	texts: func(o Object) []string {
		return textsOf(o, func(choice Object) string { return text(choice, "text") })
	},
}

const done = "[DONE]"

// choiceKinds are the kinds of the completions and the chat formats.
var choiceKinds = kinds{
	texts:   "id object model role type name text content refusal reasoning_content finish_reason arguments input",
	numbers: "index created prompt_tokens completion_tokens total_tokens cached_tokens text_tokens audio_tokens image_tokens reasoning_tokens",
	objects: "delta message function custom usage prompt_tokens_details completion_tokens_details",
	lists:   "choices tool_calls", free: "error logprobs",
}

func checkChoices(o Object) error {
	if len(list(o, "choices")) == 0 {
		return errors.New("the answer has no choice")
	}
	return nil
}

func textsOf(o Object, textOf func(choice Object) string) (texts []string) {
	for _, choice := range list(o, "choices") {
		texts = append(texts, textOf(choice.(Object)))
	}
	return texts
}

func addText(known, data Object) error {
	known["text"] = text(known, "text") + text(data, "text")
	return nil
}

// completion is the accumulator of the completions and the chat formats.
type completion struct {
	reading
	object  string                         // the kind of the chunks
	begin   func(first Object) error       // turns the first fragment of a choice into the choice
	add     func(known, next Object) error // adds another one
	answer  Object
	choices []Object // by index
	asked   bool     // the client asked for usage
}

func (c *completion) sum() Object {
	if c.answer == nil {
		return Object{}
	}
	all := []any{}
	for _, choice := range c.choices {
		if choice != nil {
			all = append(all, choice)
		}
	}
	c.answer["choices"] = all
	return c.answer
}

func (c *completion) take(e Event, data Object) error {
	_, failed := data["error"]
	switch {
	case e.Name != "":
		return errors.New("an event with a name")
	case e.Data == done:
		c.complete = true
		return c.end()
	case failed: // clients end the stream at the member, whatever its value
		return c.fail(e)
	case c.emitted:
		if err := c.lawful(data); err != nil {
			return err
		}
	}
	return c.chunk(data)
}

// repeated are the members that every chunk repeats.
var repeated = []string{"id", "object", "created", "model"}

// lawful checks what the gateway keeps beyond what every client needs: members that do not
// change, one choice in each chunk, and usage in a last chunk of its own if it was asked for.
func (c *completion) lawful(data Object) error {
	_, asked := data["usage"]
	if c.answer == nil {
		c.asked = asked
	}
	for _, name := range repeated {
		if data[name] == nil || c.answer != nil && data[name] != c.answer[name] {
			return fmt.Errorf("%s changes", name)
		}
	}
	choices, ok := data["choices"].([]any)
	switch {
	case data["object"] != c.object:
		return errors.New("not a chunk of an answer")
	case c.answer["usage"] != nil:
		return errors.New("behind the usage")
	case c.answer["service_tier"] != nil && data["service_tier"] != c.answer["service_tier"]:
		return errors.New("service_tier changes")
	case !ok || asked != c.asked:
		return errors.New("no choices, or no usage where it was asked for")
	case (data["usage"] == nil) != (len(choices) == 1) || len(choices) > 1:
		return errors.New("not one choice, or usage beside it")
	}
	return nil
}

func (c *completion) chunk(data Object) error {
	if c.answer == nil {
		c.answer = Object{}
		for _, name := range repeated {
			c.answer[name] = data[name]
		}
	}
	if tier, ok := data["service_tier"]; ok && c.answer["service_tier"] == nil { // of providers that state it late
		c.answer["service_tier"] = tier
	}
	if text(data, "id") == "" || data["id"] != c.answer["id"] {
		return errors.New("no id, or another one")
	}
	if usage := data["usage"]; usage != nil {
		if c.answer["usage"] != nil {
			return errors.New("usage occurs twice; clients add it up")
		}
		c.answer["usage"] = usage
		if err := counts(usage); err != nil {
			return err
		}
	}
	for _, choice := range list(data, "choices") {
		if err := c.choice(choice.(Object)); err != nil {
			return err
		}
	}
	return nil
}

// choice adds a fragment of one choice.
func (c *completion) choice(data Object) error {
	index := number(data, "index")
	if index < 0 || c.emitted && data["finish_reason"] == "" {
		return errors.New("no index, or an empty reason of the end")
	}
	for len(c.choices) <= index {
		c.choices = append(c.choices, nil)
	}
	known := c.choices[index]
	if known == nil {
		c.choices[index] = data
		return c.begin(data)
	}
	if text(known, "finish_reason") != "" {
		return fmt.Errorf("behind the end of choice %d", index)
	}
	known["finish_reason"] = data["finish_reason"]
	known["logprobs"] = joinLogprobs(object(known, "logprobs"), object(data, "logprobs"))
	return c.add(known, data)
}

// joinLogprobs joins the parallel lists of two chunks.
func joinLogprobs(a, b Object) any {
	switch {
	case a == nil && b == nil:
		return nil
	case a == nil:
		return b
	}
	for name := range b {
		if more := list(b, name); more != nil {
			a[name] = append(list(a, name), more...)
		}
	}
	return a
}

// end checks that all choices have ended.
func (c *completion) end() error {
	if c.emitted && (c.answer == nil || c.asked != (c.answer["usage"] != nil)) {
		return errors.New("no usage")
	}
	for i, choice := range c.choices {
		missing := choice == nil && c.emitted // the gateway writes no choice that its provider left out
		if text(choice, "finish_reason") == "" && !missing {
			return fmt.Errorf("choice %d does not end", i)
		}
	}
	return nil
}
