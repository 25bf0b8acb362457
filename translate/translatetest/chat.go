package translatetest

import (
	"errors"
	"fmt"
)

// Chat adds up a stream of the chat format. asked reports whether the client asked for
// usage.
func Chat(stream []byte, asked bool) (Object, error) {
	c := completion{first: beginMessage, add: addDelta}
	answer, err := c.read(stream, asked)
	if err != nil {
		return nil, err
	}
	if answer["object"] != "chat.completion.chunk" {
		return nil, errors.New("not chunks of an answer")
	}
	answer["object"] = "chat.completion"
	for _, choice := range answer["choices"].([]any) {
		message := object(choice.(Object), "message")
		if message["tool_calls"] != nil && message["content"] == "" {
			message["content"] = nil // a stream begins before its calls are known
		}
	}
	return answer, nil
}

// beginMessage returns a new choice from the chunk with its role.
func beginMessage(data Object) (Object, error) {
	delta := object(data, "delta")
	if delta["role"] != "assistant" || delta["content"] != "" || len(delta) != 2 || data["finish_reason"] != nil {
		return nil, errors.New("not the beginning of a choice")
	}
	delete(data, "delta")
	delta["refusal"] = nil
	data["message"] = delta
	return data, nil
}

// addDelta adds a delta of at most one member.
func addDelta(known, data Object) error {
	message, delta := object(known, "message"), object(data, "delta")
	if delta == nil || len(delta) > 1 || len(delta) == 1 && data["finish_reason"] != nil {
		return errors.New("not one fragment, or not a bare end")
	}
	for name, value := range delta {
		switch list, _ := value.([]any); name {
		case "content", "refusal", "reasoning_content":
			if text(delta, name) == "" {
				return fmt.Errorf("no %s", name)
			}
			message[name] = text(message, name) + text(delta, name)
		case "annotations":
			if message[name] != nil {
				return errors.New("annotations in more than one chunk")
			}
			message[name] = list
		case "thinking_blocks", "images":
			blocks, _ := message[name].([]any)
			message[name] = append(blocks, list...)
		case "tool_calls":
			return addCall(message, list)
		default:
			return fmt.Errorf("unknown member %s", name)
		}
	}
	return nil
}

// addCall adds a fragment of a call.
func addCall(message Object, list []any) error {
	if len(list) != 1 {
		return errors.New("not one call")
	}
	fragment := list[0].(Object)
	index := number(fragment, "index")
	calls, _ := message["tool_calls"].([]any)
	delete(fragment, "index")
	switch {
	case index == len(calls):
		kind := text(fragment, "type")
		called := object(fragment, kind)
		if text(fragment, "id") == "" || text(called, "name") == "" || called[inputs[kind]] != "" {
			return errors.New("not the beginning of a call")
		}
		message["tool_calls"] = append(calls, fragment)
	case index < 0 || index > len(calls):
		return errors.New("not a fragment of a known call")
	default:
		return addInput(calls[index].(Object), fragment)
	}
	return nil
}

// inputs lists the member with the arguments of each type of calls.
var inputs = map[string]string{"function": "arguments", "custom": "input"}

// addInput adds a fragment to the arguments of a call.
func addInput(call, fragment Object) error {
	kind := text(call, "type")
	called, added := object(call, kind), object(fragment, kind)
	if len(fragment) != 1 || len(added) != 1 {
		return errors.New("not a fragment of a known call")
	}
	called[inputs[kind]] = text(called, inputs[kind]) + text(added, inputs[kind])
	return nil
}
