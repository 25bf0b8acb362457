package format

import (
	"net/url"
	"slices"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/edit"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// Objects are the objects that providers of a format store for their clients, such as responses.
// The zero value is for a format whose providers store none.
type Objects struct {
	// Paths are those of the objects. The first one of a kind with an id reads the object.
	Paths []ObjectPath
	// OnRequest reports that providers store an answer only if the request asks for it.
	OnRequest bool
	// EditIDs appends the edits that replace the ids of objects in a JSON answer, or in the data
	// of an event.
	EditIDs func(edits []edit.Edit, answer []byte, names translate.ObjectNames) []edit.Edit
	// Ended returns the end of an object of which a JSON answer is the state: the usage of one that has
	// ended is final. It is nil for formats whose answers are complete when they are stored.
	Ended func(answer []byte) translate.ObjectEnd
	// ReadResult reads a line of the results of a batch. It is nil for formats without batches.
	ReadResult func(line []byte) translate.BatchResult
}

// Content returns the path by which the content of a file is read, nil if there is none.
func (o *Objects) Content() *ObjectPath {
	i := slices.IndexFunc(o.Paths, func(p ObjectPath) bool { return p.Content })
	if i < 0 {
		return nil
	}
	return &o.Paths[i]
}

// Read returns the path by which an object of a kind is read, or the results of a batch, if
// results is true; nil if the kind has none.
func (o *Objects) Read(id string, results bool) *ObjectPath {
	for i := range o.Paths {
		if p := &o.Paths[i]; p.Results == results && strings.HasPrefix(id, p.Kind) && strings.Contains(p.Path, ObjectPlaceholder) {
			return p
		}
	}
	return nil
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
	// Batch checks the body of a request that creates a batch. Each gets the places of its
	// requests, and may return why one is refused. It is nil for other paths.
	Batch func(body []byte, each func(request translate.Span) *fault.Fault) *fault.Fault
	// BatchOf checks the body of a request that creates a batch of the requests in a file, and returns
	// the place of the id of the file. It is nil for other paths.
	BatchOf func(body []byte) (file translate.ObjectID, refused *fault.Fault)
	// Form is the form that the body of a request is; nil for other bodies.
	Form *Form
	// Content reports that the answer is the content of a file, which is passed on as it is.
	Content bool
	// Results reports that the answer has a line of JSON for each request of a batch. It is passed on
	// as it is.
	Results bool
	// Refused returns why all requests are refused; nil if they are served.
	Refused func() *fault.Fault
}

// Form is a body of the type multipart/form-data with a file, which is sent on while it arrives.
type Form struct {
	File  string   // the name of the part that is the file
	Texts []string // the names of the other parts. Each is a text, and may be missing

	Requests *FileOfRequests // nil for a file of any content
}

// FileOfRequests is a file that may have a request of a batch in each line.
type FileOfRequests struct {
	Text, Value string // it has if the part Text of the form is Value
	// Read checks a line, and returns the path of the endpoint and the place of the body of its request.
	Read func(line []byte) (path string, body translate.Span, refused *fault.Fault)
}

// kindsOfTraits are the kinds of objects that providers store for clients because of a trait of their
// own. Their paths exist only where a provider has the trait.
var kindsOfTraits = map[string]func(*trait.Traits) bool{
	seal.MessageBatchID: func(traits *trait.Traits) bool { return traits.Batches == trait.BatchesSealed },
	seal.BatchID:        func(traits *trait.Traits) bool { return traits.Batches == trait.BatchesSealed && storesFiles(traits) },
	seal.FileID:         storesFiles,
	seal.ClaudeFileID:   storesFiles,
	seal.UploadID:       storesFiles,
}

func storesFiles(traits *trait.Traits) bool { return traits.FilesState == trait.FilesSealed }

// IsOptional reports whether the path exists only where a provider stores the objects of it for clients.
func (o *ObjectPath) IsOptional() bool { return kindsOfTraits[o.Kind] != nil }

// IsSealed reports whether a provider with traits stores the objects of the path for clients.
func (o *ObjectPath) IsSealed(t *trait.Traits) bool {
	return Seals(o.Kind, t)
}

// Seals reports whether a provider with traits stores objects of a kind for clients.
func Seals(kind string, t *trait.Traits) bool {
	if stores := kindsOfTraits[kind]; stores != nil {
		return stores(t)
	}
	return t.SealsObjects()
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
