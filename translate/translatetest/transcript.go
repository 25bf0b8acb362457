package translatetest

import (
	"fmt"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
)

// Transcript is a handler that writes core events down, one a line, for tests of parsers. It
// leaves out the objects of the provider, which only the provider's own format gets.
type Transcript struct{ Lines []string }

// ReadEvents returns the lines of a stream of events, and of the end of its body. An event is
// its data, behind its name and "|" if it has one; without, its name is the type of the data.
func ReadEvents[P Parser](parser func(event.Handler) P, clean bool, events ...string) []string {
	var t Transcript
	p := parser(&t)
	for _, e := range events {
		name, data, named := strings.Cut(e, "|")
		if !named {
			data = e
			_, name, _ = strings.Cut(data, `"type":"`)
			name, _, _ = strings.Cut(name, `"`)
		}
		p.Event(sse.Event{Name: []byte(name), Data: []byte(data)})
	}
	p.End(clean)
	return t.Lines
}

// ReadAnswer returns the lines of a JSON answer. What follows its end must add none.
func ReadAnswer[P Parser](parser func(event.Handler) P, body string) []string {
	var t Transcript
	p := parser(&t)
	p.Answer([]byte(body))
	p.End(true)
	p.Answer([]byte(body))
	return t.Lines
}

// Handle writes an event down.
func (t *Transcript) Handle(e *event.Event) {
	if e.Kind == event.Native {
		return
	}
	line := described(e)
	if e.Choice != 0 {
		line = fmt.Sprintf("%d: %s", e.Choice, line)
	}
	t.Lines = append(t.Lines, line)
}

// finishes are the words for the reasons of ends.
var finishes = map[event.FinishReason]string{
	event.FinishUnknown: "unknown", event.FinishStop: "stop", event.FinishLength: "length", event.FinishTools: "tools",
	event.FinishFiltered: "filtered", event.FinishRefused: "refused", event.FinishPaused: "paused",
}

// described returns an event as a line. Details that are zero are left out.
func described(e *event.Event) string {
	switch e.Kind {
	case event.Start:
		line := fmt.Sprintf("start %s %d", e.Model, e.Created)
		if e.Usage != nil && e.Usage.Fresh > 0 {
			line += fmt.Sprintf(" input %d", e.Usage.Fresh)
		}
		return line + detail(" tier %d", int(e.Tier))
	case event.Text:
		return fmt.Sprintf("text %q", e.Text) + detail(" of part %d", e.Part) + marked(" refusal", e.Refusal)
	case event.TextEnd:
		return "text end"
	case event.Source:
		return fmt.Sprintf("source %q %q %d..%d", e.Source.URL, e.Source.Title, e.Source.Start, e.Source.End)
	case event.Reasoning:
		return fmt.Sprintf("reasoning %q", e.Text) + detail(" of part %d", e.Part)
	case event.Signature:
		return fmt.Sprintf("signature %q", e.Text) + marked(" of "+string(e.Origin), e.Origin != "")
	case event.Redacted:
		return fmt.Sprintf("redacted %q", e.Text)
	case event.ReasoningEnd:
		return "reasoning end"
	case event.ToolStart:
		return fmt.Sprintf("tool %d %q %q", e.Tool, e.ID, e.Name) + marked(" custom", e.Custom)
	case event.ToolArgs:
		return fmt.Sprintf("args %d %q", e.Tool, e.Text)
	case event.ToolEnd:
		return fmt.Sprintf("tool end %d", e.Tool)
	case event.Logprobs:
		return fmt.Sprintf("logprobs %s", e.Logprobs)
	case event.Finish:
		return "finish " + finishes[e.Finish] + marked(fmt.Sprintf(" %q", e.Stop), e.Stop != nil) + marked(fmt.Sprintf(" %q", e.Text), len(e.Text) > 0)
	case event.Usage:
		u := e.Usage
		return fmt.Sprintf("usage %d+%d+%d %d (%d)", u.Fresh, u.CacheRead, u.Written(), u.Output(), u.Reasoning) + detail(" tier %d", int(e.Tier))
	case event.Error:
		return fmt.Sprintf("error %d %s", e.Fault.Status(), e.Fault.Message)
	case event.Failing:
		return "failing"
	case event.End:
		return "end"
	}
	return fmt.Sprintf("event %d", e.Kind)
}

func detail(format string, n int) string { return marked(fmt.Sprintf(format, n), n != 0) }

func marked(text string, is bool) string {
	if is {
		return text
	}
	return ""
}
