package reply

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// Seed is the input of an answer other than the Request.
type Seed struct {
	Hash    [sha256.Size]byte // of the request's body
	Created int64             // Unix time in seconds
}

// ID returns the id of the answer, without the prefix of a format.
func (s Seed) ID() string { return hex.EncodeToString(s.Hash[:12]) }

// RequestID returns the id of the request.
func (s Seed) RequestID() string { return "req_" + hex.EncodeToString(s.Hash[16:28]) }

// Answer is a whole answer, independent of a format.
type Answer struct {
	*Request
	Seed
	Samples []Sample // N for each prompt, in the order of the prompts
	Usage   Usage
}

// Sample is one of the answers to one of the prompts.
type Sample struct {
	Index     int
	Echo      string   // the repeated prompt; "" for none
	Reasoning []string // pieces; nil without reasoning
	Pieces    []string // of the text
	Calls     []Call
	Refused   bool // the text declines to answer
	Stop      Stop
	Matched   string // the stop string, if Stop is Stopped
}

// Call is a call of a tool.
type Call struct {
	ID        string // without the prefix of a format
	Namespace string
	Name      string
	Custom    bool     // the input is text, not JSON
	Pieces    []string // of the arguments or the input
}

// Text returns the whole text.
func (s *Sample) Text() string { return strings.Join(s.Pieces, "") }

// ReasoningText returns the whole reasoning.
func (s *Sample) ReasoningText() string { return strings.Join(s.Reasoning, "") }

// Input returns the whole arguments or the whole input.
func (c *Call) Input() string { return strings.Join(c.Pieces, "") }

// Stop is the reason why a sample ended.
type Stop int

// The reasons.
const (
	Ended    Stop = iota // the sample is complete
	Limited              // the limit of tokens has cut it
	Stopped              // it ends before a stop string
	Called               // it ends with calls of tools
	Declined             // the text declines to answer
	Filtered             // a content filter has cut it
)

// Compose returns the answer to a request that Prepare has accepted.
func Compose(r *Request, seed Seed) *Answer {
	a := &Answer{Request: r, Seed: seed}
	for _, prompt := range r.Prompts {
		for range r.N {
			a.Samples = append(a.Samples, a.sample(prompt, len(a.Samples)))
		}
	}
	a.Usage = a.count()
	return a
}

// sample returns one answer to one prompt: reasoning, text and calls, within the limit of
// tokens.
func (a *Answer) sample(prompt string, index int) Sample {
	s := Sample{Index: index, Refused: a.orders.refuse}
	if a.Echo {
		s.Echo = prompt
	}
	left := budget(a.Limit)
	if a.Reason && !s.Refused {
		s.Reasoning, _ = left.take(pieces(reasoning(prompt)))
	}
	calls := a.calls(prompt, index)
	text, matched := cutAtStop(a.text(prompt, index, calls), a.Stops)
	var whole bool
	s.Pieces, whole = left.take(a.cut(text))
	switch {
	case !whole:
		s.Stop = Limited
	case a.orders.filter:
		s.Stop = Filtered
	case matched != "":
		s.Stop, s.Matched = Stopped, matched
	case s.Refused:
		s.Stop = Declined
	case len(calls) > 0:
		s.addCalls(calls, &left)
	}
	return s
}

// cut splits the text into pieces. A content filter removes the second half of them.
func (a *Answer) cut(text string) []string {
	list := pieces(text)
	if a.Schema != nil {
		list = fragments(text)
	}
	if a.orders.filter {
		return list[:len(list)/2]
	}
	return list
}

// addCalls adds the calls within the limit of tokens. As with a real model, the limit may cut
// the last call in the middle of its arguments.
func (s *Sample) addCalls(calls []Call, left *budget) {
	s.Stop = Called
	for _, c := range calls {
		var whole bool
		c.Pieces, whole = left.take(c.Pieces)
		s.Calls = append(s.Calls, c)
		if !whole {
			s.Stop = Limited
			return
		}
	}
}

// Sign returns the signature of reasoning with a shown text.
func (a *Answer) Sign(text string) string { return sign(a.Hash, text) }

func reasoning(prompt string) string {
	return fmt.Sprintf("The user wrote %s. I shall answer as the demo provider does.", plural(tokens(prompt), "word"))
}

// EchoPieces returns the tokens of the repeated prompt.
func (s *Sample) EchoPieces() []string { return pieces(s.Echo) }
