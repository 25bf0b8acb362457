package observe

import (
	"net/http"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/tracing"
)

// Ended is an exchange that has ended, with the facts that metrics, events, the trace, the logs
// and the capture show of it.
type Ended struct {
	Exchange *exchange.Exchange
	Used     []accounting.Call // calls of the record
	Took     time.Duration
	Provider string  // that was asked last; "" for none
	USD      float64 // cost of the calls
	Priced   bool    // the cost is known
}

// End returns the facts of an exchange that ends now. used are the calls in its record.
func End(ex *exchange.Exchange, used []accounting.Call) Ended {
	e := Ended{Exchange: ex, Used: used, Took: time.Since(ex.Start)}
	if ex.Course.Attempt != nil {
		e.Provider = ex.Course.Attempt.Provider
	}
	e.USD, e.Priced = costOf(used)
	return e
}

const (
	usDollar     = "USD"
	nanosPerUnit = 1e9
)

// costOf returns the cost of calls in US dollars. known is false if the cost of a call is unknown,
// known in part, or in another currency, and if no call has a cost.
func costOf(calls []accounting.Call) (usd float64, known bool) {
	for i := range calls {
		c := &calls[i]
		switch {
		case c.Source == accounting.SourceNone:
		case !c.Priced() || c.Cost.Currency != usDollar:
			return 0, false
		default:
			usd += float64(c.Cost.Nanos) / nanosPerUnit
			known = true
		}
	}
	return usd, known
}

// Show shows the facts to all who watch: in metrics and events, the trace, the access log, the log
// of exchanges, and the capture. The level of the log is DEBUG, which Caddy uses for messages of
// each request: operators who want a log of requests enable the access log.
func (e *Ended) Show(r *http.Request, logger *zap.Logger) {
	if e.Exchange.Request.Counted {
		e.count()
	}
	tracing.EndExchange(r.Context(), e.Exchange, e.USD, e.Priced)
	access, logs := accessLog(r), logger.Core().Enabled(zapcore.DebugLevel)
	if access != nil || logs { // few gateways do, and a summary is made of many parts
		summary := summaryOf(e.Exchange)
		if access != nil {
			access.Add(zap.Object("ai_gateway", accessRecord{(*record)(e.Exchange), summary}))
		}
		if logs {
			logger.Debug(summary, zap.Inline((*record)(e.Exchange)))
		}
	}
	if e.Exchange.Capture != nil {
		e.Exchange.Capture.End(captured(e.Exchange))
	}
}

// accessLog returns the fields that the access log of a site adds to the record of a request, nil if
// the server has no access log.
func accessLog(r *http.Request) *caddyhttp.ExtraLogFields {
	server, ok := r.Context().Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	if !ok || server.Logs == nil {
		return nil
	}
	fields, _ := r.Context().Value(caddyhttp.ExtraLogFieldsCtxKey).(*caddyhttp.ExtraLogFields)
	return fields
}
