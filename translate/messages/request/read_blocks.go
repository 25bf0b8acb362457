package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/shape"
)

// within reads the blocks of a raw array in a block; a value of another kind has none.
// level is the number of blocks around the array.
func (r *reader) within(level int, raw []byte, list string, allowed shape.Types) {
	if len(raw) == 0 || raw[0] != '[' {
		return
	}
	c := &r.levels[level].cursor
	*c = jsonscan.Again(raw)
	r.blocks(c, level, list, allowed)
}

// blocks reads an array of blocks of the allowed kinds.
func (r *reader) blocks(c *jsonscan.Cursor, level int, list string, allowed shape.Types) {
	b := &r.levels[level].block
	for r.x.EnterList(c, list); r.x.NextElement(c); {
		opened := r.readBlock(b, c, level)
		r.block(b, level, allowed, opened)
	}
}

// readBlock reads the members of a block. Results of tools may be long, so readBlock
// writes their content at once if the members in front of the content identify the call.
// opened reports whether it did.
func (r *reader) readBlock(b *core.Object, c *jsonscan.Cursor, level int) (opened bool) {
	for b.Enter(c, blockShapes, ""); b.Next(r.x, c); {
		if b.Name() == "content" && r.opensResult(b, c, level) {
			r.blocks(c, level+1, "content", resultBlocks)
			opened = true
		} else {
			b.Keep(c)
		}
	}
	return opened
}

// opensResult opens the result of a tool if the content at the cursor consists of the
// blocks of a result.
func (r *reader) opensResult(b *core.Object, c *jsonscan.Cursor, level int) bool {
	if level > 0 || r.role != core.User || c.Kind() != jsonscan.Array || r.x.Failed() {
		return false
	}
	if string(b.Text("type")) != "tool_result" || len(b.Text("tool_use_id")) == 0 || !r.x.Can(core.ToolResult) {
		return false
	}
	r.openResult(b)
	return true
}

func (r *reader) openResult(b *core.Object) {
	r.parts.result = core.Result{ID: b.Text("tool_use_id")}
	r.w.OpenResult(&r.parts.result)
}

// block writes a block.
func (r *reader) block(b *core.Object, level int, allowed shape.Types, opened bool) {
	s := b.Shape()
	switch {
	case !allowed.Has(s):
		r.x.Lose(unknownBlockRow, b.Raw("type"))
		return
	case serverBlocks.Has(s):
		r.serverBlock(s.Type())
		return
	}
	b.LoseOthers(r.x, s)
	r.person = r.person || level == 0 && s.Type() != "tool_result"
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
	case "tool_reference":
		r.toolReference(b, level)
	case "thinking":
		r.thinking(b)
	case "redacted_thinking":
		r.redactedThinking(b)
	case "tool_use":
		r.call(b)
	}
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

// cachePart returns the concept of a breakpoint on a part.
func (r *reader) cachePart(level int) core.Concept {
	switch {
	case level > 0:
		return core.CacheNestedPart
	case r.role == core.Assistant:
		return core.CacheAssistantPart
	default:
		return core.CachePart
	}
}

// breakpoint writes the breakpoint of a block, if there is one.
func (r *reader) breakpoint(b *core.Object, c core.Concept) {
	if ttl, ok := r.cached(b.Raw("cache_control"), c); ok {
		r.w.CacheBreakpoint(ttl)
	}
}

// cached reports whether the writer gets a breakpoint, and returns the raw lifetime.
func (r *reader) cached(raw []byte, as core.Concept) (ttl []byte, ok bool) {
	if raw == nil || !r.x.Keep(as, nil) {
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

// toolResult writes the result of a tool. If opened is set, readBlock has written the
// beginning and the content of the result.
func (r *reader) toolResult(b *core.Object, level int, opened bool) {
	if !r.x.Keep(core.ToolResult, nil) {
		return
	}
	if !opened {
		r.openResult(b)
	}
	ttl, cached := r.cached(b.Raw("cache_control"), core.CacheResult)
	content := b.Raw("content")
	if text := jsonscan.Inner(content); len(text) > 0 {
		r.w.Text(text)
	}
	r.within(level+1, content, "content", resultBlocks)
	r.w.CloseResult(r.isTrue(b.Raw("is_error"), "is_error") && r.x.Keep(core.ErrorResult, nil))
	if cached {
		r.w.CacheBreakpoint(ttl)
	}
}

// toolReference writes the name of a tool that a search for tools has found.
func (r *reader) toolReference(b *core.Object, level int) {
	name := r.optional(b.Raw("tool_name"), "tool_name")
	if r.x.Keep(core.ToolReference, nil) {
		r.w.ToolReference(name)
		r.breakpoint(b, r.cachePart(level))
	}
}

// isTrue reports whether a member that the strict pass does not check is true.
func (r *reader) isTrue(raw []byte, member string) bool {
	if raw != nil && !jsonscan.IsTrue(raw) && string(raw) != "false" {
		r.x.Invalid(member, "must be a boolean")
	}
	return jsonscan.IsTrue(raw)
}

// optional returns the escaped text of a member that the strict pass does not check.
func (r *reader) optional(raw []byte, member string) []byte {
	if raw != nil && !jsonscan.IsString(raw) {
		r.x.Invalid(member, "must be a string")
	}
	return jsonscan.Inner(raw)
}
