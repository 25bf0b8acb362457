package answer

import (
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/edit"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
)

// kindsOfObjects are the kinds of the ids of objects, by the member object. The id of a part of an upload
// names nothing without the upload.
var kindsOfObjects = map[string]string{
	"chat.completion": seal.CompletionID, "chat.completion.chunk": seal.CompletionID, "chat.completion.deleted": seal.CompletionID,
	"file": seal.FileID, "file.deleted": seal.FileID, "upload": seal.UploadID, "batch": seal.BatchID,
}

// kindsOfReferences are the kinds of the ids that an object has of others.
var kindsOfReferences = map[string]string{
	"upload_id": seal.UploadID, "input_file_id": seal.FileID, "output_file_id": seal.FileID, "error_file_id": seal.FileID,
}

// EditIDs appends the edits that replace the ids of completions, files, uploads and batches in a JSON answer, or
// in the data of an event.
func EditIDs(edits []edit.Edit, data []byte, names translate.ObjectNames) []edit.Edit {
	c := jsonscan.New(data)
	x := objectEdits{names: names}
	x.object(&c)
	slices.SortFunc(x.edits, func(a, b edit.Edit) int { return a.Start - b.Start })
	return append(edits, x.edits...)
}

type objectEdits struct {
	edits []edit.Edit
	names translate.ObjectNames
}

// object edits the ids of the object at the cursor, and of the file of an upload.
func (x *objectEdits) object(c *jsonscan.Cursor) {
	var id translate.Span
	kind := ""
	for c.OpenObject(); c.Member(); {
		switch name := string(c.Name()); {
		case name == "id":
			id = stringAt(c)
		case name == "object":
			kind = kindsOfObjects[jsonscan.TextOf(c.StringOrSkip())]
		case name == "file":
			x.object(c)
		case kindsOfReferences[name] != "":
			x.edit(c, stringAt(c), kindsOfReferences[name])
		default:
			c.Skip()
		}
	}
	if kind != "" {
		x.edit(c, id, kind)
	}
}

// edit replaces the id at a place, which is empty if there is none.
func (x *objectEdits) edit(c *jsonscan.Cursor, place translate.Span, kind string) {
	if id := jsonscan.DecodedOf(c.Document()[place.Start:place.End]); len(id) > 0 {
		x.edits = append(x.edits, edit.Edit{Span: place, With: jsonscan.AppendString(nil, x.names.ID(nil, kind, id))})
	}
}

// stringAt returns the place of the string at the cursor, an empty one for another value.
func stringAt(c *jsonscan.Cursor) translate.Span {
	start := c.Offset()
	return translate.Span{Start: start, End: start + len(c.StringOrSkip())}
}
