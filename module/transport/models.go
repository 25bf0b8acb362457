package transport

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// maxModelsPage is the most that is read of one page of a list of models, in
// bytes after decoding. The longest list that is known has about 1 MB.
const maxModelsPage = 8 << 20

// models asks the provider for a page of its list of models. The response has
// the status and, where that is 200, the whole page, decoded; no header and no
// other body of the provider's is handed on. A page that repeats the credential
// is not either.
func (t *Transport) models(req *http.Request, q *exchange.ModelsQuery) (*http.Response, error) {
	res, err := t.inner.RoundTrip(t.modelsRequest(req, q))
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	out := &http.Response{
		StatusCode: res.StatusCode, Proto: res.Proto, ProtoMajor: res.ProtoMajor, ProtoMinor: res.ProtoMinor,
		Header: make(http.Header), Body: http.NoBody, Request: req,
	}
	if res.StatusCode != http.StatusOK {
		return out, nil
	}
	page, err := readBody(res, res.Body, maxModelsPage)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", exchange.ErrModelsUnreadable, err)
	}
	if translate.Reveals(string(page), t.credential()) {
		return nil, exchange.ErrModelsUnreadable
	}
	out.Body, out.ContentLength = io.NopCloser(bytes.NewReader(page)), int64(len(page))
	return out, nil
}

// modelsRequest builds the request to the provider; see render for proxied.
func (t *Transport) modelsRequest(proxied *http.Request, q *exchange.ModelsQuery) *http.Request {
	target := t.target(proxied, versioned(t.base.Path, q.Format)+"/models")
	h := http.Header{
		"Accept":          acceptJSON,
		"Accept-Encoding": {"identity"},
		"User-Agent":      {""}, // an empty one is not sent at all
	}
	if q.Format == translate.Messages {
		target.RawQuery = modelsPage(q.After)
		h["Anthropic-Version"] = []string{t.standard.Version()}
	}
	t.complete(h, proxied.Header)
	out := &http.Request{
		Method: http.MethodGet, URL: target, Host: t.host(proxied.Host, target.Host),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: h, Body: http.NoBody,
	}
	return out.WithContext(proxied.Context())
}

// modelsPage is the query for the largest page that begins after an id.
func modelsPage(after string) string {
	query := url.Values{"limit": {"1000"}}
	if after != "" {
		query.Set("after_id", after)
	}
	return query.Encode()
}
