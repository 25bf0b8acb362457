package reply

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// calls returns the calls of tools of one sample.
func (a *Answer) calls(prompt string, index int) []Call {
	r, offer := a.Request, &a.Request.Offer
	if offer.Choice.Never || r.orders.refuse || r.orders.filter {
		return nil
	}
	list := r.ordered()
	if len(list) == 0 {
		list = r.named(prompt)
	}
	if len(list) == 0 && offer.Choice.Must {
		list = offer.forced()
	}
	if offer.Choice.Single && len(list) > 1 {
		list = list[:1]
	}
	for i := range list {
		list[i].ID = fmt.Sprintf("%s%02d%02d", a.ID(), index, i)
	}
	return list
}

// ordered returns the calls of offered tools that [[tool ...]] specifies.
func (r *Request) ordered() (list []Call) {
	for _, o := range r.orders.calls {
		if t, offered := r.Offer.find(o.name); offered {
			list = append(list, t.call(o.pieces(t)))
		}
	}
	return list
}

// pieces returns the input of an ordered call. A free tool takes text: the
// member "input" of the arguments, or the arguments without such a member.
func (o order) pieces(t Tool) []string {
	var arguments struct{ Input string }
	if t.Free && json.Unmarshal(o.arguments, &arguments) == nil && arguments.Input != "" {
		return pieces(arguments.Input)
	}
	return fragments(string(o.arguments))
}

// maxSearch is the largest number of bytes of a prompt that are searched for names of tools.
const maxSearch = 16 << 10

var asksForTool = regexp.MustCompile(`(?i)\b(use|call)\b`)

// named returns calls of the tools whose names are in the prompt; none if the last turn
// contains results of tools.
func (r *Request) named(prompt string) (list []Call) {
	prompt = shorten(prompt, maxSearch)
	if len(r.Conversation.Results) > 0 || !asksForTool.MatchString(prompt) {
		return nil
	}
	for _, t := range r.Offer.Tools {
		if mentions(prompt, t.Label) && r.Offer.Choice.allows(t) {
			list = append(list, t.sampleCall())
		}
	}
	return list
}

// allows reports whether the tool choice allows this tool.
func (c *ToolChoice) allows(t Tool) bool { return c.Name == "" || c.Name == t.Name }

// mentions reports whether the name is a word of the text.
func mentions(text, name string) bool {
	if name == "" {
		return false
	}
	found, _ := regexp.MatchString(`(?i)(^|[^\w-])`+regexp.QuoteMeta(name)+`($|[^\w-])`, text)
	return found
}

// forced returns the call that the tool choice demands.
func (o *Offer) forced() []Call {
	if t, offered := o.find(o.Choice.Name); offered {
		return []Call{t.sampleCall()}
	}
	return nil
}

// sampleCall returns a call of the tool with the arguments that its schema requires.
func (t Tool) sampleCall() Call {
	if t.Free {
		return t.call(pieces(t.sampleInput()))
	}
	return t.call(fragments(strings.TrimSpace(string(sampleOf(t.Schema)))))
}

func (t Tool) call(input []string) Call {
	return Call{Tool: t, Pieces: input}
}

// patch is a text that the grammar of the apply_patch tool of agents accepts.
const patch = `*** Begin Patch
*** Add File: demo.txt
+The demo provider wrote this file.
*** End Patch
`

// sampleInput returns the input for a call of a free tool.
func (t Tool) sampleInput() string {
	if t.Label == "apply_patch" {
		return patch
	}
	return "Input for " + t.Label + "."
}
