package observe

import (
	"net/http"
	"strings"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

const placeholderPrefix = "http.ai_gateway."

// placeholder is a value of an exchange for logs and other handlers. A value is nil, not
// zero, while it is unknown.
type placeholder struct {
	name  string // also of the field in the log record
	value func(*exchange.Exchange) any
}

var placeholders = []placeholder{
	{"request_id", func(ex *exchange.Exchange) any { return ex.ID }},
	{"outcome", func(ex *exchange.Exchange) any { return text(string(ex.Delivery.Outcome)) }},
	{"key_id", ofKey(func(k *aigateway.Key) string { return k.ID })},
	{"key_owner", ofKey(func(k *aigateway.Key) string { return k.Owner })},
	{"limit", ofKey(func(k *aigateway.Key) string { return k.Limit })},
	{"model", func(ex *exchange.Exchange) any { return text(Clip(ex.Request.View.Model)) }},
	{"provider", ofAttempt(func(a *exchange.Attempt) any { return a.Provider })},
	{"upstream_model", ofAttempt(func(a *exchange.Attempt) any { return Clip(a.Model) })},
	{"choice", ofAttempt(func(a *exchange.Attempt) any { return text(a.Choice.String()) })},
	{"upstream_status", ofResult(func(r *exchange.Result) any { return number(int64(r.Status)) })},
	{"upstream_request_id", ofResult(func(r *exchange.Result) any { return text(Clip(r.Head.RequestID)) })},
	{"answered_by", ofResult(func(r *exchange.Result) any { return text(Clip(r.Head.AnsweredBy)) })},
	{"losses", func(ex *exchange.Exchange) any { return text(lossNames(ex)) }},
	{"answer_losses", ofResult(func(r *exchange.Result) any { return text(r.Lane.Dropped.String()) })},
	{"attempts", func(ex *exchange.Exchange) any { return ex.Course.Attempts() }},
	{"ttfb_ms", timeToFirstByte},
	{"usage.input_tokens", ofUsage(func(n *token.Counts) int64 { return n.Fresh })},
	{"usage.cache_read_tokens", ofUsage(func(n *token.Counts) int64 { return n.CacheRead })},
	{"usage.cache_write_tokens", ofUsage(func(n *token.Counts) int64 { return n.Written() })},
	{"usage.output_tokens", ofUsage(func(n *token.Counts) int64 { return n.Output() })},
	{"usage.reasoning_tokens", ofUsage(func(n *token.Counts) int64 { return n.Reasoning })},
}

// Publish makes the values of an exchange available as placeholders. A value is computed
// when it is read, because most requests read none.
func Publish(r *http.Request, ex *exchange.Exchange) {
	repl, ok := r.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer)
	if !ok {
		return
	}
	repl.Map(func(key string) (any, bool) {
		if key == "http.auth.user.id" && ex.Key != nil { // Caddy's access log shows it as user_id
			return ex.Key.ID, true
		}
		name, ok := strings.CutPrefix(key, placeholderPrefix)
		if !ok {
			return nil, false
		}
		for _, p := range placeholders {
			if p.name == name {
				return p.value(ex), true
			}
		}
		return nil, false
	})
}

func text(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func number(n int64) any {
	if n == 0 {
		return nil
	}
	return n
}

func ofKey(value func(*aigateway.Key) string) func(*exchange.Exchange) any {
	return func(ex *exchange.Exchange) any {
		if ex.Key == nil {
			return nil
		}
		return text(value(ex.Key))
	}
}

func timeToFirstByte(ex *exchange.Exchange) any {
	if ex.Delivery.FirstByte.IsZero() {
		return nil
	}
	return float64(ex.Delivery.FirstByte.Sub(ex.Start).Microseconds()) / 1000
}

func ofAttempt(value func(*exchange.Attempt) any) func(*exchange.Exchange) any {
	return func(ex *exchange.Exchange) any {
		if ex.Course.Attempt == nil {
			return nil
		}
		return value(ex.Course.Attempt)
	}
}

func ofResult(value func(*exchange.Result) any) func(*exchange.Exchange) any {
	return func(ex *exchange.Exchange) any {
		if ex.Course.Result == nil {
			return nil
		}
		return value(ex.Course.Result)
	}
}

// lossNames returns the losses of a request, without names that the client chose, which may
// contain a prompt or a key.
func lossNames(ex *exchange.Exchange) string {
	if ex.Course.Result == nil {
		return ""
	}
	var named translate.Losses
	for _, loss := range ex.Course.Result.Lane.Losses {
		named.Add(loss.Class, loss.Name())
	}
	return named.String()
}

func ofUsage(count func(*token.Counts) int64) func(*exchange.Exchange) any {
	return ofResult(func(r *exchange.Result) any {
		if !r.Usage.Known {
			return nil
		}
		return count(&r.Usage.Counts)
	})
}
