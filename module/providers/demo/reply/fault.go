package reply

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Faults are the faults that a prompt asks for. The documentation of package demo describes
// them. Formats implement NoUsage, NoSignature and NullContent; package demo implements the
// others.
type Faults struct {
	Status     int // of an error answer, or of the HTML page
	RetryAfter string
	Code       string

	Reset, HTML, EmptyBody, Gzip, CRLF, JSON bool
	FirstEventError                          bool
	NoDone, NoFinish, NoUsage                bool
	NoSignature, NullContent, TooLong, Burst bool
	SlowHeaders, SlowFirst                   time.Duration

	Middle Middle
	After  int // pieces of content before Middle
}

// Middle is a fault in the middle of an answer.
type Middle int

// The faults of mid-answer.
const (
	Cut        Middle = iota + 1 // the connection breaks off
	Stall                        // nothing more is sent
	ErrorEvent                   // an error event ends the stream
	Garbage                      // an event that is not JSON ends the stream
)

var middles = map[string]Middle{"cut": Cut, "stall": Stall, "error-event": ErrorEvent, "garbage": Garbage}

// maxPause is the longest pause of a slow fault.
const maxPause = time.Hour

// read reads the words of a fault, and reports whether the fault is known.
func (f *Faults) read(words []string) bool {
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

func (f *Faults) kind(word string) bool {
	name, value, _ := strings.Cut(word, "=")
	if middle, ok := middles[name]; ok {
		f.Middle = middle
		return true
	}
	if flag := f.flag(name); flag != nil {
		*flag = true
		return true
	}
	switch name {
	case "slow-headers":
		return parseDuration(value, &f.SlowHeaders)
	case "slow-first":
		return parseDuration(value, &f.SlowFirst)
	case "html":
		f.HTML, f.Status = true, http.StatusBadGateway
		return true
	}
	return parseStatus(name, 400, &f.Status)
}

// flag returns the field of a fault without a value, nil for other faults.
func (f *Faults) flag(name string) *bool {
	return map[string]*bool{
		"reset": &f.Reset, "empty-body": &f.EmptyBody, "gzip": &f.Gzip, "crlf": &f.CRLF,
		"json": &f.JSON, "first-event-error": &f.FirstEventError,
		"no-done": &f.NoDone, "no-finish": &f.NoFinish, "no-usage": &f.NoUsage,
		"no-signature": &f.NoSignature, "null-content": &f.NullContent, "too-long": &f.TooLong,
		"burst": &f.Burst,
	}[name]
}

func (f *Faults) detail(name, value string) bool {
	switch name {
	case "retry-after":
		f.RetryAfter = value
	case "code":
		f.Code = value
	case "status":
		return parseStatus(value, 200, &f.Status)
	case "after":
		n, err := strconv.Atoi(value)
		f.After = n
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
