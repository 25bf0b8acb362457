// Package events emits the Caddy events of the gateway, to which the option "events" of
// Caddy binds handlers. Their names begin with "ai_gateway_".
//
// It promises that whoever emits an event never waits for its handlers, that one
// handler runs at a time, and that events go to the handlers of the configuration that
// is in force. It refuses events that nobody observes, and those beyond a bounded
// queue. The data of an event has names of the configuration and numbers, and never a
// credential, a prompt or an answer.
package events

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyevents"
	"go.uber.org/zap"
)

// The events, with their data.
const (
	LedgerBlocked   = "ai_gateway_ledger_blocked"   // the ledger cannot be written: error
	LedgerRecovered = "ai_gateway_ledger_recovered" // it can be written again
	JournalDamaged  = "ai_gateway_journal_damaged"  // bytes of the journal were passed over: path, offset, bytes
	UnpricedModel   = "ai_gateway_unpriced_model"   // once a day for each model: provider, model, upstream_model
	BudgetThreshold = "ai_gateway_budget_threshold" // once in a period: limit, key, percent, period
	Fallback        = "ai_gateway_fallback"         // another provider was asked after a failure: model, from, to, cause
	ProviderDown    = "ai_gateway_provider_down"    // no requests are sent to it for now: provider, model, cause, until
	ProviderUp      = "ai_gateway_provider_up"      // requests are sent to it again: provider, model
)

// mostWaiting bounds the events that wait for handlers.
const mostWaiting = 64

// running are the emitters of configurations that have started and not stopped, the
// newest last.
var running struct {
	mu    sync.Mutex // guards all below
	list  []*Emitter
	early []event // while list is empty, such as before the first configuration has started
}

// Emitter emits the events of one configuration, one after the other.
type Emitter struct {
	ctx   caddy.Context // handlers do not run once it ends
	app   *caddyevents.App
	queue chan event
	end   chan struct{} // closed by Stop
	done  sync.WaitGroup
}

type event struct {
	name string
	data map[string]any
}

// New returns the emitter of a configuration. Events go to its handlers from the moment
// that Caddy has started the configuration, which no app knows of itself, until Stop. It
// is called while a module is provisioned.
//
// Events have no module as their origin: what the context of a module has there, Caddy
// overwrites when it provisions others.
func New(ctx caddy.Context) (*Emitter, error) {
	app, err := ctx.App("events")
	if err != nil {
		return nil, fmt.Errorf("loading events: %w", err)
	}
	e := &Emitter{
		ctx: caddy.Context{Context: ctx.Context}, app: app.(*caddyevents.App),
		queue: make(chan event, mostWaiting), end: make(chan struct{}),
	}
	if err := e.app.On("started", starter{e}); err != nil {
		return nil, fmt.Errorf("subscribing to events: %w", err)
	}
	return e, nil
}

// starter starts an emitter. It is an event handler.
type starter struct{ emitter *Emitter }

// Handle implements caddyevents.Handler.
func (s starter) Handle(context.Context, caddy.Event) error {
	s.emitter.start()
	return nil
}

func (e *Emitter) start() {
	running.mu.Lock()
	defer running.mu.Unlock()
	running.list = append(running.list, e)
	for _, before := range running.early {
		e.add(before)
	}
	running.early = nil
	e.done.Go(e.run)
}

// Emit emits an event, unless nobody observes it. The data must not change afterwards.
// Events from before the first configuration has started wait for it.
// If too many events wait, it is dropped, which the log of the process shows.
func Emit(name string, data map[string]any) {
	running.mu.Lock()
	defer running.mu.Unlock()
	next := event{name, data}
	if last := len(running.list) - 1; last >= 0 {
		running.list[last].add(next)
	} else if len(running.early) < mostWaiting {
		running.early = append(running.early, next)
	}
}

// add adds an event to the queue, unless nobody observes it. The caller holds
// running.mu.
func (e *Emitter) add(next event) {
	if !e.app.ShouldEmit(next.name) {
		return
	}
	select {
	case e.queue <- next:
	default:
		caddy.Log().Named("ai_gateway").Warn("event dropped, as too many wait for their handlers", zap.String("event", next.name))
	}
}

func (e *Emitter) run() {
	for {
		select {
		case next := <-e.queue:
			e.app.Emit(e.ctx, next.name, next.data)
		case <-e.end:
			return
		}
	}
}

// Stop ends the emitter, once the handler that runs has returned. Events that still wait
// are dropped. A nil Emitter has nothing to end.
func (e *Emitter) Stop() {
	if e == nil {
		return
	}
	running.mu.Lock()
	running.list = slices.DeleteFunc(running.list, func(other *Emitter) bool { return other == e })
	running.mu.Unlock()
	close(e.end)
	e.done.Wait()
}

var _ caddyevents.Handler = starter{}
