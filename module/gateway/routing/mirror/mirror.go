// Package mirror sends copies of requests to the mirrors of their models, and discards the answers.
//
// The exchange of a client never waits for its copy, and does not fail with it. A copy has its own
// record, under accounting.MirrorKey: it is in no limit and no budget. At most mostRunning copies run at
// once in the process; further ones are dropped. Requests that refer to what a provider stores, or that
// make it store something, are not copied, nor are those that may use further models. At the end of the
// process, running copies are cancelled.
package mirror

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"runtime/debug"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/backends"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/drain"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/limits"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/meter"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/reply/sink"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/catalog"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/failover"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/metrics"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// The bounds of copies.
const (
	mostRunning   = 32               // in the process
	largestBody   = 4 << 20          // of a request, in bytes, which a copy keeps in memory
	largestAnswer = 32 << 20         // in bytes, behind which the call is cancelled
	longest       = 10 * time.Minute // for one copy, unless the site has a deadline
)

// dropped is the outcome in metrics of a copy that was not sent, because of its size, of too many others,
// or of a pause that the provider wants.
const dropped = "dropped"

// running ends the copies of the process at its end. The drain of clients would wait for them.
var running = drain.New()

func init() { caddy.OnExit(running.Wait) }

// Sender sends the copies of a site.
type Sender struct {
	providers failover.Site
	book      *backends.Book
	catalog   *catalog.Catalog
	calls     limits.Calls
	logger    *zap.Logger
}

// New returns the sender of a site, whose clients' requests go to providers. calls are the limits of providers.
func New(providers failover.Site, book *backends.Book, c *catalog.Catalog, calls limits.Calls) *Sender {
	providers.Drain, providers.DisableRetry = running, true
	providers.Deadline = cmp.Or(providers.Deadline, longest)
	providers.Answers = sink.Options{CommitAfter: -1, KeepAlive: -1}
	return &Sender{providers, book, c, calls, providers.Logger}
}

// Send sends a copy of a request that its guards have passed, if it is among the share of the mirror.
// It returns at once.
func (s *Sender) Send(m *catalog.Mirror, ex *exchange.Exchange) {
	if m == nil || !mayCopy(ex) || !m.Takes() {
		return
	}
	running.Enter()
	if running.Running() > mostRunning || len(ex.Request.Body) > largestBody || failover.Paused(m.Model, ex.Request.View.Model) {
		running.Leave()
		metrics.Mirror(ex.Covering, dropped)
		return
	}
	go s.run(m.Model, copyOf(ex))
}

// mayCopy reports whether a request asks for an answer, and for nothing that is stored or unbounded.
func mayCopy(ex *exchange.Exchange) bool {
	reach := &ex.Request.View.Beyond
	isStored := reach.State != "" || reach.Stored || reach.Background
	return ex.Request.Operation == translate.Generate && !ex.Request.InMessage && !isStored && !reach.Idle && reach.OtherModels == ""
}

// operator is the key of all copies.
var operator = &aigateway.Key{ID: accounting.MirrorKey}

// copyOf returns the exchange of a copy, which holds the body of the request.
func copyOf(original *exchange.Exchange) *exchange.Exchange {
	ex := &exchange.Exchange{ID: exchange.NewID("req_"), Start: time.Now(), Key: operator, Covering: original.Covering, Request: original.Request}
	ex.Request.Counted, ex.Request.Received, ex.Request.Client = false, 0, original.Request.Client.Clone()
	ex.Request.Lease.Retain()
	return ex
}

// run asks the mirror, and settles the exchange. A panic ends the copy alone.
func (s *Sender) run(m *catalog.Model, ex *exchange.Exchange) {
	defer running.Leave()
	answer := reply.New(&discard{header: make(http.Header)}, ex)
	defer func() {
		if v := recover(); v != nil {
			s.logger.Error("panic", zap.String("request_id", ex.ID), zap.Any("value", v), zap.ByteString("stack", debug.Stack()))
		}
		answer.Close(false)
		ex.Request.DropBody()
		metrics.Mirror(ex.Covering, string(ex.Delivery.Outcome))
	}()
	estimate, _ := new(limits.Chain).Expect(ex, m, s.catalog) // without limits, nothing is refused
	cost, needed := s.calls.Bound(ex, m, s.catalog)
	t := &m.Targets[0]
	bound := meter.Bound{Cost: cost, Provider: t.Provider.Name, Model: t.UpstreamModel(ex.Request.View.Model)}
	entry, refused := s.book.Begin(ex, s.catalog, bound, needed)
	answer.Charge(meter.New(estimate, nil, entry))
	if refused != nil {
		answer.Fail(refused)
		return
	}
	switch v := s.providers.Ask(m, answer, request(), nil); {
	case v.Failed != nil:
		answer.RelayError(&v.Failed.Result)
	case v.Fault != nil:
		answer.Fail(v.Fault)
	}
}

// request returns a request that is prepared as Caddy's server prepares those of clients, of which
// it has nothing: reverse_proxy needs it.
func request() *http.Request {
	r := &http.Request{
		Method: http.MethodPost, URL: new(url.URL), Header: make(http.Header),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, RemoteAddr: "127.0.0.1:0",
	}
	return caddyhttp.PrepareRequest(r.WithContext(context.Background()), caddy.NewReplacer(), nil, new(caddyhttp.Server))
}
