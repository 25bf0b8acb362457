// Package events emits the Caddy events of the gateway. Caddy's option "events" binds
// handlers to them. Their names begin with "ai_gateway_".
//
// It promises that Emit never waits for handlers, that one handler runs at a time, and
// that events go to the handlers of the running configuration. It drops events without
// handlers, and events that exceed a bounded queue. The data of an event contains names
// of the configuration and numbers, and never a credential, a prompt or an answer.
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
	LedgerRecovered = "ai_gateway_ledger_recovered" // the ledger can be written again
	JournalDamaged  = "ai_gateway_journal_damaged"  // bytes of the journal were skipped: path, offset, bytes
	UnpricedModel   = "ai_gateway_unpriced_model"   // a model has no price, once a day for each: provider, model, upstream_model, refusal
	ModelEnds       = "ai_gateway_model_ends"       // a service ends a model that is in use, or that a target names, within 60 days, once a day for each: provider, model, ends, successor, changes
	BudgetThreshold = "ai_gateway_budget_threshold" // a budget has reached 50, 80 or 100 %, each once in a period: limit, per, subject, percent, budget, renews
	KeyExpires      = "ai_gateway_key_expires"      // a key that is in use expires within a week, once a day: key, owner, expires
	LedgerBehind    = "ai_gateway_ledger_behind"    // records wait in the journal, since the database does not take them: error
	LedgerCaughtUp  = "ai_gateway_ledger_caught_up" // the database takes records again
	Degraded        = "ai_gateway_degraded"         // a part does not work, which requests may need: part, error
	Restored        = "ai_gateway_restored"         // the part works again: part
	Fallback        = "ai_gateway_fallback"         // another provider was called after a failure: model, from, to, cause
	ProviderDown    = "ai_gateway_provider_down"    // a target rests after failures: provider, model, cause, until
	ToolChanged     = "ai_gateway_mcp_tool_changed" // an MCP server has changed the definition of a tool: server, tool, pin, digest
	SpendReport     = "ai_gateway_spend_report"     // a day, week or month with calls has ended, and once at the start for the latest one: period, from, to, zone, ledger, totals, limit, user, key, model, provider
	ProviderUp      = "ai_gateway_provider_up"      // a target is available again: provider, model
)

// mostWaiting bounds the events that wait for handlers.
const mostWaiting = 64

// running are the emitters of the configurations that have started but not stopped, the
// newest last.
var running struct {
	mu    sync.Mutex // guards all below
	list  []*Emitter
	early []event // emitted while list is empty, such as before the first configuration starts
}

// Emitter emits the events of one configuration, one after the other.
type Emitter struct {
	ctx   caddy.Context // handlers do not run once it ends
	app   *caddyevents.App
	queue chan event
	begun chan struct{}  // closed by start
	end   chan struct{}  // closed by Stop
	done  sync.WaitGroup // waits for run
}

type event struct {
	name string
	data map[string]any
}

// New returns the emitter of a configuration. Call it while provisioning a module. The
// handlers of the configuration get events from its start until Stop. New subscribes to
// Caddy's event "started", because an app has no other way to learn that all apps of
// the configuration have started.
//
// The events have no module as their origin. The context of a module cannot be used:
// Caddy changes its origin when it provisions other modules.
func New(ctx caddy.Context) (*Emitter, error) {
	app, err := ctx.App("events")
	if err != nil {
		return nil, fmt.Errorf("loading events: %w", err)
	}
	e := &Emitter{
		ctx: caddy.Context{Context: ctx.Context}, app: app.(*caddyevents.App),
		queue: make(chan event, mostWaiting), begun: make(chan struct{}), end: make(chan struct{}),
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
	for _, early := range running.early {
		e.add(early)
	}
	running.early = nil
	e.done.Go(e.run)
	close(e.begun)
}

// Emit emits an event, unless no handler is bound to it, and keeps it for Past. The data must
// not change afterwards. Events that are emitted before the first configuration starts wait for
// its start. If too many events wait, Emit drops the event and logs a warning.
func Emit(name string, data map[string]any) {
	keep(name, data)
	running.mu.Lock()
	defer running.mu.Unlock()
	next := event{name, data}
	if last := len(running.list) - 1; last >= 0 {
		running.list[last].add(next)
	} else if len(running.early) < mostWaiting {
		running.early = append(running.early, next)
	}
}

// add adds an event to the queue, unless no handler is bound to it. The caller holds
// running.mu.
func (e *Emitter) add(next event) {
	if !e.app.ShouldEmit(next.name) {
		return
	}
	select {
	case e.queue <- next:
	default:
		caddy.Log().Named("ai_gateway").Warn("dropping event: too many events wait for their handlers", zap.String("event", next.name))
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

// Begun returns a channel that is closed when the handlers of the configuration get events.
func (e *Emitter) Begun() <-chan struct{} { return e.begun }

// Handles reports whether handlers of the configuration are bound to an event. Before Begun, the app of
// events may not have bound them yet: Caddy starts apps in an arbitrary order.
func (e *Emitter) Handles(name string) bool { return e.app.ShouldEmit(name) }

// Handlers returns the handlers that the configuration binds to an event, or to all events.
func (e *Emitter) Handlers(name string) (all []caddyevents.Handler) {
	for _, s := range e.app.Subscriptions {
		if len(s.Events) == 0 || slices.Contains(s.Events, "") || slices.Contains(s.Events, name) {
			all = append(all, s.Handlers...)
		}
	}
	return all
}

// Stop stops the emitter, and waits until a running handler has returned. It drops the
// events that still wait. On a nil Emitter, Stop does nothing.
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
