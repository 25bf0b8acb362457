package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/parts"
)

// turnReader joins items to turns. A turn of the assistant consists of all its successive
// items, and a turn of the user of results of tools and the message behind them.
//
// Reasoning waits for the content that it led to; reasoning that led to nothing is left
// out. Calls wait for the texts of their turn, which are written before them, since other
// formats require that results follow their calls immediately.
type turnReader struct {
	x    *core.Translation
	w    core.Writer
	turn parts.Turns

	place      core.Place // of the last item of the turn
	hasMessage bool       // the turn of the user has a message
	thoughts   []placed[core.Thought]
	calls      []placed[core.Call]
}

// placed is a part with the position of its item.
type placed[T any] struct {
	place core.Place
	part  T
}

// beginSystem begins a turn of the system.
func (t *turnReader) beginSystem() {
	t.end()
	t.turn.Begin(core.System)
	t.place = t.x.At
}

// beginUser begins a turn of the user, or continues it with an item that is a message or a
// result: two messages are two turns.
func (t *turnReader) beginUser(message bool) {
	if !t.turn.Is(core.User) || message && t.hasMessage {
		t.end()
		t.turn.Begin(core.User)
		t.hasMessage = false
	}
	t.place = t.x.At
	t.loseThoughts()
	t.x.At, t.hasMessage = t.place, t.hasMessage || message
}

// beginAssistant begins the turn of the assistant, or continues it, and writes the
// reasoning that led here.
func (t *turnReader) beginAssistant() {
	if !t.turn.Is(core.Assistant) {
		t.turn.End()
		t.turn.Begin(core.Assistant)
	}
	t.place = t.x.At
	if len(t.thoughts) == 0 {
		return
	}
	t.writeCalls()
	for i := range t.thoughts {
		t.x.At = t.thoughts[i].place
		t.w.Reasoning(&t.thoughts[i].part)
	}
	t.x.At, t.thoughts = t.place, t.thoughts[:0]
}

// assistantText prepares the turn of the assistant for a text.
func (t *turnReader) assistantText() {
	if t.beginAssistant(); len(t.calls) > 0 {
		t.x.Lose(foldedRow, nil)
	}
}

// addThought adds reasoning, which may lead to a turn of the assistant.
func (t *turnReader) addThought(thought core.Thought) {
	t.thoughts = append(t.thoughts, placed[core.Thought]{t.x.At, thought})
}

// addCall adds the call of a tool to the turn of the assistant.
func (t *turnReader) addCall(c core.Call) {
	t.beginAssistant()
	t.calls = append(t.calls, placed[core.Call]{t.x.At, c})
}

// end ends the turn, and reports whether the writer has got one.
func (t *turnReader) end() bool {
	now := t.x.At
	t.writeCalls()
	t.loseThoughts()
	t.x.At = t.place
	written := t.turn.End()
	t.x.At = now
	return written
}

// writeCalls writes the calls that wait, each at its place.
func (t *turnReader) writeCalls() {
	for i := range t.calls {
		t.x.At = t.calls[i].place
		t.w.Call(&t.calls[i].part)
	}
	t.calls = t.calls[:0]
}

// loseThoughts reports the loss of reasoning that led to nothing, each at its place.
func (t *turnReader) loseThoughts() {
	for i := range t.thoughts {
		t.x.At = t.thoughts[i].place
		t.x.Lose(idleReasoningRow, nil)
	}
	t.thoughts = t.thoughts[:0]
}
