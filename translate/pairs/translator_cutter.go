package pairs

import (
	"bytes"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// cutter ends the text of an answer before the first of the client's stop
// sequences which the provider's format does not take (wire format D.13). It
// stands between parser and translator and works on text alone: what may be the
// beginning of a sequence is held back until more text decides it, or another
// kind of event. Such providers give one choice; only choice 0 is cut.
type cutter struct {
	next  translate.Handler
	stops []string
	text  []byte // held back and not told yet
	event translate.Event
	cut   bool
	over  bool
}

func newCutter(next translate.Handler, stops []string) *cutter {
	return &cutter{next: next, stops: stops}
}

// done reports whether the text was cut: the answer has ended for its client.
func (c *cutter) done() bool { return c != nil && c.cut }

// Handle hands on the next core event, or what is left of it.
func (c *cutter) Handle(e *translate.Event) {
	switch {
	case c.over:
	case c.cut:
		c.behind(e)
	case e.Kind == translate.EventText && e.Choice == 0:
		c.take(e)
	case e.Kind == translate.EventUsage:
		c.next.Handle(e)
	default:
		c.release(len(c.text))
		c.next.Handle(e)
	}
}

// behind handles what follows the cut: the provider is heard out for its usage,
// and nothing that happens to it can spoil an answer which is complete.
func (c *cutter) behind(e *translate.Event) {
	switch e.Kind {
	case translate.EventUsage:
		c.next.Handle(e)
	case translate.EventEnd, translate.EventError:
		c.over = true
		c.next.Handle(&translate.Event{Kind: translate.EventEnd})
	}
}

// take takes in text, and hands on what cannot be a part of a sequence.
func (c *cutter) take(e *translate.Event) {
	c.text = append(c.text, e.Text...)
	if at, stop := c.find(); stop != "" {
		c.release(at)
		c.cut = true
		c.next.Handle(&translate.Event{
			Kind: translate.EventFinish, Finish: translate.FinishStop, Stop: []byte(stop),
		})
		return
	}
	c.release(len(c.text) - c.doubtful())
}

// find finds the first sequence in the text.
func (c *cutter) find() (at int, stop string) {
	for _, s := range c.stops {
		if i := bytes.Index(c.text, []byte(s)); i >= 0 && (stop == "" || i < at) {
			at, stop = i, s
		}
	}
	return at, stop
}

// doubtful is the length of the longest end of the text with which a sequence
// may begin.
func (c *cutter) doubtful() int {
	longest := 0
	for _, s := range c.stops {
		for n := min(len(s)-1, len(c.text)); n > longest; n-- {
			if bytes.HasSuffix(c.text, []byte(s[:n])) {
				longest = n
			}
		}
	}
	return longest
}

// release hands on the first n bytes of the text.
func (c *cutter) release(n int) {
	if n == 0 {
		return
	}
	c.event = translate.Event{Kind: translate.EventText, Text: c.text[:n]}
	c.next.Handle(&c.event)
	c.text = append(c.text[:0], c.text[n:]...)
}
