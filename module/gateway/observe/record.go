// Package observe shows exchanges to operators: as placeholders, in the log, and as
// metrics.
//
// It promises names, numbers and bounded texts. It refuses prompts, answers,
// credentials, and names that only a client chose.
package observe

import (
	"net/http"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
)

// Record is an exchange as the log shows it.
type Record exchange.Exchange

// MarshalLogObject writes the record.
func (r *Record) MarshalLogObject(enc zapcore.ObjectEncoder) error {
	ex := (*exchange.Exchange)(r)
	enc.AddString("request_id", ex.ID)
	enc.AddString("outcome", string(ex.Outcome))
	for _, key := range placeholders {
		if v := key.value(ex); v != nil && key.logged {
			_ = enc.AddReflected(key.name, v)
		}
	}
	if ex.Unreported {
		enc.AddBool("losses_unreported", true)
	}
	if ex.Fault != nil {
		enc.AddString("fault", ex.Fault.LogMessage())
		if ex.Fault.Trait != "" {
			enc.AddString("fault_trait", ex.Fault.Trait)
		}
	}
	return nil
}

// accessRecord is an exchange as the access log shows it, whose message is Caddy's.
type accessRecord exchange.Exchange

// MarshalLogObject writes the record, after the sentence about it.
func (r *accessRecord) MarshalLogObject(enc zapcore.ObjectEncoder) error {
	enc.AddString("summary", Summary((*exchange.Exchange)(r)))
	return (*Record)(r).MarshalLogObject(enc)
}

// Log adds the record of an exchange that has ended to the access log, and logs it by
// itself with a sentence as the message: at the level DEBUG, as Caddy does with what
// happens in each request, since the access log is where operators ask for requests.
func Log(ex *exchange.Exchange, logger *zap.Logger, r *http.Request) {
	if extra, ok := r.Context().Value(caddyhttp.ExtraLogFieldsCtxKey).(*caddyhttp.ExtraLogFields); ok {
		extra.Add(zap.Object("ai_gateway", (*accessRecord)(ex)))
	}
	if logger.Core().Enabled(zapcore.DebugLevel) {
		logger.Debug(Summary(ex), zap.Inline((*Record)(ex)))
	}
}

// Clip bounds a text of a client or a provider for the log.
func Clip(s string) string {
	const most = 256
	if len(s) > most {
		return s[:most]
	}
	return s
}
