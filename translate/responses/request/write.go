package request

import (
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/parts"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// Target writes responses requests.
var Target = core.Target{Format: translate.Responses, Outcomes: &outcomes, Reserved: slices.Concat(trait.ChatOptions, ownFields), New: func() core.Writer { return new(requestWriter) }}

// requestWriter writes a responses request, which asks the provider to keep nothing.
// The conversation and the tools gather in buffers of their own, since a body may have
// its members in any order; the rest comes after.
type requestWriter struct {
	x   *core.Translation
	out core.Members

	system  parts.Content // the first texts of the system
	hoisted parts.Content // later ones that join them
	leading items         // further texts of the system in front
	items   items
	turn    turnWriter
	result  resultWriter

	tools []byte // each with a comma before it
	names core.ToolNames
	calls parts.Calls

	scratch []byte
}

// Begin begins a request.
func (w *requestWriter) Begin(x *core.Translation) {
	w.x = x
	w.system.Reset(openInput, parts.BlankLine)
	w.hoisted.Reset(openInput, parts.BlankLine)
	w.leading.reset()
	w.items.reset()
	w.tools = w.tools[:0]
	w.turn.began = false
}

// Forget lets go of the body.
func (w *requestWriter) Forget() (kept int) {
	w.x, w.out = nil, nil
	w.names.Reset()
	return w.system.Forget() + w.hoisted.Forget() + w.turn.forget() + w.result.content.Forget() + w.calls.Size() +
		cap(w.leading.buf) + cap(w.items.buf) + cap(w.tools) + cap(w.scratch)
}

// Finish appends the request.
func (w *requestWriter) Finish(dst []byte) []byte {
	w.out = dst
	w.x.FanOut(false)
	if w.endConversation(); w.x.Failed() {
		return w.out
	}
	w.out = jsonscan.AppendString(append(w.out, `{"model":`...), w.x.Info.Upstream)
	w.writeConversation()
	reasons := w.writeReasoning()
	w.writeBounds(reasons)
	w.writeStops()
	parts.AppendTools(&w.out, w.x, w.tools, &w.names, appendNamed)
	w.writeText()
	if !w.x.Counts() {
		w.writeInclude()
		w.writeUser()
		w.writeRest()
	}
	w.out = append(w.out, w.x.Extensions...)
	return append(w.out, '}')
}

// endConversation refuses a conversation that cannot end as it does.
func (w *requestWriter) endConversation() {
	if w.system.Join(&w.hoisted); w.system.Empty() && w.leading.empty() && w.items.empty() {
		w.x.Invalid(w.x.PathOf(core.Conversation), "must hold at least one message with content")
	}
	if w.items.role == roleAssistant {
		w.x.KeepAt(w.items.at, core.Prefill)
	}
	if w.x.Options.Has(core.CacheRequest) && !w.markLast() {
		w.x.Lose(w.x.Options[core.CacheRequest].Row, nil)
	}
}

// markLast puts a breakpoint on the last part, and reports whether there is one.
func (w *requestWriter) markLast() bool {
	switch {
	case !w.items.empty():
		return w.items.mark()
	case !w.leading.empty():
		return w.leading.mark()
	case !w.system.Empty():
		w.system.Mark()
	}
	return true
}

// writeConversation writes the instructions and the items. Only parts can have
// breakpoints, so instructions with breakpoints become an item. So do instructions
// without a conversation, since a request needs at least one item.
func (w *requestWriter) writeConversation() {
	first := items{buf: w.scratch[:0]}
	switch {
	case w.system.Empty():
	case w.system.IsArray(), w.leading.empty() && w.items.empty():
		first.message(w.x.At, parts.SystemRole(w.x.Traits), &w.system)
	default:
		w.out.Name("instructions")
		w.out = w.system.AppendTo(w.out)
	}
	w.scratch = append(append(first.buf, w.leading.buf...), w.items.buf...)
	w.out.Name("input")
	w.out = append(append(append(w.out, '['), w.scratch[1:]...), ']')
}
