package request

import (
	"bytes"
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/strict"
)

// maxItems is how many items one request may hold.
const maxItems = 100_000

const (
	wantRole  = "must be 'user', 'assistant', 'system' or 'developer'"
	wantParts = "must be a string or an array of content parts"
)

// inputItem is what is known of an item before its end.
type inputItem struct {
	kind    itemKind
	members [memberCount]jsonscan.Kind // Invalid where there is none
	badRole string                     // the end of a message about a role that is none
	sealed  []byte                     // its encrypted_content, quotes included
}

// input reads the conversation: a text of the user, or items.
func (r *request) input() {
	if _, ok := r.RawString(); ok {
		return
	}
	if r.Kind() != jsonscan.Array {
		r.Refuse("must be a string or an array of items" + r.Got())
		return
	}
	cuts := strict.Cutter{Spans: &r.View.Minted}
	r.items = r.Elements("", func(i int) {
		r.Item(i)
		start := r.Offset()
		foreign := r.item(i)
		cuts.Element(translate.Span{Start: start, End: r.Offset()}, foreign)
	})
	if cuts.All() {
		cuts.CutAll()
	}
}

// item reads the nth item. It reports whether no provider of the format could read
// it: reasoning of a provider of another format, which this gateway sealed.
func (r *request) item(n int) (foreign bool) {
	if !r.EnterObject() {
		r.Refuse("must be an object")
		return false
	}
	var it inputItem
	before := r.Mark()
	for r.Member() {
		m := member(itemMembers.Index(r.Name()))
		if m < 0 {
			r.Skip()
			continue
		}
		it.members[m] = r.Kind()
		r.Part(int(m) + 1)
		r.Push(m.String())
		r.itemMember(&it, m)
		r.Pop()
	}
	if it.kind == unknownItem && !it.isMessage() {
		r.Return(before)
	}
	r.requireOf(&it)
	if it.kind == referenceItem {
		r.needsState("input[" + strconv.Itoa(n) + "].type")
	}
	return it.kind == reasoningItem && isForeign(it.sealed)
}

// itemMember reads one member of an item.
func (r *request) itemMember(it *inputItem, m member) {
	switch kind := it.members[m]; {
	case m == memberType && kind == jsonscan.String:
		text, _ := r.Text()
		it.kind = itemKindOf(text)
	case m == memberRole && kind == jsonscan.String:
		text, _ := r.Text()
		it.badRole = badRole(text)
	case m == memberEncryptedContent && kind == jsonscan.String:
		it.sealed, _ = r.RawString()
	case m == memberTools && kind == jsonscan.Array:
		r.tools(false)
	case kind == jsonscan.Array && m < memberTools:
		r.parts()
	default:
		r.Skip()
	}
}

// badRole returns the end of a message about a role, "" for one of the format's.
func badRole(role []byte) string {
	switch string(role) {
	case "user", "assistant", "system", "developer":
		return ""
	default:
		return wantRole + strict.Shown(role)
	}
}

// parts reads an array of content parts, whose types are an open set.
func (r *request) parts() {
	r.Elements("", func(int) { r.WantTyped("prompt_cache_breakpoint") })
}

// isMessage reports whether an item without a type is a message, as one with a
// role is.
func (it *inputItem) isMessage() bool {
	return !there(it.members[memberType]) && there(it.members[memberRole])
}

// there reports whether a member of that kind is there; null means absent.
func there(kind jsonscan.Kind) bool { return kind != jsonscan.Invalid && kind != jsonscan.Null }

// requireOf notes what an item lacks. Items of unknown types pass.
func (r *request) requireOf(it *inputItem) {
	if it.isMessage() {
		it.kind = messageItem
	} else {
		r.Part(int(memberType) + 1)
		r.WantKind("type", it.members[memberType], jsonscan.String)
	}
	for _, n := range needs[it.kind] {
		r.Part(int(n.member) + 1)
		r.requireMember(it, n)
	}
}

func (r *request) requireMember(it *inputItem, n need) {
	name, kind := n.member.String(), it.members[n.member]
	switch {
	case n.member == memberRole && it.badRole != "":
		r.NoteMember(name, it.badRole)
	case n.kind != jsonscan.Invalid:
		r.WantKind(name, kind, n.kind)
	case !there(kind):
		r.NoteMember(name, strict.Required)
	case kind != jsonscan.String && kind != jsonscan.Array:
		r.NoteMember(name, wantParts+", got "+kind.String())
	}
}

// isForeign reports whether the raw encrypted_content of reasoning was made by
// this gateway.
func isForeign(sealed []byte) bool {
	return bytes.HasPrefix(sealed, []byte(`"`+seal.Block))
}
