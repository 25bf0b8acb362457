package pairs

import (
	"errors"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/chat"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/completions"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/messages"
)

// render writes a request of one format in another. The body has passed the
// strict pass of its format.
type render func(dst, body []byte, info *translate.RequestInfo) ([]byte, translate.Rendered, *translate.Fault)

// renders tells the conversions by the format of the client and that of the
// provider.
var renders = map[[2]translate.Format]render{
	{translate.Messages, translate.Chat}:        throughCore(&messages.RequestSource, &chat.RequestTarget),
	{translate.Messages, translate.Completions}: throughCore(&messages.RequestSource, &completions.RequestTarget),
	{translate.Chat, translate.Completions}:     throughCore(&chat.RequestSource, &completions.RequestTarget),
	{translate.Chat, translate.Messages}:        throughCore(&chat.RequestSource, &messages.RequestTarget),
	{translate.Completions, translate.Chat}:     completionsToChat,
	{translate.Completions, translate.Messages}: completionsToMessages,
}

// throughCore is the conversion by a reader and a writer.
func throughCore(from *core.Source, to *core.Target) render {
	return func(dst, body []byte, info *translate.RequestInfo) ([]byte, translate.Rendered, *translate.Fault) {
		return core.Render(dst, body, info, from, to)
	}
}

// CanTranslate reports whether requests of the client's format can be put to
// providers of the other.
func CanTranslate(from, to translate.Format) bool {
	return renders[[2]translate.Format{from, to}] != nil
}

// Render appends to dst the request that a client sent in the format from as a
// request in the format to. The body has passed Inspect of its format. What
// cannot be carried over without changing what is asked is refused; what else
// is left behind stands in the losses. With a fault, what was appended is of no
// use. It panics unless CanTranslate.
func Render(dst []byte, from, to translate.Format, body []byte, info *translate.RequestInfo) (out []byte, r translate.Rendered, fault *translate.Fault) {
	convert := renders[[2]translate.Format{from, to}]
	if convert == nil {
		panic("pairs: no conversion from " + string(from) + " to " + string(to))
	}
	return convert(dst, body, info)
}

// conversion is what the conversions of requests share.
type conversion struct {
	info   *translate.RequestInfo
	traits *translate.Traits
	to     translate.Format
	out    []byte
	losses translate.Losses
	memory translate.Memory
	fault  *translate.Fault // the first that was found

	prompts, samples int // see translate.Rendered

	extensions []byte // fields that only this provider knows, each with a comma before it

	options jsonscan.Cursor // over small objects, one at a time
	scratch []byte
}

var standard translate.Traits

func (x *conversion) begin(dst []byte, to translate.Format, info *translate.RequestInfo) {
	x.info, x.traits, x.to, x.out = info, info.Traits, to, dst
	if x.traits == nil {
		x.traits = &standard
	}
	x.losses = make(translate.Losses, 0, 8)
	x.memory = translate.Memory{}
	x.fault = nil
	x.extensions = x.extensions[:0]
	x.prompts, x.samples = 1, 1
}

// end returns the results and forgets all that belongs to the request.
func (x *conversion) end() ([]byte, translate.Rendered, *translate.Fault) {
	out, r, fault := x.out, translate.Rendered{Losses: x.losses, Memory: x.memory, Prompts: x.prompts, Samples: x.samples}, x.fault
	x.info, x.traits, x.out, x.losses, x.memory, x.fault = nil, nil, nil, nil, translate.Memory{}, nil
	x.options = jsonscan.Cursor{}
	if fault != nil {
		return out, translate.Rendered{}, fault
	}
	return out, r, nil
}

// malformed notes that the body is not what Inspect accepts.
func (x *conversion) malformed(err error) {
	if err == nil || x.fault != nil {
		return
	}
	offset := 0
	if syntax := (*jsonscan.SyntaxError)(nil); errors.As(err, &syntax) {
		offset = syntax.Offset
	}
	x.fault = translate.Malformed(offset, err)
}

// refuse notes a field that the provider's format has no words for.
func (x *conversion) refuse(path, shown string) {
	if x.fault == nil {
		x.fault = x.info.Refuse(x.to, path, shown)
	}
}

// refuseBy is refuse where the rule of a trait decides.
func (x *conversion) refuseBy(r *Rule, path, shown string) {
	x.decide(r, x.info.Refuse(x.to, path, shown))
}

// decide notes a refusal that the rule of a trait decides.
func (x *conversion) decide(r *Rule, fault *translate.Fault) {
	if x.fault == nil {
		x.fault = fault
		x.fault.Trait = r.Name()
	}
}

// invalid notes a field that no format would accept as it is.
func (x *conversion) invalid(path, what string) {
	if x.fault == nil {
		x.fault = translate.InvalidField(path, what)
	}
}

// hint and shaping note losses.
func (x *conversion) hint(path string)    { x.losses.Add(translate.Hint, path) }
func (x *conversion) shaping(path string) { x.losses.Add(translate.Shaping, path) }

// field appends a member with a raw value.
func (x *conversion) field(name string, raw []byte) {
	x.name(name)
	x.out = append(x.out, raw...)
}

// text appends a member with a string.
func (x *conversion) text(name, value string) {
	x.name(name)
	x.out = jsonscan.AppendString(x.out, value)
}

// name appends the name of a member that is not the first.
func (x *conversion) name(name string) {
	x.out = append(x.out, `,"`...)
	x.out = append(x.out, name...)
	x.out = append(x.out, `":`...)
}

// extension keeps a field that only this provider knows.
func (x *conversion) extension(name, value []byte) {
	x.extensions = append(x.extensions, `,"`...)
	x.extensions = append(x.extensions, name...)
	x.extensions = append(x.extensions, `":`...)
	x.extensions = append(x.extensions, value...)
}

func (x *conversion) writeExtensions() { x.out = append(x.out, x.extensions...) }

// object enters a small object of options whose members are then read from
// x.options; a value that is none is at fault.
func (x *conversion) object(raw []byte, path string) bool {
	x.options = jsonscan.Again(raw)
	if x.options.EnterObject() {
		return true
	}
	x.invalid(path, "must be an object")
	return false
}

// option consumes the value of a member of x.options, nil for null.
func (x *conversion) option() []byte {
	if x.options.Null() {
		return nil
	}
	return x.options.Skip()
}

// str returns the decoded text of a raw value, which is at fault if it is no
// string.
func (x *conversion) str(raw []byte, path string) string {
	if !isString(raw) {
		x.invalid(path, "must be a string")
		return ""
	}
	return textOf(raw)
}
