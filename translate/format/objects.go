package format

import (
	"net/url"
	"slices"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/edit"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

// Objects are the objects that providers of a format store for their clients, such as responses.
// The zero value is for a format whose providers store none.
type Objects struct {
	// Paths are those of the objects.
	Paths []ObjectPath
	// OnRequest reports that providers store an answer only if the request asks for it.
	OnRequest bool
	// EditIDs appends the edits that replace the ids of objects in a JSON answer, or in the data
	// of an event. replace appends what takes the place of an id of a kind.
	EditIDs func(edits []edit.Edit, answer []byte, replace func(dst []byte, kind string, id []byte) []byte) []edit.Edit
	// Ended reports whether a JSON answer is an object that the provider generates no more, so that its
	// usage is final, and whether that has failed: the provider then charges no more than the usage. It
	// is nil for formats whose answers are complete when they are stored.
	Ended func(answer []byte) (ended, failed bool)
}

// ObjectPath is a path of an object. Providers have it below the path of their version.
type ObjectPath struct {
	Method string
	Kind   string // what the ids begin with, such as "resp_"
	Path   string // with ObjectPlaceholder for the id; requests for a path without it create an object
	// Query are the parameters that the provider gets if the client sends them.
	Query []string
	// Check refuses the body of a request; nil for requests without a body.
	Check func(body []byte) *fault.Fault
	// Streams reports that the answer is a stream if the query asks for one.
	Streams bool
}

// The segments of a path of an object that are its id, and the id of an item in the object, which
// names nothing without the object.
const (
	ObjectPlaceholder = "{id}"
	ItemPlaceholder   = "{item_id}"
)

// ID returns the id of the object in a path of a client, "" if the request creates the object.
func (o *ObjectPath) ID(path string) string {
	i := slices.Index(strings.Split(o.Path, "/"), ObjectPlaceholder)
	if i < 0 {
		return ""
	}
	return strings.Split(path, "/")[i]
}

// Below returns what a path of a client is below the version, with escapes, and with another id of
// the object.
func (o *ObjectPath) Below(path, id string) string {
	segments := strings.Split(path, "/")
	for i, name := range strings.Split(o.Path, "/") {
		if name == ObjectPlaceholder {
			segments[i] = id
		}
		segments[i] = url.PathEscape(segments[i])
	}
	return "/" + strings.Join(segments[2:], "/")
}
