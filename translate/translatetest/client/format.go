// Package client reads answers as strictly as the official clients of each format do: it adds
// up the events of a stream to a JSON answer, and refuses a stream that breaks a law on which
// those clients rely. It shares no code with the gateway, so that an error of the gateway
// cannot hide itself. Only tests import it.
package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Format is how the clients of a format read answers.
type Format struct {
	open   func(reading) accumulator
	framed bool // but for the ends of lines, streams must be framed as EmittedEvents demands
	kinds  kinds
	end    string                // the data of the last event, if it is no JSON
	check  func(Object) error    // of a JSON answer
	texts  func(Object) []string // of an answer, by choice
}

// accumulator adds up the events of a stream.
type accumulator interface {
	take(Event, Object) error
	sum() Object // of the events so far, as a JSON answer
	state() *reading
}

// reading is what all accumulators have in common.
type reading struct {
	emitted  bool     // an emitter of the gateway wrote the stream, which keeps further laws
	complete bool     // the stream has the last event of its format
	failure  *Failure // the error event that ended the stream
}

func (r *reading) state() *reading { return r }

// fail takes an error event.
func (r *reading) fail(e Event) error {
	f, err := ParseFailure([]byte(e.Data))
	r.failure = &f
	return err
}

// Answer is a JSON answer, or what the events of a stream add up to.
type Answer struct {
	Object   Object
	Texts    []string // by choice
	Complete bool     // the stream has the last event of its format
	Failure  *Failure // the error event that ended the stream
}

// Text joins the texts of all choices.
func (a Answer) Text() string { return strings.Join(a.Texts, "") }

// Decode decodes the answer into a struct.
func (a Answer) Decode(dst any) error {
	raw, err := json.Marshal(a.Object)
	if err != nil {
		return fmt.Errorf("encoding an answer: %w", err)
	}
	if err := json.Unmarshal(raw, dst); err != nil {
		return fmt.Errorf("decoding an answer: %w", err)
	}
	return nil
}

// Parse reads a JSON answer.
func (f Format) Parse(body []byte) (Answer, error) {
	o, err := f.decode(body)
	if err != nil {
		return Answer{}, err
	}
	return Answer{Object: o, Texts: f.texts(o), Complete: true}, f.check(o)
}

func (f Format) decode(data []byte) (Object, error) {
	o, err := Decode(data)
	if err != nil {
		return nil, err
	}
	return o, f.kinds.check(o)
}

// Read adds up a stream. If the stream breaks a law, Read returns the answer so far and an
// error. A stream that ends with an error event, or too early, is no error: see Complete and
// Failure.
func (f Format) Read(stream []byte) (Answer, error) { return f.read(stream, false) }

// ErrFailed is returned for a stream that ended with an error event.
var ErrFailed = errors.New("the stream failed")

// Emitted adds up a stream that an emitter of the gateway wrote, to the end. The stream must
// also keep laws on which not every client relies, so that it adds up to the very answer that
// the emitter writes for a client that does not stream.
func (f Format) Emitted(stream []byte) (Object, error) {
	a, err := f.read(stream, true)
	switch {
	case err != nil:
		return nil, err
	case a.Failure != nil:
		return nil, ErrFailed
	case !a.Complete:
		return nil, errors.New("the stream does not end")
	}
	return a.Object, nil
}

func (f Format) read(stream []byte, emitted bool) (Answer, error) {
	events, err := Events(stream), error(nil)
	switch {
	case emitted:
		events, err = EmittedEvents(stream)
	case f.framed:
		events, err = EmittedEvents([]byte(lines(stream)))
	}
	a := f.open(reading{emitted: emitted})
	for i := 0; i < len(events) && err == nil; i++ {
		err = f.next(a, events[i])
	}
	o := a.sum()
	return Answer{o, f.texts(o), a.state().complete, a.state().failure}, err
}

// next takes the next event of a stream.
func (f Format) next(a accumulator, e Event) error {
	var data Object
	var err error
	if f.end == "" || e.Data != f.end {
		data, err = f.decode([]byte(e.Data))
	}
	switch s := a.state(); {
	case err != nil:
	case s.complete || s.failure != nil:
		err = errors.New("behind the end")
	default:
		err = a.take(e, data)
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", e.Name, e.Data, err)
	}
	return nil
}
