package request

import "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"

// step is a step of the assistant: its calls, their results, and the messages of users and the system
// between them. The responses format allows messages there. Other services refuse a call that its
// result does not follow, and calls of one step in two turns, so the messages wait for all results.
type step struct {
	calls    int // without a result, of which each has one in a valid request
	messages []placed[[]byte]
	overtook bool // a call or a result came behind a message
}

// open reports whether a call has no result.
func (s *step) open() bool { return s.calls > 0 }

// holds reports whether an item is a message that waits for a result.
func (s *step) holds(item *core.Object) bool {
	return s.open() && item.Shape().Type() == "message" && string(item.Word("role")) != roleAssistant
}

// call adds a call.
func (s *step) call() {
	s.calls++
	s.overtook = len(s.messages) > 0
}

// answer adds the result of a call.
func (s *step) answer() {
	s.calls = max(s.calls-1, 0)
	s.overtook = len(s.messages) > 0
}

// release ends the step, and writes its messages, each at its place.
func (r *requestReader) release() {
	if len(r.step.messages) == 0 {
		return
	}
	ended, now, item := r.step, r.x.At, r.item
	r.step = step{}
	for i := range ended.messages {
		r.x.At = ended.messages[i].place
		r.item.ReadRaw(r.x, ended.messages[i].part, itemTable, "")
		if ended.overtook {
			r.x.Keep(core.TextBeforeResult, nil)
		}
		r.readMessage()
	}
	r.x.At, r.item = now, item
}
