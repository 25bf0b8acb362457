package request

import (
	"cmp"
	"math"
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// Target writes messages requests.
var Target = core.Target{Format: translate.Messages, Outcomes: &outcomes, DistinctCallIDs: true, LongTexts: true, Reserved: trait.ChatOptions, New: func() core.Writer { return new(requestWriter) }}

// requestWriter writes a messages request. It gathers the conversation, the system prompt
// and the tools in buffers, since a body may have its members in any order. The concepts
// that the format cannot express have no method.
type requestWriter struct {
	core.Discard
	x *core.Translation

	system   blockBuffer
	messages blockBuffer
	tools    blockBuffer
	names    core.ToolNames

	turn     turnWriter
	last     core.Place // of the client's last turn that is no text of the system prompt
	result   resultWriter
	marking  *blockBuffer // the buffer with the last block
	unsigned bool         // tools were called without signed thinking since the last text of a user

	scratch []byte
}

// longestName is the length of the longest name of a tool that the format allows.
const longestName = 128

// Begin begins a request.
func (w *requestWriter) Begin(x *core.Translation, room int) {
	w.x, w.names.Longest = x, longestName
	w.messages.buf = slices.Grow(w.messages.buf, room)
}

// Forget drops all references to the body.
func (w *requestWriter) Forget() (kept int) {
	w.names.Reset()
	*w = requestWriter{
		system: w.system.emptied(), messages: w.messages.emptied(), tools: w.tools.emptied(),
		names: w.names, scratch: w.scratch[:0],
	}
	return cap(w.system.buf) + cap(w.messages.buf) + cap(w.tools.buf) + cap(w.scratch)
}

// Finish appends the request.
func (w *requestWriter) Finish(dst []byte) []byte {
	x := w.x
	x.FanOut(false)
	w.endConversation()
	members := core.Members(jsonscan.AppendString(append(dst, `{"model":`...), x.Info.Upstream))
	most := int64(math.MaxInt32)
	if !x.Info.Counts() {
		most = writeMaxTokens(&members, x)
	}
	// A provider reads the lists in this order. The last breakpoints count.
	room := core.MaxBreakpoints
	room -= w.messages.writeTo(&members, x, "messages", room, core.CachePartsBeyond)
	room -= w.system.writeTo(&members, x, "system", room, core.CachePartsBeyond)
	w.tools.writeTo(&members, x, "tools", room, core.CacheToolsBeyond)
	w.writeChoice(&members)

	// Providers refuse thinking if a tool must be used; thinking with a budget also if
	// the signed thinking in front of the last calls is missing.
	forced := x.Options.ForcesTool() && !w.tools.empty()
	mayThink := !forced && !(w.unsigned && x.Traits.Thinking == trait.ThinkingBudget)
	thinks := writeThinking(&members, x, most, mayThink)
	writeSampling(&members, x, thinks)
	core.AppendStops(&members, x, "stop_sequences", core.AllStops, false)
	if x.Answer.Stream {
		members.Raw("stream", []byte("true"))
	}
	writeUser(&members, x)
	switch x.Options.OneOf(core.TierAuto, core.TierStandard) {
	case core.TierAuto:
		members.Word("service_tier", "auto")
	case core.TierStandard:
		members.Word("service_tier", "standard_only")
	}
	return append(append(members, x.Extensions...), '}')
}

// endConversation ends the conversation. The provider continues a conversation that ends
// with the assistant, and refuses one that ends with white space.
func (w *requestWriter) endConversation() {
	m := &w.messages
	if m.role == "assistant" && !m.endsWith(openCall) {
		w.x.KeepAt(w.last, core.Prefill)
		if m.trim() {
			w.x.Keep(core.PrefillSpace, nil)
		}
	}
	if cached, ttl := core.LastBreakpoint(w.x); cached && !m.empty() {
		m.mark(ttl)
	}
	m.close()
	if m.empty() {
		w.x.Invalid(w.x.PathOf(core.Conversation), "must hold at least one message with content that is no system message")
	}
	if w.x.Options.Has(core.FormatObject) {
		w.system.begin("", openText)
		w.system.endText([]byte(core.JSONObjectInstruction))
	}
}

// Tool adds a tool. The format requires a schema.
func (w *requestWriter) Tool(t *core.Tool) {
	if !w.x.Can(core.ToolStrict) {
		core.LoseStrict(w.x, t)
	}
	core.EnforceTool(w.x, t)
	core.NameArguments(w.x, t)
	w.names.Add(w.x, t)
	w.marking = &w.tools
	b := &w.tools
	b.begin("", `{"name":"`)
	b.buf = append(w.names.AppendTo(b.buf, jsonscan.Inner(t.Name)), '"')
	if t.Description != nil {
		b.buf = append(append(b.buf, `,"description":`...), t.Description...)
	}
	b.buf = append(b.buf, `,"input_schema":`...)
	if t.Schema == nil {
		b.buf = append(b.buf, `{"type":"object","properties":{}}`...)
	} else {
		b.buf = core.AppendSchema(b.buf, t)
	}
	if t.Strict != nil {
		b.buf = append(append(b.buf, `,"strict":`...), t.Strict...)
	}
	b.buf = append(b.buf, '}')
}

// choiceWords are the types of choices among the tools. Without a choice, the assistant
// may choose.
var choiceWords = map[core.Concept]string{
	core.ToolChoiceRequired: "any", core.ToolChoiceNone: "none", core.ToolChoiceNamed: "tool",
}

// writeChoice writes the choice among the tools, if there are tools. The loss of a chosen
// tool that is missing is reported.
func (w *requestWriter) writeChoice(members *core.Members) {
	w.names.Check(w.x)
	o := &w.x.Options
	kind, one := o.OneOf(core.ToolChoiceAuto, core.ToolChoiceNamed), o.Has(core.OneCallAtATime)
	switch {
	case w.tools.empty():
		if o.ForcesTool() {
			w.x.Keep(core.ToolChoiceWithoutTools, nil)
		}
		return
	case kind == core.Nothing && !one:
		return
	}
	members.Name("tool_choice")
	*members = append(append(append(*members, `{"type":"`...), cmp.Or(choiceWords[kind], "auto")...), '"')
	if kind == core.ToolChoiceNamed {
		name := o[core.ToolChoiceName]
		if _, known := w.names.Find(name.Raw); !known {
			w.x.Lose(name.Row, nil)
		}
		members.Name("name")
		*members = append(w.names.AppendTo(append(*members, '"'), jsonscan.Inner(name.Raw)), '"')
	}
	if one && kind != core.ToolChoiceNone {
		members.Raw("disable_parallel_tool_use", []byte("true"))
	}
	*members = append(*members, '}')
}
