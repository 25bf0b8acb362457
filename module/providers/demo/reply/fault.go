package reply

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// Faults are the faults that a prompt asks for. The documentation of package demo describes
// them. Formats implement NoUsage, NoSignature and NoContent; package demo implements the
// others.
type Faults struct {
	Status     int // of an error answer, or of the HTML page
	RetryAfter int // seconds
	Code       string

	SlowHeaders, SlowFirst time.Duration

	Middle Fault // Cut, Stall, ErrorEvent or Garbage; "" for none
	Pieces int   // pieces of content before Middle

	others []Fault
}

// Fault is a fault without a value, by its word in a prompt.
type Fault string

// The faults of mid-answer, of which the last one that a prompt names happens.
const (
	Cut        Fault = "cut"         // the connection breaks off
	Stall      Fault = "stall"       // nothing more is sent
	ErrorEvent Fault = "error-event" // an error event ends the stream
	Garbage    Fault = "garbage"     // an event that is not JSON ends the stream
)

// The other faults, of which a prompt may name several.
const (
	Reset           Fault = "reset"
	HTML            Fault = "html"
	EmptyBody       Fault = "empty-body"
	Gzip            Fault = "gzip"
	CRLF            Fault = "crlf"
	JSON            Fault = "json"
	FirstEventError Fault = "first-event-error"
	NoDone          Fault = "no-done"
	NoFinish        Fault = "no-finish"
	NoUsage         Fault = "no-usage"
	NoSignature     Fault = "no-signature"
	NoContent       Fault = "no-content"
	TooLong         Fault = "too-long"
	Burst           Fault = "burst"
)

// Has reports whether the prompt asks for a fault that is not one of mid-answer.
func (f *Faults) Has(fault Fault) bool { return slices.Contains(f.others, fault) }

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
	switch fault := Fault(name); fault {
	case Cut, Stall, ErrorEvent, Garbage:
		f.Middle = fault
		return true
	case HTML:
		f.Status = 502
		fallthrough
	case Reset, EmptyBody, Gzip, CRLF, JSON, FirstEventError, NoDone, NoFinish, NoUsage, NoSignature, NoContent, TooLong, Burst:
		f.others = append(f.others, fault)
		return true
	case "slow-headers":
		return parseDuration(value, &f.SlowHeaders)
	case "slow-first":
		return parseDuration(value, &f.SlowFirst)
	}
	return parseStatus(name, 400, &f.Status)
}

func (f *Faults) detail(name, value string) bool {
	switch name {
	case "retry-after":
		return parseCount(value, &f.RetryAfter)
	case "code":
		f.Code = value
	case "status":
		return parseStatus(value, 200, &f.Status)
	case "after":
		return parseCount(value, &f.Pieces)
	default:
		return false
	}
	return true
}

func parseCount(word string, dst *int) bool {
	n, err := strconv.Atoi(word)
	*dst = n
	return err == nil && n >= 0
}

func parseStatus(word string, low int, dst *int) bool {
	n, err := strconv.Atoi(word)
	*dst = n
	return err == nil && n >= low && n <= 599
}

func parseDuration(word string, dst *time.Duration) bool {
	d, err := time.ParseDuration(word)
	*dst = d
	return err == nil && d >= 0 && d <= maxPause
}
