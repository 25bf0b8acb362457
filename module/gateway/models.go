package gateway

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/observe"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/sink"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// The page sizes of the messages-shaped list of models.
const (
	standardPage = 20
	largestPage  = 1000
)

// longestModel bounds the names of models, in bytes: no request may name one
// that is longer.
const longestModel = 256

// serveModels lists the names that the key may use, sorted.
func (h *Handler) serveModels(s *sink.Sink, r *http.Request) *translate.Fault {
	ids := h.visible(s.Exchange().Key, r)
	more := false
	if s.Exchange().Format == translate.Messages {
		var fault *translate.Fault
		if ids, more, fault = page(ids, r); fault != nil {
			return fault
		}
	}
	models := make([]translate.Model, len(ids))
	for i, id := range ids {
		models[i] = h.resolved.describeModel(id)
	}
	s.WriteJSON(translate.AppendModelList(nil, s.Exchange().Format, models, more))
	return nil
}

// serveModel shows one of these names. A name that only a pattern serves is
// shown too: it can be used.
func (h *Handler) serveModel(s *sink.Sink, r *http.Request) *translate.Fault {
	id := strings.TrimPrefix(r.URL.Path, modelsPrefix)
	s.Exchange().View.Model = id
	m := h.resolved.model(id)
	if len(id) > longestModel || m == nil || !s.Exchange().Key.Allows(id) {
		return translate.UnknownModel(observe.Clip(id))
	}
	awaitModels(r.Context(), m.targets[0].provider)
	s.WriteJSON(translate.AppendModel(nil, s.Exchange().Format, h.resolved.describeModel(id)))
	return nil
}

// visible lists the names that a key may use, sorted.
func (h *Handler) visible(key *aigateway.Key, r *http.Request) []string {
	awaitModels(r.Context(), h.resolved.providers...)
	return slices.DeleteFunc(h.resolved.names(), func(name string) bool { return !key.Allows(name) })
}

// page cuts the page that the query asks for out of the sorted ids.
func page(ids []string, r *http.Request) (cut []string, more bool, fault *translate.Fault) {
	q := r.URL.Query()
	limit := standardPage
	if q.Has("limit") {
		n, err := strconv.Atoi(q.Get("limit"))
		if err != nil || n < 1 || n > largestPage {
			return nil, false, translate.InvalidField("limit", "must be an integer from 1 to 1000")
		}
		limit = n
	}
	if before := q.Get("before_id"); before != "" {
		i, _ := slices.BinarySearch(ids, before)
		start := max(0, i-limit)
		return ids[start:i], start > 0, nil
	}
	if after := q.Get("after_id"); after != "" {
		i, found := slices.BinarySearch(ids, after)
		if found {
			i++
		}
		ids = ids[i:]
	}
	if len(ids) > limit {
		return ids[:limit], true, nil
	}
	return ids, false, nil
}
