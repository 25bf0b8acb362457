package request

import (
	"bytes"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/strict"
)

// turn is the turn that is being read. A turn of the system begins with its first text.
type turn struct {
	role core.Role
	open bool // the writer has got its beginning
}

// serverCalls are the calls of server tools in the last turn of the assistant.
type serverCalls struct {
	open int // without a result
	last core.Place
}

// level reads the blocks in the blocks of the level before.
type level struct {
	cursor        jsonscan.Cursor
	block, source core.Object
}

// readRaw is read for raw content, which may be absent.
func (r *reader) readRaw(raw []byte, level int, list string, allowed strict.TypeSet) {
	switch {
	case len(raw) == 0:
	case jsonscan.IsString(raw):
		r.text(jsonscan.Inner(raw))
	default:
		c := &r.levels[level].cursor
		*c = jsonscan.Again(raw)
		r.read(c, level, list, allowed)
	}
}

// readAt is read for the content of a message that the cursor of the message has skipped.
func (r *reader) readAt(message *jsonscan.Cursor, content jsonscan.Slot, allowed strict.TypeSet) (more bool) {
	c := &r.levels[0].cursor
	c.Revisit(message, content)
	return r.read(c, 0, "content", allowed)
}

// read reads a text, or an array of blocks of the allowed kinds. list is the path from the
// element at the reader's place to the content, and level the number of blocks around it.
// more reports whether there is more than the results of tools.
func (r *reader) read(c *jsonscan.Cursor, level int, list string, allowed strict.TypeSet) (more bool) {
	if raw, ok := c.RawString(); ok {
		r.text(jsonscan.Inner(raw))
		return true
	}
	for r.x.EnterList(c, list); r.x.NextElement(c); {
		more = r.block(c, level, allowed) || more
	}
	return more
}

// text writes a text unless it is empty.
func (r *reader) text(text []byte) {
	if len(text) == 0 {
		return
	}
	if !r.turn.open {
		if r.begun && !r.x.Keep(core.LateSystem, nil) {
			return
		}
		r.turn.open = true
		r.w.Turn(r.turn.role)
	}
	r.w.Text(text)
}

// block reads and writes a block, and reports whether it is more than the result of a tool.
// Results of tools may be long, so their content is written at once if the members in front
// of the content identify the call.
func (r *reader) block(c *jsonscan.Cursor, level int, allowed strict.TypeSet) (more bool) {
	b, opened := &r.levels[level].block, false
	for b.Enter(c, blockMembers, ""); b.Next(r.x, c); {
		if b.Name() == "content" && level == 0 && r.isResult(b, c) {
			opened = true
			r.openResult(b)
			r.read(c, 1, "content", resultBlocks)
		} else {
			b.Keep(c)
		}
	}
	s := b.Shape()
	if !allowed.Has(s) {
		r.x.Lose(unknownBlockRow, b.Raw("type"))
		return false
	}
	if serverBlocks.Has(s) {
		switch s.Type() {
		case "server_tool_use", "mcp_tool_use":
			r.server = serverCalls{open: r.server.open + 1, last: r.x.At}
		case "mcp_tool_listing": // nobody called it
		default:
			r.server.open = max(0, r.server.open-1)
		}
		r.x.Lose(serverCallRow, nil)
		return false
	}
	b.LoseOthers(r.x, s)
	switch s.Type() {
	case "text":
		r.textBlock(b, level)
	case "image":
		r.image(b, level)
	case "document":
		r.document(b, level)
	case "search_result":
		r.searchResult(b, level)
	case "tool_result":
		r.toolResult(b, level, opened)
		return false
	case "tool_reference":
		name := optional(r.x, b, "tool_name")
		if r.x.Keep(core.ToolReference, nil) {
			r.w.ToolReference(name)
			r.breakpoint(b, r.cachePart(level))
		}
	case "thinking":
		r.thinking(b)
	case "compaction":
		r.compaction(b, level)
	case unrendered:
		r.x.Lose(unrenderedRow, nil)
		return false
	case "redacted_thinking":
		if r.x.Keep(core.RedactedReasoning, nil) {
			r.args.thought = core.Thought{Origin: core.Sealed, Sealed: b.Text("data")}
			r.w.Reasoning(&r.args.thought)
		}
	case "tool_use":
		if r.x.Keep(core.ToolCall, nil) {
			r.args.call = core.Call{ID: b.Text("id"), Name: b.Text("name"), Input: b.Raw("input")}
			r.w.Call(&r.args.call)
			r.breakpoint(b, core.CacheCall)
		}
	}
	return true
}

// isResult reports whether the content at the cursor consists of the blocks of a result
// that the writer gets.
func (r *reader) isResult(b *core.Object, c *jsonscan.Cursor) bool {
	return r.turn.role == core.User && c.Kind() == jsonscan.Array && !r.x.Failed() &&
		string(b.Text("type")) == "tool_result" && len(b.Text("tool_use_id")) > 0 && r.x.Can(core.ToolResult)
}

func (r *reader) openResult(b *core.Object) {
	r.args.result = core.Result{ID: b.Text("tool_use_id")}
	r.w.OpenResult(&r.args.result)
}

// compaction writes the summary of the turns in front of it, nil if there was none to make. The
// provider gets these turns as well.
func (r *reader) compaction(b *core.Object, level int) {
	text := b.Text("content")
	if len(text) == 0 {
		r.x.Lose(emptyCompactionRow, nil)
		return
	}
	r.x.Lose(compactionRow, nil)
	r.text(text)
	r.breakpoint(b, r.cachePart(level))
}

// textBlock writes a text unless the text is empty.
func (r *reader) textBlock(b *core.Object, level int) {
	if cited := b.Raw("citations"); cited != nil && !jsonscan.IsEmptyList(cited) {
		r.x.Lose(citedTextRow, nil)
	}
	switch text := b.Text("text"); {
	case len(text) > 0:
		r.text(text)
		r.breakpoint(b, r.cachePart(level))
	case b.Raw("cache_control") != nil:
		r.x.LoseMember("", []byte("cache_control"))
	}
}

// toolResult writes the result of a tool. If opened is set, its beginning and its content
// have been written.
func (r *reader) toolResult(b *core.Object, level int, opened bool) {
	if !r.x.Keep(core.ToolResult, nil) {
		return
	}
	if !opened {
		r.openResult(b)
	}
	ttl, cached := r.cached(b, core.CacheResult)
	r.readRaw(b.Raw("content"), level+1, "content", resultBlocks)
	r.w.CloseResult(isTrue(r.x, b.Raw("is_error"), "is_error") && r.x.Keep(core.ErrorResult, nil))
	if cached {
		r.w.CacheBreakpoint(ttl)
	}
}

// thinking writes a thinking block.
func (r *reader) thinking(b *core.Object) {
	t := &r.args.thought
	*t = core.Thought{Text: b.Text("thinking"), Signature: b.Text("signature")}
	switch {
	case t.IsEncrypted() && r.x.Can(core.EncryptedReasoning):
		if r.x.Unseal(t) {
			r.w.Reasoning(t)
		} else {
			r.x.Lose(foreignSealRow, nil)
		}
		return
	case !r.x.Keep(core.Reasoning, nil):
		return
	case len(t.Signature) == 0:
	case bytes.HasPrefix(t.Signature, []byte(seal.SelfSigned)):
		t.Origin = core.SelfSigned
	case r.x.Keep(core.Signature, nil):
		t.Origin = core.Signed
	default: // the signature is lost
	}
	if len(t.Text) > 0 || t.Origin == core.Signed {
		r.w.Reasoning(t)
	}
}

// cachePart returns the concept of a breakpoint on a part.
func (r *reader) cachePart(level int) core.Concept {
	switch {
	case level > 0:
		return core.CacheNestedPart
	case r.turn.role == core.Assistant:
		return core.CacheAssistantPart
	default:
		return core.CachePart
	}
}

// breakpoint writes the breakpoint of a block or a tool, if there is one.
func (r *reader) breakpoint(b *core.Object, concept core.Concept) {
	if ttl, ok := r.cached(b, concept); ok {
		r.w.CacheBreakpoint(ttl)
	}
}

// cached reports whether the writer gets a breakpoint, and returns the raw lifetime.
func (r *reader) cached(b *core.Object, concept core.Concept) (ttl []byte, ok bool) {
	raw := b.Raw("cache_control")
	if raw == nil || !r.x.Keep(concept, nil) {
		return nil, false
	}
	c := jsonscan.Again(raw)
	if !c.EnterObject() {
		r.x.Invalid("cache_control", "must be an object")
		return nil, false
	}
	for c.Member() {
		name := c.Name()
		switch value := c.Skip(); {
		case string(name) == "type":
		case string(name) != "ttl":
			r.x.LoseMember("cache_control", name)
		case r.x.Keep(core.CachePartTTL, nil):
			ttl = value
		}
	}
	return ttl, true
}

// isTrue reports whether a member that the strict pass does not check is true.
func isTrue(x *core.Translation, raw []byte, member string) bool {
	if raw != nil && !jsonscan.IsTrue(raw) && string(raw) != "false" {
		x.Invalid(member, "must be a boolean")
	}
	return jsonscan.IsTrue(raw)
}

// optional returns the escaped text of a member that the strict pass does not check.
func optional(x *core.Translation, b *core.Object, member string) []byte {
	raw := b.Raw(member)
	if raw != nil && !jsonscan.IsString(raw) {
		x.Invalid(member, "must be a string")
	}
	return jsonscan.Inner(raw)
}
