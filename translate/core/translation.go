package core

import (
	"cmp"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// Translation is the translation of one request: the state that the reader and the
// writer share, and the results. Only the first fault is kept; after a fault, the
// output of the writer is invalid.
type Translation struct {
	Info    *RequestInfo
	Traits  *trait.Traits
	From    *Source
	To      *Target
	At      Place // of the reader
	Options Options
	// Rendered is the result so far. The reader sets the fields of Answer that follow
	// from the request; the writer sets those of functions that its format leaves to
	// the gateway.
	Rendered
	// Extensions contains the members that this provider accepts beyond its format,
	// each with a comma before it.
	Extensions Members
	fault      *fault.Fault
	witness    Witness // of Listen and Receive, for which nothing is reported; nil for a translation
	scratch    []byte
}

// Failed reports whether the request is refused.
func (x *Translation) Failed() bool { return x.fault != nil }

// Keep decides the fate of a concept by the row of the reader's table and the outcome
// of the writer's. It reports whether the writer gets the concept. It reports a loss,
// or refuses the request, if the concept is left out or changed. raw is the value,
// which a refusal repeats if it is a word or a number; nil if the row names the value.
func (x *Translation) Keep(c Concept, raw []byte) bool {
	return x.KeepAs(c, x.From.Rows.of(c), raw)
}

// KeepAs is Keep for the field of row r, with the outcome of concept c.
func (x *Translation) KeepAs(c Concept, r *Row, raw []byte) bool {
	Witnessed(x, c, r, raw)
	o := &x.To.Outcomes[c]
	outcome := o.under(x.Traits)
	if outcome == kept {
		return true
	}
	x.report(r, r.fate(outcome), raw, o)
	return outcome == changed
}

// Witnessed passes a field to the witness of Listen. Keep calls it.
func Witnessed(x *Translation, c Concept, r *Row, raw []byte) {
	if x.witness != nil {
		x.witness.Saw(c, r, raw)
	}
}

// KeepAt is Keep for a part at another place than the reader's.
func (x *Translation) KeepAt(place Place, c Concept) bool {
	now := x.At
	x.At = place
	kept := x.Keep(c, nil)
	x.At = now
	return kept
}

// Can reports whether the writer gets a concept, and reports no loss.
func (x *Translation) Can(c Concept) bool { return x.To.Outcomes[c].takes(x.Traits) }

// Lose reports the loss of the field of a row, or refuses the request; raw is as
// in Keep.
func (x *Translation) Lose(r *Row, raw []byte) {
	if r != nil {
		x.report(r, r.Lost, raw, nil)
	}
}

// Report reports a concept that is left out or changed, with a fate of the writer's choice.
func Report(x *Translation, c Concept, fate Fate) {
	x.report(x.From.Rows.of(c), fate, nil, nil)
}

// report reports the loss, or the refusal, that a fate requires.
func (x *Translation) report(r *Row, fate Fate, raw []byte, decidedBy *Outcome) {
	if r.idle && jsonscan.IsZero(raw) {
		return
	}
	if x.witness != nil {
		switch w := x.witness.(type) {
		case stateless:
			w.refuse(x, r)
		case UnsharedWitness:
			w.SawUnshared(r)
		}
		return
	}
	class := translate.Shaping
	switch fate {
	case Kept:
		return
	case Refused:
		x.refuse(r, raw, decidedBy)
		return
	case Hinted:
		class = translate.Hint
	case Shaped:
	}
	place := x.At.upTo(r)
	if place.depth == 0 {
		x.Losses.Add(class, r.Path)
		return
	}
	x.scratch = place.append(x.scratch[:0], r.place.member, true)
	x.Losses.AddPath(class, x.scratch)
}

// refuse refuses the request because of the field of a row.
func (x *Translation) refuse(r *Row, raw []byte, decidedBy *Outcome) {
	path := x.At.pathOf(r)
	switch {
	case r.refusal != nil:
		x.fault = r.refusal(x.Info, x.To.Format, path)
	case x.fault != nil:
		return
	default:
		x.fault = x.Info.Refuse(x.To.Format, path, r.shown(raw))
	}
	switch larger := &x.To.Outcomes[r.whole]; {
	case decidedBy != nil:
		x.fault.Log.Trait = cmp.Or(decidedBy.holding(x.Traits), larger.replacing(), decidedBy.deciding(r))
	case r.whole != Nothing: // the larger field is accepted, so this field is at fault
		x.fault.Log.Trait = cmp.Or(larger.keeping(x.Traits), larger.replacing())
	}
}

// LoseMember reports, as a hint, the loss of a member whose name the client may choose
// freely. object is the path from the element at the reader's place to the object of
// the member, or "".
func (x *Translation) LoseMember(object string, name []byte) {
	if x.witness != nil {
		if s, ok := x.witness.(stateless); ok {
			s.refuseUnknown(x, joinMember(object, string(name)))
		}
		return
	}
	x.scratch = x.At.append(x.scratch[:0], object, true)
	if len(x.scratch) > 0 {
		x.scratch = append(x.scratch, '.')
	}
	x.Losses.AddMember(translate.Hint, x.scratch, name)
}

// Invalid refuses a member, of the element at the reader's place, that is invalid in
// every format.
func (x *Translation) Invalid(member, what string) {
	if x.fault == nil && x.witness == nil {
		x.fault = fault.InvalidField(x.At.path(member), what)
	}
}

// InvalidAt is Invalid for a member of the element at another place.
func (x *Translation) InvalidAt(place Place, member, what string) {
	now := x.At
	x.At = place
	x.Invalid(member, what)
	x.At = now
}

// PathOf returns the path of a concept in the client's format, for refusals.
func (x *Translation) PathOf(c Concept) string { return x.At.pathOf(x.From.Rows.of(c)) }

// Fail refuses the request with a fault, unless the request is already refused.
func (x *Translation) Fail(fault *fault.Fault) {
	if x.fault == nil {
		x.fault = fault
	}
}
