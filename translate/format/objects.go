package format

import "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/edit"

// Objects are the objects that providers of a format store for their clients, such as responses.
// The zero value is for a format whose providers store none.
type Objects struct {
	// Paths are those of the objects.
	Paths []ObjectPath
	// EditIDs appends the edits that replace the ids of objects in a JSON answer, or in the data
	// of an event. replace appends what takes the place of an id of a kind.
	EditIDs func(edits []edit.Edit, answer []byte, replace func(dst []byte, kind string, id []byte) []byte) []edit.Edit
}

// ObjectPath is a path of an object. Providers have it behind the path of their calls.
type ObjectPath struct {
	Method string
	Kind   string // what the ids begin with, such as "resp_"
	Path   string // with ObjectPlaceholder for the id
	// Query are the parameters that the provider gets if the client sends them.
	Query []string
}

// ObjectPlaceholder is the segment of a path that is the id of an object.
const ObjectPlaceholder = "{id}"
