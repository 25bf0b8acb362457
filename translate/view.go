package translate

import "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"

// Span is a range of bytes of a body: body[Start:End].
// The zero Span means "not there".
type Span struct{ Start, End int }

// Empty reports whether s spans nothing.
func (s Span) Empty() bool { return s.Start == s.End }

// View is what the gateway needs to know of a request body, found in the one
// strict pass over it. All spans point into the inspected bytes, which are
// never changed.
type View struct {
	Model     string // the decoded name
	ModelSpan Span   // its value in the body, quotes included
	Stream    bool

	// MaxTokens is how many tokens each answer may have, 0 where the client does
	// not say. Where it says so twice it is the greater number.
	MaxTokens int64
	// Answers is how many answers are asked for, or made to choose from, 0 standing
	// for one, and Prompts how many prompts each of them is an answer to, likewise.
	Answers, Prompts int64

	// Files is what stands where the format has files.
	Files token.FileCosts

	// IncludeUsage says that the client itself asked for the usage chunk of a
	// chat or completions stream.
	IncludeUsage bool
	// IncludeUsageSpan is the value of stream_options.include_usage when present,
	// a null included.
	IncludeUsageSpan Span
	// StreamOptions is the value of stream_options when present: an object, or
	// null, which means absent but must be replaced rather than repeated.
	StreamOptions Span
	// End is the offset of the closing brace of the body's object.
	End int

	// State is the path of the first field of a responses body that needs what its
	// provider keeps, such as an earlier response; "" for none.
	State string

	// Minted are the parts of a messages or a responses body that hold reasoning
	// which this gateway signed or sealed itself, each cut so that the rest stays
	// valid JSON. No provider could verify them.
	Minted []Span
	// LateSystem is the number, counted from 1, of the first message of a messages
	// body that is a system text behind another message or behind system; 0 for
	// none.
	LateSystem int
}

// Losses returns what the byte lane leaves out of the body: the parts in Minted.
func (v *View) Losses() Losses {
	if len(v.Minted) == 0 {
		return nil
	}
	return Losses{{Path: "messages.*.content.*.thinking", Class: Hint}}
}
