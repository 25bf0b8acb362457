package reply

import (
	"fmt"
	"strings"
)

// maxQuote is the largest number of bytes of a prompt or a result that is repeated.
const maxQuote = 300

// text returns the text of one sample.
func (a *Answer) text(prompt string, index int, calls []Call) string {
	switch {
	case a.orders.refuse:
		return "I cannot help with that."
	case a.Faults.Has(NoContent):
		return ""
	case len(calls) > 0 && a.Choice.Must:
		return "" // a forced call has no text
	case len(calls) > 0:
		return "I call " + strings.Join(names(calls), " and ") + "." + a.filler()
	case a.Schema != nil:
		return string(sampleOf(a.Schema))
	case len(a.Results) > 0:
		return "The tools answered: " + quoteAll(a.Results) + "." + a.filler()
	default:
		return a.greeting(prompt, index) + a.filler()
	}
}

func (a *Answer) greeting(prompt string, index int) string {
	text := fmt.Sprintf("This is the demo provider, answering as %s in the %s format.", a.Model, a.Format)
	if a.N > 1 {
		text += fmt.Sprintf(" Choice %d of %d.", index%a.N+1, a.N)
	}
	return text + fmt.Sprintf(" You wrote: %q.", shorten(prompt, maxQuote)) + a.inventory() + "."
}

// inventory returns a sentence with the numbers of messages, tools and other parts of the
// request.
func (a *Answer) inventory() string {
	text := " The request held " + plural(a.Messages, "message")
	if a.system > 0 {
		text += ", a system prompt of " + plural(a.system, "word")
	}
	if len(a.Tools) > 0 {
		text += ", " + plural(len(a.Tools), "tool")
	}
	if a.media > 0 {
		text += ", " + plural(a.media, "attachment")
	}
	return text
}

// filler returns the text that [[words:N]] asks for.
func (a *Answer) filler() string {
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

func names(calls []Call) []string {
	list := make([]string, len(calls))
	for i, c := range calls {
		list[i] = c.Tool.Label
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
