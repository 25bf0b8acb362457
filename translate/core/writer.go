package core

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// Role is the role of the author of a turn.
type Role uint8

// The roles.
const (
	Instructions Role = iota // the system, in front of the conversation
	System                   // the system, later
	User
	Assistant
)

// Writer writes a request in one format. A reader calls the methods in the order
// of the body; Finish comes last, when the Options are complete.
//
// Turns do not nest. A turn contains parts: texts, media, calls, results and
// reasoning. A turn may follow one of the same role: a writer joins the two if its
// format requires that. Tools and turns of the Instructions may come before, between
// and behind other turns: a writer orders them as its format requires.
//
// A writer gets only parts that are not empty and that its table keeps. Strings are
// passed without their quotes, still escaped; raw values as they are in the body.
// Pointers are valid until the method returns, slices as long as the body.
type Writer interface {
	// Begin begins a request. A writer makes room for a conversation of room bytes, which
	// would be copied several times if its memory grew piece by piece. room is 0 for a
	// conversation that fits into the memory of earlier ones.
	Begin(x *Translation, room int)

	Turn(role Role)
	EndTurn()

	// Text adds a text of the turn's role; Refusal a text by which the assistant
	// refuses to answer.
	Text(text []byte)
	Refusal(text []byte)
	Image(m *Media)
	// Recording adds a sound or a video.
	Recording(m *Media)
	// Document adds a document that is one file or one text. OpenDocument begins a
	// document that consists of the texts and images up to CloseDocument.
	Document(m *Media)
	OpenDocument(m *Media)
	CloseDocument()
	// OpenSearchResult begins a result of a search, which consists of the texts up to CloseSearchResult.
	OpenSearchResult(title, source []byte)
	CloseSearchResult()

	// Reasoning adds reasoning of the assistant.
	Reasoning(r *Thought)
	// Call adds the call of a tool by the assistant.
	Call(c *Call)
	// OpenResult begins the result of a tool: the texts, media and references up to
	// CloseResult, whose argument reports whether the tool failed.
	OpenResult(r *Result)
	CloseResult(failed bool)
	// ToolReference adds the name of a tool found by a search for tools.
	ToolReference(name []byte)

	// CacheBreakpoint asks the provider to cache the request up to the last part. ttl
	// is a raw value, nil for none.
	CacheBreakpoint(ttl []byte)

	// Tool declares a tool.
	Tool(t *Tool)

	// Finish appends the request to dst. It is not called if the request is refused.
	Finish(dst []byte) []byte

	// Forget drops all references to the body. It returns the size, in bytes, of the
	// memory that the writer keeps for the next request.
	Forget() (kept int)
}

// Discard is a Writer that writes nothing. It is embedded by writers that need only a
// few of the methods.
type Discard struct{}

// The methods of Writer.

func (Discard) Begin(*Translation, int)      {}
func (Discard) Turn(Role)                    {}
func (Discard) EndTurn()                     {}
func (Discard) Text([]byte)                  {}
func (Discard) Refusal([]byte)               {}
func (Discard) Image(*Media)                 {}
func (Discard) Recording(*Media)             {}
func (Discard) Document(*Media)              {}
func (Discard) OpenDocument(*Media)          {}
func (Discard) CloseDocument()               {}
func (Discard) OpenSearchResult(_, _ []byte) {}
func (Discard) CloseSearchResult()           {}
func (Discard) Reasoning(*Thought)           {}
func (Discard) Call(*Call)                   {}
func (Discard) OpenResult(*Result)           {}
func (Discard) CloseResult(bool)             {}
func (Discard) ToolReference([]byte)         {}
func (Discard) CacheBreakpoint([]byte)       {}
func (Discard) Tool(*Tool)                   {}
func (Discard) Finish(dst []byte) []byte     { return dst }
func (Discard) Forget() (kept int)           { return 0 }

// SourceKind is the kind of place where the content of a Media is.
type SourceKind uint8

// The kinds of sources.
const (
	Inline    SourceKind = iota // in Data, as base64
	Address                     // at a URL
	Reference                   // kept by the vendor under an id
	PlainText                   // in Data, as a text
)

// Media is an image, a recording or a document. Its strings are escaped.
type Media struct {
	Kind      SourceKind
	MediaType []byte // of Inline and PlainText
	Data      []byte
	URL       []byte // or the id of a Reference
	Title     []byte // of a document, or the name of its file
	Context   []byte // of a document: the client's description of it
	Detail    []byte // of an image: the resolution at which the model sees it
}

// Provenance is the party that signed or encrypted reasoning.
type Provenance uint8

// The provenances.
const (
	Unsigned   Provenance = iota // nobody
	SelfSigned                   // this gateway, since its provider did not sign
	Signed                       // the provider, by a signature over the text
	Sealed                       // the provider, which alone can read the reasoning
	Encrypted                    // a provider of the responses format; the text is a summary that anybody can read
)

// Thought is a piece of reasoning. Its strings are escaped.
type Thought struct {
	Origin    Provenance
	Text      []byte
	Signature []byte // of Signed and SelfSigned
	Sealed    []byte
	Encrypted []byte // the decoded signature by the parser of the responses format
}

// Concept returns the concept of reasoning of its provenance.
func (t *Thought) Concept() Concept { return reasoningConcepts[t.Origin] }

var reasoningConcepts = [...]Concept{
	Unsigned: UnsignedReasoning, SelfSigned: SelfSignedReasoning, Signed: Signature, Sealed: RedactedReasoning, Encrypted: EncryptedReasoning,
}

// ReadThought returns the reasoning of a valid block of thinking of the messages format, without
// its provenance.
func ReadThought(block []byte) (t Thought) {
	for name, value := range jsonscan.Members(block) {
		switch string(name) {
		case "thinking":
			t.Text = jsonscan.Inner(value)
		case "signature":
			t.Signature = jsonscan.Inner(value)
		case "data":
			t.Sealed = jsonscan.Inner(value)
		}
	}
	return t
}

// Call is the call of a tool.
type Call struct {
	ID        []byte // escaped; the client's id
	Name      []byte // escaped
	Namespace []byte // escaped; nil for none
	// Input is the raw object of the arguments if the client's format has an object.
	// Otherwise Text contains the object as an escaped text, or the input of a free
	// call.
	Input []byte
	Text  []byte
	Free  bool

	Signature []byte // escaped; of the provider that made the call, nil for none
}

// Result is the result of a tool.
type Result struct {
	ID   []byte // of the call, escaped
	Free bool   // the result of a free call
}

// Tool is a tool that the assistant may call.
type Tool struct {
	Name        []byte // raw
	Namespace   []byte // raw; nil for none
	Description []byte // raw; nil for none
	Schema      []byte // raw; nil for none
	SchemaRow   *Row   // of the Schema; nil for the first row of ToolSchema
	Strict      []byte // raw; nil for none
	Free        bool   // the tool takes a free text
	Syntax      []byte // raw: the syntax of the grammar for the text, nil for any text
	Definition  []byte // raw: the definition of the grammar
}
