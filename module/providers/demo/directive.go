package demo

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// orders are what a prompt asks for beyond its text.
type orders struct {
	words  int // this many more words
	calls  []order
	refuse bool
}

// order is a tool call that the prompt spells out.
type order struct {
	name      string
	arguments json.RawMessage
}

// faults are the misbehaviours that a prompt asks for; see the package comment.
type faults struct {
	status     int
	retryAfter string
	code       string

	reset, html, emptyBody, gzip, crlf, json bool
	firstEventError                          bool
	noDone, noFinish, noUsage                bool
	noSignature, nullContent, tooLong, burst bool
	slowHeaders, slowFirst                   time.Duration

	middle string // "cut", "stall", "error-event", "garbage"
	after  int    // pieces of content before middle
}

// directive matches one directive: a tool with the object of its arguments, or
// a verb with the words behind it.
var directive = regexp.MustCompile(`(?s)\[\[(?:tool (\S+?)( \{.*?\})?|(words:|think|refuse|fault:)([^\]]*))\]\]`)

// maxPause bounds the slow faults.
const maxPause = time.Hour

// readDirectives takes the directives out of the prompts.
func (q *ask) readDirectives() (refused *refusal) {
	q.faults.after = 3
	for i, prompt := range q.prompts {
		q.prompts[i] = strings.TrimSpace(directive.ReplaceAllStringFunc(prompt, func(s string) string {
			if !q.obey(directive.FindStringSubmatch(s)) {
				refused = &refusal{status: http.StatusBadRequest, message: "unknown directive: " + shorten(s, 80)}
			}
			return ""
		}))
	}
	return refused
}

// obey takes in one match of directive and reports whether it is known.
func (q *ask) obey(match []string) bool {
	switch verb, rest := match[3], match[4]; verb {
	case "words:":
		n, err := strconv.Atoi(rest)
		q.orders.words = n
		return err == nil && n >= 0 && n <= maxWords
	case "think":
		q.reason = true
		return rest == ""
	case "refuse":
		q.orders.refuse = true
		return rest == ""
	case "fault:":
		return q.faults.read(strings.Fields(rest))
	default:
		return q.order(match[1], strings.TrimSpace(match[2]))
	}
}

func (q *ask) order(name, arguments string) bool {
	if arguments == "" {
		arguments = "{}"
	}
	q.orders.calls = append(q.orders.calls, order{name, json.RawMessage(arguments)})
	return json.Valid([]byte(arguments))
}

// read takes in the words of a fault and reports whether it is known.
func (f *faults) read(words []string) bool {
	if len(words) == 0 || !f.kind(words[0]) {
		return false
	}
	for _, word := range words[1:] {
		name, value, _ := strings.Cut(word, "=")
		if !f.detail(name, value) {
			return false
		}
	}
	return true
}

func (f *faults) kind(word string) bool {
	name, value, _ := strings.Cut(word, "=")
	switch name {
	case "cut", "stall", "error-event", "garbage":
		f.middle = name
	case "slow-headers":
		return parseDuration(value, &f.slowHeaders)
	case "slow-first":
		return parseDuration(value, &f.slowFirst)
	case "html":
		f.html = true
		f.status = http.StatusBadGateway
	default:
		if flag := f.flag(name); flag != nil {
			*flag = true
			return true
		}
		return parseStatus(name, 400, &f.status)
	}
	return true
}

// flag finds the faults that are either there or not.
func (f *faults) flag(name string) *bool {
	return map[string]*bool{
		"reset": &f.reset, "empty-body": &f.emptyBody, "gzip": &f.gzip, "crlf": &f.crlf,
		"json": &f.json, "first-event-error": &f.firstEventError,
		"no-done": &f.noDone, "no-finish": &f.noFinish, "no-usage": &f.noUsage,
		"no-signature": &f.noSignature, "null-content": &f.nullContent, "too-long": &f.tooLong,
		"burst": &f.burst,
	}[name]
}

func (f *faults) detail(name, value string) bool {
	switch name {
	case "retry-after":
		f.retryAfter = value
	case "code":
		f.code = value
	case "status":
		return parseStatus(value, 200, &f.status)
	case "after":
		n, err := strconv.Atoi(value)
		f.after = n
		return err == nil && n >= 0
	default:
		return false
	}
	return true
}

func parseStatus(word string, low int, into *int) bool {
	n, err := strconv.Atoi(word)
	*into = n
	return err == nil && n >= low && n <= 599
}

func parseDuration(word string, into *time.Duration) bool {
	d, err := time.ParseDuration(word)
	*into = d
	return err == nil && d >= 0 && d <= maxPause
}
