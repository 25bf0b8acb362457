package pass

import (
	"bytes"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/request"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/observe"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/edit"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/objects"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/passthrough"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
)

// SealedIDs are the ids that a client has of objects at an account of a provider.
type SealedIDs struct {
	Objects *exchange.Objects // of the client
	Account seal.Account
}

// Open returns a request and its path, that below the prefix with escapes, with the ids of the provider in place
// of the sealed ones. The endpoint is nil for a request that is not about objects. The body is read up to a limit
// in bytes, unless it is a file. An id that another client has, one that was changed and one of the provider get
// the same answer, so that nobody learns which objects exist.
func (s SealedIDs) Open(r *http.Request, path string, endpoint *objects.Endpoint, limit int64) (*http.Request, string, *fault.Fault) {
	if endpoint != nil {
		var unknown string
		if path, unknown = endpoint.Replace(path, s.inPath); unknown != "" {
			return r, path, noObject(objects.KindOf(unknown), unknown)
		}
	}
	query, refused := s.query(r.URL.RawQuery)
	if refused == nil {
		r = r.Clone(r.Context())
		r.URL.RawQuery = query
		if r.ContentLength != 0 && (endpoint == nil || !endpoint.Uploads || !request.HasForm(r.Header)) {
			refused = s.body(r, limit)
		}
	}
	return r, path, refused
}

// inPath returns the id of the provider for a sealed one of some kinds.
func (s SealedIDs) inPath(id string, kinds []string) (raw string, ok bool) {
	for _, kind := range kinds {
		if raw, ok = s.Objects.Open(s.Account, kind, id); ok {
			return raw, true
		}
	}
	return "", false
}

// query opens the ids among the values of a query, such as those of the object before a page.
func (s SealedIDs) query(raw string) (string, *fault.Fault) {
	parameters := strings.Split(raw, "&")
	for i, parameter := range parameters {
		name, value, _ := strings.Cut(parameter, "=")
		if plain, err := url.QueryUnescape(name); err != nil || objects.IsWebhook(plain) {
			return "", fault.Webhook(observe.Clip(name))
		}
		text, err := url.QueryUnescape(value)
		if kind := objects.KindOf(text); err == nil && kind != "" {
			id, ok := s.Objects.Open(s.Account, kind, text)
			if !ok {
				return "", noObject(kind, text)
			}
			parameters[i] = name + "=" + url.QueryEscape(id)
		}
	}
	return strings.Join(parameters, "&"), nil
}

// body opens the ids in the body of a request, which then is the body without a content coding.
func (s SealedIDs) body(r *http.Request, limit int64) *fault.Fault {
	body, refused := request.Whole(r, limit)
	if refused == nil && len(body) > 0 {
		if passthrough.IsForm(body) && request.HasForm(r.Header) {
			refused = checkForm(body)
		} else {
			body, refused = s.document(body)
		}
	}
	r.Header.Del("Content-Encoding")
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return refused
}

// document returns a JSON body with the ids of the provider.
func (s SealedIDs) document(body []byte) ([]byte, *fault.Fault) {
	ids, err := objects.IDs(body)
	if err != nil {
		return nil, fault.Malformed(0, err)
	}
	if member := objects.Webhook(body); member != "" {
		return nil, fault.Webhook(observe.Clip(member))
	}
	var edits []edit.Edit
	for i := range ids {
		text := jsonscan.TextOf(body[ids[i].Span.Start:ids[i].Span.End])
		id, ok := s.Objects.Open(s.Account, ids[i].Kind, text)
		if !ok {
			return nil, fault.NoObject(ids[i].Path, ids[i].Kind, observe.Clip(text))
		}
		edits = append(edits, edit.Edit{Span: ids[i].Span, With: jsonscan.AppendString(nil, id)})
	}
	return edit.Apply(nil, body, edits), nil
}

// checkForm refuses a form that refers to objects, whose ids are opened in JSON alone.
func checkForm(form []byte) *fault.Fault {
	names, broken := passthrough.Fields(form)
	if broken != "" {
		return fault.FormBroken(broken)
	}
	for _, name := range names {
		if objects.IsWebhook(name) {
			return fault.Webhook(observe.Clip(name))
		}
		if objects.IsReference(name) {
			return fault.InvalidField(name, "must be sent in a JSON body: ids in forms are not known to be the client's")
		}
	}
	return nil
}

func noObject(kind, id string) *fault.Fault { return fault.NoObject("", kind, observe.Clip(id)) }
