package demo

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// calls decides which tools one sample calls.
func (a *answer) calls(prompt string, index int) []call {
	if a.format == translate.Completions || a.choice.mode == "none" || a.orders.refuse {
		return nil
	}
	list := a.ordered()
	if len(list) == 0 {
		list = a.named(prompt)
	}
	if len(list) == 0 && a.choice.mode == "any" {
		list = a.forced()
	}
	if a.choice.single && len(list) > 1 {
		list = list[:1]
	}
	for i := range list {
		list[i].id = a.callID(index, i)
	}
	return list
}

// callID has the shape of the format's own ids.
func (a *answer) callID(index, ordinal int) string {
	prefix := "call_"
	if a.format == translate.Messages {
		prefix = "toolu_"
	}
	return fmt.Sprintf("%s%s%02d%02d", prefix, a.id, index, ordinal)
}

// ordered are the calls that [[tool ...]] spells out, of offered tools.
func (a *answer) ordered() (list []call) {
	for _, o := range a.orders.calls {
		if a.offers(o.name) {
			list = append(list, call{name: o.name, pieces: fragments(string(o.arguments))})
		}
	}
	return list
}

// maxSearch is how much of a prompt is searched for the names of tools, in bytes.
const maxSearch = 16 << 10

var asksForTool = regexp.MustCompile(`(?i)\b(use|call)\b`)

// named are the tools that the prompt names, unless it holds their results.
func (a *answer) named(prompt string) (list []call) {
	prompt = shorten(prompt, maxSearch)
	if len(a.results) > 0 || !asksForTool.MatchString(prompt) {
		return nil
	}
	for _, t := range a.tools {
		if !t.server && mentions(prompt, t.name) && a.allows(t) {
			list = append(list, newCall(t))
		}
	}
	return list
}

// allows reports whether tool_choice leaves this tool open.
func (a *answer) allows(t tool) bool { return a.choice.name == "" || a.choice.name == t.name }

// mentions reports whether the name stands in the text as a word of its own.
func mentions(text, name string) bool {
	if name == "" {
		return false
	}
	found, _ := regexp.MatchString(`(?i)(^|[^\w-])`+regexp.QuoteMeta(name)+`($|[^\w-])`, text)
	return found
}

// forced is the call that tool_choice demands.
func (a *answer) forced() []call {
	for _, t := range a.tools {
		if !t.server && a.allows(t) {
			return []call{newCall(t)}
		}
	}
	return nil
}

// newCall calls a tool with the arguments that its schema requires.
func newCall(t tool) call {
	if t.custom {
		return call{name: t.name, custom: true, pieces: pieces("Input for " + t.name + ".")}
	}
	return call{name: t.name, pieces: fragments(strings.TrimSpace(string(sampleOf(t.schema))))}
}
