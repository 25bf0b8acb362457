package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// The members that items have by their kinds.
var (
	messageMembers   = setOf(memberType, memberRole, memberContent)
	callMembers      = setOf(memberType, memberCallID, memberName, memberNamespace, memberArguments)
	freeCallMembers  = setOf(memberType, memberCallID, memberName, memberNamespace, memberInput)
	searchMembers    = setOf(memberType, memberCallID, memberArguments, memberExecution)
	outputMembers    = setOf(memberType, memberCallID, memberOutput)
	reasoningMembers = setOf(memberType, memberSummary, memberContent, memberEncryptedContent)
	addedMembers     = setOf(memberType, memberRole, memberTools)
	foundMembers     = setOf(memberType, memberCallID, memberExecution, memberTools)
	updateMembers    = setOf(memberType, memberReasoning, memberText)
)

func setOf(members ...member) (s core.Set) {
	for _, m := range members {
		s |= core.SetOf(int(m))
	}
	return s
}

func (r *requestReader) own(members core.Set) { r.item.LoseOthers(r.x, members, itemMembers, "") }

// readItem writes the item at hand.
func (r *requestReader) readItem() {
	kind := itemKindOf(word(&r.item, memberType))
	if kind == unknownItem && r.item.Raw(int(memberType)) == nil {
		kind = messageItem
	}
	switch kind {
	case messageItem:
		r.message()
	case reasoningItem:
		r.own(reasoningMembers)
		r.reasoning()
	case callItem, freeCallItem, searchItem:
		r.call(kind)
	case callOutputItem, freeCallOutputItem:
		r.own(outputMembers)
		r.output()
	case toolsItem:
		r.own(addedMembers)
		if string(word(&r.item, memberRole)) != roleDeveloper {
			r.loseStray(memberRole)
		}
		r.toolList.add(r.x.At, r.item.Raw(int(memberTools)))
	case foundItem:
		r.own(foundMembers)
		r.found()
	case updateItem:
		r.own(updateMembers)
		r.update = update{r.x.At, r.item.Raw(int(memberReasoning)), r.item.Raw(int(memberText))}
	default:
		r.other()
	}
}

// other reports an item that nobody but the provider of the format has: the calls that
// the vendor ran, whose result is in the text behind them, or what is nowhere else.
func (r *requestReader) other() {
	raw := r.item.Raw(int(memberType))
	r.x.Lose(rows.Value("input[*].type", jsonscan.TextOf(raw)), raw)
}

// message writes what somebody says.
func (r *requestReader) message() {
	r.own(messageMembers)
	role := word(&r.item, memberRole)
	if string(role) == roleAssistant {
		r.begun = true
		r.turn.said = false
		if r.content(); !r.turn.said {
			r.x.Keep(core.EmptyTurn, nil)
		}
		return
	}
	r.endAssistant()
	if string(role) == roleUser {
		if r.userTurn == saidTurn {
			r.endUser()
		}
		r.beginUser()
		r.userTurn = saidTurn
		r.content()
		return
	}
	r.endUser()
	r.systemMessage()
}

// userTurn is what the turn of a user holds.
type userTurn uint8

const (
	noTurn     userTurn = iota
	resultTurn          // what tools returned
	saidTurn            // what the user says, too
)

// beginUser begins the turn of a user, or goes on with one. What tools returned and what
// the user says then is one turn; two messages are two.
func (r *requestReader) beginUser() {
	if r.begun, r.role = true, core.User; r.userTurn == noTurn {
		r.w.Turn(core.User)
	}
}

func (r *requestReader) endUser() {
	if r.userTurn != noTurn {
		r.w.EndTurn()
	}
	r.userTurn = noTurn
}

// systemMessage writes what the system says: in front of the conversation until
// somebody else has spoken.
func (r *requestReader) systemMessage() {
	r.role, r.late = core.System, true
	if !r.begun {
		r.role = core.Instructions
	}
	if r.content(); r.late {
		r.x.Keep(core.EmptyTurn, nil)
	} else {
		r.w.EndTurn()
	}
	r.late = false
}

// beginLate begins a turn of the system that has something to say.
func (r *requestReader) beginLate() bool {
	if r.role == core.System && !r.x.Keep(core.LateSystem, nil) {
		return false
	}
	r.late = false
	r.w.Turn(r.role)
	return true
}

// output writes what a tool returned.
func (r *requestReader) output() {
	id := text(&r.item, memberCallID)
	if r.beginResult(id) {
		r.contentOf(memberOutput, "output")
		r.w.CloseResult(false)
	}
}

func (r *requestReader) beginResult(id []byte) bool {
	r.endAssistant()
	if !r.x.Keep(core.ToolResult, r.item.Raw(int(memberType))) {
		return false
	}
	r.beginUser()
	r.userTurn = max(r.userTurn, resultTurn)
	r.result = core.Result{ID: id, Free: r.freeCalls[string(id)]}
	r.w.OpenResult(&r.result)
	return true
}

// found declares the tools that a search has found, and writes their names as its
// result.
func (r *requestReader) found() {
	raw := r.item.Raw(int(memberTools))
	r.toolList.add(r.x.At, raw)
	id := text(&r.item, memberCallID)
	if string(word(&r.item, memberExecution)) == "server" || len(id) == 0 || !r.beginResult(id) {
		return
	}
	for r.elements(raw, "tools"); r.element(toolMembers); {
		if name := jsonscan.Inner(r.part.Raw(toolName)); len(name) > 0 {
			r.w.Text(name)
		}
	}
	r.w.CloseResult(false)
}
