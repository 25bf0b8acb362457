package translatetest

import (
	"errors"
	"fmt"
	"reflect"
)

// response is the state of an accumulator of the responses format.
type response struct {
	answer Object // the response at the end
	id     any
	next   int    // the sequence number of the next event
	items  []any  // the items that have ended
	item   Object // the open item, with the fragments so far; nil for none
	parts  string // the member of the open item that is a list of parts
	part   Object // the open part; nil for none
	word   string // the member of the part, or of the item, that deltas add to
	whole  bool   // the whole value of that member was read
	failed bool
}

// Response adds up a stream of the responses format. Its last event contains the whole
// answer, which must equal the sum of the events before.
func Response(stream []byte) (Object, error) {
	events, err := Events(stream)
	if err != nil {
		return nil, err
	}
	r := response{items: []any{}}
	for _, e := range events {
		if err := r.take(e); err != nil {
			return nil, fmt.Errorf("%s %s: %w", e.Name, e.Data, err)
		}
	}
	switch {
	case r.failed:
		return nil, ErrFailed
	case r.answer == nil:
		return nil, errors.New("the stream does not end")
	}
	return r.answer, nil
}

func (r *response) take(e Event) error {
	data, err := Decode([]byte(e.Data))
	_, isError := data["error"]
	switch {
	case err != nil:
		return err
	case r.answer != nil || r.failed:
		return errors.New("behind the end")
	case text(data, "type") != e.Name:
		return errors.New("the type is not the event's name")
	case number(data, "sequence_number") != r.next:
		return errors.New("not the next number")
	case isError:
		return errors.New("a member error, by which clients know failed streams")
	case (r.next == 0) != (e.Name == "response.created"):
		return errors.New("a stream begins with response.created, once")
	}
	r.next++
	if object(data, "response") != nil {
		return r.lifecycle(e.Name, object(data, "response"))
	}
	return r.event(e.Name, data)
}

// lifecycle takes an event about the whole response.
func (r *response) lifecycle(name string, whole Object) error {
	if r.id == nil {
		r.id = whole["id"]
	}
	if whole["id"] == "" || whole["id"] != r.id || whole["object"] != "response" || text(whole, "model") == "" || number(whole, "created_at") < 0 {
		return errors.New("not a response, or another one")
	}
	for _, member := range []string{"instructions", "metadata", "parallel_tool_calls", "temperature", "tool_choice", "tools", "top_p", "incomplete_details", "error", "usage", "output"} {
		if _, there := whole[member]; !there {
			return fmt.Errorf("no %s", member)
		}
	}
	switch status := text(whole, "status"); name {
	case "response.created", "response.in_progress":
		return r.inProgress(status, whole)
	case "response.completed", "response.incomplete":
		return r.end(name, status, whole)
	case "response.failed":
		r.failed = true
		fault := object(whole, "error")
		if status != "failed" || text(fault, "code") == "" || text(fault, "message") == "" {
			return errors.New("no fault")
		}
		return nil
	default:
		return errors.New("unknown event")
	}
}

// inProgress takes a response that is not at its end. It must contain the items that have
// ended, because some clients forget all others.
func (r *response) inProgress(status string, whole Object) error {
	if status != "in_progress" || whole["usage"] != nil || whole["error"] != nil {
		return errors.New("not a response in progress")
	}
	if !reflect.DeepEqual(whole["output"], r.items) {
		return errors.New("not the items that have ended")
	}
	return nil
}

func (r *response) end(name, status string, whole Object) error {
	usage := object(whole, "usage")
	reason := text(object(whole, "incomplete_details"), "reason")
	switch {
	case r.item != nil:
		return errors.New("an item is open")
	case "response."+status != name || (status == "incomplete") != (reason != ""):
		return errors.New("another status than that of the event")
	case !reflect.DeepEqual(whole["output"], r.items):
		return fmt.Errorf("not the items %v", r.items)
	case number(object(usage, "input_tokens_details"), "cached_tokens") < 0 || number(object(usage, "output_tokens_details"), "reasoning_tokens") < 0:
		return errors.New("no details of usage")
	case number(usage, "input_tokens")+number(usage, "output_tokens") != number(usage, "total_tokens"):
		return errors.New("not the sum of the counts")
	}
	r.answer = whole
	return counts(usage)
}

// texts lists the member of a part, or of an item, that a kind of events adds to.
var texts = map[string]string{
	"response.output_text":             "text",
	"response.refusal":                 "refusal",
	"response.reasoning_summary_text":  "text",
	"response.function_call_arguments": "arguments",
	"response.custom_tool_call_input":  "input",
}

func (r *response) event(name string, data Object) error {
	switch name {
	case "response.output_item.added":
		return r.addItem(data)
	case "response.output_item.done":
		return r.endItem(data)
	}
	if r.item == nil || number(data, "output_index") != len(r.items) || data["item_id"] != r.item["id"] {
		return errors.New("not about the open item")
	}
	switch name {
	case "response.content_part.added", "response.reasoning_summary_part.added":
		return r.addPart(data)
	case "response.content_part.done", "response.reasoning_summary_part.done":
		return r.endPart(data)
	case "response.output_text.annotation.added":
		return r.annotate(data)
	}
	for kind, word := range texts {
		switch name {
		case kind + ".delta":
			return r.add(word, data)
		case kind + ".done":
			return r.settle(word, data)
		}
	}
	return errors.New("unknown event")
}

// kinds lists the member to which the deltas of each kind of items add, or the member
// with the parts to which they add.
var kinds = map[string]struct{ word, parts string }{
	"message":          {"", "content"},
	"reasoning":        {"", "summary"},
	"function_call":    {"arguments", ""},
	"custom_tool_call": {"input", ""},
}

// withoutEvents lists the kinds of items whose content comes whole at their end.
var withoutEvents = map[string]bool{"tool_search_call": true, "image_generation_call": true}

func (r *response) addItem(data Object) error {
	item := object(data, "item")
	kind, known := kinds[text(item, "type")]
	switch {
	case r.item != nil || number(data, "output_index") != len(r.items):
		return errors.New("not the next item")
	case text(item, "id") == "":
		return errors.New("no id")
	case !known && !withoutEvents[text(item, "type")]:
		return errors.New("unknown item")
	}
	r.item, r.parts, r.part, r.word, r.whole = item, kind.parts, nil, kind.word, false
	if kind.word != "" && (item[kind.word] != "" || text(item, "call_id") == "" || text(item, "name") == "") {
		return errors.New("not an empty call")
	}
	if list, ok := item[kind.parts].([]any); kind.parts != "" && (!ok || len(list) > 0) {
		return errors.New("not an empty item")
	}
	return nil
}

// list returns the parts of the open item that have ended.
func (r *response) list() []any {
	list, _ := r.item[r.parts].([]any)
	return list
}

func (r *response) addPart(data Object) error {
	part := object(data, "part")
	index := "content_index"
	if r.parts == "summary" {
		index = "summary_index"
	}
	if r.part != nil || r.parts == "" || number(data, index) != len(r.list()) {
		return errors.New("not the next part")
	}
	r.part, r.word, r.whole = part, "text", false
	if text(part, "type") == "refusal" {
		r.word = "refusal"
	}
	if part[r.word] != "" {
		return errors.New("not an empty part")
	}
	return nil
}

// holder returns the object that deltas add to: the open part, or the item.
func (r *response) holder() Object {
	if r.parts == "" {
		return r.item
	}
	return r.part
}

func (r *response) add(word string, data Object) error {
	to := r.holder()
	delta, ok := data["delta"].(string)
	if to == nil || word != r.word || r.whole || !ok {
		return errors.New("not a delta of the open part")
	}
	to[word] = text(to, word) + delta
	if scores, ok := data["logprobs"].([]any); ok {
		to["logprobs"] = append(to["logprobs"].([]any), scores...)
	}
	return nil
}

// settle takes a whole text, which must equal the sum of its deltas.
func (r *response) settle(word string, data Object) error {
	to := r.holder()
	if to == nil || word != r.word || r.whole || data[word] != to[word] {
		return errors.New("not what the deltas add up to")
	}
	if scores, ok := data["logprobs"]; ok && !reflect.DeepEqual(scores, to["logprobs"]) {
		return errors.New("not the log probabilities of the deltas")
	}
	r.whole = true
	return nil
}

func (r *response) annotate(data Object) error {
	notes, ok := r.part["annotations"].([]any)
	if !ok || r.whole || number(data, "annotation_index") != len(notes) || object(data, "annotation") == nil {
		return errors.New("not the next annotation of the open part")
	}
	r.part["annotations"] = append(notes, data["annotation"])
	return nil
}

func (r *response) endPart(data Object) error {
	if r.part == nil || !r.whole || !reflect.DeepEqual(data["part"], any(r.part)) {
		return fmt.Errorf("not the part %v", r.part)
	}
	r.item[r.parts] = append(r.list(), any(r.part))
	r.part = nil
	return nil
}

// endItem takes a whole item. It must equal the sum of its events, but may have a status
// and encrypted reasoning besides.
func (r *response) endItem(data Object) error {
	item := object(data, "item")
	switch {
	case r.item == nil || number(data, "output_index") != len(r.items):
		return errors.New("not the open item")
	case r.part != nil || r.parts == "" && r.word != "" && !r.whole:
		return errors.New("a part is open")
	case item["status"] == "in_progress":
		return errors.New("an item that goes on")
	}
	for name, value := range r.item {
		if name != "status" && !reflect.DeepEqual(value, item[name]) && !withoutEvents[text(item, "type")] {
			return fmt.Errorf("%s differs from its events: %v", name, value)
		}
	}
	r.items, r.item = append(r.items, any(item)), nil
	return nil
}
