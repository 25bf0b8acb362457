package reply

import (
	"bytes"
	"encoding/json"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// Request is a request, independent of its format.
type Request struct {
	Format       translate.Format // the text names it
	Model        string
	Reason       bool            // the request asks for reasoning
	Hidden       bool            // the answer does not show its reasoning
	Schema       json.RawMessage // of a structured answer; nil for plain text
	Sampling     Sampling
	Conversation Conversation
	Size         Size
	Offer        Offer

	Faults   Faults
	orders   orders
	contexts []*translate.AnswerContext // by prompt
}

// Sampling is how many samples a request asks for, and where each one ends.
type Sampling struct {
	Limit int // tokens of each sample; negative for no limit
	Stops []string
	N     int // samples for each prompt
}

// Conversation is the content of a request to which the answer refers.
type Conversation struct {
	Prompts  []string // texts to answer: the last one of the user, or all prompts of a completion
	Messages int
	Results  []string // results of tools in the last turn
	Marked   bool     // a cache breakpoint was set
	Later    bool     // there is an assistant turn, so the prefix was sent before
}

// Size is the number of tokens in the parts of a request.
type Size struct {
	system int // words of the system text
	media  int // images, recordings and documents
	input  int // tokens of the whole request
	prefix int // tokens of the system text and the tools
}

// Offer is the tools that a request offers.
type Offer struct {
	Tools  []Tool
	Choice ToolChoice
}

// Tool is a tool that the request offers.
type Tool struct {
	Name   string // which no other tool has
	Label  string // the name that prompts use: without the namespace
	Schema json.RawMessage
	Free   bool // its input is text, not JSON
}

// ToolChoice restricts the calls of tools.
type ToolChoice struct {
	Never  bool   // no tool is called
	Must   bool   // a tool is called whatever the prompt
	Name   string // with Must, the only tool to call; "" for any
	Single bool   // at most one call
}

// mediaTokens is the number of tokens of an image or a document of any size.
const mediaTokens = 1500

// Read reads a request that has passed Inspect, whose view has the number of prompts. A strict
// reader refuses unknown options, and reasoning that this provider has not signed.
func Read(d *format.Descriptor, body []byte, view *translate.View, info core.RequestInfo, strict bool) (*Request, *fault.Fault) {
	r := &Request{Format: d.Name, Model: info.Model, Sampling: Sampling{Limit: -1, N: 1}}
	if strict && d.Requests.Encrypted != nil {
		for _, span := range d.Requests.Encrypted(body) {
			if !hasSignature(bytes.Trim(body[span.Start:span.End], ", \t\r\n")) {
				return nil, foreignReasoning()
			}
		}
	}
	prompts := max(1, view.Prompts)
	if prompts > maxSamples || int64(len(body)) > maxRead/prompts {
		return nil, &fault.Fault{Kind: fault.Invalid, Message: "too many texts for one request"}
	}
	for info.Prompt = range int(prompts) {
		l := &listener{request: r, signs: signsAll(d)}
		context, refused := core.Receive(body, &info, d.Requests.Source, l, strict)
		switch {
		case refused != nil:
			return nil, refused
		case strict && l.foreign:
			return nil, foreignReasoning()
		}
		r.contexts = append(r.contexts, &context)
	}
	return r, r.prepare()
}

// signsAll reports whether providers of a format accept only reasoning that is signed.
func signsAll(d *format.Descriptor) bool {
	var standard trait.Traits
	return d.Requests.Target.Keeps(core.Reasoning, &standard) && !d.Requests.Target.Keeps(core.UnsignedReasoning, &standard)
}

// foreignReasoning refuses reasoning that this provider has not signed.
func foreignReasoning() *fault.Fault {
	return &fault.Fault{Kind: fault.Invalid, Message: "the signature of the reasoning could not be verified", Code: "invalid_encrypted_content"}
}

// InputTokens returns the tokens of the whole request.
func (s *Size) InputTokens() int { return s.input }

// addText counts the tokens of a text of the conversation.
func (s *Size) addText(text string) { s.input += tokens(text) }

// addSystem counts the tokens of a system text.
func (s *Size) addSystem(text string) {
	s.system += tokens(text)
	s.input += tokens(text)
	s.prefix += tokens(text)
}

// addTool counts a token for each four bytes of a tool.
func (s *Size) addTool(bytes int) {
	s.input += (bytes + 3) / 4
	s.prefix += (bytes + 3) / 4
}

// addMedia counts an image, a recording or a document.
func (s *Size) addMedia() {
	s.media++
	s.input += mediaTokens
}

// find returns the tool with a name; "" means any tool.
func (o *Offer) find(name string) (Tool, bool) {
	for _, t := range o.Tools {
		if name == "" || t.Name == name || t.Label == name {
			return t, true
		}
	}
	return Tool{}, false
}

// The bounds of one answer, and of the bytes that are read for it: a request is read once for each
// of its prompts.
const (
	maxSamples = 1024
	maxWords   = 100_000
	maxRead    = 256 << 20
)

// prepare carries out the directives in the prompts, and removes them. It refuses unknown
// directives, and requests for answers beyond maxSamples or maxWords.
func (r *Request) prepare() *fault.Fault {
	if refused := r.readDirectives(); refused != nil {
		return refused
	}
	samples := len(r.Conversation.Prompts) * r.Sampling.N
	if samples > maxSamples {
		return fault.InvalidField("n", "too many choices for one request")
	}
	if samples*r.orders.words > maxWords {
		return &fault.Fault{Kind: fault.Invalid, Message: "unknown directive: too many words for one request"}
	}
	return nil
}
