package gateway

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// The bounds of a provider's list of models.
const (
	listTimeout  = 10 * time.Second // for all of its pages
	maxListPages = 32
	maxListed    = 10000 // models; those beyond are left out
)

// models returns the models that p is known to serve, sorted by id: those of its
// own list, else those of its preset.
func (p *provider) models() []translate.Model {
	if p.list == nil {
		return p.known
	}
	return p.list.current()
}

// refreshModels has the list of p read again if it is old; see modelList.
func (p *provider) refreshModels() <-chan struct{} {
	if p.list == nil {
		return nil
	}
	return p.list.refresh(p.readModels, p.logModels)
}

// logModels logs the first of several failures to read the list.
func (p *provider) logModels(err error) {
	if errors.Is(err, errNoList) {
		p.logger.Info("provider has no list of models", zap.String("provider", p.name))
		return
	}
	p.logger.Warn("list of models cannot be read; the last one still counts",
		zap.String("provider", p.name), zap.String("cause", err.Error()), zap.Int("models", len(p.models())))
}

// readModels asks p for its list, page by page. The text of an error has nothing
// of the provider's: it is logged.
func (p *provider) readModels() ([]translate.Model, error) {
	ctx, cancel := context.WithTimeout(context.Background(), listTimeout)
	defer cancel()
	var models []translate.Model
	after := ""
	for range maxListPages {
		page, next, err := p.readPage(ctx, after)
		if err != nil {
			return nil, err
		}
		models = append(models, page...)
		if next == "" || next == after || len(models) >= maxListed {
			break
		}
		after = next
	}
	return sortModels(models[:min(len(models), maxListed)]), nil
}

// The causes of lists that cannot be read.
var (
	errListTimeout     = errors.New("no answer in time")
	errListUnreachable = errors.New("the provider cannot be reached")
)

// readPage asks for the page after an id, and returns the id after which the
// next one begins.
func (p *provider) readPage(ctx context.Context, after string) (page []translate.Model, next string, err error) {
	answer, err := p.callForModels(ctx, after)
	switch {
	case errors.Is(err, exchange.ErrModelsUnreadable):
		return nil, "", exchange.ErrModelsUnreadable
	case err != nil && ctx.Err() != nil:
		return nil, "", errListTimeout
	case err != nil:
		return nil, "", errListUnreachable
	}
	switch answer.status {
	case http.StatusOK:
	case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented:
		return nil, "", errNoList
	default:
		return nil, "", fmt.Errorf("status %d", answer.status)
	}
	if page, next, err = translate.ReadModels(answer.body.Bytes()); err != nil {
		return nil, "", translate.ErrNoModelList
	}
	return page, next, nil
}

// callForModels calls the provider on its usual way. Nothing of a client goes
// with it: the answer is for all of them. reverse_proxy ends some calls by a
// panic, which only the server of a client would catch.
func (p *provider) callForModels(ctx context.Context, after string) (answer *listAnswer, err error) {
	defer func() {
		if broken := recover(); broken != nil {
			err = errListUnreachable
		}
	}()
	ctx = exchange.WithModelsQuery(ctx, &exchange.ModelsQuery{Format: p.formats[0], After: after})
	r := &http.Request{
		Method: http.MethodGet, URL: new(url.URL), Header: make(http.Header),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, RemoteAddr: "127.0.0.1:0",
	}
	answer = &listAnswer{header: make(http.Header)}
	p.call.Call(answer, caddyhttp.PrepareRequest(r.WithContext(ctx), caddy.NewReplacer(), nil, new(caddyhttp.Server)))
	return answer, answer.err
}

// listAnswer receives a page of a list of models, which the transport bounds.
type listAnswer struct {
	header http.Header
	status int
	body   bytes.Buffer
	err    error
}

// Header returns the header map, which nobody reads.
func (a *listAnswer) Header() http.Header { return a.header }

// WriteHeader keeps the final status.
func (a *listAnswer) WriteHeader(status int) {
	if status >= 200 {
		a.status = status
	}
}

// Write keeps a piece of the page.
func (a *listAnswer) Write(p []byte) (int, error) { return a.body.Write(p) }

// FlushError does nothing: the page is read as a whole.
func (a *listAnswer) FlushError() error { return nil }

func (a *listAnswer) note(err error) { a.err = err }

var _ receiver = (*listAnswer)(nil)
