package reply

import (
	"fmt"
	"strings"
)

// maxQuote is the largest number of bytes of a prompt or a result that is repeated.
const maxQuote = 300

// text returns the text of one sample.
func (r *Request) text(prompt string, index int, calls []Call) string {
	switch {
	case r.orders.refuse:
		return "I cannot help with that."
	case r.Faults.Has(NoContent):
		return ""
	case len(calls) > 0 && r.Offer.Choice.Must:
		return "" // a forced call has no text
	case len(calls) > 0:
		return "I call " + strings.Join(names(calls), " and ") + "." + r.filler()
	case r.Schema != nil:
		return string(sampleOf(r.Schema))
	case len(r.Conversation.Results) > 0:
		return "The tools answered: " + quoteAll(r.Conversation.Results) + "." + r.filler()
	default:
		return r.greeting(prompt, index) + r.filler()
	}
}

func (r *Request) greeting(prompt string, index int) string {
	text := fmt.Sprintf("This is the demo provider, answering as %s in the %s format.", r.Model, r.Format)
	if n := r.Sampling.N; n > 1 {
		text += fmt.Sprintf(" Choice %d of %d.", index%n+1, n)
	}
	return text + fmt.Sprintf(" You wrote: %q.", shorten(prompt, maxQuote)) + r.inventory() + "."
}

// inventory returns a sentence with the numbers of messages, tools and other parts of the
// request.
func (r *Request) inventory() string {
	text := " The request held " + plural(r.Conversation.Messages, "message")
	if r.Size.system > 0 {
		text += ", a system prompt of " + plural(r.Size.system, "word")
	}
	if len(r.Offer.Tools) > 0 {
		text += ", " + plural(len(r.Offer.Tools), "tool")
	}
	if r.Size.media > 0 {
		text += ", " + plural(r.Size.media, "attachment")
	}
	return text
}

// filler returns the text that [[words:N]] asks for.
func (r *Request) filler() string {
	var b strings.Builder
	for i := range r.orders.words {
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
