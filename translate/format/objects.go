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
	// ByMembers reports that requests and answers refer to files, and to what has files, by the members that
	// package objects lists. Of other formats, the strict pass finds the files in requests.
	ByMembers bool
	// Ended returns the end of an object of which a JSON answer is the state: the usage of one that has
	// ended is final. It is nil for formats whose answers are complete when they are stored.
	Ended func(answer []byte) translate.ObjectEnd
	// Headers returns the headers that clients get of an answer about an object, by their canonical names,
	// with the ids in them replaced. Header returns the value of one of the provider. It is nil for
	// formats whose answers have none.
	Headers func(header func(name string) string, names translate.ObjectNames) map[string]string
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
	// Query are the parameters that the provider gets if the client sends them: "name". It always gets
	// those with a value: "name=value".
	Query []string
	// Check refuses the body of a request; nil for requests without a body.
	Check func(body []byte) *fault.Fault
	// Streams reports that the answer is a stream if the query asks for one.
	Streams bool
	// Batch is a request that creates a batch; nil for other paths.
	Batch *Batch
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

// Batch is a request that creates a batch.
type Batch struct {
	// Inline reports that the body may have the requests, so that it may be long, and Operation is that of
	// such requests.
	Inline    bool
	Operation translate.Operation
	// Read checks the body. Each gets the places of its requests, and may return why one is refused. File is
	// the place of the id of the file with the requests, empty if the body has them.
	Read func(body []byte, each func(request translate.Span) *fault.Fault) (file translate.ObjectID, refused *fault.Fault)
}

// Form is a body of the type multipart/form-data with a file, which is sent on while it arrives.
type Form struct {
	File  string   // the name of the part that is the file
	Texts []string // the names of the other parts. Each is a text, and may be missing

	Requests *FileOfRequests // nil for a file of any content

	// Describes checks the first part, a JSON document that describes the file. If it is not nil, the form
	// is of the type multipart/related: its parts have no names, and the second one is the file.
	Describes func(document []byte) *fault.Fault
	// Resumable is the protocol by which headers state whether a request has the form, or a part of an
	// upload in several requests; nil if all have the form.
	Resumable *Resumable
}

// Resumable is an upload in several requests. The first one begins a session, which the others name in
// their query. Headers, in canonical form, state what a request does.
type Resumable struct {
	Protocol string // the header with the name of the protocol
	Start    string // its value in the first request
	Whole    string // its value in a request that has all of the file, in the form

	Command  string   // the header with what a request of a session does
	Commands []string // its values in requests of a session; several may be joined by commas
	End      string   // the one that ends the file

	Length string   // the header of the first request with the length of the file
	Offset string   // the header of the other ones with the number of the bytes before
	Others []string // headers of the first request that the provider gets as well

	Session string // the parameter of the query with the session
	Kind    string // of the ids of sessions
}

// FileOfRequests is a file that may have a request of a batch in each line.
type FileOfRequests struct {
	Text, Value string // it has if the part Text of the form is Value; without a Text, if its first line is a request
	// Read checks a line, and returns the path of the endpoint and the place of the body of its request. The
	// path is "" if the line is none of a file of requests.
	Read func(line []byte) (path string, body translate.Span, refused *fault.Fault)
}

// kindsOfTraits are the kinds of objects that providers store for clients because of a trait of their
// own. Their paths exist only where a provider has the trait.
var kindsOfTraits = map[string]func(*trait.Traits) bool{
	seal.MessageBatchID: func(traits *trait.Traits) bool { return traits.Batches == trait.BatchesSealed },
	seal.BatchID:        func(traits *trait.Traits) bool { return traits.Batches == trait.BatchesSealed && traits.SealsFiles() },
	seal.GeminiBatchID:  func(traits *trait.Traits) bool { return traits.Batches == trait.BatchesSealed },

	seal.FileID: (*trait.Traits).SealsFiles, seal.ClaudeFileID: (*trait.Traits).SealsFiles, seal.UploadID: (*trait.Traits).SealsFiles,
	seal.ContainerID: (*trait.Traits).SealsFiles, seal.ClaudeContainerID: (*trait.Traits).SealsFiles, seal.ContainerFileID: (*trait.Traits).SealsFiles,
	seal.VectorStoreID: (*trait.Traits).SealsFiles, seal.SkillID: (*trait.Traits).SealsFiles, seal.GeminiFileID: (*trait.Traits).SealsFiles,
}

// IsOptional reports whether the path exists only where a provider stores the objects of it for clients.
func (o *ObjectPath) IsOptional() bool { return kindsOfTraits[o.Kind] != nil }

// IsSealed reports whether a provider with traits stores the objects of the path for clients.
func (o *ObjectPath) IsSealed(t *trait.Traits) bool {
	return Seals(o.Kind, t)
}

// Seals reports whether a provider with traits stores objects of a kind for clients.
func Seals(kind string, t *trait.Traits) bool {
	switch kind {
	case seal.ResponseID, seal.ConversationID, seal.CompletionID:
		return t.SealsObjects()
	}
	stores := kindsOfTraits[kind]
	return stores != nil && stores(t)
}

// The segments of a path of an object that are its id, and the id of an item in the object, which
// names nothing without the object.
const (
	ObjectPlaceholder = "{id}"
	ItemPlaceholder   = "{item_id}"
)

// UploadRoot is in front of the version in the paths of some uploads, and DownloadRoot in those of some
// downloads, which providers have without it as well.
const (
	UploadRoot   = "/upload"
	DownloadRoot = "/download"
)

// cutRoot returns UploadRoot or DownloadRoot, if a path begins with one, and the path behind it.
func cutRoot(path string) (root, rest string) {
	for _, root := range []string{UploadRoot, DownloadRoot} {
		if rest, ok := strings.CutPrefix(path, root); ok && strings.HasPrefix(rest, "/") {
			return root, rest
		}
	}
	return "", path
}

// Parameters returns the query that the provider gets, in which a client has sent some parameters.
func (o *ObjectPath) Parameters(sent url.Values) string {
	kept := make(url.Values)
	for _, parameter := range o.Query {
		if name, value, fixed := strings.Cut(parameter, "="); fixed {
			kept[name] = []string{value}
		} else if values, ok := sent[name]; ok {
			kept[name] = values
		}
	}
	return kept.Encode()
}

// OfModel returns what the path is below the version, with escapes, for the name of a model that a provider
// has.
func (o *ObjectPath) OfModel(name string) string {
	rest := "/" + strings.Join(strings.Split(o.Path, "/")[2:], "/")
	return strings.Replace(rest, Placeholder, url.PathEscape(strings.TrimPrefix(name, "models/")), 1)
}

// segment returns the index of the segment of the path with the id of the object, -1 if it has none, and
// what follows the id in the segment.
func (o *ObjectPath) segment() (i int, suffix string) {
	for i, segment := range strings.Split(o.Path, "/") {
		if suffix, ok := strings.CutPrefix(segment, ObjectPlaceholder); ok {
			return i, suffix
		}
	}
	return -1, ""
}

// ID returns the id of the object in a path of a client, "" if the request creates the object.
func (o *ObjectPath) ID(path string) string {
	i, suffix := o.segment()
	if i < 0 {
		return ""
	}
	id := strings.TrimSuffix(strings.Split(path, "/")[i], suffix)
	if seal.IsCollection(o.Kind) {
		return o.Kind + id
	}
	return id
}

// Below returns what a path of a client is below the version, with escapes, and with another id of
// the object. UploadRoot is in front of it, if the path has that.
func (o *ObjectPath) Below(path, id string) string {
	segments := strings.Split(path, "/")
	if i, suffix := o.segment(); i >= 0 {
		if seal.IsCollection(o.Kind) {
			id = strings.TrimPrefix(seal.NameIn(o.Kind, id), o.Kind)
		}
		segments[i] = id + suffix
	}
	root, _ := cutRoot(o.Path)
	if root != "" {
		segments = segments[1:]
	}
	for i := range segments {
		segments[i] = url.PathEscape(segments[i])
	}
	return strings.TrimPrefix(root, DownloadRoot) + "/" + strings.Join(segments[2:], "/")
}
