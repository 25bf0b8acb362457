package failover

import (
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/failover/selection"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/queue"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/metrics"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

// enter returns the function that ends a call of a candidate for the queue of its provider, nil if the
// candidate cannot be asked now. Then the other candidates are tried before the request waits in the queue:
// that of the first provider which was busy.
func (x *run) enter(t *selection.Candidate) (leave func()) {
	p := t.Provider
	if p.Calls.Queue == nil {
		return func() {}
	}
	if t.Waits {
		return x.wait(t)
	}
	if leave = queue.Process.TryEnter(p.QueueName(), p.Calls.MaxRunning, x.site.Queued(x.ex)); leave != nil {
		return leave
	}
	x.passOver(t, exchange.Busy, fault.ProviderBusy(x.ex.Request.View.Model))
	if !slices.ContainsFunc(x.candidates, func(other selection.Candidate) bool { return other.Waits }) {
		last := *t
		last.Waits = true
		x.candidates = append(x.candidates, last)
	}
	return nil
}

// wait waits in the queue of a provider.
func (x *run) wait(t *selection.Candidate) (leave func()) {
	p := t.Provider
	leave, unserved := queue.Process.Enter(x.ctx, p.QueueName(), p.Calls.MaxRunning, p.Calls.Queue, x.site.Queued(x.ex))
	metrics.Queued(p.Name, unserved.Result())
	if unserved != nil && unserved.Reason != queue.Left {
		x.refuse(fault.Crowded(x.ex.Request.View.Model, unserved.Seconds()))
	}
	return leave
}

// askOnce asks a candidate, and then ends its call for the queue of the provider.
func (x *run) askOnce(t *selection.Candidate, c *exchange.Conduit, leave func()) (*selection.Candidate, *exchange.Conduit) {
	defer leave()
	return x.ask(t, c, leave)
}
