package client

import (
	"errors"
	"fmt"
)

// Chat is the chat format.
var Chat = Format{
	open: func(r reading) accumulator {
		c := chat{completion{reading: r, object: "chat.completion.chunk"}}
		c.begin, c.add = c.beginMessage, c.addDelta
		return &c
	},
	kinds: choiceKinds, end: done, check: checkChoices,
	texts: func(o Object) []string {
		return textsOf(o, func(choice Object) string { return text(object(choice, "message"), "content") })
	},
}

// chat is the accumulator of the chat format.
type chat struct{ completion }

func (c *chat) sum() Object {
	o := c.completion.sum()
	if o["object"] == c.object {
		o["object"] = "chat.completion"
	}
	for _, choice := range c.choices {
		message := object(choice, "message")
		if message["tool_calls"] != nil && message["content"] == "" {
			message["content"] = nil // a stream begins before its calls are known
		}
	}
	return o
}

// beginMessage makes the first fragment of a choice the choice.
func (c *chat) beginMessage(first Object) error {
	delta := object(first, "delta")
	if c.emitted && (delta["role"] != "assistant" || delta["content"] != "" || len(delta) != 2 || first["finish_reason"] != nil) {
		return errors.New("not the beginning of a choice")
	}
	delete(first, "delta")
	first["message"] = Object{"content": nil, "refusal": nil}
	return c.join(object(first, "message"), delta)
}

// addDelta adds a delta to a choice.
func (c *chat) addDelta(known, next Object) error {
	message, delta := object(known, "message"), object(next, "delta")
	if c.emitted {
		if err := oneFragment(message, delta, next["finish_reason"]); err != nil {
			return err
		}
	}
	return c.join(message, delta)
}

// oneFragment checks that a delta has at most one member, and none beside the end.
func oneFragment(message, delta Object, finish any) error {
	if delta == nil || len(delta) > 1 || len(delta) == 1 && finish != nil {
		return errors.New("not one fragment, or not a bare end")
	}
	for name := range delta {
		switch name {
		case "content", "refusal", "reasoning_content":
			if text(delta, name) == "" {
				return fmt.Errorf("no %s", name)
			}
		case "annotations":
			if message[name] != nil {
				return errors.New("annotations in more than one chunk")
			}
		case "tool_calls":
			if len(list(delta, name)) != 1 {
				return errors.New("not one call")
			}
		case "thinking_blocks", "images":
		default:
			return fmt.Errorf("unknown member %s", name)
		}
	}
	return nil
}

// join adds the members of a delta to those of a message: texts and lists grow.
func (c *chat) join(message, delta Object) error {
	for name, value := range delta {
		switch value := value.(type) {
		case nil:
		case string:
			message[name] = text(message, name) + value
			if name == "role" {
				message[name] = value
			}
		case []any:
			if name == "tool_calls" {
				if err := c.addCalls(message, value); err != nil {
					return err
				}
				continue
			}
			message[name] = append(list(message, name), value...)
		default:
			message[name] = value
		}
	}
	return nil
}

func (c *chat) addCalls(message Object, fragments []any) error {
	for _, fragment := range fragments {
		if err := c.addCall(message, fragment.(Object)); err != nil {
			return err
		}
	}
	return nil
}

// inputs lists the member with the arguments of each type of calls.
var inputs = map[string]string{"function": "arguments", "custom": "input"}

// addCall adds a fragment of a call.
func (c *chat) addCall(message, fragment Object) error {
	calls, index := list(message, "tool_calls"), number(fragment, "index")
	if index < 0 || index > len(calls) {
		return fmt.Errorf("the index of a call leaves a gap after %d others", len(calls))
	}
	delete(fragment, "index")
	begun := index < len(calls)
	if begun != (text(fragment, "id") == "") || begun != (text(fragment, "type") == "") {
		return errors.New("the first fragment of a call has no id or type, or a later one repeats it")
	}
	if begun {
		return c.addInput(calls[index].(Object), fragment)
	}
	kind := text(fragment, "type")
	called := object(fragment, kind)
	if called == nil || c.emitted && (text(called, "name") == "" || called[inputs[kind]] != "") {
		return errors.New("not the beginning of a call")
	}
	message["tool_calls"] = append(calls, fragment)
	return nil
}

// addInput adds a fragment to a call. Names are concatenated, as clients do.
func (c *chat) addInput(call, fragment Object) error {
	kind := text(call, "type")
	called, added := object(call, kind), object(fragment, kind)
	if _, known := added[inputs[kind]]; c.emitted && (len(fragment) != 1 || len(added) != 1 || !known) {
		return errors.New("not one fragment of a call")
	}
	for name := range added {
		called[name] = text(called, name) + text(added, name)
	}
	return nil
}
