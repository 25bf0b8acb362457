package reply

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
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
	Request *Request
	Seed
	Samples []Sample // N for each prompt, in the order of the prompts
	Usage   token.Usage
}

// Sample is one of the answers to one of the prompts.
type Sample struct {
	Index     int
	Reasoning []string // pieces; nil without reasoning
	Pieces    []string // of the text
	Calls     []Call
	Refused   bool // the text declines to answer
	Stop      event.FinishReason
	Matched   string // the stop string that ended the text, "" for none
}

// Call is a call of a tool.
type Call struct {
	ID     string // without the prefix of a format
	Tool   Tool
	Pieces []string // of the arguments or the input
}

// Compose returns the answer to a request.
func Compose(r *Request, seed Seed) *Answer {
	a := &Answer{Request: r, Seed: seed}
	for _, prompt := range r.Conversation.Prompts {
		for range r.Sampling.N {
			a.Samples = append(a.Samples, a.sample(prompt, len(a.Samples)))
		}
	}
	a.Usage = a.count()
	return a
}

// sample returns one answer to one prompt: reasoning, text and calls, within the limit of
// tokens.
func (a *Answer) sample(prompt string, index int) Sample {
	r := a.Request
	s := Sample{Index: index, Refused: r.orders.refuse, Stop: event.FinishStop}
	left := budget(r.Sampling.Limit)
	if r.Reason && !s.Refused {
		s.Reasoning, _ = left.take(pieces(reasoning(prompt)))
	}
	calls := a.calls(prompt, index)
	text, matched := cutAtStop(r.text(prompt, index, calls), r.Sampling.Stops)
	var whole bool
	s.Pieces, whole = left.take(r.cut(text))
	switch {
	case !whole:
		s.Stop = event.FinishLength
	case r.orders.filter:
		s.Stop = event.FinishFiltered
	case matched != "":
		s.Matched = matched
	case s.Refused:
		s.Stop = event.FinishRefused
	case len(calls) > 0:
		s.addCalls(calls, &left)
	}
	return s
}

// cut splits the text into pieces. A content filter removes the second half of them.
func (r *Request) cut(text string) []string {
	list := pieces(text)
	if r.Schema != nil {
		list = fragments(text)
	}
	if r.orders.filter {
		return list[:len(list)/2]
	}
	return list
}

// addCalls adds the calls within the limit of tokens. As with a real model, the limit may cut
// the last call in the middle of its arguments.
func (s *Sample) addCalls(calls []Call, left *budget) {
	s.Stop = event.FinishTools
	for _, c := range calls {
		var whole bool
		c.Pieces, whole = left.take(c.Pieces)
		s.Calls = append(s.Calls, c)
		if !whole {
			s.Stop = event.FinishLength
			return
		}
	}
}

func reasoning(prompt string) string {
	return fmt.Sprintf("The user wrote %s. I shall answer as the demo provider does.", plural(tokens(prompt), "word"))
}
