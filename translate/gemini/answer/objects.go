package answer

import (
	"net/url"
	"slices"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/edit"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
)

// kindsOfNames are the kinds of objects that answers name. A name begins with its kind.
var kindsOfNames = []string{seal.GeminiFileID, seal.GeminiBatchID}

// The members of answers with names and addresses of objects, and those that are objects with further ones.
var (
	nameMembers    = map[string]bool{"name": true, "responsesFile": true, "fileName": true}
	addressMembers = map[string]bool{"uri": true, "downloadUri": true}
	outerMembers   = map[string]bool{"file": true, "metadata": true, "output": true, "inputConfig": true, "response": true}
)

// EditIDs appends the edits that replace the names of files and batches in a JSON answer, and the addresses
// of files, which are at the provider.
func EditIDs(edits []edit.Edit, data []byte, names translate.ObjectNames) []edit.Edit {
	c := jsonscan.New(data)
	x := objectEdits{edits: edits, names: names}
	x.object(&c)
	return x.edits
}

type objectEdits struct {
	edits []edit.Edit
	names translate.ObjectNames
}

// object edits the object at the cursor.
func (x *objectEdits) object(c *jsonscan.Cursor) {
	for c.OpenObject(); c.Member(); {
		switch name := string(c.Name()); {
		case outerMembers[name] && c.Kind() == jsonscan.Object:
			x.object(c)
		case nameMembers[name]:
			x.text(c, x.name)
		case addressMembers[name]:
			x.text(c, x.address)
		default:
			c.Skip()
		}
	}
}

// text replaces the string at the cursor.
func (x *objectEdits) text(c *jsonscan.Cursor, replaced func(text string) []byte) {
	start := c.Offset()
	raw := c.StringOrSkip()
	if text := jsonscan.TextOf(raw); text != "" {
		if replacement := replaced(text); replacement != nil {
			x.edits = append(x.edits, edit.Edit{Span: translate.Span{Start: start, End: start + len(raw)}, With: jsonscan.AppendString(nil, replacement)})
		}
	}
}

// name returns what takes the place of a name, nil if it is that of no stored object.
func (x *objectEdits) name(text string) []byte {
	i := slices.IndexFunc(kindsOfNames, func(kind string) bool { return strings.HasPrefix(text, kind) })
	if i < 0 {
		return nil
	}
	return x.names.ID(nil, kindsOfNames[i], []byte(text))
}

// address returns what takes the place of the address of a file: an address at the gateway, if it is known
// and clients may send their keys there, else a name. The address of the provider is sealed, since requests
// refer to a file by it.
func (x *objectEdits) address(text string) []byte {
	plain, method, hasMethod := strings.Cut(text, ":download")
	if !strings.Contains(plain, seal.GeminiFileID) {
		return []byte{}
	}
	address := x.names.ID(nil, seal.GeminiFileID, []byte(plain))
	if base, ok := strings.CutSuffix(x.names.Base, "/v1"); ok && strings.HasPrefix(base, "https://") {
		address = append([]byte(base+"/v1beta/"), address...)
	}
	if hasMethod {
		address = append(append(address, ":download"...), method...)
	}
	return address
}

// Session is the parameter of the query that names the session of an upload.
const Session = "upload_id"

// The headers of answers about uploads.
const (
	uploadURL    = "X-Goog-Upload-Url"
	uploadStatus = "X-Goog-Upload-Status"
)

// uploadStates are the values of the header with the state of an upload.
var uploadStates = []string{"active", "final", "cancelled"}

// UploadHeaders returns the headers of an answer about an upload. The address of its session is one of the
// gateway, with a sealed id: that of the provider may contain the key of the account. It is left out if the
// provider has not named a session.
func UploadHeaders(header func(name string) string, names translate.ObjectNames) map[string]string {
	h := make(map[string]string)
	if state := header(uploadStatus); slices.Contains(uploadStates, state) {
		h[uploadStatus] = state
	}
	for _, name := range []string{"X-Goog-Upload-Chunk-Granularity", "X-Goog-Upload-Size-Received"} {
		if n := header(name); n != "" && len(n) < 20 && strings.Trim(n, "0123456789") == "" {
			h[name] = n
		}
	}
	session, err := url.Parse(header(uploadURL))
	if err != nil || session.Query().Get(Session) == "" {
		return h
	}
	id := names.ID(nil, seal.GeminiUploadID, []byte(session.Query().Get(Session)))
	query := url.Values{Session: {strings.TrimPrefix(string(id), seal.GeminiUploadID)}, "upload_protocol": {"resumable"}}
	h[uploadURL] = strings.TrimSuffix(names.Base, "/v1") + "/upload/v1beta/files?" + query.Encode()
	return h
}
