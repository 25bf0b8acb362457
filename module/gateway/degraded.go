package gateway

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/events"
)

// The parts of a gateway that may not work while it serves requests. Probes show these texts.
const (
	partStore    = "the store"    // users and keys cannot be changed
	partCounters = "the counters" // of limits: on_error decides about requests
	partCache    = "the cache of answers"
	partLedger   = "the ledger" // requests leave no record, or on_error refuses them
	partRecords  = "the database of the ledger"
)

// mostBehind is the age of a record from which the database of the ledger does not work.
const mostBehind = time.Minute

// errBehind is the reason of partRecords.
var errBehind = errors.New("records wait in the journal, since the database does not take them")

// degraded returns the parts of a site that do not work, with the reasons. The gateway is ready
// all the same: it serves what it can, and an outage that all gateways share must not take all
// of them from a load balancer.
func degraded(h *handler) map[string]error {
	found := make(map[string]error)
	for part, component := range map[string]any{partStore: h.backends.Store, partCounters: h.resolved.limits.Counters(), partCache: h.answers} {
		if known, ok := component.(aigateway.Degradable); ok {
			if err := known.Degraded(); err != nil { // asked once, since an outage may end at any time
				found[part] = err
			}
		}
	}
	if err := h.backends.Book.Problem(); err != nil {
		found[partLedger] = err
	}
	if lagging, ok := h.backends.Store.(accounting.LaggingReader); ok {
		if age, known := lagging.Behind(); known && age > mostBehind {
			found[partRecords] = errBehind
		}
	}
	return found
}

// reportEvery is the time between two looks at the parts that events report.
const reportEvery = time.Second

// reported are the parts of which an event has reported that they do not work. A reload does not
// report them again.
var reported struct {
	mu    sync.Mutex
	parts map[string]bool
}

// reportDegraded emits events about the store, the counters and the cache of all sites until the context
// ends. The ledger has events of its own.
func (a *app) reportDegraded(ctx context.Context) {
	ticker := time.NewTicker(reportEvery)
	defer ticker.Stop()
	for {
		found := make(map[string]error)
		for _, site := range a.sites {
			maps.Copy(found, degraded(site))
		}
		for _, part := range [...]string{partStore, partCounters, partCache} {
			a.report(part, found[part])
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// report emits an event if a part has begun or ceased to work.
func (a *app) report(part string, problem error) {
	reported.mu.Lock()
	defer reported.mu.Unlock()
	switch {
	case reported.parts[part] == (problem != nil):
	case problem == nil:
		delete(reported.parts, part)
		events.Emit(events.Restored, map[string]any{"part": part})
	default:
		if reported.parts == nil {
			reported.parts = make(map[string]bool)
		}
		reported.parts[part] = true
		a.logger.Warn("a part of the gateway does not work", zap.String("part", part), zap.Error(problem))
		events.Emit(events.Degraded, map[string]any{"part": part, "error": problem.Error()})
	}
}
