// Package modellist reads and caches the lists of models that providers publish.
//
// A list is read on demand only, by one goroutine at a time. It stays in use while the
// provider fails, and across reloads of the configuration. The log never contains
// anything that the provider sent. The length of a list is bounded.
package modellist

import (
	"context"
	"errors"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/modelcard"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// patience is the longest time for which a client waits for lists.
const patience = 3 * time.Second

// Source is the provider of a list.
type Source struct {
	Name   string // in the configuration
	Traits *trait.Traits
	Caller exchange.Caller
	Logger *zap.Logger
	Loaded string // the path of its list of loaded models; "" for none
}

// List is the list of models of one provider. Its methods may be called concurrently.
type List struct {
	Source
	format *format.Descriptor // the format whose endpoint is asked
	cache  *cache
}

// Models returns the list of the last read, sorted by id. It must not be changed.
func (l *List) Models() []modelcard.Card { return l.cache.current() }

// refresh starts a read in a goroutine, unless the list is fresh or a read is running. It
// returns a channel that is closed when the read ends, nil if no read is running.
func (l *List) refresh() <-chan struct{} { return l.cache.refresh(l.read, l.logFailure) }

// logFailure logs why the list cannot be read.
func (l *List) logFailure(err error) {
	if errors.Is(err, errNoList) {
		l.Logger.Info("provider has no list of models", zap.String("provider", l.Name))
		return
	}
	l.Logger.Warn("reading list of models failed; the last one stays in use",
		zap.String("provider", l.Name), zap.String("cause", err.Error()), zap.Int("models", len(l.Models())))
}

// Await refreshes lists, and waits until they are read, ctx is done, or patience is over.
func Await(ctx context.Context, lists ...*List) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var reads []<-chan struct{}
	for _, l := range lists {
		if read := l.refresh(); read != nil {
			reads = append(reads, read)
		}
	}
	for _, read := range reads {
		select {
		case <-read:
		case <-ctx.Done():
			return
		}
	}
}
