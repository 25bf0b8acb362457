package transport

import (
	"net/http"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

// maxModelsPage is the most that is read of one page of a list of models, in
// bytes after decoding. The longest list that is known has about 1 MB.
const maxModelsPage = 8 << 20

// models asks the provider for a page of its list of models and leaves it in the
// query. Whatever the status, the response is an empty 200: reverse_proxy would
// mark the address as down for attempts, too.
func (t *Transport) models(req *http.Request, q *exchange.ModelsQuery) (*http.Response, error) {
	q.Status, q.Page = 0, nil
	res, err := t.carry(t.modelsRequest(req, q))
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	q.Status = res.StatusCode
	if q.Status == http.StatusOK {
		q.Page = t.modelsPage(res)
	}
	return &http.Response{
		StatusCode: http.StatusOK, Proto: res.Proto, ProtoMajor: res.ProtoMajor, ProtoMinor: res.ProtoMinor,
		Header: make(http.Header), Body: http.NoBody, Request: req,
	}, nil
}

// modelsPage reads a page to its end. It returns nil if the page cannot be read,
// or repeats the credential, which clients would see.
func (t *Transport) modelsPage(res *http.Response) []byte {
	page, err := readBody(res, res.Body, maxModelsPage)
	if err != nil || fault.Leaks(string(page), t.credential(0)) {
		return nil
	}
	return page
}

// modelsRequest builds the request to the provider; see render for proxied.
func (t *Transport) modelsRequest(proxied *http.Request, q *exchange.ModelsQuery) *http.Request {
	target := t.target(proxied)
	target.Path, target.RawQuery = q.Format.Provider.Models(t.base.Path, q.After)
	h := http.Header{
		"Accept":          acceptJSON,
		"Accept-Encoding": {"identity"},
		"User-Agent":      userAgent,
	}
	setVersion(h, &q.Format.Version, q.Traits)
	t.complete(h, proxied.Header, t.credential(0))
	out := &http.Request{
		Method: http.MethodGet, URL: target, Host: t.host(proxied.Host, target.Host),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: h, Body: http.NoBody,
	}
	return out.WithContext(proxied.Context())
}
