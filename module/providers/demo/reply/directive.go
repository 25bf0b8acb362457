package reply

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

// orders are the effects of the directives in a prompt, except for faults.
type orders struct {
	words  int // number of additional words
	calls  []order
	refuse bool
	filter bool
}

// order is a call of a tool that a directive specifies.
type order struct {
	name      string
	arguments json.RawMessage
}

// directive matches one directive: a tool with the object of its arguments, or a verb with
// the words after it.
var directive = regexp.MustCompile(`(?s)\[\[(?:tool (\S+?)( \{.*?\})?|(words:|think|refuse|filter|fault:)([^\]]*))\]\]`)

// readDirectives removes the directives from the prompts, and carries them out.
func (r *Request) readDirectives() (refused *fault.Fault) {
	r.Faults.Pieces = 3
	for i, prompt := range r.Conversation.Prompts {
		r.Conversation.Prompts[i] = strings.TrimSpace(directive.ReplaceAllStringFunc(prompt, func(s string) string {
			if !r.obey(directive.FindStringSubmatch(s)) {
				refused = &fault.Fault{Kind: fault.Invalid, Message: "unknown directive: " + shorten(s, 80)}
			}
			return ""
		}))
	}
	return refused
}

// obey carries out one match of directive and reports whether it is known.
func (r *Request) obey(match []string) bool {
	switch verb, rest := match[3], match[4]; verb {
	case "words:":
		n, err := strconv.Atoi(rest)
		r.orders.words = n
		return err == nil && n >= 0 && n <= maxWords
	case "think":
		r.Reason = true
		return rest == ""
	case "refuse":
		r.orders.refuse = true
		return rest == ""
	case "filter":
		r.orders.filter = true
		return rest == ""
	case "fault:":
		return r.Faults.read(strings.Fields(rest))
	default:
		return r.order(match[1], strings.TrimSpace(match[2]))
	}
}

func (r *Request) order(name, arguments string) bool {
	if arguments == "" {
		arguments = "{}"
	}
	r.orders.calls = append(r.orders.calls, order{name, json.RawMessage(arguments)})
	return json.Valid([]byte(arguments))
}
