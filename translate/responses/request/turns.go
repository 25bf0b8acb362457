package request

import (
	"bytes"
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/strict"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// maxItems is how many items one request may hold.
const maxItems = 100_000

const wantRole = "must be 'user', 'assistant', 'system' or 'developer'"

// inputItem is what is known of an item that has been read.
type inputItem struct {
	strict.Members
	badRole string // the end of a message about an unknown role
	sealed  []byte // the raw encrypted_content
}

// input reads the conversation: a text of the user, or items.
func (r *request) input() {
	if _, ok := r.JSON.RawString(); ok {
		return
	}
	if r.JSON.Kind() != jsonscan.Array {
		r.Refuse("must be a string or an array of items" + r.Got())
		return
	}
	cuts := strict.Cutter{Spans: &r.View.SelfSigned}
	r.items = r.Elements("", func(i int) {
		r.Item(i)
		start := r.JSON.Offset()
		foreign := r.item(i)
		cuts.Element(translate.Span{Start: start, End: r.JSON.Offset()}, foreign)
	})
	if cuts.All() {
		cuts.CutAll()
	}
}

// item reads the nth item. It reports whether no provider of the format could read
// it: reasoning of a provider of another format, which this gateway sealed.
func (r *request) item(n int) (foreign bool) {
	var it inputItem
	before := r.Mark()
	if !r.ReadObject(&it.Members, itemShapes, func(name string) { r.itemMember(&it, name) }) {
		return false
	}
	if it.Type() == "" && !it.isMessage() {
		r.Return(before)
	}
	r.requireOf(&it)
	if it.Type() == "item_reference" {
		r.needsState("input[" + strconv.Itoa(n) + "].type")
	}
	return it.Type() == "reasoning" && isForeign(it.sealed)
}

// itemMember reads one member of an item.
func (r *request) itemMember(it *inputItem, name string) {
	r.Part(it.At() + 1)
	switch kind := r.JSON.Kind(); {
	case name == "role" && kind == jsonscan.String:
		text, _ := r.JSON.Text()
		it.badRole = badRole(text)
	case name == "encrypted_content" && kind == jsonscan.String:
		it.sealed, _ = r.JSON.RawString()
	case kind != jsonscan.Array:
		r.JSON.Skip()
	case name == "tools":
		r.tools(false)
	case name == "id", name == "status", name == "namespace", name == "execution", name == "reasoning", name == "text":
		r.JSON.Skip()
	default:
		r.parts()
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
	r.Elements("", func(int) { r.part() })
}

// part reads a content part.
func (r *request) part() {
	if !r.JSON.EnterObject() {
		r.Refuse("must be an object")
		return
	}
	kind := jsonscan.Invalid
	for r.Member() {
		switch string(r.JSON.Name()) {
		case "type":
			kind = r.JSON.Kind()
			r.JSON.Skip()
		case "image_url":
			r.ReadFile(token.ImageFile)
		case "file_data", "file_url", "file_id":
			r.ReadFile(token.PDFFile)
		case "input_audio":
			r.ReadFile(token.AudioFile)
		case "prompt_cache_breakpoint":
			r.OptionsOf("prompt_cache_breakpoint")
		default:
			r.JSON.Skip()
		}
	}
	r.WantKind("type", kind, jsonscan.String)
}

// isMessage reports whether an item without a type is a message, as one with a role is.
func (it *inputItem) isMessage() bool {
	return strict.Missing(it.Kind("type")) && !strict.Missing(it.Kind("role"))
}

// requireOf notes faults for the members that an item lacks. Items of unknown types lack
// none.
func (r *request) requireOf(it *inputItem) {
	needs := it.Needs()
	switch {
	case it.Type() != "":
	case it.isMessage():
		needs = messageShape.Needs()
	default:
		r.Part(1)
		r.WantKind("type", it.Kind("type"), jsonscan.String)
	}
	for _, n := range needs {
		if r.Part(n.Index + 1); n.Name == "role" && it.badRole != "" {
			r.NoteMember("role", it.badRole)
		} else {
			r.WantMember(&it.Members, &n)
		}
	}
}

// isForeign reports whether the raw encrypted_content of reasoning was made by
// this gateway.
func isForeign(sealed []byte) bool {
	return bytes.HasPrefix(sealed, []byte(`"`+seal.Block))
}
