package aigateway

import (
	"context"
	"strings"
	"unicode"
)

// Guard is the interface of the modules in the namespace ai_gateway.guards. A guard checks
// the texts of requests and answers. It sees no JSON and no headers.
type Guard interface {
	// Check returns the verdict on the texts of a view. The verdict on the texts of a group
	// must depend on nothing but these texts, the key, the owner, the model and the format,
	// because the gateway does not call a guard again for texts that it has passed with the
	// same values. An error means that the texts could not be checked: the client gets a
	// status of 503, or the error event of its stream. The error is logged, and must not
	// contain a text.
	Check(ctx context.Context, v *GuardView) (GuardVerdict, error)
}

// StreamGuard is an optional interface of guards that decide how much of a stream they need
// at once. The window of other guards is DefaultGuardWindow.
type StreamGuard interface {
	Guard
	// Window is called while the configuration is provisioned, if the guard checks answers.
	// Its error makes the configuration invalid.
	Window() (GuardWindow, error)
}

// DescribedGuard is an optional interface of guards that show administrators what they check.
type DescribedGuard interface {
	Guard
	// Rules returns the rules as lines of the Caddyfile, without secrets: "mask email". An
	// address is its scheme and host only, because its path may be a secret.
	Rules() []string
}

// GuardWindow is the part of a streamed text that a guard gets at once.
type GuardWindow struct {
	// Overlap is the number of characters at the end of a checked text that are held back, and
	// are checked again together with the text that follows: the longest match that a guard
	// finds in a stream, however it is divided. Characters that IsInvisible do not count,
	// and an escape, such as \u0041 or %41, counts as one.
	Overlap int
	// Step is the number of new bytes after which a text is checked; 0 checks every event.
	Step int
}

// DefaultGuardWindow is the window of guards that choose none.
var DefaultGuardWindow = GuardWindow{Overlap: 256, Step: 1024}

// GuardPhase is where in an exchange texts are checked.
type GuardPhase string

// The phases.
const (
	GuardRequest GuardPhase = "request" // a request, before a provider is called
	GuardAnswer  GuardPhase = "answer"  // a whole JSON answer
	GuardStream  GuardPhase = "stream"  // a part of a stream
	// GuardLog are texts for the log of contents. A guard returns edits in place of a block;
	// one that cannot returns no verdict.
	GuardLog GuardPhase = "log"
)

// GuardKind is what a text is in its conversation.
type GuardKind string

// The kinds.
const (
	GuardSystem     GuardKind = "system"      // instructions
	GuardUser       GuardKind = "user"        // of the user, and of documents
	GuardAssistant  GuardKind = "assistant"   // of the model
	GuardToolResult GuardKind = "tool_result" // what a tool has returned
	GuardCall       GuardKind = "call"        // the arguments of a call of a tool: JSON, or a free text
	GuardTool       GuardKind = "tool"        // a tool of the request: its description or its schema
	GuardServer     GuardKind = "mcp_server"  // an MCP server that the provider calls: no text, and the address or the id of a connector as the name
	GuardReasoning  GuardKind = "reasoning"   // of the model, in an answer
	GuardOther      GuardKind = "other"       // any other string, such as metadata
)

// GuardView are the texts to check. It must not be changed, and is valid until Check returns.
type GuardView struct {
	Phase     GuardPhase
	RequestID string
	Format    string // of the client: "messages"
	Model     string // the name that the client uses
	Key       string // the id of the key
	Owner     string // of the key; may be empty
	Texts     []GuardText
}

// GuardText is a text. It may be empty: every tool of a request and every call is shown, for
// its name.
type GuardText struct {
	Kind GuardKind
	Name string // of the tool of a Tool or a Call; else empty
	// Group is the same for texts of a view that the model reads as one, such as the parts
	// of a message: a match may begin in one of them and end in the next.
	Group int
	Text  string
	// Before and More report that a part of a streamed text comes before and behind Text.
	Before, More bool
}

// IsInvisible reports whether a character has no width, as a space without a width, a selector of
// variants, or the frame of a key around a digit. A model reads the text around it as if it were not
// there.
func IsInvisible(r rune) bool {
	return unicode.In(r, unicode.Cf, unicode.Me, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// IsWord reports whether the text is a single word outside of the conversation, such as an id.
// A text with white space is none, and neither is one in a script that needs none.
func (t *GuardText) IsWord() bool {
	return t.Kind == GuardOther && !strings.ContainsFunc(t.Text, func(r rune) bool { return unicode.IsSpace(r) || r > unicode.MaxLatin1 })
}

// GuardVerdict is the verdict on the texts of a view. The zero verdict passes them.
type GuardVerdict struct {
	// Block is the name of the rule that forbids a text, empty for none. The client, the log
	// and the metrics show it; it must not contain a text.
	Block string
	// Edits replace parts of texts. They do not overlap, and are in the order of the texts.
	Edits []GuardEdit
	// Unchecked reports that the guard lets the texts pass although it could not check them,
	// as its configuration demands. The log and the metrics show it.
	Unchecked bool
}

// GuardEdit replaces the bytes from Start to End of a text.
type GuardEdit struct {
	Text       int // the index in GuardView.Texts
	Start, End int
	With       string
	Rule       string // for the log
}
