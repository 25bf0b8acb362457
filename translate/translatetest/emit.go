package translatetest

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest/client"
)

// Emitter is the part that the emitters of all formats have in common.
type Emitter interface {
	event.Handler
	Output() []byte
	Fault() *fault.Fault
}

// words are the texts of scripted answers.
var words = []string{"Hello", ", wörld ☂", "\n", " ", "😀", "\\", `"`, "<b>&", "END", "\x01"}

// arguments are the fragments of arguments of scripted calls, a list for each call.
var arguments = [][]string{{"{}"}, {`{"x":`, `1}`}, {"{", `"y": "☂`, `{"`, "}"}, nil}

// Script turns bytes into the core events of an answer that keeps the laws. Two bytes choose
// a step, so that every input of a fuzzer is an answer.
func (r RoundTrip) Script(steps []byte) []event.Event {
	s := script{calls: r.Calls, tools: make([]int, r.Choices), done: make([]bool, r.Choices)}
	s.add(event.Event{Kind: event.Start, Model: []byte("m"), Created: 7, Usage: &token.Usage{}})
	for len(steps) >= 2 {
		s.step(int(steps[0]), int(steps[1]), int(steps[0])>>4%r.Choices)
		steps = steps[2:]
	}
	for choice := range r.Choices {
		s.finish(choice, len(steps))
	}
	s.add(event.Event{Kind: event.End})
	return s.events
}

type script struct {
	events []event.Event
	calls  bool
	tools  []int  // begun, by choice
	done   []bool // the choices that finished
}

func (s *script) add(e event.Event) { s.events = append(s.events, e) }

func (s *script) step(kind, word, choice int) {
	if s.done[choice] {
		return
	}
	text := []byte(words[word%len(words)])
	switch kind % 8 {
	case 0, 1, 2:
		s.add(event.Event{Kind: event.Text, Choice: choice, Text: text})
	case 3:
		s.add(event.Event{Kind: event.Reasoning, Choice: choice, Text: text})
		s.add(event.Event{Kind: event.ReasoningEnd, Choice: choice})
	case 4:
		if s.calls {
			s.call(choice, word)
		}
	case 5:
		count := int64(word)
		s.add(event.Event{Kind: event.Usage, Usage: &token.Usage{Counts: token.Counts{Fresh: count, Answer: count, Reasoning: count}, Known: true}})
	case 6:
		s.add(event.Event{Kind: event.Redacted, Choice: choice, Text: text})
	default:
		s.finish(choice, word)
	}
}

// call appends a whole call.
func (s *script) call(choice, word int) {
	tool := s.tools[choice]
	s.tools[choice]++
	s.add(event.Event{Kind: event.ToolStart, Choice: choice, Tool: tool, ID: fmt.Appendf(nil, "id%d", word%3), Name: []byte("f")})
	for _, fragment := range arguments[word%len(arguments)] {
		s.add(event.Event{Kind: event.ToolArgs, Choice: choice, Tool: tool, Text: []byte(fragment)})
	}
	if word%2 == 0 {
		s.add(event.Event{Kind: event.ToolEnd, Choice: choice, Tool: tool})
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
	s.add(event.Event{Kind: event.Finish, Choice: choice, Finish: reason})
}

// RoundTrip writes answers with the emitter of a format, and reads the output as the
// official clients do.
type RoundTrip struct {
	Emitter func(*translate.AnswerContext) Emitter
	Client  client.Format
	Choices int  // the number of choices of an answer
	Calls   bool // whether the format has tool calls
}

// Check writes the answer of a script as a stream and as a JSON answer. It returns an error
// unless the stream keeps the laws of its format and adds up to the JSON answer, which
// contains all texts in their order.
func (r RoundTrip) Check(steps []byte) error {
	events := r.Script(steps)
	stream, err := emitted(r.Emitter(&translate.AnswerContext{Stream: true, IncludeUsage: true}), events)
	if err != nil {
		return err
	}
	whole, err := emitted(r.Emitter(&translate.AnswerContext{}), events)
	if err != nil {
		return err
	}
	added, err := r.Client.Emitted(stream)
	if err != nil {
		return fmt.Errorf("%s: %w", stream, err)
	}
	answer, err := r.Client.Parse(whole)
	if err != nil {
		return err
	}
	if !reflect.DeepEqual(answer.Object, added) {
		return fmt.Errorf("the stream adds up to %v, the answer is %v", added, answer.Object)
	}
	texts := append(answer.Texts, make([]string, r.Choices)...) // a choice may never begin
	for choice := range r.Choices {
		if want, got := textOf(events, choice), dense(texts[choice]); want != got {
			return fmt.Errorf("choice %d has the text %q instead of %q", choice, got, want)
		}
	}
	return nil
}

// Emit writes the events of an answer and returns the output, taken after each step, and
// the emitter's fault.
func Emit(e Emitter, steps ...[]event.Event) (string, *fault.Fault) {
	var written strings.Builder
	for _, step := range steps {
		for i := range step {
			e.Handle(&step[i])
		}
		written.Write(e.Output())
	}
	return written.String(), e.Fault()
}

// Each returns the events, each as a step.
func Each(events ...event.Event) (steps [][]event.Event) {
	for _, e := range events {
		steps = append(steps, []event.Event{e})
	}
	return steps
}

// emitted is Emit with a fault as an error.
func emitted(e Emitter, events []event.Event) ([]byte, error) {
	written, fault := Emit(e, Each(events...)...)
	if fault != nil {
		return nil, fmt.Errorf("a fault: %s", fault.Message)
	}
	return []byte(written), nil
}

// textOf returns the text of a choice without white space, which some formats omit between
// calls.
func textOf(events []event.Event, choice int) string {
	var b strings.Builder
	for i := range events {
		if e := &events[i]; e.Kind == event.Text && e.Choice == choice {
			b.Write(e.Text)
		}
	}
	return dense(b.String())
}

func dense(text string) string { return strings.Join(strings.Fields(text), "") }
