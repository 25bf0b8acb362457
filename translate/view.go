package translate

import (
	"cmp"
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// Span is a range of bytes of a body: body[Start:End]. The zero Span means absent.
type Span struct{ Start, End int }

// Empty reports whether the range has no bytes.
func (s Span) Empty() bool { return s.Start == s.End }

// View is what the gateway needs to know of a request body. Inspect finds it in one
// strict pass. All spans are ranges of the inspected body, which is never changed.
type View struct {
	Model     string // the decoded name
	ModelSpan Span   // its value in the body, quotes included
	Stream    bool

	// MaxTokens bounds the tokens of each answer, 0 if the client states no bound. Of
	// two bounds it is the greater.
	MaxTokens int64
	// Answers is the number of answers that the provider makes for each prompt, and
	// Prompts the number of prompts; 0 means 1.
	Answers, Prompts int64

	Costs       Costs
	Beyond      Beyond
	StreamUsage StreamUsage

	// Schema is the path of the field that demands an answer by a schema, "" for none and
	// for formats whose providers all heed it.
	Schema string
	Parts
	// LateSystem is the path of the role of the first system turn that some providers of
	// the format refuse, since it comes after another turn or text; "" for none.
	LateSystem string
}

// Parts are parts of a body that its request to a provider depends on.
type Parts struct {
	// SelfSigned are the parts with reasoning that this gateway signed or sealed itself,
	// which no provider can verify. The body without them is valid JSON.
	SelfSigned []Span
	// Resigned are such signatures, as values of members that providers require: another
	// value takes their place.
	Resigned []Span
	// Texts are the long strings, which a translation of the body does not search again.
	Texts jsonscan.Texts
}

// Costs is what a request determines of its cost, beside the tokens of its text.
type Costs struct {
	// Files is the cost of the files in the body.
	Files token.FileCosts
	// Units are those of the answer, as far as the request alone determines or bounds them.
	Units token.Units
	// Searches bounds the searches of the web that the provider may make for the answer,
	// 0 if the request has no tool for them.
	Searches int64
	// SearchesAlways is true if the provider searches once for every answer, also for one that
	// states no search.
	SearchesAlways bool
	// Compacts is true if the provider may summarize the conversation before it answers.
	Compacts bool
	// Terms are the service tier, the speed and the region that the request asks for, as
	// far as they have prices of their own.
	Terms token.Terms
	// Fixed is what the request costs whatever it uses, in millionths of a US dollar, such as a call of
	// a tool; 0 for nothing.
	Fixed int32
}

// FixedNanos returns Fixed in billionths.
func (c *Costs) FixedNanos() int64 { return int64(c.Fixed) * 1000 }

// Beyond is what of a request reaches beyond it: what the gateway does not see.
type Beyond struct {
	// State is the path of the first field that refers to what the provider stores, such
	// as an earlier response; "" for none.
	State string
	// OtherModels is the path of the first field or tool that lets the provider use
	// further models beside Model, such as a list of models to fall back to; "" for none.
	OtherModels string
	// Background is true if the provider is to generate the answer behind the exchange,
	// whose usage is then unknown.
	Background bool
	// Stored and Unstored are true if the request asks the provider to store the answer, or not
	// to. Of a request that does neither, its format decides.
	Stored, Unstored bool
	// Idle is true if the request asks for no answer: it only prepares the provider for the next one.
	Idle bool
	// References are what State refers to; nil if State is "" or does not refer to an object.
	References *References
}

// References are references of a body to what the provider stores.
type References struct {
	// Objects are the ids of objects of which the owner is known, in the order of the body.
	Objects []ObjectID
	// Unowned is the path of the first field that refers to something by an id that does not show
	// whose it is, such as an item of a conversation; "" for none.
	Unowned string
}

// Forget removes the reference to an object at an index: the request is as if it had none.
func (b *Beyond) Forget(i int) {
	left := slices.Delete(slices.Clone(b.References.Objects), i, i+1)
	first := b.References.Unowned
	if len(left) > 0 {
		first = left[0].Path
	}
	if b.Background {
		first = cmp.Or(first, "background")
	}
	b.State, b.References = first, &References{Objects: left, Unowned: b.References.Unowned}
	if len(left) == 0 && b.References.Unowned == "" {
		b.References = nil
	}
}

// ObjectIDs returns the ids of objects of which the owner is known.
func (b *Beyond) ObjectIDs() []ObjectID {
	if b.References == nil {
		return nil
	}
	return b.References.Objects
}

// Refer returns the references of the body, so that the caller can add one.
func (b *Beyond) Refer() *References {
	if b.References == nil {
		b.References = new(References)
	}
	return b.References
}

// ObjectID is the place of the id of an object that a provider stores.
type ObjectID struct {
	Path string // of the field that refers to it
	Kind string // what the ids of its kind begin with, such as "resp_"
	Span Span   // the value, a string
}

// StreamUsage is how a request asks for the usage of its stream, and where a format whose
// streams have the usage only on request can ask for it.
type StreamUsage struct {
	// Asked is true if the client asked for the usage.
	Asked bool
	// Value is the value by which it asked, which may be null, if present.
	Value Span
	// Options is the value of the member that contains Value if present: an object or
	// null. A null has to be replaced, since a second member would repeat the name.
	Options Span
	// End is the offset of the closing brace of the body's object.
	End int
}
