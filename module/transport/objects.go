package transport

import (
	"errors"
	"io"
	"maps"
	"net/http"
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/edit"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/objects"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
)

// objectSealer returns the editor that seals the ids of stored objects in an answer, or in an event
// of it. The result gets the id of what the provider generates after the answer.
func objectSealer(a *exchange.Attempt, r *exchange.Result) editor {
	return func(edits []edit.Edit, data []byte) []edit.Edit {
		count := len(edits)
		edits = a.Format.Objects.EditIDs(edits, data, objectNames(a, r))
		if a.Format.Objects.ByMembers && a.Traits.SealsFiles() {
			edits = sealReferences(edits, count, data, a)
		}
		return edits
	}
}

// objectNames returns how the client gets the names of objects in an answer.
func objectNames(a *exchange.Attempt, r *exchange.Result) translate.ObjectNames {
	return translate.ObjectNames{Base: a.Exchange.Objects.Base, ID: func(dst []byte, kind string, id []byte) []byte {
		if r.Head.Object == "" && a.Begins(kind, id) {
			r.Head.Object = seal.NameIn(kind, string(id))
		}
		if !a.SealsKind(kind) {
			return append(dst, id...)
		}
		return a.SealID(dst, kind, id)
	}}
}

// sealReferences appends the edits that seal the ids of files, and of what has files, to which an answer
// refers, such as a container in which the provider has run code. The edits of the answer begin at an
// index, and are in the order of the answer afterwards.
func sealReferences(edits []edit.Edit, first int, data []byte, a *exchange.Attempt) []edit.Edit {
	found, err := objects.References(data, func(kind string) bool { return format.Seals(kind, a.Traits) })
	if err != nil { // such as [DONE]
		return edits
	}
	for i := range found {
		place := found[i].Span
		id := jsonscan.DecodedOf(data[place.Start:place.End])
		edited := slices.ContainsFunc(edits[first:], func(e edit.Edit) bool { return e.Span == place })
		if len(id) > 0 && !edited {
			edits = append(edits, edit.Edit{Span: place, With: jsonscan.AppendString(nil, a.SealID(nil, found[i].Kind, id))})
		}
	}
	slices.SortFunc(edits[first:], func(a, b edit.Edit) int { return a.Start - b.Start })
	return edits
}

// objectAnswer returns a whole answer about a stored object, which is JSON of any kind, with sealed
// ids. The result gets the end of an object that was generated in the background.
func objectAnswer(a *exchange.Attempt, body []byte, r *exchange.Result) jsonAnswer {
	c := jsonscan.New(body)
	c.Skip()
	switch err := c.Finish(); {
	case len(body) == 0 && a.Object().MayBeEmpty:
		return jsonAnswer{}
	case err != nil:
		return jsonAnswer{fault: fault.Unusable(err)}
	case a.Exchange.Request.Streaming():
		return jsonAnswer{fault: fault.Unusable(errNoStream)}
	}
	r.Head.Ended = endOf(a, body)
	return jsonAnswer{body: sealed(body, objectSealer(a, r)(nil, body), a.Exchange.Objects)}
}

// sealed returns an answer with its edits, and with the client's form of the ids that the client has
// named in all other places, such as the ids of messages, which begin with that of their completion. A
// sealed id may begin like that of the provider, so the edits themselves are not searched.
func sealed(body []byte, edits []edit.Edit, named *exchange.Objects) (hidden []byte) {
	rest := 0
	for _, e := range edits {
		hidden = append(append(hidden, named.Hide(body[rest:e.Span.Start])...), e.With...)
		rest = e.Span.End
	}
	return append(hidden, named.Hide(body[rest:])...)
}

// endOf returns the end of an object that an answer is, nil if it is another answer, or the object
// is generated yet.
func endOf(a *exchange.Attempt, body []byte) *exchange.Ended {
	read := a.Format.Objects.Ended
	if read == nil {
		return nil
	}
	end := read(body)
	if !end.Ended {
		return nil
	}
	if receive := a.Object().Line; receive != nil {
		for _, line := range end.Answers {
			receive(line)
		}
	}
	answer, reason := a.Format.Answers.Inspect(body, translate.Generate)
	if !end.Failed {
		reason = nil
	}
	return &exchange.Ended{Usage: answer.Usage, Model: answer.Model, Failed: reason, Results: end.Results, Answered: end.Answered, Unanswered: end.Unanswered}
}

var errNoStream = errors.New("the answer is no stream")

// setObject makes a request one about a stored object.
func (c *call) setObject(r *http.Request, o *exchange.ObjectCall) {
	r.Method, r.URL.RawQuery = o.Method, joined(r.URL.RawQuery, o.Query)
	maps.Copy(r.Header, o.Header)
	switch {
	case o.Upload != nil && o.Upload.Length() != 0:
		r.Body, r.GetBody, r.ContentLength = &upload{io.NopCloser(o.Upload), &c.life.watch}, nil, o.Upload.Length()
		r.Header["Content-Type"] = []string{o.Upload.ContentType()}
	case r.ContentLength == 0:
		r.Body, r.GetBody = http.NoBody, nil // net/http would send the length of another body in chunks
		delete(r.Header, "Content-Type")
	}
}

// uploads reports whether the body of the request is one that the client is yet to send, so that it
// cannot be sent twice.
func (c *call) uploads() bool {
	o := c.attempt.Object()
	return o != nil && o.Upload != nil
}

// joined returns two parts of a query as one.
func joined(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "&" + b
}

// sealedContinuation seals the ids in the events that the gateway adds to a stream: they repeat
// those of the provider's events.
type sealedContinuation struct {
	format.Continuation
	objects editor
}

// AppendFailure implements format.Continuation.
func (s sealedContinuation) AppendFailure(dst []byte, ids translate.IDs, f *fault.Fault) []byte {
	raw := s.Continuation.AppendFailure(nil, ids, f)
	lexer := sse.NewLexer(len(raw))
	lexer.Feed(raw)
	var edits []edit.Edit
	for event, ok := lexer.Next(); ok; event, ok = lexer.Next() {
		edits = placed(edits, s.objects, event, raw[event.Start:event.End], int(event.Start))
	}
	return edit.Apply(dst, raw, edits)
}

// placed appends the edits of an event by an editor. raw are the bytes of the event, which begin at
// an offset of the bytes that are edited.
func placed(edits []edit.Edit, change editor, event sse.Event, raw []byte, offset int) []edit.Edit {
	count := len(edits)
	edits = change(edits, event.Data)
	for i := range edits[count:] {
		e := &edits[count+i]
		e.Start, e.End = offset+event.Locate(raw, e.Start), offset+event.Locate(raw, e.End)
	}
	return edits
}
