package openai

import (
	"errors"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/members"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/signal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// The members around the choices of an answer or a chunk, except the choices themselves and
// the usage. Ids and fingerprints mean nothing to the client of another answer.
var (
	frame        = members.New("")
	frameModel   = frame.Maybe(members.String, "model")
	frameCreated = frame.Maybe(members.Number, "created")
	frameTier    = frame.Maybe(members.String, "service_tier")
	frameError   = frame.Of(members.Any, "error")
	frameObject  = frame.Maybe(members.String, "object")
	frameType    = frame.Maybe(members.String, "type")
	frameDetail  = frame.Of(members.Any, "detail")
	frameJudged  = frame.Of(members.Any, "moderation")                                          // the results of a moderation
	framePadding = frame.Maybe(members.String, "obfuscation")                                   // servers hide the lengths of texts with it
	_            = frame.Skip("id system_fingerprint prompt_filter_results prompt_annotations") // Azure filters prompts

	groq      = frame.Inside("x_groq.", "x_groq")
	groqUsage = groq.Maybe(members.Object, "usage") // of streams, whether or not it was asked for
	_         = groq.Skip("id seed")
)

// The members that the choices of both formats have: the first ones of their tables.
const (
	choiceIndex members.Member = iota
	choiceFinish
	choiceStop
	choiceUsage
)

// InChoice is the path of the members of a choice, for reports of dropped ones.
const InChoice = "choices[*]."

// NewChoices returns the table of the choices of a format, with the members that both
// formats have.
func NewChoices() *members.Table {
	t := members.New(InChoice)
	t.Maybe(members.Any, "index")
	t.Maybe(members.String, "finish_reason")
	t.Maybe(members.String, "stop_reason matched_stop")     // the stop text: of vLLM, of SGLang
	t.Maybe(members.Object, "usage")                        // of Moonshot, in the last chunk of a stream
	t.Skip("content_filter_results content_filter_offsets") // of Azure; a finish_reason has the effect
	return t
}

// document is the answer or the chunk that was read last: choices, and the members around
// them.
type document struct {
	members.Values                 // the members around the choices
	cursor         jsonscan.Cursor // a field, so that a document costs no allocation

	hasUsage    bool               // the document has a usage object of its own
	counted     bool               // the report contains its counts
	usageAt     jsonscan.Slot      // of the usage object that is counted
	choiceUsage []byte             // the usage object in the choice that was read last, nil for none
	listed      bool               // there is a list of choices
	count       int                // of choices that are objects
	failure     *fault.Fault       // of a choice that has failed, if nobody else reads the choices
	ended       event.FinishReason // of the last choice, if nobody else reads the choices
}

var errNoObject = errors.New("no JSON object")

// choiceReader consumes the choice at the cursor of its document, and returns its members, or an
// error if there are too many choices. The cursor is no argument: a document whose choices are
// skipped would be allocated on the heap for it.
type choiceReader func() (*members.Values, error)

// read reads a document, a whole answer or a chunk, and has its choices read, or reads only how
// they ended if readChoice is nil. It adds the usage to the report of the answer. With losses, it reports
// what the tables do not have, and a repeated member is an error, since its value is ambiguous.
// Without losses, reading stops at a repeated member.
func (d *document) read(data []byte, whole bool, report *token.Report, losses members.Losses, readChoice choiceReader) error {
	d.cursor = jsonscan.New(data)
	c := &d.cursor
	d.Reset(c)
	d.hasUsage, d.choiceUsage, d.listed, d.count = false, nil, false, 0
	if !c.EnterObject() {
		c.Skip()
		return errors.Join(errNoObject, c.Finish())
	}
	var next token.Report // of the usage of this document too
	for c.Member() {
		switch string(c.Name()) {
		case "choices":
			if err := d.list(losses, readChoice); err != nil {
				return err
			}
		case "usage":
			if c.Null() {
				continue
			}
			start := c.Offset()
			next = *report
			d.hasUsage = next.Read(c, UsageRows)
			d.usageAt = jsonscan.Slot{Start: start, End: c.Offset()}
		default:
			d.Keep(c, frame, losses)
		}
	}
	err := c.Finish()
	if losses == nil {
		err = jsonscan.Broken(err)
	}
	if err != nil {
		return err
	}
	elsewhere := d.readElsewhere(report, &next)
	// Some servers send zeros in every chunk but the last.
	if d.counted = (d.hasUsage || elsewhere) && (whole || next.Positive() || d.count == 0); d.counted {
		*report = next
	} else {
		d.usageAt = jsonscan.Slot{}
	}
	report.Terms.ReadTier(d.Raw(frameTier))
	return nil
}

// readElsewhere reads the usage of a document that has no usage object of its own into next, and
// reports whether there is one: in a choice, or in the member of a vendor. A usage object of the
// document, in the same chunk or in a later one, has the same counts.
func (d *document) readElsewhere(report, next *token.Report) bool {
	raw := d.choiceUsage
	if raw == nil {
		raw = d.Raw(groqUsage)
	}
	if raw == nil || d.hasUsage {
		return false
	}
	*next = *report
	d.usageAt = jsonscan.Slot{}
	c := jsonscan.Skipped(raw)
	return next.Read(&c, UsageRows)
}

// readEnd reads of the choice at the cursor only how it ended, and its usage.
func (d *document) readEnd(v *members.Values) {
	v.Read(&d.cursor, ends, nil)
	word := finishWord(v)
	d.ended = event.Reason(word)
	if d.failure == nil {
		d.failure = event.Failure(word, nil)
	}
}

// recount adds the usage object of a document that differs from the one read last in its
// usage and its texts alone to the report. It returns false, and changes nothing, if the
// document must be read because of that object.
func (d *document) recount(usage []byte, report *token.Report) bool {
	d.cursor = jsonscan.Skipped(usage)
	next := *report
	if next.Read(&d.cursor, UsageRows); !next.Positive() || d.cursor.Finish() != nil {
		return false
	}
	*report = next
	return true
}

// list reads the choices. Null is the same as an empty list.
func (d *document) list(losses members.Losses, readChoice choiceReader) error {
	c := &d.cursor
	var end members.Values
	kind := c.Kind()
	d.listed = kind == jsonscan.Null || kind == jsonscan.Array || d.listed
	for c.OpenArray(); c.Element(); {
		if c.Kind() != jsonscan.Object {
			if raw := c.Skip(); losses != nil && !jsonscan.Blank(raw) {
				losses.Drop("choices[*]")
			}
			continue
		}
		choice := &end
		if readChoice == nil {
			d.readEnd(choice)
		} else {
			var err error
			if choice, err = readChoice(); err != nil {
				return err
			}
		}
		if raw := choice.Raw(choiceUsage); raw != nil {
			d.choiceUsage = raw
		}
		d.count++
	}
	return nil
}

// failed reports whether the document, whose bytes are data, is an error in one of the shapes that
// servers use. Those that only one service has are not searched beside choices or usage.
func (d *document) failed(data []byte) bool {
	if d.Set(frameError) || string(d.Raw(frameObject)) == `"error"` || d.Set(frameDetail) && !d.listed {
		return true
	}
	return d.count == 0 && !d.counted && fault.Stated(data) != nil
}

// ordinary are the members of events without choices and usage that services send: about the prompt,
// before the answer, and behind it.
var ordinary = []string{"object", "model", "created", "choices", "system_fingerprint", "service_tier", "prompt_filter_results", "prompt_annotations", "moderation", "x_groq", "obfuscation"}

// stray returns the fault of a stream that ends without a finish behind the document, whose bytes are
// data, or an earlier fault of that kind; nil if the document may be part of a whole answer.
func (d *document) stray(data []byte, earlier *fault.Fault) *fault.Fault {
	if d.count > 0 || d.counted {
		return earlier
	}
	if f := fault.Stray(data, ordinary); f != nil && (earlier == nil || f.Quoted) {
		return f
	}
	return earlier
}

// unfinished returns the fault of a stream whose mark of the end comes without a finish: that of an
// event that is no part of an answer, or of a stream in which no content has begun; else nil.
func unfinished(stray *fault.Fault, begun bool) *fault.Fault {
	if stray == nil && !begun {
		return fault.Truncated(nil)
	}
	return stray
}

// ends is the table of choices of which only the ends are read.
var ends = NewChoices()

var errNoChoice = errors.New("no choices")

// InspectAnswer reads a whole JSON answer of either format. It returns a fault for an answer
// that contains an error object, or no choice.
func InspectAnswer(body []byte, _ translate.Operation) (signal.Answer, *fault.Fault) {
	var d document
	var report token.Report
	if err := d.read(body, true, &report, nil, nil); err != nil {
		return signal.Answer{}, fault.Unusable(err)
	}
	if d.failed(body) {
		return signal.Answer{}, fault.ReadAnswer(body)
	}
	if d.count == 0 {
		return signal.Answer{}, fault.Unusable(errNoChoice)
	}
	a := signal.Answer{Model: jsonscan.TextOf(d.Raw(frameModel)), Ended: d.ended}
	if d.counted {
		a.Usage = report.Usage()
	}
	a.Failed = d.failure != nil
	return a, d.failure
}

// progress is how far an answer has come.
type progress struct {
	choices []choice     // by index
	stray   *fault.Fault // unless the answer finishes: of an event that is no part of one
}

// choice is the state of a choice.
type choice struct{ seen, finished, refused bool }

// choice returns the choice of an index, which has begun.
func (p *progress) choice(index int) *choice {
	for len(p.choices) <= index {
		p.choices = append(p.choices, choice{})
	}
	c := &p.choices[index]
	c.seen = true
	return c
}

// finished reports whether all choices have finished: those that were asked for, and any
// others that have begun.
func (p *progress) finished(asked int) bool {
	for i, c := range p.choices {
		if !c.finished && (c.seen || i < asked) {
			return false
		}
	}
	return len(p.choices) >= asked
}
