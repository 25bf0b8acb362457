package transport

import (
	"net/http"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

// maxModelsPage is the largest size of a page of a list of models, in bytes after decoding.
// The longest known list has about 1 MB.
const maxModelsPage = 8 << 20

// models reads a page of the provider's list of models, and stores it in the query. The
// response is always an empty 200, because after an error status reverse_proxy could mark
// the address as down for attempts, too.
func (t *Transport) models(req *http.Request, q *exchange.ModelsQuery) (*http.Response, error) {
	q.Status, q.Page = 0, nil
	credential, err := t.credentials.get(req.Context(), 0, "")
	if err != nil {
		return nil, err
	}
	h := http.Header{
		"Accept":          jsonType,
		"Accept-Encoding": identity,
		"User-Agent":      userAgent,
	}
	setVersion(h, &q.Format.Version, q.Traits)
	request := t.outgoing(req.Context(), http.MethodGet, req, h, credential)
	path, query := q.Format.Provider.Models(t.service.base.EscapedPath(), q.Previous)
	if q.Loaded != "" {
		path, query = strings.TrimSuffix(t.service.base.EscapedPath(), "/v1")+q.Loaded, ""
	}
	setAddress(request, path, query)
	res, err := t.carrier.send(request)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if q.Status = res.StatusCode; q.Status == http.StatusOK {
		page, err := readBody(nil, res, res.Body, maxModelsPage)
		if err == nil && !fault.Leaks(string(page), credential) {
			q.Page = page
		}
	}
	return emptyResponse(http.StatusOK, req), nil
}
