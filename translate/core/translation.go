package core

import (
	"errors"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// Translation is one request on its way from a reader to a writer: what both
// share, and what is found on the way. The first fault counts; once there is one,
// what is written is of no use.
type Translation struct {
	Info    *RequestInfo
	Traits  *trait.Traits
	To      *Target
	At      Place // of the reader
	Options Options
	// Memory is what the way back needs. The reader fills in what the request
	// says; the writer adds what its format leaves to the gateway.
	Answer translate.AnswerContext
	// Extensions are the members that only this provider knows, each with a comma
	// before it.
	Extensions []byte
	// Prompts and Samples are those of core.Rendered.
	Prompts, Samples int
	// Unbounded is how many tokens an answer may have that the client does not bound,
	// where a format asks for a bound; 0 for as many as the provider's traits say.
	Unbounded int64

	rows      *Rows
	listening bool // nothing is reported
	losses    translate.Losses
	fault     *fault.Fault
	scratch   []byte
}

// Failed reports whether the request is refused.
func (x *Translation) Failed() bool { return x.fault != nil }

// Keep decides what becomes of a concept of which the reader's table has a row:
// it reports whether the writer is to get it. Where it is not, or in another form,
// that is reported, or the request is refused. raw is the value at fault, which a
// refusal repeats if it is a word or a number; nil where the row names it.
func (x *Translation) Keep(c Concept, raw []byte) bool {
	if r := x.rows.concepts[c]; r != nil {
		return x.KeepAs(c, r, raw)
	}
	return x.KeepAs(c, &unnamed, raw)
}

// unnamed is the row of what a reader has no row of.
var unnamed = Row{Lost: Refused, Concept: Content}

// KeepAs is Keep for the field of a row that another concept decides about.
func (x *Translation) KeepAs(c Concept, r *Row, raw []byte) bool {
	o := &x.To.Outcomes[c]
	outcome := o.under(x.Traits)
	if outcome == kept {
		return true
	}
	x.report(r, r.fate(outcome), raw, o)
	return outcome == changed
}

// KeepAt is Keep for something that stands at another place than the reader's.
func (x *Translation) KeepAt(at Place, c Concept) bool {
	now := x.At
	x.At = at
	kept := x.Keep(c, nil)
	x.At = now
	return kept
}

// EnterList enters the array at the cursor, in front of its first element; another
// value has none. list is the path of the array in the element at the reader's place.
//
//	for x.EnterList(c, "tools"); x.NextElement(c); { ... }
func (x *Translation) EnterList(c *jsonscan.Cursor, list string) {
	c.OpenArray()
	x.At.Enter(list)
}

// NextElement moves to the next element of the list, or leaves it behind the last. Of
// a request that is refused no more elements are read.
func (x *Translation) NextElement(c *jsonscan.Cursor) bool {
	for c.Element() {
		if x.fault == nil {
			x.At.Next()
			return true
		}
		c.Skip()
	}
	x.At.Leave()
	return false
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

// report reports a fate.
func (x *Translation) report(r *Row, fate Fate, raw []byte, decidedBy *Outcome) {
	if x.listening || r.idle && jsonscan.IsZero(raw) {
		return
	}
	switch fate {
	case Hinted:
		x.lose(translate.Hint, r)
	case Shaped:
		x.lose(translate.Shaping, r)
	case Refused:
		x.refuse(r, raw, decidedBy)
	case Kept:
	}
}

// lose notes a loss.
func (x *Translation) lose(class translate.LossClass, r *Row) {
	at := x.At.upTo(r)
	if at.depth == 0 {
		x.losses.Add(class, r.Path)
		return
	}
	x.scratch = at.append(x.scratch[:0], r.member, true)
	x.losses.AddPath(class, x.scratch)
}

// refuse refuses the request because of the field of a row.
func (x *Translation) refuse(r *Row, raw []byte, decidedBy *Outcome) {
	path := x.pathOf(r)
	switch {
	case r.refusal != nil:
		x.fault = r.refusal(x.Info, x.To.Format, path)
	case x.fault != nil:
		return
	default:
		x.fault = x.Info.Refuse(x.To.Format, path, r.shown(raw))
	}
	switch {
	case decidedBy != nil:
		x.fault.Trait = decidedBy.deciding(r)
	case r.within != Nothing: // without what it stands in, the field could not be at fault
		x.fault.Trait = x.To.Outcomes[r.within].keeping(x.Traits)
	}
}

// shown returns a value as refusals repeat it: a word in quotes where the row is
// about words, or a number; "" for any other.
func (r *Row) shown(raw []byte) string {
	const longest = 64
	switch {
	case raw == nil && r.word != "":
		return "'" + r.word + "'"
	case len(raw) == 0 || len(raw) > longest || jsonscan.HasEscapes(raw):
		return ""
	case raw[0] == '-' || '0' <= raw[0] && raw[0] <= '9':
		return string(raw)
	case r.ofWord && len(raw) > len(`""`) && raw[0] == '"':
		return "'" + string(jsonscan.Inner(raw)) + "'"
	}
	return ""
}

// LoseMember reports as a hint that a member is left out, which the client may
// have named as it likes. It stands in the element at the reader's place, or in an
// object of that: object is then the path of it, with a dot behind.
func (x *Translation) LoseMember(object string, name []byte) {
	if x.listening {
		return
	}
	x.scratch = x.At.append(x.scratch[:0], object, true)
	if x.At.depth > 0 && object == "" {
		x.scratch = append(x.scratch, '.')
	}
	x.losses.AddMember(translate.Hint, x.scratch, name)
}

// Invalid refuses a member of the element at the reader's place that no format
// would accept as it is.
func (x *Translation) Invalid(member, what string) {
	if x.fault == nil && !x.listening {
		x.fault = fault.InvalidField(x.path(member), what)
	}
}

// InvalidAt is Invalid for a member of the element at another place.
func (x *Translation) InvalidAt(at Place, member, what string) {
	now := x.At
	x.At = at
	x.Invalid(member, what)
	x.At = now
}

func (x *Translation) path(member string) string {
	return string(x.At.append(nil, member, false))
}

// PathOf returns the path at which the client's format has a concept, "" for none,
// as refusals show it.
func (x *Translation) PathOf(c Concept) string {
	r := x.rows.concepts[c]
	if r == nil {
		return ""
	}
	return x.pathOf(r)
}

// pathOf returns the path of the field of a row, with its indices.
func (x *Translation) pathOf(r *Row) string {
	at := x.At.upTo(r)
	return string(at.append(nil, r.member, false))
}

// InvalidOption refuses an option that no format would accept as it is.
func (x *Translation) InvalidOption(c Concept, what string) {
	x.Invalid(x.Options[c].Row.path(), what)
}

// Text returns the decoded text of an option, which is invalid if it is no string.
func (x *Translation) Text(c Concept) string {
	raw := x.Options.Raw(c)
	if !jsonscan.IsString(raw) {
		x.InvalidOption(c, "must be a string")
	}
	return jsonscan.TextOf(raw)
}

// Fail refuses the request with a fault, unless it is refused already.
func (x *Translation) Fail(fault *fault.Fault) {
	if x.fault == nil {
		x.fault = fault
	}
}

// malformed notes that the body is not what the strict pass of its format accepts.
func (x *Translation) malformed(err error) {
	if err == nil {
		return
	}
	offset := 0
	if syntax := (*jsonscan.SyntaxError)(nil); errors.As(err, &syntax) {
		offset = syntax.Offset
	}
	x.Fail(fault.Malformed(offset, err))
}
