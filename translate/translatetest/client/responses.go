package client

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"strings"
)

// Responses is the responses format.
var Responses = Format{
	open: func(r reading) accumulator { return &response{reading: r, items: []any{}} },
	kinds: kinds{
		texts:   "type id object status model role phase call_id namespace name item_id code message refusal encrypted_content delta",
		numbers: "sequence_number output_index content_index summary_index created_at input_tokens output_tokens total_tokens cached_tokens reasoning_tokens",
		flags:   "store", objects: "response item part usage error incomplete_details input_tokens_details output_tokens_details",
		lists: "output content summary", free: "text tools tool_choice metadata action logprobs annotations annotation reasoning",
	},
	check: checkResponse,
	texts: func(o Object) []string {
		var all strings.Builder
		for _, item := range list(o, "output") {
			if item := item.(Object); item["type"] == "message" {
				for _, part := range list(item, "content") {
					all.WriteString(text(part.(Object), "text"))
				}
			}
		}
		return []string{all.String()}
	},
}

// checkResponse checks a response that has ended.
func checkResponse(o Object) error {
	if o["object"] != "response" || text(o, "id") == "" {
		return errors.New("the answer is not a response")
	}
	for i, item := range list(o, "output") {
		if err := checkItem(item.(Object)); err != nil {
			return fmt.Errorf("item %d: %w", i, err)
		}
	}
	usage := object(o, "usage")
	if usage == nil {
		return nil
	}
	for _, n := range []int{
		number(usage, "input_tokens"), number(object(usage, "input_tokens_details"), "cached_tokens"),
		number(usage, "output_tokens"), number(object(usage, "output_tokens_details"), "reasoning_tokens"), number(usage, "total_tokens"),
	} {
		if n < 0 {
			return errors.New("usage lacks a count")
		}
	}
	return counts(usage)
}

// items lists the member to which the deltas of each kind of items add, or the member with the
// parts to which they add.
var items = map[any]struct{ word, parts string }{
	"message":          {"", "content"},
	"reasoning":        {"", "summary"},
	"function_call":    {"arguments", ""},
	"custom_tool_call": {"input", ""},
}

// checkItem checks the members without which clients cannot parse an item.
func checkItem(item Object) error {
	kind := items[item["type"]]
	_, hasWord := item[kind.word].(string)
	parts, hasParts := item[kind.parts].([]any)
	switch {
	case text(item, "id") == "":
		return errors.New("no id")
	case kind.word != "" && (!hasWord || text(item, "call_id") == "" || text(item, "name") == ""):
		return fmt.Errorf("a call lacks its name, call_id or %s", kind.word)
	case kind.parts != "" && !hasParts:
		return fmt.Errorf("no %s", kind.parts)
	}
	for _, part := range parts {
		if _, ok := part.(Object)[wordOf(part.(Object))].(string); !ok {
			return errors.New("a part without a text")
		}
	}
	return nil
}

// wordOf returns the member of a part to which deltas add.
func wordOf(part Object) string {
	if part["type"] == "refusal" {
		return "refusal"
	}
	return "text"
}

// response is the accumulator of the responses format.
type response struct {
	reading
	answer Object // the response of the last event that contained one
	next   int    // the sequence number of the next event
	items  []any  // the items so far; the last may be open
	item   Object // the open item; nil for none
	parts  string // the member of the open item that is a list of parts
	part   Object // the open part; nil for none
	word   string // the member of the part, or of the item, that deltas add to
	whole  bool   // the whole value of that member was read
}

// sum returns the response of the last event, if that was the end of the stream, and else
// the items so far.
func (r *response) sum() Object {
	o := maps.Clone(r.answer)
	if o == nil {
		o = Object{}
	}
	if !r.complete || o["output"] == nil {
		o["output"] = r.items
	}
	return o
}

func (r *response) take(e Event, data Object) error {
	_, isError := data["error"]
	isError = isError || e.Name == "error"
	switch {
	case text(data, "type") != e.Name:
		return errors.New("the type is not the event's name")
	case number(data, "sequence_number") != r.next:
		return errors.New("not the next number")
	case isError && r.emitted:
		return errors.New("an error, or a member by which clients know one, beside response.failed")
	case isError:
		r.failure = &Failure{Type: e.Name, Code: text(data, "code"), Message: text(data, "message")}
		return nil
	case (r.next == 0) != (e.Name == "response.created"):
		return errors.New("a stream begins with response.created, once")
	}
	r.next++
	if object(data, "response") != nil {
		return r.lifecycle(e.Name, object(data, "response"))
	}
	return r.event(e.Name, data)
}

// required are the members of a response that some client cannot do without.
var required = []string{"instructions", "metadata", "parallel_tool_calls", "temperature", "tool_choice", "tools", "top_p", "incomplete_details", "error", "usage", "output"}

// lifecycle takes an event about the whole response.
func (r *response) lifecycle(name string, whole Object) error {
	if text(whole, "id") == "" || r.answer != nil && whole["id"] != r.answer["id"] {
		return errors.New("no id, or another one")
	}
	r.answer = whole
	if r.emitted {
		for _, member := range required {
			if _, there := whole[member]; !there {
				return fmt.Errorf("no %s", member)
			}
		}
		if whole["object"] != "response" || text(whole, "model") == "" || number(whole, "created_at") < 0 {
			return errors.New("not a response")
		}
	}
	switch status := text(whole, "status"); name {
	case "response.created", "response.queued", "response.in_progress":
		return r.begin(status)
	case "response.completed", "response.incomplete":
		r.complete = true
		return r.end(name, status)
	case "response.failed":
		fault := object(whole, "error")
		r.failure = &Failure{Type: name, Code: text(fault, "code"), Message: text(fault, "message")}
		if status != "failed" || fault == nil || r.emitted && (r.failure.Code == "" || r.failure.Message == "") {
			return errors.New("no error")
		}
		return nil
	}
	return errors.New("unknown event")
}

// begin takes a response that is not at its end. It must contain the items that have ended,
// because some clients forget all others.
func (r *response) begin(status string) error {
	output := list(r.answer, "output")
	switch {
	case len(output) > len(r.items):
		return errors.New("items that were not announced")
	case !r.emitted:
	case status != "in_progress" || r.answer["usage"] != nil || r.answer["error"] != nil:
		return errors.New("not a response in progress")
	case !reflect.DeepEqual(output, r.ended()):
		return errors.New("not the items that have ended")
	}
	return nil
}

// ended returns the items that have ended.
func (r *response) ended() []any {
	if r.item != nil {
		return r.items[:len(r.items)-1]
	}
	return r.items
}

func (r *response) end(name, status string) error {
	usage := object(r.answer, "usage")
	output, has := r.answer["output"].([]any)
	switch {
	case r.item != nil:
		return errors.New("an item is open")
	case "response."+status != name:
		return errors.New("another status than that of the event")
	case (has || r.emitted) && !reflect.DeepEqual(output, r.items):
		return fmt.Errorf("not the items %v", r.items)
	case !r.emitted:
	case (status == "incomplete") != (text(object(r.answer, "incomplete_details"), "reason") != ""):
		return errors.New("a reason of an answer that is complete, or none")
	case usage == nil || number(usage, "input_tokens")+number(usage, "output_tokens") != number(usage, "total_tokens"):
		return errors.New("not the sum of the counts")
	}
	return checkResponse(r.answer)
}

// words lists the member of a part, or of an item, that a kind of events adds to.
var words = map[string]string{
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
	if r.item == nil || number(data, "output_index") != len(r.items)-1 || data["item_id"] != r.item["id"] {
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
	if kind, ok := strings.CutSuffix(name, ".delta"); ok && words[kind] != "" {
		return r.add(words[kind], data)
	}
	if kind, ok := strings.CutSuffix(name, ".done"); ok && words[kind] != "" {
		return r.settle(words[kind], data)
	}
	return errors.New("unknown event")
}

// withoutEvents lists the kinds of items that the gateway writes whole, at their end.
var withoutEvents = map[any]bool{"tool_search_call": true, "image_generation_call": true}

func (r *response) addItem(data Object) error {
	item := object(data, "item")
	kind, known := items[item["type"]]
	switch {
	case r.item != nil || number(data, "output_index") != len(r.items):
		return errors.New("not the next item")
	case r.emitted && !known && !withoutEvents[item["type"]]:
		return errors.New("unknown item")
	case text(item, kind.word) != "" || len(list(item, kind.parts)) > 0:
		return errors.New("not an empty item")
	}
	r.items, r.item, r.parts, r.part, r.word, r.whole = append(r.items, item), item, kind.parts, nil, kind.word, false
	return checkItem(item)
}

func (r *response) addPart(data Object) error {
	part, earlier := object(data, "part"), list(r.item, r.parts)
	if r.part != nil || r.parts == "" || r.index(data) != len(earlier) {
		return errors.New("not the next part")
	}
	r.part, r.word, r.whole = part, wordOf(part), false
	if part[r.word] != "" {
		return errors.New("not an empty part")
	}
	r.item[r.parts] = append(earlier, part)
	return nil
}

// index returns the index of the part that an event is about.
func (r *response) index(data Object) int {
	if r.parts == "summary" {
		return number(data, "summary_index")
	}
	return number(data, "content_index")
}

// holder returns the object that an event adds to: the open part, or the item; nil for none.
func (r *response) holder(data Object) Object {
	switch {
	case r.parts == "":
		return r.item
	case r.index(data) == len(list(r.item, r.parts))-1:
		return r.part
	}
	return nil
}

func (r *response) add(word string, data Object) error {
	holder := r.holder(data)
	delta, ok := data["delta"].(string)
	if holder == nil || word != r.word || r.whole || !ok {
		return errors.New("not a delta of the open part")
	}
	holder[word] = text(holder, word) + delta
	if scores := list(data, "logprobs"); len(scores) > 0 {
		holder["logprobs"] = append(list(holder, "logprobs"), scores...)
	}
	return nil
}

// settle takes a whole text, which must equal the sum of its deltas.
func (r *response) settle(word string, data Object) error {
	holder := r.holder(data)
	if holder == nil || word != r.word || r.whole || data[word] != holder[word] {
		return errors.New("not what the deltas add up to")
	}
	if scores, ok := data["logprobs"]; ok && r.emitted && !reflect.DeepEqual(scores, holder["logprobs"]) {
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
	if r.part == nil || r.index(data) != len(list(r.item, r.parts))-1 || !r.whole || !reflect.DeepEqual(data["part"], any(r.part)) {
		return fmt.Errorf("not the part %v", r.part)
	}
	r.part = nil
	return nil
}

// endItem takes a whole item. It must equal the sum of its events, but for what is not known
// before the end.
func (r *response) endItem(data Object) error {
	item := object(data, "item")
	switch {
	case r.item == nil || number(data, "output_index") != len(r.items)-1:
		return errors.New("not the open item")
	case r.part != nil || r.parts == "" && r.word != "" && !r.whole:
		return errors.New("a part is open")
	case item["status"] == "in_progress":
		return errors.New("an item that goes on")
	}
	if _, known := items[item["type"]]; known && !reflect.DeepEqual(r.streamed(item), r.streamed(r.item)) {
		return fmt.Errorf("not the item %v", r.item)
	}
	r.items[len(r.items)-1], r.item = item, nil
	return checkItem(item)
}

// streamed returns an item without what its events do not tell, or not of every provider.
func (r *response) streamed(item Object) Object {
	item = maps.Clone(item)
	delete(item, "status")
	delete(item, "encrypted_content")
	var parts []any
	for _, part := range list(item, r.parts) {
		part := maps.Clone(part.(Object))
		if !r.emitted {
			delete(part, "logprobs")
		}
		parts = append(parts, part)
	}
	if parts != nil {
		item[r.parts] = parts
	}
	return item
}
