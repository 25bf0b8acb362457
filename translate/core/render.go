package core

import (
	"cmp"
	"errors"
	"slices"
	"sync"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/edit"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// Source is the reading half of a format.
type Source struct {
	Rows *Rows
	New  func() Reader
	// Unbounded returns the bound, in tokens, that a request without one gets where the
	// target requires a bound, for clients that expect long answers; nil means
	// trait.Traits.MaxTokens.
	Unbounded func(*trait.Traits) int64
	readers   sync.Pool
}

// AddedBound returns the bound, in tokens, of the answers to requests without one that
// are translated to a format: 0 if the format requires no bound.
func (s *Source) AddedBound(to *Target, traits *trait.Traits) int64 {
	switch {
	case to.Takes(NoMaxTokens, traits):
		return 0
	case s.Unbounded == nil:
		return traits.MaxTokens()
	}
	return s.Unbounded(traits)
}

// Target is the writing half of a format.
type Target struct {
	Format   translate.Format
	Outcomes *Outcomes
	New      func() Writer
	// Reserved lists the members that the traits of a provider cannot add to
	// requests: the writer writes them itself, or only another format has them.
	Reserved []string
	// DistinctCallIDs is true if services of the format refuse a conversation in which the id
	// of a call repeats. ShortCallIDs reports whether a model accepts only ids of nine letters
	// and digits; nil means that no model is known for that.
	DistinctCallIDs bool
	ShortCallIDs    func(model string) bool
	// LongTexts is true if the writer looks at no more of a text, of the data of a media and of
	// the description of a tool than their ends: it then gets long ones without their middle.
	LongTexts bool
	// Nested lists the members below the top of requests, for a format without a reader:
	// the rows of a reader name those of other formats.
	Nested  []string
	writers sync.Pool
}

// Extends reports whether the traits of a provider add the named member to requests.
func (t *Target) Extends(traits *trait.Traits, name string) bool {
	return traits.Extension(name) && !slices.Contains(t.Reserved, name)
}

// Takes reports whether a provider with these traits accepts a concept in any form.
func (t *Target) Takes(c Concept, traits *trait.Traits) bool { return t.Outcomes[c].takes(traits) }

// Keeps reports whether a provider with these traits accepts a concept unchanged.
func (t *Target) Keeps(c Concept, traits *trait.Traits) bool {
	return t.Outcomes[c].under(traits) == kept
}

// keptMemory bounds the memory, in bytes, that a pooled value keeps for the next request.
const keptMemory = 2 << 20

var translations = sync.Pool{New: func() any { return new(Translation) }}

// Render translates a request from the source's format to the target's, and appends
// the result to dst. The body has passed the strict pass of its format. The losses
// list the fields that are left out or changed; the request is refused if it would
// ask for something else without them. The result is invalid if there is a fault.
func Render(dst, body []byte, info *RequestInfo, from *Source, to *Target) ([]byte, Rendered, *fault.Fault) {
	parts, r, fault := RenderInParts(nil, body, info, from, to)
	if fault != nil {
		return dst, r, fault
	}
	dst = edit.Apply(dst, parts, r.Texts)
	r.Texts = nil
	return dst, r, nil
}

// RenderInParts is Render, but does not copy the long texts of the body: Rendered.Texts are the
// edits that put them into the result, which is dst and what is appended to it.
func RenderInParts(dst, body []byte, info *RequestInfo, from *Source, to *Target) ([]byte, Rendered, *fault.Fault) {
	x := begin(info, from, to)
	r, w := get(&from.readers, from.New), get(&to.writers, to.New)
	room := room(body, info, to)
	w.Begin(x, room)
	calls := withCalls(x, w)
	front, texts := Writer(calls), (*longWriter)(nil)
	if to.LongTexts {
		texts = withLongTexts(calls)
		front = texts
	}
	if err := r.Read(body, x, front); err != nil {
		x.Fail(malformed(err))
	}
	x.At = Place{notation: from.Rows.notation}
	if x.fault == nil {
		x.settle()
		writeFormat(x, calls, calls.tools)
	}
	calls.end()
	if x.fault == nil {
		start := len(dst)
		if dst = w.Finish(slices.Grow(dst, room)); texts != nil {
			x.Rendered.Texts = texts.edits(dst, start)
		}
	}
	if texts != nil {
		texts.end()
	}
	if x.fault == nil && x.Traits.EstimateInputTokens {
		x.Answer.Input.Estimate = Measure(body, from).Tokens(info.BytesPerToken)
	}
	r.Forget()
	from.readers.Put(r)
	if w.Forget() <= keptMemory {
		to.writers.Put(w)
	}
	result, fault := x.Rendered, x.fault
	if x.end(); fault != nil {
		return dst, Rendered{}, fault
	}
	return dst, result, nil
}

// AllPrompts selects all prompts in place of the index of one.
const AllPrompts = -1

// Witness is an optional interface of the writers of Listen and Receive, for the fields that become no part.
type Witness interface {
	// Saw gets each concept that the reader finds, the row of its field, and its raw value
	// if the row does not name it.
	Saw(c Concept, r *Row, raw []byte)
}

// UnsharedWitness is an optional interface of a Witness, for the fields that no other format has.
type UnsharedWitness interface {
	SawUnshared(r *Row)
}

// Listen calls a writer with all parts of a request, and with Finish. Every concept is kept, and
// nothing is refused or reported. It is used to inspect a request, for example to
// estimate its tokens.
func Listen(body []byte, from *Source, w Writer) {
	x := begin(&RequestInfo{Prompt: AllPrompts}, from, &listener)
	x.witness = witnessOf(w)
	listen(x, body, w)
	w.Finish(nil)
	x.end()
}

// listen reads a request for a writer that gets every concept.
func listen(x *Translation, body []byte, w Writer) {
	r := get(&x.From.readers, x.From.New)
	w.Begin(x, 0)
	_ = r.Read(body, x, w) // of an invalid body, the part in front of the error counts
	r.Forget()
	x.From.readers.Put(r)
}

// Receive calls a writer with all parts of a request, and with Finish, when the options are
// complete, for a provider that answers the request itself. Every concept is kept. Refused is what
// needs a provider that keeps state, such as an earlier response, and, if strict, an option that the
// format does not have. Receive returns what the answer depends on.
func Receive(body []byte, info *RequestInfo, from *Source, w Writer, strict bool) (translate.AnswerContext, *fault.Fault) {
	x := begin(info, from, &listener)
	x.witness = stateless{witnessOf(w), strict}
	listen(x, body, w)
	x.settle()
	w.Finish(nil)
	context, refused := x.Answer, x.fault
	x.end()
	return context, refused
}

// witnessOf returns the witness of a writer.
func witnessOf(w Writer) Witness {
	if witness, ok := w.(Witness); ok {
		return witness
	}
	return deaf{}
}

// deaf is the witness of a writer that needs none.
type deaf struct{}

// Saw implements Witness.
func (deaf) Saw(Concept, *Row, []byte) {}

// stateless is the witness of Receive.
type stateless struct {
	Witness // of the writer
	strict  bool
}

// refuse refuses the field of a row that needs a provider that keeps state: one without a concept,
// with a refusal of its own.
func (stateless) refuse(x *Translation, r *Row) {
	if r.Concept == Nothing && r.refusal != nil {
		x.Fail(r.refusal(x.Info, x.To.Format, x.At.pathOf(r)))
	}
}

// refuseUnknown refuses a member that no row names, if strict. Of turns, items and tools, vendors
// have members that nobody needs to know.
func (s stateless) refuseUnknown(x *Translation, member string) {
	if s.strict && x.At.depth == 0 && x.From.Rows.names[member] == nil {
		x.Fail(fault.InvalidField(member, "unknown member"))
	}
}

// listener keeps every concept.
var listener = Target{Format: "none", Outcomes: new(Outcomes)}

func init() {
	for c := range listener.Outcomes {
		listener.Outcomes[c] = Outcome{outcome: kept}
	}
}

// get takes a value out of a pool, or makes one.
func get[T any](pool *sync.Pool, create func() T) T {
	if kept, ok := pool.Get().(T); ok {
		return kept
	}
	return create()
}

var standard trait.Traits

// begin returns an empty translation. The fields are set one by one: a whole Translation would be
// made, and then copied.
func begin(info *RequestInfo, from *Source, to *Target) *Translation {
	x := translations.Get().(*Translation)
	x.Info, x.Traits, x.From, x.To = info, cmp.Or(info.Traits, &standard), from, to
	x.At.notation = from.Rows.notation
	x.Losses, x.Prompts, x.Samples = make(translate.Losses, 0, 8), 1, 1
	return x
}

// room returns how many bytes a request takes that is made of body. It returns 0 if the memory
// for it is kept from one request to the next.
func room(body []byte, info *RequestInfo, to *Target) int {
	if len(body) <= keptMemory {
		return 0
	}
	size := len(body)
	if to.LongTexts {
		size = max(0, size-info.Texts.Size(longText))
	}
	return size + size/8
}

// end drops all references to the request.
func (x *Translation) end() {
	extensions, scratch := x.Extensions[:0], x.scratch
	*x = Translation{}
	if x.Extensions, x.scratch = extensions, scratch; cap(extensions)+cap(scratch) <= keptMemory {
		translations.Put(x)
	}
}

// malformed returns the fault of a body that the strict pass of its format would not
// accept.
func malformed(err error) *fault.Fault {
	offset := 0
	if syntax := (*jsonscan.SyntaxError)(nil); errors.As(err, &syntax) {
		offset = syntax.Offset
	}
	return fault.Malformed(offset, err)
}

// settle prepares the options for the writer's Finish: it keeps what the translation of
// the answer depends on, removes the options that the writer does not get, and reports
// their losses. It leaves the options that the writer decides itself.
func (x *Translation) settle() {
	o := &x.Options
	if x.Info.Counts() {
		// The number of input tokens does not depend on these options, and providers
		// refuse them there. They are no losses.
		o.Clear(MaxTokens, Suffix)
		o.Clear(Prediction, CacheRequest)
		x.Extensions = x.Extensions[:0]
	}
	x.Answer.Stream = jsonscan.IsTrue(o.Raw(Stream))
	x.Answer.IncludeUsage = jsonscan.IsTrue(o.Raw(StreamUsage))
	for i, raw := range o.Stops() {
		text := jsonscan.TextOf(raw)
		x.Answer.Cuts.Stops = append(x.Answer.Cuts.Stops, text)
		switch stops := o[Stops]; {
		case text != "":
		case jsonscan.IsString(stops.Raw):
			x.KeepAs(EmptyStop, stops.Row, nil)
		default:
			x.At.Enter(stops.Row.Path)
			x.At.steps[0].index = i
			x.Keep(EmptyStop, nil)
			x.At.Leave()
		}
	}
	if x.Traits.ToolChoice == trait.ToolChoiceEffortNone && (asks(x, ReasoningOff) || asks(x, EffortNone)) {
		traits := *x.Traits
		traits.ToolChoice = trait.ToolChoiceAny
		x.Traits = &traits
	}
	for c := range optionCount {
		option, as := &o[c], c
		if option.Raw == nil || x.To.Outcomes[c].byWriter {
			continue
		}
		if c == TopP && o.Has(Temperature) {
			as = TopPBesideTemperature
		}
		if !x.KeepAs(as, option.Row, option.Raw) {
			*option = Option{}
		}
	}
	if x.Traits.ToolChoice != trait.ToolChoiceAny && o.ForcesTool() {
		o[ToolChoiceAuto] = o[o.OneOf(ToolChoiceRequired, ToolChoiceNamed)]
		o.Clear(ToolChoiceRequired, ToolChoiceName)
	}
}

// asks reports whether the provider gets an option of the request.
func asks(x *Translation, c Concept) bool { return x.Options.Has(c) && x.Can(c) }
