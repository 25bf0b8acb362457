package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/parts"
)

// Target writes chat requests.
var Target = core.Target{Format: translate.Chat, Outcomes: &outcomes, New: func() core.Writer { return new(writer) }}

// writer writes a chat request. It gathers the conversation and the tools in buffers,
// since a body may have its members in any order.
type writer struct {
	x   *core.Translation
	out core.Members

	system   parts.Content // the first message
	hoisted  parts.Content // later system texts that join the first message
	messages messages
	turn     turnBuffer
	result   result
	lines    bool // a text of several lines is open

	tools []byte // each with a comma before it
	names core.ToolNames
	calls parts.Calls

	scratch []byte
}

// Begin begins a request.
func (w *writer) Begin(x *core.Translation) {
	w.x = x
	w.system.Reset(openText, parts.BlankLine)
	w.hoisted.Reset(openText, parts.BlankLine)
	w.messages.reset(x.Traits.Alternation)
	w.tools = w.tools[:0]
}

// Forget drops all references to the body.
func (w *writer) Forget() (kept int) {
	w.x, w.out = nil, nil
	w.names.Reset()
	w.result = result{content: w.result.content, id: w.result.id}
	t := &w.turn
	for _, c := range [...]*parts.Content{&w.system, &w.hoisted, &w.messages.content, &t.content, &t.thinking, &t.hoisted, &w.result.content} {
		kept += c.Forget()
	}
	return kept + w.messages.size() + cap(t.calls) + cap(w.tools) + cap(w.scratch) + w.calls.Size() + cap(w.result.id)
}

// Finish appends the request.
func (w *writer) Finish(dst []byte) []byte {
	w.out = dst
	if w.endConversation(); w.x.Failed() {
		return w.out
	}
	w.out = jsonscan.AppendString(append(w.out, `{"model":`...), w.x.Info.Upstream)
	w.writeMessages()
	w.writeOptions()
	parts.AppendTools(&w.out, w.x, w.tools, &w.names, appendNamed)
	w.writeFormat()
	w.writeReasoning()
	parts.AppendUser(&w.out, w.x, parts.UserField(w.x.Traits))
	parts.AppendTier(&w.out, &w.x.Options)
	parts.AppendCache(&w.out, &w.x.Options)
	w.out.Option("verbosity", &w.x.Options[core.Verbosity])
	w.writePrefill()
	w.out = append(w.out, w.x.Extensions...)
	return append(w.out, '}')
}

// endConversation refuses an empty conversation, and one that the provider cannot continue.
func (w *writer) endConversation() {
	if w.system.Join(&w.hoisted); w.system.Empty() && w.messages.empty() {
		w.x.Invalid(w.x.PathOf(core.Conversation), "must hold at least one message with content")
	}
	if w.messages.role == "assistant" {
		w.x.KeepAt(w.messages.at, core.Prefill)
	}
	if w.x.Options.Has(core.CacheRequest) && !w.markLast() {
		w.x.Lose(w.x.Options[core.CacheRequest].Row, nil)
	}
}

// markLast puts a breakpoint on the last part, and reports whether there is one.
func (w *writer) markLast() bool {
	if !w.messages.empty() {
		return w.messages.mark()
	}
	if !w.system.Empty() {
		w.system.Mark()
	}
	return true
}

func (w *writer) writeMessages() {
	w.out.Name("messages")
	first := len(w.out)
	if !w.system.Empty() {
		w.out = append(w.out, `,{"role":"`...)
		w.out = append(w.out, parts.SystemRole(w.x.Traits)...)
		w.out = append(w.out, `","content":`...)
		w.out = w.system.AppendTo(w.out)
		w.out = append(w.out, '}')
	}
	w.out = append(w.messages.appendTo(w.out), ']')
	w.out[first] = '[' // where the comma of the first message is
}
