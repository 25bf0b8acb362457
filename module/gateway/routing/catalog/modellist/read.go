package modellist

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/modelcard"
)

// The bounds of a provider's list of models.
const (
	listTimeout  = 10 * time.Second // for all of its pages
	maxListPages = 32
	maxListed    = 10000 // models; further ones are left out
)

// read reads the list, page by page. Its errors are logged, so they contain nothing that
// the provider sent.
//
// The timeout cancels the calls instead of setting a deadline: reverse_proxy counts an
// exceeded deadline as a failure of the provider's address, but not a cancelled call.
func (l *List) read() ([]modelcard.Card, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	defer time.AfterFunc(listTimeout, cancel).Stop()
	var models []modelcard.Card
	last := ""
	for range maxListPages {
		page, next, err := l.readPage(ctx, &exchange.ModelsQuery{Previous: last})
		if err != nil {
			return nil, err
		}
		models = append(models, page...)
		if next == "" || next == last || len(models) >= maxListed {
			break
		}
		last = next
	}
	models = sortByID(models[:min(len(models), maxListed)])
	if l.Loaded != "" {
		l.addContexts(ctx, models)
	}
	return models, nil
}

// addContexts adds the contexts with which the provider has loaded models. That of a model that is not
// loaded any more is the one that it had before. Without an answer, they stay unknown.
func (l *List) addContexts(ctx context.Context, models []modelcard.Card) {
	loaded, _, err := l.readPage(ctx, &exchange.ModelsQuery{Loaded: l.Loaded})
	if err == nil {
		loaded = sortByID(loaded)
	}
	for i := range models {
		m := &models[i]
		m.ContextTokens = cmp.Or(Find(loaded, m.ID).ContextTokens, Find(l.Models(), m.ID).ContextTokens, m.ContextTokens)
	}
}

// The errors of lists that cannot be read.
var (
	errListTimeout     = errors.New("no answer in time")
	errListUnreachable = errors.New("the provider cannot be reached")
	errListUnreadable  = errors.New("the answer cannot be read")
)

// readPage reads the page that a query asks for. next is the id after which the next page begins, ""
// if there is none.
func (l *List) readPage(ctx context.Context, q *exchange.ModelsQuery) (page []modelcard.Card, next string, err error) {
	q.Format, q.Traits = l.format, l.Traits
	l.query(exchange.WithModelsQuery(ctx, q))
	switch {
	case q.Page != nil:
		if page, next, err = modelcard.Read(q.Page); err != nil {
			err = modelcard.ErrNoList
		}
		return page, next, err
	case ctx.Err() != nil:
		return nil, "", errListTimeout
	case q.Status == 0:
		return nil, "", errListUnreachable
	case q.Status == http.StatusOK:
		return nil, "", errListUnreadable
	case slices.Contains(noListStatuses, q.Status):
		return nil, "", errNoList
	}
	return nil, "", fmt.Errorf("status %d", q.Status)
}

// noListStatuses are the statuses with which providers without a list of models answer.
var noListStatuses = []int{http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented}

// query calls the provider with the query in ctx, which gets the result. The request
// contains nothing of a client, because all clients share the list. query recovers from
// panics of presets that answer in-process, because no http.Server does so here.
func (l *List) query(ctx context.Context) {
	defer func() { _ = recover() }()
	l.Caller.Query(ctx)
}
