package openai

import (
	"encoding/json"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/wire"
)

// Fingerprint is the system_fingerprint of chat and completions.
const Fingerprint = "fp_demo"

// Head is the beginning of answers and chunks in chat and completions.
type Head struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"`
	Model   string `json:"model"`
}

// NewHead returns the head of an answer whose id has this prefix.
func NewHead(a *reply.Answer, prefix, object string) Head {
	return Head{ID: prefix + a.ID(), Object: object, Created: a.Created, Model: a.Model}
}

// Chunks writes the chunks of chat and completions, whose choices are C.
type Chunks[C any] struct {
	Answer       *reply.Answer
	IncludeUsage bool // the stream has usage
	// Chunk returns a chunk with these choices. Its usage is an object, null, or
	// absent.
	Chunk func(choices []C, usage json.RawMessage) any
	Emit  func(wire.Event)
}

// Send emits a chunk with one choice.
func (c Chunks[C]) Send(kind wire.Kind, choice C) { c.send(kind, []C{choice}, c.noUsageYet()) }

// TakeTurns emits the queued choices of all samples in turns, because a real model generates
// the samples concurrently.
func (c Chunks[C]) TakeTurns(queues [][]C) {
	for more, round := true, 0; more; round++ {
		more = false
		for _, queue := range queues {
			if round < len(queue) {
				c.Send(wire.Content, queue[round])
				more = true
			}
		}
	}
}

// End emits the chunk with the usage, if the request asks for it, and the terminal event.
func (c Chunks[C]) End() {
	if usage := NewUsage(c.Answer); c.IncludeUsage && usage != nil {
		c.send(wire.Finish, []C{}, reply.Encode(usage))
	}
	c.Emit(wire.Event{Kind: wire.Terminal, Data: []byte("[DONE]")})
}

func (c Chunks[C]) send(kind wire.Kind, choices []C, usage json.RawMessage) {
	c.Emit(wire.Event{Kind: kind, Data: reply.Encode(c.Chunk(choices, usage))})
}

// noUsageYet returns null if a later chunk has the usage, nil if none has.
func (c Chunks[C]) noUsageYet() json.RawMessage {
	if c.IncludeUsage {
		return json.RawMessage("null")
	}
	return nil
}
