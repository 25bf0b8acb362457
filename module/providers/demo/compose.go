package demo

import (
	"encoding/hex"
	"fmt"
	"strings"
)

// answer is what is said, before it has the shape of a format.
type answer struct {
	*ask
	x       *exchange
	id      string // without the prefix of the format
	created int64
	samples []sample // prompt × samples of the ask, in that order
	usage   usage
}

// sample is one of the answers to one of the prompts.
type sample struct {
	index   int
	echo    string
	thought *thought
	pieces  []string
	calls   []call
	refused bool
	null    bool // null stands for what it does not say
	stop    stop
	matched string // the stop string, for stopped
}

type thought struct {
	pieces    []string
	signature string
}

type call struct {
	id, name string
	custom   bool
	pieces   []string // of the arguments
}

func (t *thought) text() string   { return strings.Join(t.pieces, "") }
func (s *sample) text() string    { return strings.Join(s.pieces, "") }
func (c *call) arguments() string { return strings.Join(c.pieces, "") }

// stop says why a sample ended.
type stop int

const (
	ended stop = iota
	limited
	stopped
	called
	declined
)

// compose makes the whole answer before the first byte of it is written, so
// that the stream and the JSON body of one request cannot differ.
func (x *exchange) compose(q *ask) *answer {
	a := &answer{ask: q, x: x, id: hex.EncodeToString(x.hash[:12]), created: x.created()}
	for _, prompt := range q.prompts {
		for range q.n {
			a.samples = append(a.samples, a.sample(prompt, len(a.samples)))
		}
	}
	a.usage = a.count()
	return a
}

// sample makes one answer to one prompt: reasoning, text, calls, as far as the
// budget goes.
func (a *answer) sample(prompt string, index int) sample {
	s := sample{index: index, refused: a.orders.refuse, null: a.faults.nullContent}
	if a.echo {
		s.echo = prompt
	}
	left := a.limit
	if a.reason && !s.refused {
		s.thought = a.ponder(prompt, &left)
	}
	calls := a.calls(prompt, index)
	text, matched := cutAtStop(a.say(prompt, index, calls), a.stops)
	var whole bool
	s.pieces, whole = left.take(pieces(text))
	switch {
	case !whole:
		s.stop = limited
	case matched != "":
		s.stop, s.matched = stopped, matched
	case s.refused:
		s.stop = declined
	case len(calls) > 0:
		s.addCalls(calls, &left)
	}
	return s
}

// addCalls adds the calls as far as the budget goes: the last one may be cut
// in the middle of its arguments, as with a true model.
func (s *sample) addCalls(calls []call, left *budget) {
	s.stop = called
	for _, c := range calls {
		var whole bool
		c.pieces, whole = left.take(c.pieces)
		s.calls = append(s.calls, c)
		if !whole {
			s.stop = limited
			return
		}
	}
}

// ponder is the reasoning, signed as it will be shown.
func (a *answer) ponder(prompt string, left *budget) *thought {
	text := fmt.Sprintf("The user wrote %s. I shall answer as the demo provider does.", plural(tokens(prompt), "word"))
	list, _ := left.take(pieces(text))
	t := &thought{pieces: list}
	shown := t.text()
	if a.hidden {
		shown = ""
	}
	t.signature = sign(a.x.hash, shown)
	return t
}

// maxQuote is how much of a prompt or a result is repeated, in bytes.
const maxQuote = 300

// say is the text of one sample.
func (a *answer) say(prompt string, index int, calls []call) string {
	switch {
	case a.orders.refuse:
		return "I cannot help with that."
	case a.faults.nullContent:
		return ""
	case len(calls) > 0 && a.choice.mode == "any":
		return "" // a forced call comes without words
	case len(calls) > 0:
		return "I call " + strings.Join(names(calls), " and ") + "." + a.filler()
	case len(a.results) > 0:
		return "The tools answered: " + quoteAll(a.results) + "." + a.filler()
	default:
		return a.greeting(prompt, index) + a.filler()
	}
}

func (a *answer) greeting(prompt string, index int) string {
	text := fmt.Sprintf("This is the demo provider, answering as %s in the %s format.", a.model, a.format)
	if a.n > 1 {
		text += fmt.Sprintf(" Choice %d of %d.", index%a.n+1, a.n)
	}
	return text + fmt.Sprintf(" You wrote: %q.", shorten(prompt, maxQuote)) + a.inventory() + "."
}

// inventory counts what else the request held.
func (a *answer) inventory() string {
	text := fmt.Sprintf(" The request held %s", plural(a.messages, "message"))
	if a.system > 0 {
		text += fmt.Sprintf(", a system prompt of %s", plural(a.system, "word"))
	}
	if len(a.tools) > 0 {
		text += ", " + plural(len(a.tools), "tool")
	}
	if a.media > 0 {
		text += ", " + plural(a.media, "attachment")
	}
	return text
}

// filler is the text that [[words:N]] asks for.
func (a *answer) filler() string {
	var b strings.Builder
	for i := range a.orders.words {
		fmt.Fprintf(&b, " word%d", i+1)
	}
	return b.String()
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

func names(calls []call) []string {
	list := make([]string, len(calls))
	for i, c := range calls {
		list[i] = c.name
	}
	return list
}

func quoteAll(texts []string) string {
	list := make([]string, len(texts))
	for i, text := range texts {
		list[i] = fmt.Sprintf("%q", shorten(text, maxQuote))
	}
	return strings.Join(list, ", ")
}
