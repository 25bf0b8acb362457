package translatetest

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// Emitter is what the emitters of the formats have in common.
type Emitter interface {
	event.Handler
	Output() []byte
	Fault() *fault.Fault
}

// words are what a scripted answer is made of.
var words = []string{"Hello", ", wörld ☂", "\n", " ", "😀", "\\", `"`, "<b>&", "END", "\x01"}

// arguments are what its calls are made of: each call takes all of one list.
var arguments = [][]string{{"{}"}, {`{"x":`, `1}`}, {"{", `"y": "☂`, `{"`, "}"}, nil}

// Script turns bytes into the core events of an answer that keeps the laws:
// every byte chooses a step, so that whatever a fuzzer thinks of is an answer.
func (r RoundTrip) Script(steps []byte) []event.Event {
	s := script{calls: r.Calls, tools: make([]int, r.Choices), done: make([]bool, r.Choices)}
	s.tell(event.Event{Kind: event.Start, Model: []byte("m"), Created: 7, Usage: &token.Usage{}})
	for len(steps) >= 2 {
		s.step(int(steps[0]), int(steps[1]), int(steps[0])>>4%r.Choices)
		steps = steps[2:]
	}
	for choice := range r.Choices {
		s.finish(choice, len(steps))
	}
	s.tell(event.Event{Kind: event.End})
	return s.events
}

type script struct {
	events []event.Event
	calls  bool
	tools  []int  // begun, by choice
	done   []bool // the choices that finished
}

func (s *script) tell(e event.Event) { s.events = append(s.events, e) }

func (s *script) step(kind, word, choice int) {
	if s.done[choice] {
		return
	}
	text := []byte(words[word%len(words)])
	switch kind % 8 {
	case 0, 1, 2:
		s.tell(event.Event{Kind: event.Text, Choice: choice, Text: text})
	case 3:
		s.tell(event.Event{Kind: event.Reasoning, Choice: choice, Text: text})
		s.tell(event.Event{Kind: event.ReasoningEnd, Choice: choice})
	case 4:
		if s.calls {
			s.call(choice, word)
		}
	case 5:
		count := int64(word)
		s.tell(event.Event{Kind: event.Usage, Usage: &token.Usage{Input: count, Output: 2 * count, Reasoning: count, Known: true}})
	case 6:
		s.tell(event.Event{Kind: event.Redacted, Choice: choice, Text: text})
	default:
		s.finish(choice, word)
	}
}

// call tells a whole call.
func (s *script) call(choice, word int) {
	tool := s.tools[choice]
	s.tools[choice]++
	s.tell(event.Event{Kind: event.ToolStart, Choice: choice, Tool: tool, ID: fmt.Appendf(nil, "id%d", word%3), Name: []byte("f")})
	for _, fragment := range arguments[word%len(arguments)] {
		s.tell(event.Event{Kind: event.ToolArgs, Choice: choice, Tool: tool, Text: []byte(fragment)})
	}
	if word%2 == 0 {
		s.tell(event.Event{Kind: event.ToolEnd, Choice: choice, Tool: tool})
	}
}

func (s *script) finish(choice, word int) {
	if s.done[choice] {
		return
	}
	s.done[choice] = true
	reason := event.FinishReason(word % 6)
	if reason == event.FinishTools && !s.calls {
		reason = event.FinishStop
	}
	s.tell(event.Event{Kind: event.Finish, Choice: choice, Finish: reason})
}

// RoundTrip tells an emitter answers and reads what it wrote.
type RoundTrip struct {
	Emitter func(*translate.AnswerContext) Emitter
	Read    func(stream []byte) (Object, error)    // the accumulator of its format
	Text    func(answer Object, choice int) string // the text of a choice of an answer
	Choices int                                    // how many the format may have
	Calls   bool                                   // whether the format has tool calls
}

// Check puts the answer of a script through emitters of both forms, and returns
// what is wrong: the stream must keep the laws of its format, add up to the JSON
// answer, and say all text that was told, in its order.
func (r RoundTrip) Check(steps []byte) error {
	events := r.Script(steps)
	stream, err := written(r.Emitter(&translate.AnswerContext{Stream: true, IncludeUsage: true}), events)
	if err != nil {
		return err
	}
	whole, err := written(r.Emitter(&translate.AnswerContext{}), events)
	if err != nil {
		return err
	}
	added, err := r.Read(stream)
	if err != nil {
		return fmt.Errorf("%s: %w", stream, err)
	}
	answer, err := Decode(whole)
	if err != nil {
		return err
	}
	if !reflect.DeepEqual(answer, added) {
		return fmt.Errorf("the stream tells %v, the answer %v", added, answer)
	}
	for choice := range r.Choices {
		if told, said := spoken(events, choice), dense(r.Text(answer, choice)); told != said {
			return fmt.Errorf("choice %d was told %q and says %q", choice, told, said)
		}
	}
	return nil
}

// written returns what an emitter makes of the events, and of events behind the
// last.
func written(e Emitter, events []event.Event) ([]byte, error) {
	var out []byte
	for i := range events {
		e.Handle(&events[i])
		out = append(out, e.Output()...)
	}
	if fault := e.Fault(); fault != nil {
		return nil, fmt.Errorf("a fault: %s", fault.Message)
	}
	return out, nil
}

// spoken is the text that was told of a choice, without white space: that is
// left out between calls.
func spoken(events []event.Event, choice int) string {
	var b strings.Builder
	for i := range events {
		if e := &events[i]; e.Kind == event.Text && e.Choice == choice {
			b.Write(e.Text)
		}
	}
	return dense(b.String())
}

func dense(text string) string { return strings.Join(strings.Fields(text), "") }
