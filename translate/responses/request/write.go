package request

import (
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/parts"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// Target writes responses requests.
var Target = core.Target{Format: translate.Responses, Outcomes: &outcomes, DistinctCallIDs: true, LongTexts: true, Reserved: slices.Concat(trait.ChatOptions, ownFields), New: func() core.Writer { return new(requestWriter) }}

// requestWriter writes a responses request, which asks the provider to keep nothing.
// The conversation and the tools gather in buffers of their own, since a body may have
// its members in any order; the rest comes after.
type requestWriter struct {
	x *core.Translation

	system  parts.Content // the first texts of the system
	hoisted parts.Content // later ones that join them
	leading items         // further texts of the system in front
	items   items
	turn    turnWriter
	result  resultWriter
	tools   parts.Tools
	scratch []byte
}

// Begin begins a request.
func (w *requestWriter) Begin(x *core.Translation, room int) {
	w.x = x
	w.system.Reset(openInput, parts.BlankLine)
	w.hoisted.Reset(openInput, parts.BlankLine)
	w.leading.reset()
	w.items.reset()
	w.items.buf = slices.Grow(w.items.buf, room)
}

// Forget lets go of the body.
func (w *requestWriter) Forget() (kept int) {
	w.x = nil
	for _, c := range [...]*parts.Content{&w.system, &w.hoisted, &w.turn.content, &w.result.content} {
		kept += c.Forget()
	}
	return kept + cap(w.turn.pending) + cap(w.leading.buf) + cap(w.items.buf) + w.tools.Forget() + cap(w.scratch)
}

// Tool adds a tool. For strict, which is false by default in other formats, the format
// has the default true, so it is always written.
func (w *requestWriter) Tool(t *core.Tool) {
	if t.Free {
		w.tools.Add(w.x, t, `,{"type":"custom","name":"`)
		buf := w.tools.Buf
		if t.Syntax != nil {
			buf = append(append(buf, `,"format":{"type":"grammar","syntax":`...), t.Syntax...)
			buf = append(append(append(buf, `,"definition":`...), t.Definition...), '}')
		}
		w.tools.Buf = append(buf, '}')
		return
	}
	core.ShapeTool(w.x, t)
	w.tools.Add(w.x, t, `,{"type":"function","name":"`)
	buf := append(w.tools.Buf, `,"parameters":`...)
	if t.Schema == nil {
		buf = append(buf, `{"type":"object","properties":{}}`...)
	} else {
		buf = core.AppendSchema(buf, t)
	}
	if t.Strict == nil {
		w.tools.Buf = append(buf, `,"strict":false}`...)
	} else {
		w.tools.Buf = append(append(append(buf, `,"strict":`...), t.Strict...), '}')
	}
}

// addImageTool adds the tool by which the model makes images. The client's choice is one among
// its own tools, so if none of them may be used, it gets none, and no choice.
func (w *requestWriter) addImageTool() {
	x, o := w.x, &w.x.Options
	if len(w.tools.Buf) > 0 && o.Has(core.ToolChoiceNone) {
		core.Report(x, core.UnusedTools, core.Hinted)
		w.tools.Forget()
	}
	if len(w.tools.Buf) == 0 {
		if o.ForcesTool() {
			x.Keep(core.ToolChoiceWithoutTools, nil)
		}
		o.Clear(core.ToolChoiceAuto, core.ToolChoiceNamed)
	}
	w.tools.Buf = append(w.tools.Buf, `,{"type":"`+imageTool+`"}`...)
}

// appendNamed appends the choice of one tool.
func appendNamed(dst []byte, kind string, name []byte) []byte {
	dst = append(dst, `{"type":"`+kind+`","name":"`...)
	return append(append(dst, name...), `"}`...)
}

// Finish appends the request.
func (w *requestWriter) Finish(dst []byte) []byte {
	x, o := w.x, &w.x.Options
	x.FanOut(false)
	if w.endConversation(); x.Failed() {
		return dst
	}
	members := core.Members(jsonscan.AppendString(append(dst, `{"model":`...), x.Info.Upstream))
	w.writeConversation(&members)
	reasons := writeReasoning(&members, x)
	writeBounds(&members, x, reasons)
	// The format has no stops, so the translator of the answer looks for them.
	x.Answer.Cuts.EndCall = len(x.Answer.Cuts.Stops) > 0
	for _, text := range x.Answer.Cuts.Stops {
		x.Enforce(text)
	}
	if o.OneOf(core.Images, core.ImagesAlone) != core.Nothing {
		w.addImageTool()
	}
	w.tools.AppendTo(&members, x, appendNamed)
	writeText(&members, o)
	if !x.Info.Counts() {
		writeInclude(&members, x)
		writeUser(&members, x)
		parts.AppendTier(&members, o)
		parts.AppendModeration(&members, o)
		members.Option("metadata", &o[core.Metadata])
		parts.AppendCache(&members, o)
		members.Raw("store", []byte("false"))
		if x.Answer.Stream {
			members.Raw("stream", []byte("true"))
		}
	}
	return append(append(members, x.Extensions...), '}')
}

// endConversation refuses a conversation that cannot end as it does. It puts the
// breakpoint of the whole request on the last part.
func (w *requestWriter) endConversation() {
	x := w.x
	w.system.Join(&w.hoisted)
	marked := true
	switch wanted := x.Options.Has(core.CacheRequest); {
	case w.system.Empty() && w.leading.empty() && w.items.empty():
		x.Invalid(x.PathOf(core.Conversation), "must hold at least one message with content")
	case wanted && !w.items.empty():
		marked = w.items.mark()
	case wanted && !w.leading.empty():
		marked = w.leading.mark()
	case wanted:
		w.system.Mark()
	}
	if w.items.role == roleAssistant {
		x.KeepAt(w.items.place, core.Prefill)
	}
	if !marked {
		x.Lose(x.Options[core.CacheRequest].Row, nil)
	}
}

// writeConversation writes the instructions and the items. Only parts can have
// breakpoints, so instructions with breakpoints become an item. So do instructions
// without a conversation, since a request needs at least one item.
func (w *requestWriter) writeConversation(members *core.Members) {
	first := items{buf: w.scratch[:0]}
	switch {
	case w.system.Empty():
	case w.system.IsArray(), w.x.Traits.SystemIsUser(), w.leading.empty() && w.items.empty():
		first.message(w.x.At, parts.SystemRole(w.x.Traits), &w.system)
	default:
		members.Name("instructions")
		*members = w.system.AppendTo(*members)
	}
	w.scratch = first.buf
	members.Name("input")
	start := len(*members)
	for _, list := range [...][]byte{first.buf, w.leading.buf, w.items.buf} {
		*members = append(*members, list...)
	}
	(*members)[start] = '[' // in place of the comma before the first item
	*members = append(*members, ']')
}
