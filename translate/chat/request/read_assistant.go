package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// reasoning writes what the assistant has thought: blocks that a provider may have
// signed, or else a text that nobody vouches for.
func (r *reader) reasoning() {
	raw := r.message.Raw(messageThinking)
	blocks := !jsonscan.Blank(raw)
	if !blocks || !r.x.Can(core.Reasoning) {
		r.unsigned(reasoningTextRow, r.message.Raw(messageReasoningText))
		r.unsigned(reasoningRow, r.message.Raw(messageReasoning))
	}
	switch {
	case !blocks:
	case raw[0] != '[':
		r.x.Invalid("thinking_blocks", "must be an array of objects")
	case r.x.Can(core.EncryptedReasoning) || r.x.Keep(core.Reasoning, nil):
		for r.elements(raw, "thinking_blocks"); r.element(); {
			r.item.Read(r.x, &r.list, partMembers, "")
			r.thinkingBlock()
		}
	}
}

// unsigned writes a text that the assistant has thought.
func (r *reader) unsigned(row *core.Row, raw []byte) {
	if raw != nil && string(raw) != `""` && r.x.KeepAs(core.UnsignedReasoning, row, nil) {
		r.think(core.Thought{Text: jsonscan.Inner(raw)})
	}
}

func (r *reader) think(t core.Thought) {
	r.parts.thought = t
	r.w.Reasoning(&r.parts.thought)
}

// The members of thinking blocks by their types.
var (
	thinkingMembers = core.SetOf(partType, partThinking, partSignature)
	redactedMembers = core.SetOf(partType, partData)
)

func (r *reader) thinkingBlock() {
	t := core.Thought{Text: jsonscan.Inner(r.item.Raw(partThinking)), Signature: jsonscan.Inner(r.item.Raw(partSignature))}
	switch kind := word(&r.item, partType); {
	case t.IsEncrypted() && r.x.Can(core.EncryptedReasoning):
		r.encrypted(t)
	case !r.x.Keep(core.Reasoning, nil):
	case string(kind) == "thinking":
		r.item.LoseOthers(r.x, thinkingMembers, partMembers, "")
		r.thinking(t)
	case string(kind) == "redacted_thinking":
		r.item.LoseOthers(r.x, redactedMembers, partMembers, "")
		r.redactedThinking()
	default:
		r.x.Lose(unknownThoughtRow, r.item.Raw(partType))
	}
}

// encrypted writes what a provider of the responses format has encrypted.
func (r *reader) encrypted(t core.Thought) {
	if r.x.Unseal(&t) {
		r.think(t)
	} else {
		r.x.Lose(foreignSealRow, nil)
	}
}

func (r *reader) thinking(t core.Thought) {
	switch {
	case len(t.Signature) == 0:
		if r.x.KeepAs(core.UnsignedReasoning, unsignedThoughtRow, nil) && len(t.Text) > 0 {
			r.think(t)
		}
	case r.x.Keep(core.Signature, nil):
		t.From = core.Signed
		r.think(t)
	}
}

func (r *reader) redactedThinking() {
	t := core.Thought{From: core.Sealed, Sealed: jsonscan.Inner(r.item.Raw(partData))}
	if len(t.Sealed) == 0 {
		r.x.Lose(emptyThoughtRow, nil)
	} else if r.x.Keep(core.RedactedReasoning, nil) {
		r.think(t)
	}
}

// The members of a call, and of its function.
const (
	callType = iota
	callID
	callFunction
	callCustom
	callCache
)

const (
	calledName = iota
	calledArguments
	calledInput
)

var (
	callMembers   = core.NewNames("type", "id", "function", "custom", "cache_control")
	calledMembers = core.NewNames("name", "arguments", "input")
)

// calls writes the calls of tools.
func (r *reader) calls() {
	raw := r.message.Raw(messageCalls)
	if raw == nil || jsonscan.IsEmptyList(raw) || !r.x.Keep(core.ToolCall, nil) {
		return
	}
	for r.elements(raw, "tool_calls"); r.element(); {
		r.item.Read(r.x, &r.list, callMembers, "")
		r.call()
	}
}

func (r *reader) call() {
	switch kind := r.item.Raw(callType); {
	case kind == nil, string(jsonscan.Inner(kind)) == "function":
		r.readCall(callFunction, calledArguments, "function.")
	case string(jsonscan.Inner(kind)) != "custom":
		r.x.Lose(unknownCallRow, kind)
		return
	case r.x.Keep(core.FreeCall, kind):
		r.readCall(callCustom, calledInput, "custom.")
		r.parts.call.Free = true
		r.freeCalls = append(r.freeCalls, r.parts.call.ID)
	default:
		return
	}
	r.w.Call(&r.parts.call)
	if raw := r.item.Raw(callCache); raw != nil && r.x.Keep(core.CacheCall, nil) {
		r.writeBreakpoint(raw, "cache_control")
	}
}

// readCall reads what is called: the object of that member, which holds the arguments
// in one of its own.
func (r *reader) readCall(member, arguments int, path string) {
	r.item.LoseOthers(r.x, core.SetOf(callType, callID, member, callCache), callMembers, "")
	c := jsonscan.Again(r.item.Raw(member))
	called := &r.inner
	called.Read(r.x, &c, calledMembers, path)
	called.LoseOthers(r.x, core.SetOf(calledName, arguments), calledMembers, path)
	r.parts.call = core.Call{
		ID: jsonscan.Inner(r.item.Raw(callID)), Name: jsonscan.Inner(called.Raw(calledName)), Text: jsonscan.Inner(called.Raw(arguments)),
	}
}
