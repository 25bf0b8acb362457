package answer

import (
	"bytes"
	"hash/maphash"
	"slices"
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/members"
)

// output is the state of an item.
type output struct {
	index int64
	kind  itemKind
	id    []byte
	ended bool    // later events about the item are ignored
	left  bool    // another item has begun before its end, so no more content can follow
	whole bool    // the item was found in the whole response
	parts []*part // in order of their first events; a call has one, its arguments

	inContent bool // of reasoning: the parts are those of content instead of the summary

	// Of a call.
	tool     int  // its number
	begun    bool // the start was sent
	deferred bool // arguments preceded the name, so all arguments are sent at the end
	cut      bool // the call was cut off with the answer
}

// part is the part of an item's text that was sent.
type part struct {
	index   int64
	sent    int          // bytes
	hash    maphash.Hash // of the bytes sent
	checked int          // the value of sent when it was last compared with the whole text
	start   int          // characters of all text before the part
	sources int          // annotations seen
	scored  bool         // log probabilities were sent
}

// seed is the seed of the hashes by which texts that were sent are recognized.
var seed = maphash.MakeSeed()

// add adds a text that was sent.
func (pt *part) add(text []byte) {
	pt.sent += len(text)
	pt.hash.Write(text)
}

// rest returns the part of a whole text that was not sent. ok is false for a whole text that
// does not begin with what was sent.
func (pt *part) rest(whole []byte) (rest []byte, ok bool) {
	if len(whole) < pt.sent || maphash.Bytes(seed, whole[:pt.sent]) != pt.hash.Sum64() {
		return nil, false
	}
	return whole[pt.sent:], true
}

// subject is what identifies the item of an event.
type subject struct {
	kind  itemKind
	index int64  // -1 for none
	id    []byte // a raw string, nil for none
}

// item is an item that was read.
type item struct {
	members.Values
	kind []byte // the raw type
}

// read reads a raw item by a table.
func (v *item) read(raw []byte, t *members.Table, losses members.Losses) error {
	c := jsonscan.Skipped(raw)
	v.kind = c.TypeAhead()
	v.Read(&c, t, losses)
	return c.Finish()
}

// identify reads a raw item of any kind, and reports no losses.
func identify(raw []byte) (v item) {
	v.read(raw, vendorItems, nil)
	return v
}

// id returns the raw string by which the events about an item name the item: its id, or for
// a call without one its call_id.
func (v *item) id() []byte {
	if id := v.Filled(itemID); id != nil {
		return id
	}
	return v.Raw(itemCallID)
}

// searchType is the type of items that are searches of the web.
const searchType = "web_search_call"

// isSearch reports whether the item is a search that the provider has made, which has a
// price. Opening a page that was found, or searching within it, has none.
func (v *item) isSearch() bool {
	if string(jsonscan.Inner(v.kind)) != searchType || !v.is(completed) {
		return false
	}
	if v.Raw(vendorAction) == nil {
		return true
	}
	action := string(jsonscan.Inner(v.Cursor(vendorAction).TypeAhead()))
	return action != "open_page" && action != "find_in_page"
}

// is reports whether the status of the item is the word.
func (v *item) is(status string) bool { return string(jsonscan.Inner(v.Raw(itemStatus))) == status }

// arguments returns the arguments of a call as a raw string, nil for none. Some servers send
// an object, which is empty while the arguments follow.
func (v *item) arguments(kind itemKind) []byte {
	if kind == freeCallItem {
		return v.Raw(itemInput)
	}
	raw := v.Filled(itemArguments)
	if len(raw) == 0 || raw[0] == '"' {
		return raw
	}
	return jsonscan.AppendString(nil, jsonscan.AppendCompact(nil, raw))
}

// otherList returns the path of the list of a reasoning item that is not sent.
func (it *output) otherList() string {
	if it.inContent {
		return inItem + "summary"
	}
	return inItem + "content"
}

// hasID reports whether the item has the raw id.
func (it *output) hasID(id []byte) bool {
	return it.knows(id) && bytes.Equal(it.id, jsonscan.DecodedOf(id))
}

// differs reports whether the item has another id than the raw one.
func (it *output) differs(id []byte) bool { return it.knows(id) && !it.hasID(id) }

// knows reports whether the item has an id, and the raw one is an id, too.
func (it *output) knows(id []byte) bool { return len(id) > len(`""`) && len(it.id) > 0 }

// appendSignature appends the signature of a reasoning item. Together with the text that
// was sent, it restores the item in a later request: it consists of the id, the lengths of
// the parts of the text, with a "t" before them if the text is not the summary, and the
// encrypted_content.
func (it *output) appendSignature(dst, sealed []byte) []byte {
	if translate.PlainName(it.id) {
		dst = append(dst, it.id...)
	}
	dst = append(dst, '.')
	if it.inContent && len(it.parts) > 0 {
		dst = append(dst, 't')
	}
	inOrder := slices.SortedFunc(slices.Values(it.parts), func(a, b *part) int { return int(a.index - b.index) })
	for i, pt := range inOrder {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendInt(dst, int64(pt.sent), 10)
	}
	return jsonscan.AppendText(append(dst, '.'), sealed)
}
