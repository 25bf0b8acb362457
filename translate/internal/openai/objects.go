package openai

import (
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/edit"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// ObjectIDs is where the ids of objects are in answers.
type ObjectIDs struct {
	Kinds      map[string]string // the kinds of ids, by the member object
	References map[string]string // the kinds of the ids of other objects, by the members that have them, as texts or as objects
	Nested     string            // the member with an object that has ids as well
}

// Edit appends the edits that replace the ids in a JSON answer, or in the data of an event, in the order of
// the document.
func (o *ObjectIDs) Edit(edits []edit.Edit, data []byte, names translate.ObjectNames) []edit.Edit {
	c := jsonscan.New(data)
	x := idEdits{ObjectIDs: o, names: names}
	x.object(&c)
	slices.SortFunc(x.edits, func(a, b edit.Edit) int { return a.Start - b.Start })
	return append(edits, x.edits...)
}

type idEdits struct {
	*ObjectIDs
	edits []edit.Edit
	names translate.ObjectNames
}

// object edits the ids of the object at the cursor.
func (x *idEdits) object(c *jsonscan.Cursor) {
	var id translate.Span
	kind := ""
	for c.OpenObject(); c.Member(); {
		switch name := string(c.Name()); {
		case name == "id":
			id = stringAt(c)
		case name == "object":
			kind = x.Kinds[jsonscan.TextOf(c.StringOrSkip())]
		case name == x.Nested:
			x.object(c)
		case x.References[name] != "":
			x.reference(c, x.References[name])
		default:
			c.Skip()
		}
	}
	if kind != "" {
		x.edit(c, id, kind)
	}
}

// reference edits the id of another object, which is the value or its member.
func (x *idEdits) reference(c *jsonscan.Cursor, kind string) {
	if c.Kind() != jsonscan.Object {
		x.edit(c, stringAt(c), kind)
		return
	}
	for c.OpenObject(); c.Member(); {
		if string(c.Name()) == "id" {
			x.edit(c, stringAt(c), kind)
		} else {
			c.Skip()
		}
	}
}

// edit replaces the id at a place, which is empty if there is none.
func (x *idEdits) edit(c *jsonscan.Cursor, place translate.Span, kind string) {
	if id := jsonscan.DecodedOf(c.Document()[place.Start:place.End]); len(id) > 0 {
		x.edits = append(x.edits, edit.Edit{Span: place, With: jsonscan.AppendString(nil, x.names.ID(nil, kind, id))})
	}
}

// stringAt returns the place of the string at the cursor, an empty one for another value.
func stringAt(c *jsonscan.Cursor) translate.Span {
	start := c.Offset()
	return translate.Span{Start: start, End: start + len(c.StringOrSkip())}
}
