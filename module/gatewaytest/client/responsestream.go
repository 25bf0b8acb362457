package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
)

// ReadResponseStream assembles a stream. If the stream violates a rule or breaks off, it
// returns the response so far and an error. A stream that ends with an error event, or
// properly but too early, is not an error: see Complete and Failure. It is as strict as the
// strictest client: unknown events are errors.
func ReadResponseStream(r io.Reader) (*Response, error) {
	var s responseReader
	events, err := ReadEvents(r)
	for i, e := range events {
		if err := s.event(i, e); err != nil {
			return &s.Response, fmt.Errorf("event %d, %s: %w", i, e.Name, err)
		}
	}
	return &s.Response, err
}

// responseReader is a response during the reading of its stream.
type responseReader struct {
	Response
	open bool // the last item has not ended
}

// responseEvent is the union of all events.
type responseEvent struct {
	Type         string          `json:"type"`
	Sequence     *int            `json:"sequence_number"`
	Error        json.RawMessage `json:"error"`
	Code         string          `json:"code"`
	Message      string          `json:"message"`
	Response     json.RawMessage `json:"response"`
	OutputIndex  *int            `json:"output_index"`
	ItemID       string          `json:"item_id"`
	ContentIndex *int            `json:"content_index"`
	SummaryIndex *int            `json:"summary_index"`
	Item         *ResponseItem   `json:"item"`
	Part         *ResponsePart   `json:"part"`
	Delta        *string         `json:"delta"`
	Text         *string         `json:"text"`
	Refusal      *string         `json:"refusal"`
	Arguments    *string         `json:"arguments"`
	Input        *string         `json:"input"`
}

func (s *responseReader) event(number int, e Event) error {
	var v responseEvent
	if err := e.decode(&v); err != nil {
		return err
	}
	switch {
	case e.Name != v.Type:
		return fmt.Errorf("typed %q", v.Type)
	case s.Complete || s.Failure != nil:
		return errors.New("after the end")
	case v.Sequence == nil || *v.Sequence != number:
		return errors.New("sequence_number leaves a gap")
	case v.Type == "error" || v.Error != nil: // clients end the stream at the member, whatever its value
		s.Failure = &Failure{Type: v.Type, Code: v.Code, Message: v.Message}
		return nil
	case s.ID == "" && v.Type != "response.created":
		return errors.New("before response.created")
	}
	return s.take(strings.TrimPrefix(v.Type, "response."), &v)
}

func (s *responseReader) take(name string, v *responseEvent) error {
	switch name {
	case "created", "queued", "in_progress":
		return s.begin(v)
	case "completed", "incomplete", "failed":
		return s.end(name, v)
	case "output_item.added":
		return s.added(v)
	}
	item, err := s.item(v)
	if err != nil {
		return err
	}
	if name == "output_item.done" {
		return s.done(item, v)
	}
	if v.ItemID != item.ID {
		return fmt.Errorf("item_id %q in item %q", v.ItemID, item.ID)
	}
	return item.take(name, v)
}

// begin reads an event that contains the response before its end.
func (s *responseReader) begin(v *responseEvent) error {
	var r Response
	if err := decodeInto(v.Response, &r); err != nil {
		return err
	}
	if r.ID == "" || s.ID != "" && r.ID != s.ID {
		return fmt.Errorf("the id is %q, but was %q before", r.ID, s.ID)
	}
	if len(r.Output) > len(s.Output) {
		return errors.New("output that was not announced")
	}
	s.ID, s.Object, s.CreatedAt, s.Model, s.Status, s.Store = r.ID, r.Object, r.CreatedAt, r.Model, r.Status, r.Store
	return nil
}

// end reads the terminal event, whose output must be equal to that of the earlier events. A
// failed response keeps the output of the events.
func (s *responseReader) end(status string, v *responseEvent) error {
	var r Response
	if err := decodeInto(v.Response, &r); err != nil {
		return err
	}
	if r.ID != s.ID || r.Status != status {
		return fmt.Errorf("the last event has the response %q with the status %s", r.ID, r.Status)
	}
	streamed := s.Output
	s.Response = r
	if status == "failed" {
		if r.Error == nil {
			return errors.New("no error")
		}
		s.Output = streamed
		s.Failure = &Failure{Type: "response.failed", Code: r.Error.Code, Message: r.Error.Message}
		return nil
	}
	s.Complete = true
	if s.open {
		return errors.New("before the end of the last item")
	}
	if r.Output != nil && len(r.Output)+len(streamed) > 0 && !reflect.DeepEqual(r.Output, streamed) {
		return errors.New("the output differs from the events")
	}
	return r.check()
}

func (s *responseReader) added(v *responseEvent) error {
	switch {
	case s.open:
		return errors.New("before the end of the last item")
	case v.Item == nil || v.OutputIndex == nil || *v.OutputIndex != len(s.Output):
		return errors.New("output_index leaves a gap")
	case len(v.Item.Content)+len(v.Item.Summary) > 0:
		return errors.New("an item is announced with content")
	}
	s.Output = append(s.Output, *v.Item)
	s.open = true
	return v.Item.check()
}

// item returns the open item, which the event must address.
func (s *responseReader) item(v *responseEvent) (*ResponseItem, error) {
	if !s.open || v.OutputIndex == nil || *v.OutputIndex != len(s.Output)-1 {
		return nil, errors.New("no item is open at this output_index")
	}
	return &s.Output[*v.OutputIndex], nil
}

// done compares the item with its events, because some clients use only the item.
func (s *responseReader) done(streamed *ResponseItem, v *responseEvent) error {
	s.open = false
	if v.Item == nil {
		return errors.New("no item")
	}
	whole := *v.Item
	if !reflect.DeepEqual(streamed.streamable(), whole.streamable()) {
		return fmt.Errorf("item %q differs from its events", whole.ID)
	}
	*streamed = whole
	return whole.check()
}

// streamable returns the item with only the members that its events contain.
func (i ResponseItem) streamable() ResponseItem {
	i.Status, i.Encrypted = "", nil
	i.Content, i.Summary = streamableParts(i.Content), streamableParts(i.Summary)
	return i
}

func streamableParts(parts []ResponsePart) (list []ResponsePart) {
	for _, part := range parts {
		part.Logprobs = nil
		list = append(list, part)
	}
	return list
}

// take reads an event within an item.
func (i *ResponseItem) take(name string, v *responseEvent) error {
	switch name {
	case "content_part.added":
		return addPart(&i.Content, v.ContentIndex, v.Part)
	case "reasoning_summary_part.added":
		return addPart(&i.Summary, v.SummaryIndex, v.Part)
	case "output_text.delta", "output_text.done", "content_part.done":
		return takeText(i.Content, v.ContentIndex, v)
	case "refusal.delta", "refusal.done":
		return takeText(i.Content, v.ContentIndex, v)
	case "reasoning_summary_text.delta", "reasoning_summary_text.done", "reasoning_summary_part.done":
		return takeText(i.Summary, v.SummaryIndex, v)
	case "function_call_arguments.delta", "function_call_arguments.done":
		return takeValue(i.Arguments, v.Delta, v.Arguments)
	case "custom_tool_call_input.delta", "custom_tool_call_input.done":
		return takeValue(i.Input, v.Delta, v.Input)
	}
	return errors.New("strict clients do not know this event")
}

func addPart(parts *[]ResponsePart, index *int, part *ResponsePart) error {
	if index == nil || *index != len(*parts) || part == nil {
		return errors.New("the index of a part leaves a gap")
	}
	*parts = append(*parts, *part)
	return checkParts(*parts)
}

// takeText reads a delta of a part, or its whole text, which must be equal to the sum of its
// deltas.
func takeText(parts []ResponsePart, index *int, v *responseEvent) error {
	if index == nil || *index != len(parts)-1 {
		return errors.New("no part is open at this index")
	}
	text, whole := parts[*index].Text, v.Text
	if text == nil {
		text, whole = parts[*index].Refusal, v.Refusal
	}
	if v.Part != nil && v.Part.Text != nil {
		whole = v.Part.Text
	} else if v.Part != nil {
		whole = v.Part.Refusal
	}
	return takeValue(text, v.Delta, whole)
}

// takeValue adds a delta, or compares the sum of the deltas with the whole value.
func takeValue(sum, delta, whole *string) error {
	switch {
	case sum == nil:
		return errors.New("an event of another type of item")
	case delta != nil:
		*sum += *delta
		return nil
	case whole == nil || *whole != *sum:
		return errors.New("the whole value differs from the sum of its deltas")
	}
	return nil
}
