package objects

import (
	"cmp"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/edit"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// IDs returns the ids of objects in a document, in its order. The error is that of a document that is no
// JSON, or that repeats a member: then another reader could see other ids.
func IDs(document []byte) ([]translate.ObjectID, error) {
	x, err := find(document)
	return x.found, err
}

func find(document []byte) (*finder, error) {
	x := &finder{c: jsonscan.New(document)}
	x.value("")
	return x, x.c.Finish()
}

type finder struct {
	c         jsonscan.Cursor
	found     []translate.ObjectID
	addresses []translate.Span // of objects
	webhook   *string          // set to the first member that IsWebhook, with a value; nil if nobody needs it
}

// Webhook returns the member of a request, as it is written, with an address that the vendor calls when it is done;
// "" if there is none.
func Webhook(request []byte) (member string) {
	x := &finder{c: jsonscan.New(request), webhook: &member}
	x.value("")
	return member
}

// called are the names of members with an address that the vendor calls, or for one, in lower case and without
// the marks between their words. An id or a key of such an address is none.
var called = regexp.MustCompile(`webhook|(?:callback|postback|pingback)(?:ur[il]|address|endpoint)?(?:e?s)?$|(?:notify|notifications?|hook)(?:ur[il]|address|endpoint)(?:e?s)?$`)

// IsWebhook reports whether a member or a parameter has an address that the vendor calls, or is for one. Vendors
// name it in different ways: webhook_config, webhookUrl, hf_webhook, web-hook, status_callback, notify_url.
func IsWebhook(name string) bool {
	return called.MatchString(strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name))
}

// value finds the ids in the value at the cursor, which is that of a member, or in a list of it.
func (x *finder) value(member string) {
	c := &x.c
	switch c.Kind() {
	case jsonscan.Object:
		if data[member] {
			c.Skip()
			return
		}
		for c.EnterMap(); c.Member(); {
			written := string(c.Name())
			if x.webhook != nil && *x.webhook == "" && IsWebhook(written) && c.Kind() != jsonscan.Null {
				*x.webhook = written
			}
			name := strings.ToLower(written)
			if _, refers := references[member+"."+name]; refers {
				name = member + "." + name
			}
			x.value(name)
		}
	case jsonscan.Array:
		for c.EnterArray(); c.Element(); {
			if c.Kind() == jsonscan.Object {
				x.value("")
			} else {
				x.value(member)
			}
		}
	case jsonscan.String:
		x.text(member)
	default:
		c.Skip()
	}
}

// text notes the string at the cursor if it is an id.
func (x *finder) text(member string) {
	start := x.c.Offset()
	raw := x.c.StringOrSkip()
	place := translate.Span{Start: start, End: start + len(raw)}
	noun, known := references[member]
	switch {
	case member == "results_url":
		x.addresses = append(x.addresses, place)
	case known:
		id := string(jsonscan.DecodedOf(raw))
		kind := KindOf(id)
		if noun != "" && !isWord(member, id) {
			kind = cmp.Or(kind, kindOfMember(member))
		}
		if kind != "" {
			x.found = append(x.found, translate.ObjectID{Path: member, Kind: kind, Span: place})
		}
	}
}

// References returns the ids by which a request or an answer of a model refers to objects of kinds, in its
// order. The ids of items, such as those of messages and of calls, are none: clients may choose them. An id
// of another kind is taken for one of the kind that its member has.
func References(document []byte, isKind func(kind string) bool) ([]translate.ObjectID, error) {
	x, err := find(document)
	all := slices.DeleteFunc(x.found, func(id translate.ObjectID) bool { return id.Path == "id" })
	for i := range all {
		if id := &all[i]; !isKind(id.Kind) {
			id.Kind = kindOfMember(id.Path)
		}
	}
	return slices.DeleteFunc(all, func(id translate.ObjectID) bool { return !isKind(id.Kind) }), err
}

// EditIDs appends the edits that replace the ids of objects in a JSON answer, or in the data of an event.
// replace appends what takes the place of an id of a kind. An address of an object becomes its path,
// with the id replaced: clients that get an absolute address send their key to its host.
func EditIDs(edits []edit.Edit, answer []byte, replace func(dst []byte, kind string, id []byte) []byte) []edit.Edit {
	x, err := find(answer)
	if err != nil { // such as [DONE]
		return edits
	}
	count := len(edits)
	text := func(place translate.Span) []byte { return jsonscan.DecodedOf(answer[place.Start:place.End]) }
	for i := range x.found {
		id := &x.found[i]
		if raw := text(id.Span); len(raw) > 0 {
			edits = append(edits, edit.Edit{Span: id.Span, With: jsonscan.AppendString(nil, replace(nil, id.Kind, raw))})
		}
	}
	for _, place := range x.addresses {
		if path, ok := pathOf(string(text(place)), replace); ok {
			edits = append(edits, edit.Edit{Span: place, With: jsonscan.AppendString(nil, path)})
		}
	}
	slices.SortFunc(edits[count:], func(a, b edit.Edit) int { return a.Start - b.Start })
	return edits
}

// pathOf returns the path of an address, with other ids.
func pathOf(address string, replace func(dst []byte, kind string, id []byte) []byte) (path string, ok bool) {
	u, err := url.Parse(address)
	if err != nil {
		return "", false
	}
	e := Find("GET", u.Path)
	if e == nil {
		return "", false
	}
	path, _ = e.Replace(u.Path, func(id string, kinds []string) (string, bool) {
		kind := cmp.Or(KindOf(id), kinds[0])
		return string(replace(nil, kind, []byte(id))), true
	})
	return path, true
}
