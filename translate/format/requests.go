package format

import (
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/edit"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// Requests is how requests of a format are read and written.
type Requests struct {
	// Inspect is the strict pass over a request body, which it never changes.
	Inspect func(body []byte, op translate.Operation) (translate.View, *fault.Fault)
	// Source reads requests for providers of other formats; nil if none can be.
	Source *core.Source
	// Target writes requests of clients of other formats; nil if none can be.
	Target *core.Target
	// Bound is the member by which clients bound the tokens of an answer.
	Bound string
	// Prefix is what the requests of one conversation have in common, so that they can
	// be sent to the same server.
	Prefix Prefix
	// FillIn returns the edits that make one prompt of a prompt and a suffix, by a
	// template of the provider's; nil for a format that has no suffix.
	FillIn func(body []byte, info *core.RequestInfo) ([]edit.Edit, *fault.Fault)
	// SelfSigned is the path of the parts in View.SelfSigned, in the notation of the
	// format; empty for a format that has none.
	SelfSigned string
	// Resigned takes the place of a signature in View.Resigned; nil for a format that has
	// none.
	Resigned []byte
	// ModelName returns the name of a model as bodies of the format state it beside the path;
	// nil for a format whose bodies alone name the model.
	ModelName func(name string) string
	// ModelNames returns the places of the name of the model in a valid request for embeddings; nil for
	// a format whose View has the only one.
	ModelNames func(body []byte) []translate.Span
	// Encrypted returns the parts of a valid body with reasoning that a provider has
	// encrypted, those of View.SelfSigned among them, so that the body is valid without
	// them; nil for a format that has none.
	Encrypted func(body []byte) []translate.Span
	// Attribution is the part with which an agent attributes the request to itself.
	Attribution Part
}

// Part is a part of requests that can be cut out. The zero value is that of a format whose
// clients send none.
type Part struct {
	Path string // in the notation of the format
	// Find returns the part of a valid body, so that the body is valid without it.
	Find func(body []byte) translate.Span
}

// In returns the part of a valid body, an empty span if there is none.
func (p *Part) In(body []byte) translate.Span {
	if p.Find == nil {
		return translate.Span{}
	}
	return p.Find(body)
}

// HasSchemas reports whether a provider with these traits heeds the schema of an answer in
// requests of the format.
func (r *Requests) HasSchemas(traits *trait.Traits) bool {
	return r.Target == nil || r.Target.Keeps(core.FormatSchema, traits)
}

// Words returns the words in the paths of the members of requests: those that the rows of the
// reader name, and those of the writer. They may repeat, and some are values.
func (r *Requests) Words() (words []string) {
	if r.Source != nil {
		for _, name := range r.Source.Rows.Names() {
			words = append(words, strings.FieldsFunc(name, func(sign rune) bool { return strings.ContainsRune(".*=+[],", sign) })...)
		}
	}
	if r.Target != nil {
		words = append(append(words, r.Target.Reserved...), r.Target.Nested...)
	}
	return append(words, r.Bound, r.Prefix.Rules, r.Prefix.Turns, r.Prefix.Text)
}

// Measure measures a request that has passed Inspect.
func (r *Requests) Measure(body []byte) token.Size {
	if r.Source == nil {
		return token.Size{}
	}
	return core.Measure(body, r.Source)
}
