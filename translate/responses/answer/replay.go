package answer

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
)

// Replay writes a whole JSON answer as the equivalent stream. It keeps all members of the
// answer: the last event contains the whole response, the events that end items and parts
// contain these whole, and texts and arguments are deltas before them. Replay returns a
// fault for an answer that is ambiguous, invalid or incomplete, or that would take more
// than 16384 events, or events far larger than the answer.
func Replay(answer []byte, _ bool) ([]byte, *fault.Fault) {
	r := replay{cursor: jsonscan.New(answer), room: roomToReplay + replayedTimes*len(answer)}
	if err := r.read(); err != nil {
		return nil, fault.Unusable(err)
	}
	r.write()
	if r.err != nil {
		return nil, fault.Unusable(r.err)
	}
	return r.out, nil
}

// replay is an answer that is being turned into events.
type replay struct {
	cursor jsonscan.Cursor
	err    error

	begun  []byte // the members of the response at its beginning, each with a comma before it
	whole  []byte // the members at the end, each with a comma before it
	status string // raw
	output []byte // the array
	events int
	room   int // for the events, in bytes
	out    []byte
}

// maxReplayed bounds the events of a replay: a few bytes of an answer, such as an empty
// part, become several events.
const maxReplayed = 16384

// The bounds of the bytes of these events. A stream contains a text five times, and every
// event about an item repeats its id, which may be as long as the answer.
const (
	replayedTimes = 8
	roomToReplay  = 8 << 20
)

var (
	errReplayed = fmt.Errorf("items and parts for more than %d events", maxReplayed)
	errTooLarge = errors.New("events that are far larger than the answer")
	errNoItem   = errors.New("an item or a part that is not an object")
)

func (r *replay) read() error {
	c := &r.cursor
	if !c.EnterObject() {
		c.Skip()
		return errors.Join(errNoOutput, c.Finish())
	}
	for c.Member() {
		r.member()
	}
	if err := c.Finish(); err != nil {
		return err
	}
	switch {
	case r.output == nil:
		return errNoOutput
	case r.event() == "":
		return errStatus
	}
	return nil
}

// member reads a member of the response. Members that depend on the end of the answer are
// empty at the beginning.
func (r *replay) member() {
	c := &r.cursor
	name := string(c.Name())
	switch name {
	case "output":
		r.output = c.ArrayOrSkip()
		r.begun = append(r.begun, `,"output":[]`...)
		r.whole = jsonscan.AppendCompact(append(r.whole, `,"output":`...), r.output)
	case "status":
		raw := c.Skip()
		r.status = string(raw)
		r.begun = append(r.begun, `,"status":"in_progress"`...)
		r.whole = append(append(r.whole, `,"status":`...), raw...)
	case "usage", "incomplete_details", "completed_at":
		r.begun = append(r.begun, `,"`+name+`":null`...)
		r.whole = c.AppendMember(r.whole)
	default:
		from := len(r.whole)
		r.whole = c.AppendMember(r.whole)
		r.begun = append(r.begun, r.whole[from:]...)
	}
}

// event returns the name of the event that ends the stream, "" for an incomplete answer.
func (r *replay) event() string {
	switch r.status {
	case "", `"completed"`:
		return "response.completed"
	case `"incomplete"`:
		return "response.incomplete"
	default:
		return ""
	}
}

func (r *replay) write() {
	r.send("response.created", `,"response":{`+string(r.begun[len(","):])+"}")
	r.send("response.in_progress", `,"response":{`+string(r.begun[len(","):])+"}")
	c := jsonscan.New(r.output)
	c.EnterArray()
	for index := 0; r.err == nil && c.Element(); index++ {
		r.item(index, jsonscan.AppendCompact(nil, c.Skip()))
	}
	r.send(r.event(), `,"response":{`+string(r.whole[len(","):])+"}")
}

// send writes an event.
func (r *replay) send(name, members string) {
	switch {
	case r.events == maxReplayed:
		r.err = errReplayed
	case len(r.out) > r.room:
		r.err = errTooLarge
	}
	if r.err != nil {
		return
	}
	data := `{"type":"` + name + `","sequence_number":` + strconv.Itoa(r.events) + members + "}"
	r.events++
	r.out = sse.AppendEvent(r.out, name, []byte(data))
}

// item writes an item: its beginning, its parts and its end.
func (r *replay) item(index int, raw []byte) {
	it, err := readReplayed(raw, itemParts)
	if err != nil {
		r.err = err
		return
	}
	output := `,"output_index":` + strconv.Itoa(index)
	r.send("response.output_item.added", output+`,"item":{`+it.begun+"}")
	for _, part := range it.parts {
		r.part(`,"item_id":`+it.id+output, &it, part)
	}
	r.send("response.output_item.done", output+`,"item":`+string(raw))
}

// replayed is an item or a part that is being turned into events.
type replayed struct {
	id     string // raw
	begun  string // the members at the beginning, with commas between them
	scores string // raw log probabilities
	parts  []replayedPart
}

// replayedPart is a member that becomes events of its own.
type replayedPart struct {
	how   *partEvents
	value []byte
}

// partEvents describes the events of a member of an item or a part.
type partEvents struct {
	kind  jsonscan.Kind
	empty string // the value at the beginning
	event string // the beginning of the names of the events
	word  string // the member with the whole text, or with the index of an element of a list
}

// itemParts lists the members of items that become events, and textParts the members of
// their parts, by the raw type and the name of the member.
var (
	itemParts = map[string]*partEvents{
		`"message"content`:         {jsonscan.Array, "[]", "response.content_part", "content_index"},
		`"reasoning"content`:       {jsonscan.Array, "[]", "", "content_index"},
		`"reasoning"summary`:       {jsonscan.Array, "[]", "response.reasoning_summary_part", "summary_index"},
		`"function_call"arguments`: {jsonscan.String, `""`, "response.function_call_arguments", "arguments"},
		`"custom_tool_call"input`:  {jsonscan.String, `""`, "response.custom_tool_call_input", "input"},
	}
	textParts = map[string]*partEvents{
		`"output_text"text`:        {jsonscan.String, `""`, "response.output_text", "text"},
		`"output_text"annotations`: {jsonscan.Array, "[]", "response.output_text.annotation", "annotation_index"},
		`"refusal"refusal`:         {jsonscan.String, `""`, "response.refusal", "refusal"},
		`"summary_text"text`:       {jsonscan.String, `""`, "response.reasoning_summary_text", "text"},
		`"reasoning_text"text`:     {jsonscan.String, `""`, "response.reasoning_text", "text"},
	}
)

// readReplayed reads an item or a part.
func readReplayed(raw []byte, parts map[string]*partEvents) (it replayed, err error) {
	c := jsonscan.New(raw)
	kind := string(c.TypeAhead())
	it.id, it.scores = `""`, "[]"
	if !c.EnterObject() {
		return it, errNoItem
	}
	var begun []byte
	for c.Member() {
		begun = it.member(&c, parts[kind+string(c.Name())], begun)
	}
	if len(begun) > 0 {
		it.begun = string(begun[len(","):])
	}
	return it, c.Finish()
}

// member reads a member, and appends its value at the beginning of the item or part.
func (it *replayed) member(c *jsonscan.Cursor, how *partEvents, begun []byte) []byte {
	name := string(c.Name())
	switch {
	case how != nil && c.Kind() == how.kind:
		it.add(replayedPart{how, c.Skip()})
		return append(begun, `,"`+name+`":`+how.empty...)
	case name == "logprobs" && c.Kind() == jsonscan.Array:
		it.scores = string(c.Skip())
		return append(begun, `,"logprobs":[]`...)
	case name == "encrypted_content": // only the end of an item has it
		c.Skip()
		return begun
	case name == "status":
		c.Skip()
		return append(begun, `,"status":"in_progress"`...)
	case name == "id" && c.Kind() == jsonscan.String:
		ahead := *c
		it.id = string(ahead.Skip())
	}
	return c.AppendMember(begun)
}

// add adds a member: a text before its annotations.
func (it *replayed) add(part replayedPart) {
	at := len(it.parts)
	if part.how.kind == jsonscan.String {
		at = 0
	}
	it.parts = slices.Insert(it.parts, at, part)
}

// part writes the events of a member of an item or a part.
func (r *replay) part(place string, of *replayed, part replayedPart) {
	if part.how.kind == jsonscan.String {
		r.text(place, of, part)
		return
	}
	c := jsonscan.New(part.value)
	c.EnterArray()
	for i := 0; r.err == nil && c.Element(); i++ {
		r.element(place+`,"`+part.how.word+`":`+strconv.Itoa(i), part.how.event, c.Skip())
	}
}

// text writes a text: its delta, unless it is empty, and its end.
func (r *replay) text(place string, of *replayed, part replayedPart) {
	scores := ""
	if part.how.event == "response.output_text" {
		scores = `,"logprobs":` + of.scores
	}
	if len(part.value) > len(`""`) {
		r.send(part.how.event+".delta", place+`,"delta":`+string(part.value)+scores)
	}
	r.send(part.how.event+".done", place+`,"`+part.how.word+`":`+string(part.value)+scores)
}

// element writes an element of a list: an annotation, or a part with its members. Parts of
// the content of reasoning have no events, only their texts do.
func (r *replay) element(place, event string, raw []byte) {
	if event == "response.output_text.annotation" {
		r.send(event+".added", place+`,"annotation":`+string(raw))
		return
	}
	it, err := readReplayed(raw, textParts)
	if err != nil {
		r.err = err
		return
	}
	if event != "" {
		r.send(event+".added", place+`,"part":{`+it.begun+"}")
	}
	for _, part := range it.parts {
		r.part(place, &it, part)
	}
	if event != "" {
		r.send(event+".done", place+`,"part":`+string(raw))
	}
}
