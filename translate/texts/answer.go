package texts

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
)

// Channel identifies a text of an answer, which may come in several pieces.
type Channel struct {
	Kind   Kind // Assistant, Reasoning or Call
	Choice int
	Index  int // of the part or the call
}

// Any is the choice and the index of all channels that end together.
const Any = -1

// Piece is a part of the text of a channel.
type Piece struct {
	Channel Channel
	Name    string // of the tool, in the first piece of a Call
	Text    string
	// Slot is the position of the string in the data of the event, or in the body; the zero
	// Slot if it is not known.
	Slot jsonscan.Slot
}

// Part are the texts in an event of a stream, or in a whole JSON answer.
type Part struct {
	Pieces []Piece
	Ended  []Channel // that get no more pieces
	Others []Piece   // the other strings, each a text of its own
	// Logprobs reports that the part repeats its text in pieces.
	Logprobs bool
	// Fault is the error that ends the answer, nil for none.
	Fault *fault.Fault
}

// Answer reads the texts of one answer.
type Answer struct {
	parser format.Parser
	data   []byte
	part   *Part
	called names // so far
}

// NewAnswer returns a reader of one answer in a format.
func NewAnswer(answers *format.Answers) *Answer {
	a := &Answer{called: make(names)}
	a.parser = answers.NewParser(a)
	return a
}

// Event reads the next event of a stream.
func (a *Answer) Event(e sse.Event) *Part {
	a.data, a.part = e.Data, new(Part)
	a.parser.Event(e)
	if !e.IsDone() {
		a.readOthers(e.Data)
	}
	return a.part
}

// Body reads a whole JSON answer.
func (a *Answer) Body(body []byte) *Part {
	a.data, a.part = body, new(Part)
	a.parser.Answer(body)
	a.readOthers(body)
	return a.part
}

// Handle implements event.Handler.
func (a *Answer) Handle(e *event.Event) {
	end := func(kind Kind, index int) {
		a.part.Ended = append(a.part.Ended, Channel{kind, e.Choice, index})
	}
	switch e.Kind {
	case event.Text:
		a.add(Channel{Assistant, e.Choice, e.Part}, e)
	case event.Reasoning:
		a.add(Channel{Reasoning, e.Choice, e.Part}, e)
	case event.ToolStart:
		a.called.add(Call, string(e.Name))
		a.part.Pieces = append(a.part.Pieces, Piece{Channel: Channel{Call, e.Choice, e.Tool}, Name: string(e.Name)})
	case event.ToolArgs:
		a.add(Channel{Call, e.Choice, e.Tool}, e)
	case event.TextEnd:
		end(Assistant, Any)
	case event.ReasoningEnd:
		end(Reasoning, Any)
	case event.ToolEnd:
		end(Call, e.Tool)
	case event.Finish:
		end(Other, Any)
	case event.End:
		a.part.Ended = append(a.part.Ended, Channel{Choice: Any})
	case event.Logprobs:
		a.part.Logprobs = true
	case event.Error:
		a.part.Fault = e.Fault
	}
}

func (a *Answer) add(c Channel, e *event.Event) {
	slot, _ := jsonscan.SlotOf(a.data, e.Raw)
	a.part.Pieces = append(a.part.Pieces, Piece{Channel: c, Text: string(e.Text), Slot: slot})
}

// Ends reports whether the end of a channel is that of another one, too.
func (c Channel) Ends(other Channel) bool {
	return (c.Choice == Any || c.Choice == other.Choice) && (c.Kind == Other || c.Kind == other.Kind) && (c.Kind == Other || c.Index == Any || c.Index == other.Index)
}

// readOthers adds the strings that are no pieces. A piece whose position is unknown is the first
// string with its text.
func (a *Answer) readOthers(data []byte) {
	if !isJSON(data) {
		a.part.Others = append(a.part.Others, Piece{Text: string(data)})
		return
	}
	a.addCalls(data)
	known := make(map[int]bool, len(a.part.Pieces))
	for i := range a.part.Pieces {
		known[a.part.Pieces[i].Slot.Start] = true
	}
	for isName, slot := range jsonscan.Leaves(data, jsonscan.Slot{End: len(data)}) {
		t := Text{slot: slot, form: plain}
		raw := data[slot.Start:slot.End]
		switch {
		case isName && isPlainName(jsonscan.Inner(raw)):
			continue
		case isName:
			t.form = fixed
		case known[slot.Start] || !isText(raw, &t):
			continue
		}
		text := t.read(raw)
		if t.form != plain {
			slot = jsonscan.Slot{}
		}
		if isName || !a.locate(text, slot) {
			a.part.Others = append(a.part.Others, Piece{Text: text, Slot: slot})
		}
	}
}

// addCalls adds the calls that the parser has not recognised, each as a channel that has ended,
// with an index that no other has.
func (a *Answer) addCalls(data []byte) {
	for _, t := range inventoryOf(data).sorted() {
		if t.kind != Call || a.called[t] {
			continue
		}
		a.called[t] = true
		c := Channel{Kind: Call, Index: Any - len(a.called)}
		a.part.Pieces = append(a.part.Pieces, Piece{Channel: c, Name: t.name})
		a.part.Ended = append(a.part.Ended, c)
	}
}

// locate gives a piece without a position that of a string with its text.
func (a *Answer) locate(text string, slot jsonscan.Slot) bool {
	for i := range a.part.Pieces {
		if p := &a.part.Pieces[i]; p.Slot.End == 0 && p.Text == text {
			p.Slot = slot
			return true
		}
	}
	return false
}
