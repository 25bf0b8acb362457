package transport

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/edit"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
)

// objectSealer returns the editor that seals the ids of stored objects in an answer, or in an event
// of it.
func objectSealer(a *exchange.Attempt) editor {
	return func(edits []edit.Edit, data []byte) []edit.Edit {
		return a.Format.Objects.EditIDs(edits, data, a.SealID)
	}
}

// object makes the request of a query about a stored object, and stores the answer in the query. The
// response is always an empty 200, as that of models is.
func (t *Transport) object(req *http.Request, q *exchange.ObjectQuery) (*http.Response, error) {
	q.Body, q.Result = nil, exchange.Result{}
	if err := t.askObject(req, q); err != nil {
		q.Result.Fail(callFault(err))
		return nil, err
	}
	return emptyResponse(http.StatusOK, req), nil
}

func (t *Transport) askObject(req *http.Request, q *exchange.ObjectQuery) error {
	a := q.Attempt
	credential, err := t.authorize(req.Context(), a.APIKey, "")
	if err != nil {
		return err
	}
	call, err := t.address(a)
	if err != nil {
		return err
	}
	h, path, query := t.addressed(a, call)
	delete(h, "Content-Type") // there is no body
	out := t.outgoing(req.Context(), q.Method, req, h, credential)
	setAddress(out, path+q.Path, joined(query, q.Query))
	res, err := t.carry(out)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	r := result{&q.Result, t.redactor(a, req)}
	body, err := readBody(nil, res, res.Body, maxAnswer)
	switch {
	case err != nil:
		return fmt.Errorf("reading answer: %w", err)
	case res.StatusCode != http.StatusOK:
		body = a.Exchange.Objects.Hide(body)
		refusal := fault.Read(res.StatusCode, res.Header.Get("Content-Type"), body)
		if a.Format.Errors.Relayable(res.StatusCode, body) {
			r.noteErrorAnswer(res, body, refusal, a)
		}
		r.noteError(refusal)
	case !exchange.IsJSON(res.Header.Get("Content-Type")):
		r.Fail(r.hide.typed(res, fault.Unusable(errNoObject)))
	default:
		q.Body = edit.Apply(nil, body, objectSealer(a)(nil, body))
	}
	return nil
}

var errNoObject = errors.New("the answer is no object")

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
func placed(edits []edit.Edit, by editor, event sse.Event, raw []byte, offset int) []edit.Edit {
	before := len(edits)
	edits = by(edits, event.Data)
	for i := range edits[before:] {
		e := &edits[before+i]
		e.Start, e.End = offset+event.Locate(raw, e.Start), offset+event.Locate(raw, e.End)
	}
	return edits
}
