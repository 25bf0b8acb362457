package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// kindSet is a set of kinds of blocks.
type kindSet uint32

func kindsOf(kinds ...blockKind) (s kindSet) {
	for _, kind := range kinds {
		s |= 1 << kind
	}
	return s
}

// What may stand where.
var (
	systemBlocks = kindsOf(textBlock)
	spokenBlocks = [...]kindSet{
		core.System:    systemBlocks,
		core.User:      kindsOf(textBlock, imageBlock, documentBlock, searchResultBlock, toolResultBlock),
		core.Assistant: kindsOf(textBlock, thinkingBlock, redactedThinkingBlock, toolUseBlock, serverToolUseBlock, serverToolResultBlock),
	}
	resultBlocks   = kindsOf(textBlock, imageBlock, documentBlock, searchResultBlock, toolReferenceBlock)
	documentBlocks = kindsOf(textBlock, imageBlock)
	searchBlocks   = kindsOf(textBlock)
)

// blockObject is a block, or a source.
type blockObject struct{ *core.Object }

func (b blockObject) raw(m member) []byte  { return b.Raw(int(m)) }
func (b blockObject) text(m member) []byte { return jsonscan.Inner(b.raw(m)) }

// word returns the decoded type.
func (b blockObject) word() []byte { return jsonscan.DecodedOf(b.raw(memberType)) }

// within reads the blocks of an array in a block; content that is no array has
// none. level counts how deep the array stands.
func (r *reader) within(level int, raw []byte, list string, allowed kindSet) {
	if len(raw) == 0 || raw[0] != '[' {
		return
	}
	c := &r.levels[level].cursor
	*c = jsonscan.Again(raw)
	r.blocks(c, level, list, allowed)
}

// blocks reads an array of blocks of the allowed kinds.
func (r *reader) blocks(c *jsonscan.Cursor, level int, list string, allowed kindSet) {
	b := blockObject{&r.levels[level].block}
	for r.x.EnterList(c, list); r.x.NextElement(c); {
		opened := r.readBlock(b, c, level)
		r.block(b, level, allowed, opened)
	}
}

// readBlock reads the members of a block. Results of tools may be long, so their
// content is written at once where the members before it say whose it is; opened
// reports that.
func (r *reader) readBlock(b blockObject, c *jsonscan.Cursor, level int) (opened bool) {
	for b.Enter(c); b.Next(r.x, c, memberIndex, ""); {
		if member(b.At()) == memberContent && r.opensResult(b, c, level) {
			r.blocks(c, level+1, "content", resultBlocks)
			opened = true
		} else {
			b.Keep(c)
		}
	}
	return opened
}

// opensResult opens the result of a tool if the content at the cursor is the
// blocks of one.
func (r *reader) opensResult(b blockObject, c *jsonscan.Cursor, level int) bool {
	if level > 0 || r.role != core.User || c.Kind() != jsonscan.Array || r.x.Failed() {
		return false
	}
	if string(b.text(memberType)) != "tool_result" || len(b.text(memberToolUseID)) == 0 || !r.x.Can(core.ToolResult) {
		return false
	}
	r.openResult(b)
	return true
}

func (r *reader) openResult(b blockObject) {
	r.parts.result = core.Result{ID: b.text(memberToolUseID)}
	r.w.OpenResult(&r.parts.result)
}

// block writes a block.
func (r *reader) block(b blockObject, level int, allowed kindSet, opened bool) {
	kind := blockTypes.of(b.word())
	if allowed&(1<<kind) == 0 {
		r.x.Lose(unknownBlockRow, b.raw(memberType))
		return
	}
	if kind != serverToolUseBlock && kind != serverToolResultBlock {
		b.LoseOthers(r.x, members[kind], memberIndex, "")
	}
	r.person = r.person || level == 0 && kind != toolResultBlock
	switch kind {
	case textBlock:
		r.textBlock(b, level)
	case imageBlock:
		r.image(b, level)
	case documentBlock:
		r.document(b, level)
	case searchResultBlock:
		r.searchResult(b, level)
	case toolResultBlock:
		r.toolResult(b, level, opened)
	case toolReferenceBlock:
		r.toolReference(b, level)
	default:
		r.assistantBlock(kind, b)
	}
}

// textBlock writes a text; an empty one is no text.
func (r *reader) textBlock(b blockObject, level int) {
	if cited := b.raw(memberCitations); cited != nil && !jsonscan.IsEmptyList(cited) {
		r.x.Lose(citedTextRow, nil)
	}
	switch text := b.text(memberText); {
	case len(text) > 0:
		r.say(text)
		r.breakpoint(b, r.cachePart(level))
	case b.raw(memberCacheControl) != nil:
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

// breakpoint writes the breakpoint of the cache that a block has.
func (r *reader) breakpoint(b blockObject, c core.Concept) {
	if ttl, ok := r.cached(b.raw(memberCacheControl), c); ok {
		r.w.CacheBreakpoint(ttl)
	}
}

// cached reports whether the writer is to get a breakpoint, and how long it holds.
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
			r.x.LoseMember("cache_control.", name)
		case r.x.Keep(core.CachePartTTL, nil):
			ttl = value
		}
	}
	return ttl, true
}

// toolResult writes the result of a tool, which may have been opened already with
// its content.
func (r *reader) toolResult(b blockObject, level int, opened bool) {
	if !r.x.Keep(core.ToolResult, nil) {
		return
	}
	if !opened {
		r.openResult(b)
	}
	ttl, cached := r.cached(b.raw(memberCacheControl), core.CacheResult)
	content := b.raw(memberContent)
	if text := jsonscan.Inner(content); len(text) > 0 {
		r.w.Text(text)
	}
	r.within(level+1, content, "content", resultBlocks)
	r.w.CloseResult(r.isTrue(b.raw(memberIsError), "is_error") && r.x.Keep(core.ErrorResult, nil))
	if cached {
		r.w.CacheBreakpoint(ttl)
	}
}

// toolReference names a tool that a search for tools has found.
func (r *reader) toolReference(b blockObject, level int) {
	name := r.optional(b.raw(memberToolName), "tool_name")
	if r.x.Keep(core.ToolReference, nil) {
		r.w.ToolReference(name)
		r.breakpoint(b, r.cachePart(level))
	}
}

// isTrue reports whether a member is true of which the strict pass asks nothing.
func (r *reader) isTrue(raw []byte, member string) bool {
	if raw != nil && !jsonscan.IsTrue(raw) && string(raw) != "false" {
		r.x.Invalid(member, "must be a boolean")
	}
	return jsonscan.IsTrue(raw)
}

// optional returns the text of a member of which the strict pass asks nothing,
// escaped.
func (r *reader) optional(raw []byte, member string) []byte {
	if raw != nil && !jsonscan.IsString(raw) {
		r.x.Invalid(member, "must be a string")
	}
	return jsonscan.Inner(raw)
}
