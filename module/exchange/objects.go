package exchange

import (
	"bytes"
	"cmp"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/edit"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// Objects seals the ids of the objects that providers store for the client of an exchange, and has
// those that its request names.
type Objects struct {
	IDs   *seal.IDs   // of the owner
	Call  *ObjectCall // the request, if it is about a stored object
	Base  string      // see translate.ObjectNames
	named []namedID
}

// namedID is an id of a request: as the client has it, as the provider has it, and where it is in the
// body, if it is there.
type namedID struct {
	sealed, raw []byte
	place       translate.Span
}

// ObjectCall is what an attempt asks of a provider about an object that it stores. No model is
// involved.
type ObjectCall struct {
	Method string
	Path   string // below that of the version, with escapes, such as "/responses/resp_1/cancel"
	Query  string
	Header http.Header // of the client, beside those of the format

	// Content reports that the answer is passed on as it is: the content of a file, or the results of a
	// batch. Line gets each line of it, or each result in another answer, nil for one that cannot be
	// read; it keeps none. Line is nil if nobody needs the lines.
	Content bool
	Line    func(line []byte)
	Results bool // of a batch of messages, in whose lines ids are sealed

	MayBeEmpty bool // the answer may have no body

	Upload Upload // the body of the request, if the client is yet to send it; else nil

	Created
}

// Upload is the body of a request that the provider gets while the client sends it, once. An error of
// Read that is a fault refuses the request.
type Upload interface {
	io.Reader
	// ContentType returns the type of the body, and Length its length in bytes, -1 if it is unknown.
	ContentType() string
	Length() int64
	// Requests returns what the requests of a batch in the file may cost; nil if it has none, or the
	// provider has not read them all. It may be called while Read runs.
	Requests() *Requests
}

// Created is what a request creates a batch of, or a file.
type Created struct {
	Kind  string      // of the id of the batch or the file
	Edits []edit.Edit // of the body
	Bound int64       // the highest possible cost of the batch, in nanos of the currency of the budgets
}

// Requests are the requests of a batch in a file.
type Requests struct {
	Bound        aigateway.Cost // their highest possible cost, without a currency if there is no budget
	Asked, Model string         // the model of all, as clients and the provider name it; "" if there are several
	Volume       *Volume        // of requests whose model is named later, and so their bound; else nil
}

// Volume is the highest possible use of several requests.
type Volume struct {
	Prompt  int64 // estimated tokens of all prompts
	Longest int64 // of the longest prompt
	Answer  int64 // tokens of the answers that have a bound
	Open    int64 // answers without a bound, of which the model has one

	Searches int64
	Units    token.Units
	Terms    token.Terms
}

// creates returns the kind of what depends on the request after its answer, "" if nothing does.
func (o *ObjectCall) creates() string {
	if o.Upload != nil && o.Upload.Requests() == nil {
		return ""
	}
	return o.Kind
}

// Object returns the request about a stored object, nil for another one.
func (a *Attempt) Object() *ObjectCall {
	if o := a.Exchange.Objects; o != nil {
		return o.Call
	}
	return nil
}

// Owner returns the name of whom the objects belong to that the exchange stores: the user of the
// key, so that all keys of a user share them, or the key itself. A key cannot have the name of a
// user.
func (e *Exchange) Owner() string {
	switch {
	case e.Key == nil:
		return ""
	case e.Key.Subject != "":
		return "user:" + e.Key.Subject
	}
	return "key:" + e.Key.ID
}

// OpenObjects returns the objects with these ids in the body of a request, and the account that stores
// them. The fault is that of an id that is not of the owner, or else not of the account of those before it.
func OpenObjects(ids *seal.IDs, request *Request, all []translate.ObjectID) (o *Objects, account seal.Account, refused *fault.Fault) {
	o = &Objects{IDs: ids}
	for i := range all {
		sealed := bytes.Clone(request.IDText(&all[i])) // the body is dropped before the answer ends
		owner, raw, ok := ids.Open(all[i].Kind, sealed)
		switch {
		case !ok:
			return nil, account, request.NoObject(&all[i])
		case i > 0 && owner != account:
			refused = cmp.Or(refused, fault.ObjectApart(all[i].Path, all[i].Kind))
		}
		account = owner
		o.named = append(o.named, namedID{sealed, raw, all[i].Span})
	}
	return o, account, refused
}

// IDText returns an id in the body.
func (r *Request) IDText(id *translate.ObjectID) []byte {
	return []byte(seal.NameIn(id.Kind, jsonscan.TextOf(r.Body[id.Span.Start:id.Span.End])))
}

// NoObject returns the fault of a request that names an object which the client does not have.
func (r *Request) NoObject(id *translate.ObjectID) *fault.Fault {
	return fault.NoObject(id.Path, id.Kind, string(r.IDText(id)))
}

// OpenObject is OpenObjects for one id of a kind, which is not in a body. raw is the id that the
// provider has.
func OpenObject(ids *seal.IDs, kind, sealed string) (o *Objects, account seal.Account, raw string, ok bool) {
	account, id, ok := ids.Open(kind, []byte(sealed))
	return &Objects{IDs: ids, named: []namedID{{sealed: []byte(sealed), raw: id}}}, account, string(id), ok
}

// Open returns the id that an account has for a sealed one of a kind, and notes both.
func (o *Objects) Open(account seal.Account, kind, sealed string) (raw string, ok bool) {
	owner, id, ok := o.IDs.Open(kind, []byte(sealed))
	if !ok || owner != account {
		return "", false
	}
	o.named = append(o.named, namedID{sealed: []byte(sealed), raw: id})
	return string(id), true
}

// mostFound is the number of ids that Find notes: a batch may have one in each of its requests.
const mostFound = 1000

// Find returns the id that a provider has for a sealed one of a kind, and its account, and notes both.
func (o *Objects) Find(kind string, sealed []byte) (account seal.Account, raw []byte, ok bool) {
	account, raw, ok = o.IDs.Open(kind, sealed)
	if ok && len(o.named) < mostFound {
		o.named = append(o.named, namedID{sealed: bytes.Clone(sealed), raw: raw})
	}
	return account, raw, ok
}

// Edits returns the edits of a body that replace its ids by those of the provider.
func (o *Objects) Edits() (edits []edit.Edit) {
	for i := range o.named {
		if n := &o.named[i]; !n.place.Empty() {
			edits = append(edits, edit.Edit{Span: n.place, With: jsonscan.AppendString(nil, n.raw)})
		}
	}
	return edits
}

// Hide returns a text of the provider with the client's form of each id that the client has named.
func (o *Objects) Hide(text []byte) []byte {
	if o == nil {
		return text
	}
	for i := range o.named {
		sealed, raw := o.named[i].sealed, o.named[i].raw
		text = bytes.ReplaceAll(text, raw, sealed)
		if slash := bytes.LastIndexByte(sealed, '/'); slash >= 0 { // messages show the ids of collections without these
			text = bytes.ReplaceAll(text, raw[bytes.LastIndexByte(raw, '/')+1:], sealed[slash+1:])
		}
	}
	return text
}

// Show returns a text of the client with the provider's form of each id that the client has named.
func (o *Objects) Show(text string) string {
	for i := range o.named {
		text = strings.ReplaceAll(text, string(o.named[i].sealed), string(o.named[i].raw))
	}
	return text
}

// ProviderIDs returns the ids that the client has named, as the provider has them.
func (o *Objects) ProviderIDs() (ids []string) {
	if o == nil {
		return nil
	}
	for i := range o.named {
		ids = append(ids, string(o.named[i].raw))
	}
	return ids
}

// SealsObjects reports whether the client gets sealed ids of what the provider stores. Providers
// that are asked in another format store nothing.
func (a *Attempt) SealsObjects() bool {
	if a.Exchange.Objects == nil || !a.ByteLane() || a.Format.Objects.EditIDs == nil {
		return false
	}
	return a.Object() != nil || a.Traits.SealsFiles() || a.sealsAnswer()
}

// sealsAnswer reports whether the provider stores the answer for the client, unless the client asks it
// not to.
func (a *Attempt) sealsAnswer() bool {
	reach := &a.Exchange.Request.View.Beyond
	return a.Traits.SealsObjects() && (reach.State != "" || reach.Stored || !reach.Unstored && !a.Format.Objects.OnRequest)
}

// SealsKind reports whether the client gets sealed ids of a kind. SealsObjects is true.
func (a *Attempt) SealsKind(kind string) bool {
	switch kind {
	case seal.ResponseID, seal.ConversationID, seal.CompletionID:
		return a.Object() != nil || a.sealsAnswer()
	}
	return a.Object() != nil || format.Seals(kind, a.Traits)
}

// Begins reports whether something depends on what has an id after the answer: the provider may go on to
// generate it, a response or a batch, or it is a file with requests of a batch. The client asks for
// that, and has not named the id itself.
func (a *Attempt) Begins(kind string, id []byte) bool {
	o := a.Object()
	return (a.Exchange.Request.View.Beyond.Background && kind == seal.ResponseID || o != nil && kind == o.creates()) &&
		!slices.ContainsFunc(a.Exchange.Objects.named, func(n namedID) bool { return bytes.Equal(n.raw, id) })
}

// SealID appends the sealed form of an id of a kind that the provider has given. An id that the
// client has named has the form in which the client has it.
func (a *Attempt) SealID(dst []byte, kind string, id []byte) []byte {
	o := a.Exchange.Objects
	for i := range o.named {
		if bytes.Equal(o.named[i].raw, id) {
			return append(dst, o.named[i].sealed...)
		}
	}
	return o.IDs.Append(dst, kind, seal.AccountOf(a.Provider, a.APIKey), id)
}
