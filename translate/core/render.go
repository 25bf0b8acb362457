package core

import (
	"slices"
	"sync"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
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
	writers  sync.Pool
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
	x := translations.Get().(*Translation)
	x.begin(info, from, to)
	r, w := get(&from.readers, from.New), get(&to.writers, to.New)
	w.Begin(x)
	x.malformed(r.Read(body, x, w))
	x.At = Place{notation: from.Rows.notation}
	if x.fault == nil {
		x.dropUncounted()
		x.remember()
		x.decide()
	}
	if x.fault == nil {
		dst = w.Finish(dst)
	}
	if x.fault == nil && x.Traits.EstimateInputTokens {
		x.Answer.InputEstimate = Measure(body, from).Tokens(info.BytesPerToken)
	}
	r.Forget()
	from.readers.Put(r)
	if w.Forget() <= keptMemory {
		to.writers.Put(w)
	}
	return x.end(dst)
}

// AllPrompts selects all prompts in place of the index of one.
const AllPrompts = -1

// Listen calls a writer with all parts of a request. Every concept is kept, and
// nothing is refused or reported. It is used to inspect a request, for example to
// estimate its tokens.
func Listen(body []byte, from *Source, w Writer) {
	x := translations.Get().(*Translation)
	x.begin(&RequestInfo{Prompt: AllPrompts}, from, &listener)
	x.listening = true
	r := get(&from.readers, from.New)
	w.Begin(x)
	_ = r.Read(body, x, w) // of an invalid body, the part in front of the error counts
	r.Forget()
	from.readers.Put(r)
	x.end(nil)
}

// listener keeps every concept.
var listener = Target{Outcomes: new(Outcomes)}

func init() {
	for c := range listener.Outcomes {
		listener.Outcomes[c] = Outcome{outcome: kept}
	}
}

// get takes a value out of a pool, or makes one.
func get[T any](pool *sync.Pool, make func() T) T {
	if kept, ok := pool.Get().(T); ok {
		return kept
	}
	return make()
}

var standard trait.Traits

func (x *Translation) begin(info *RequestInfo, from *Source, to *Target) {
	*x = Translation{
		Info: info, Traits: info.Traits, From: from, To: to, At: Place{notation: from.Rows.notation},
		Extensions: x.Extensions[:0], Prompts: 1, Samples: 1,
		rows: from.Rows, losses: make(translate.Losses, 0, 8), scratch: x.scratch,
	}
	if x.Traits == nil {
		x.Traits = &standard
	}
}

// end returns the results and drops all references to the request.
func (x *Translation) end(out []byte) ([]byte, Rendered, *fault.Fault) {
	r, fault := Rendered{Losses: x.losses, Answer: x.Answer, Prompts: x.Prompts, Samples: x.Samples}, x.fault
	kept := Translation{Extensions: x.Extensions, scratch: x.scratch}
	*x = kept
	if cap(x.Extensions)+cap(x.scratch) <= keptMemory {
		translations.Put(x)
	}
	if fault != nil {
		return out, Rendered{}, fault
	}
	return out, r, nil
}

// Counts reports whether the provider only counts tokens.
func (x *Translation) Counts() bool { return x.Info.Operation == translate.CountTokens }

// dropUncounted removes the options that the number of input tokens does not depend on,
// if only that is asked for. Providers refuse them there. They are no losses.
func (x *Translation) dropUncounted() {
	if x.Counts() {
		x.Options.Clear(MaxTokens, Suffix)
		x.Options.Clear(Prediction, CacheRequest)
		x.Extensions = x.Extensions[:0]
	}
}

// remember keeps the options that the translation of the answer depends on.
func (x *Translation) remember() {
	x.Answer.Stream = jsonscan.IsTrue(x.Options.Raw(Stream))
	x.Answer.IncludeUsage = jsonscan.IsTrue(x.Options.Raw(StreamUsage))
	for i, raw := range x.Options.Stops() {
		text := jsonscan.TextOf(raw)
		if x.Answer.Stops = append(x.Answer.Stops, text); text == "" {
			x.keepEmptyStop(i)
		}
	}
}

// keepEmptyStop reports the loss of an empty stop text.
func (x *Translation) keepEmptyStop(index int) {
	stops := x.Options[Stops]
	if jsonscan.IsString(stops.Raw) {
		x.KeepAs(EmptyStop, stops.Row, nil)
		return
	}
	x.At.Enter(stops.Row.Path)
	x.At.steps[0].index = index
	x.Keep(EmptyStop, nil)
	x.At.Leave()
}
