package core

// Role is who speaks in a turn.
type Role uint8

// The roles.
const (
	Instructions Role = iota // what the system says in front of the conversation
	System                   // what it says later
	User
	Assistant
)

// Writer writes a request in one format. A reader calls the methods in the order
// of the body; Finish comes last, when the Options are complete.
//
// Turns do not nest. In a turn stand parts: texts, media, calls, results and
// reasoning. A turn may follow one of the same role: a writer joins them if its
// format wants them joined. Tools may come before, between and behind turns, and
// so may the turn of the Instructions, of which there may be several; a writer
// orders what its format wants ordered.
//
// Parts are given only if they are not empty and the writer's table keeps them.
// Strings are given without their quotes, still escaped; raw values as they are
// written. What a method is given is valid during the call, its slices as long as
// the body.
type Writer interface {
	// Begin begins a request.
	Begin(x *Translation)

	Turn(role Role)
	EndTurn()

	// Text is a text of whoever speaks; Refusal one by which the assistant
	// refuses.
	Text(text []byte)
	Refusal(text []byte)
	Image(m *Media)
	// Document is a document that is one file or one text. OpenDocument begins one
	// that is made of the texts and images up to CloseDocument.
	Document(m *Media)
	OpenDocument(m *Media)
	CloseDocument()
	// OpenSearchResult begins something found by a search; its texts follow.
	OpenSearchResult(title, source []byte)
	CloseSearchResult()

	// Reasoning is what the assistant thought.
	Reasoning(r *Thought)
	// Call is the call of a tool by the assistant.
	Call(c *Call)
	// OpenResult begins what a tool returned: the texts, media and references up
	// to CloseResult, which says whether the tool failed.
	OpenResult(r *Result)
	CloseResult(failed bool)
	// ToolReference names a tool that a search for tools has found.
	ToolReference(name []byte)

	// CacheBreakpoint marks the part that ended last as the end of what a cache
	// should keep. ttl is a raw value, nil for none.
	CacheBreakpoint(ttl []byte)

	// Tool declares a tool.
	Tool(t *Tool)

	// Finish appends the request to dst. It is not called for one that is refused.
	Finish(dst []byte) []byte

	// Forget lets go of the body. It reports how many bytes of memory the writer
	// keeps for the next request.
	Forget() (kept int)
}

// Discard is a Writer that writes nothing. Writers embed it whose format has no
// words for most parts, and those that only listen.
type Discard struct{}

// The methods of Writer.

func (Discard) Begin(*Translation)           {}
func (Discard) Turn(Role)                    {}
func (Discard) EndTurn()                     {}
func (Discard) Text([]byte)                  {}
func (Discard) Refusal([]byte)               {}
func (Discard) Image(*Media)                 {}
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

// Reader reads the requests of one format.
type Reader interface {
	// Read reads a body that has passed the strict pass of the format: it fills the
	// Options and calls the writer for all else.
	Read(body []byte, x *Translation, w Writer) error
	// Forget lets go of the body.
	Forget()
}

// SourceKind is where the content of a Media is.
type SourceKind uint8

// The kinds of sources.
const (
	Inline    SourceKind = iota // in Data, as base64
	Address                     // at a URL
	Reference                   // kept by the vendor under an id
	PlainText                   // in Data, as a text
)

// Media is an image or a document. Its strings are escaped.
type Media struct {
	Kind      SourceKind
	MediaType []byte // of Inline and PlainText
	Data      []byte
	URL       []byte // or the id of a Reference
	Title     []byte // of a document, or the name of its file
	Context   []byte // of a document: what the client says about it
	Detail    []byte // of an image: how closely it is looked at
}

// Provenance is who can vouch for reasoning.
type Provenance uint8

// The provenances.
const (
	Unsigned   Provenance = iota // nobody
	SelfSigned                   // this gateway, since its provider did not sign
	Signed                       // the provider, by a signature over the text
	Sealed                       // the provider, which alone can read it
	Encrypted                    // a provider of the responses format, which alone can read what led to the text
)

// Thought is a piece of reasoning. Its strings are escaped.
type Thought struct {
	From      Provenance
	Text      []byte
	Signature []byte // of Signed and SelfSigned
	Sealed    []byte
	Encrypted []byte // decoded: what the parser of the responses format signed it with
}

// Call is the call of a tool.
type Call struct {
	ID        []byte // escaped; as the client knows it
	Name      []byte // escaped
	Namespace []byte // escaped; nil for none
	// Input is the raw object of the arguments where the client's format has one;
	// else Text holds it as an escaped text. Free calls have any text there.
	Input []byte
	Text  []byte
	Free  bool
}

// Result is what a tool returned.
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
	Strict      []byte // raw; nil for none
	Free        bool   // it takes a free text
	Syntax      []byte // raw: of the grammar that this text follows, nil for any text
	Definition  []byte // raw: of that grammar
}
