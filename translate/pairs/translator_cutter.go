package pairs

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
)

// cutter ends the texts of an answer before the first stop text (stop sequence) that the
// provider does not enforce: one that the provider's format does not accept, or that of a
// prompt template (wire format D.13). It handles the events between the parser and the
// translator. For each choice, it holds back text that may be the beginning of a stop,
// until more text or another event decides.
type cutter struct {
	next    event.Handler
	search  *stopSearch
	space   bool // texts begin with a space that the template adds
	choices []cut
	asked   int // choices asked for in one call
	event   event.Event
	ended   bool
}

// cut is the state of the text of one choice.
type cut struct {
	text          []byte // held back
	state         uint16 // of the search, at the end of text
	begun         bool
	made          bool // the text is cut: the choice has ended for the client
	finished      bool // the choice has ended, by a cut or by its finish event
	passed        int  // the number of bytes before text
	sent          bool // text was passed on
	probabilities probabilities
}

func newCutter(next event.Handler, m *translate.AnswerContext) *cutter {
	return &cutter{next: next, search: newStopSearch(m.Cuts.Enforced), space: m.Cuts.LeadingSpace, asked: m.Asked()}
}

// done reports whether a text is cut and all choices have ended, so that only usage can
// follow. It is false while choices that were asked for have not begun.
func (c *cutter) done() bool {
	if c == nil {
		return false
	}
	made := false
	for i := range c.choices {
		if !c.choices[i].finished {
			return false
		}
		made = made || c.choices[i].made
	}
	return made && len(c.choices) >= c.asked
}

// Handle passes the next core event on, without the text after a stop.
func (c *cutter) Handle(e *event.Event) {
	switch e.Kind {
	case event.Native: // of a format that is translated to itself, which needs no cutter
	case event.Start, event.Usage, event.Failing:
		c.pass(e)
	case event.End, event.Error:
		c.end(e)
	default:
		if choice := c.choice(e.Choice); choice.made {
			c.afterCut(choice, e)
		} else {
			c.take(choice, e)
		}
	}
}

// pass passes an event on, unless the answer is over.
func (c *cutter) pass(e *event.Event) {
	if !c.ended {
		c.next.Handle(e)
	}
}

// choice returns the state of a choice.
func (c *cutter) choice(index int) *cut {
	for len(c.choices) <= index {
		c.choices = append(c.choices, cut{})
	}
	return &c.choices[index]
}

// end ends an answer. If all choices have ended by cuts, the answer is complete: the rest
// of the stream is read only for its usage, and a later failure changes nothing.
func (c *cutter) end(e *event.Event) {
	if c.done() {
		e = &event.Event{Kind: event.End}
	}
	for i := range c.choices {
		c.release(&c.choices[i], i, len(c.choices[i].text))
	}
	c.pass(e)
	c.ended = true
}

// afterCut handles an event after the cut of a choice: log probabilities may follow all of
// their text.
func (c *cutter) afterCut(choice *cut, e *event.Event) {
	if e.Kind == event.Logprobs {
		choice.probabilities.add(e.Logprobs)
		c.weigh(choice, e.Choice)
	}
}

// take handles an event of a choice that is not cut.
func (c *cutter) take(choice *cut, e *event.Event) {
	switch e.Kind {
	case event.Text:
		c.takeText(choice, e)
	case event.Logprobs:
		choice.probabilities.add(e.Logprobs)
		if len(choice.text) == 0 {
			c.weigh(choice, e.Choice)
		}
	default:
		c.release(choice, e.Choice, len(choice.text))
		choice.state = 0
		choice.finished = choice.finished || e.Kind == event.Finish
		c.pass(e)
	}
}

// takeText handles text, and passes on the part that cannot belong to a stop.
func (c *cutter) takeText(choice *cut, e *event.Event) {
	text := e.Text
	if c.space && !choice.begun && text[0] == ' ' {
		text = text[1:]
		choice.passed++
	}
	choice.begun = true
	state, end := c.search.find(choice.state, text)
	if choice.state = state; end > 0 {
		choice.text = append(choice.text, text[:end]...)
		c.cut(choice, e.Choice)
		return
	}
	choice.text = append(choice.text, text...)
	c.release(choice, e.Choice, len(choice.text)-c.search.doubtful(choice.state))
}

// cut ends a choice before the stop that its text ends with.
func (c *cutter) cut(choice *cut, index int) {
	stop := c.search.stop(choice.state)
	start := len(choice.text) - len(stop)
	choice.text = choice.text[:start]
	choice.made, choice.finished = true, true
	choice.probabilities.limit(choice.passed + start)
	c.release(choice, index, start)
	c.event = event.Event{Kind: event.Finish, Choice: index, Finish: event.FinishStop, Stop: []byte(stop)}
	c.pass(&c.event)
}

// release passes on the first n bytes of the text that is held back, and its log
// probabilities if these are all bytes.
func (c *cutter) release(choice *cut, index, n int) {
	if n > 0 {
		c.event = event.Event{Kind: event.Text, Choice: index, Text: choice.text[:n]}
		c.pass(&c.event)
		choice.text = append(choice.text[:0], choice.text[n:]...)
		choice.passed += n
		choice.sent = true
	}
	if len(choice.text) == 0 {
		c.weigh(choice, index)
	}
}

// weigh passes on the log probabilities of text that has been passed on. A token that is
// only the space of a template leaves no text: its probability waits for the next one.
func (c *cutter) weigh(choice *cut, index int) {
	if !choice.sent {
		return
	}
	if list := choice.probabilities.list(); list != nil {
		c.event = event.Event{Kind: event.Logprobs, Choice: index, Logprobs: list}
		c.pass(&c.event)
	}
}
