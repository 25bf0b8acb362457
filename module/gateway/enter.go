package gateway

import (
	"net/http"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/request"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/queue"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/metrics"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

// entrance is the name of the queue of the gateway. Providers have longer ones.
const entrance = ""

// enter lets an exchange run, within max_running. With a queue, it waits for its turn. leave must be called
// when the exchange has ended. If leave is nil, the exchange may not run: refused is the reason, nil if the
// client has left.
func enter(h *handler, answer *reply.Reply, r *http.Request) (leave func(), refused *fault.Fault) {
	switch {
	case h.config.MaxRunning == 0:
		return func() {}, nil
	case h.config.Queue == nil && h.drain.Running() > h.config.MaxRunning:
		return nil, fault.GatewayBusy()
	case h.config.Queue == nil:
		return func() {}, nil
	}
	queued := h.resolved.queued(answer.Exchange)
	if leave = queue.Process.TryEnter(entrance, h.config.MaxRunning, queued); leave != nil {
		return leave, nil
	}
	release, refused := request.ReadAhead(r)
	if refused != nil {
		return nil, refused
	}
	defer release()
	ctx, cancel := h.drain.Bind(r.Context(), 0)
	defer cancel()
	leave, unserved := queue.Process.Enter(ctx, entrance, h.config.MaxRunning, h.config.Queue, queued)
	metrics.Queued("", unserved.Result())
	switch {
	case unserved == nil:
		return leave, nil
	case unserved.Reason != queue.Left:
		return nil, fault.Crowded("", unserved.Seconds())
	case answer.Abandon(r.Context()):
		return nil, nil
	}
	return nil, fault.ShuttingDown()
}

// queuedOf returns the function that describes the exchanges of a site to queues.
func queuedOf(h *handler) func(*exchange.Exchange) queue.Request {
	return func(ex *exchange.Exchange) queue.Request { return h.resolved.queued(ex) }
}

// queued describes an exchange to queues. The keys of a team, or else of a user, share their turns. Copies
// for mirrors come last.
func (r *resolved) queued(ex *exchange.Exchange) queue.Request {
	q := queue.Request{Tenant: "key " + ex.Tenant(), Priority: r.limits.Priority(ex.Key)}
	switch {
	case ex.Key.Team != nil:
		q.Tenant = "team " + ex.Key.Team.Name
	case ex.Key.ID == accounting.MirrorKey:
		q.Priority = queue.Low
	}
	return q
}
