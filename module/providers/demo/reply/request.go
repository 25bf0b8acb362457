package reply

import (
	"encoding/json"
	"net/http"
)

// Request is a request, independent of its format.
type Request struct {
	Format string // name of the wire format; the text mentions it
	Model  string
	Stream bool
	Reason bool            // the request asks for reasoning
	Schema json.RawMessage // of a structured answer; nil for plain text
	Sampling
	Conversation
	Size
	Offer

	Faults Faults
	orders orders
}

// Sampling is how many samples a request asks for, and where each one ends.
type Sampling struct {
	Limit int // tokens of each sample; negative for no limit
	Stops []string
	N     int  // samples for each prompt; 0 means 1
	Echo  bool // each sample begins with its prompt
}

// Conversation is the content of a request to which the answer refers.
type Conversation struct {
	Prompts  []string // texts to answer: the last user turn, or all prompts of a completion
	Messages int
	Results  []string // results of tools in the last turn
	Marked   bool     // a cache breakpoint was set
	Later    bool     // there is an assistant turn, so the prefix was sent before
}

// Size is the number of tokens in the parts of a request.
type Size struct {
	system int // words of the system text
	media  int // images and documents
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
	Namespace string
	Name      string
	Schema    json.RawMessage // nil for any arguments
	Custom    bool            // its input is text, not JSON
	Server    bool            // the provider itself runs it; this provider never calls it
}

// ToolChoice restricts the calls of tools.
type ToolChoice struct {
	Mode   ChoiceMode
	Name   string // with ChoiceAny, the only tool to call; "" for any
	Single bool   // at most one call
}

// ChoiceMode selects whether tools may or must be called.
type ChoiceMode int

// The modes.
const (
	ChoiceAuto ChoiceMode = iota // the prompt decides
	ChoiceNone                   // no tool is called
	ChoiceAny                    // a tool is called
)

// mediaTokens is the number of tokens of an image or a document of any size.
const mediaTokens = 1500

// AddText counts the tokens of a text of the conversation.
func (s *Size) AddText(text string) { s.input += tokens(text) }

// AddSystem counts the tokens of a system text.
func (s *Size) AddSystem(text string) {
	s.system += tokens(text)
	s.input += tokens(text)
	s.prefix += tokens(text)
}

// AddTool adds a tool. Its definition counts one token for each four bytes.
func (r *Request) AddTool(t Tool, definition []byte) {
	r.Tools = append(r.Tools, t)
	r.input += (len(definition) + 3) / 4
	r.prefix += (len(definition) + 3) / 4
}

// AddMedia counts an image or a document.
func (s *Size) AddMedia() {
	s.media++
	s.input += mediaTokens
}

// InputTokens returns the tokens of the whole request.
func (s *Size) InputTokens() int { return s.input }

// MediaTokens returns the tokens of images and documents.
func (s *Size) MediaTokens() int { return s.media * mediaTokens }

// Offers reports whether a tool with a name may be called; "" means any tool.
func (o *Offer) Offers(name string) bool {
	_, found := o.find(name)
	return found
}

func (o *Offer) find(name string) (Tool, bool) {
	for _, t := range o.Tools {
		if !t.Server && (name == "" || t.Name == name) {
			return t, true
		}
	}
	return Tool{}, false
}

// maxSamples and maxWords bound the length of one answer.
const (
	maxSamples = 1024
	maxWords   = 100_000
)

// Prepare carries out the directives in the prompts, and removes them. It refuses unknown
// directives, and requests for answers beyond maxSamples or maxWords.
func (r *Request) Prepare() *Refusal {
	r.N = max(r.N, 1)
	if len(r.Prompts) == 0 { // only results of tools, or a system text
		r.Prompts = []string{""}
	}
	if refused := r.readDirectives(); refused != nil {
		return refused
	}
	samples := len(r.Prompts) * r.N
	if samples > maxSamples {
		return Invalid("n", "too many choices for one request", "invalid_value")
	}
	if samples*r.orders.words > maxWords {
		return &Refusal{Status: http.StatusBadRequest, Message: "unknown directive: too many words for one request"}
	}
	return nil
}
