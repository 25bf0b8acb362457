// Package observe shows exchanges to operators: as placeholders, in logs, and in metrics.
//
// It shows names, numbers and bounded texts. It never shows prompts, answers, credentials,
// or names of fields that a client made up.
package observe

import (
	"go.uber.org/zap/zapcore"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
)

// record is the log record of an exchange.
type record exchange.Exchange

// MarshalLogObject implements zapcore.ObjectMarshaler.
func (r *record) MarshalLogObject(enc zapcore.ObjectEncoder) error {
	ex := (*exchange.Exchange)(r)
	for _, key := range placeholders {
		if v := key.value(ex); v != nil {
			_ = enc.AddReflected(key.name, v)
		}
	}
	if ex.Request.Unreported {
		enc.AddBool("losses_unreported", true)
	}
	if ex.Delivery.Fault != nil {
		enc.AddString("fault", ex.Delivery.Fault.LogMessage())
		if ex.Delivery.Fault.Log.Trait != "" {
			enc.AddString("fault_trait", ex.Delivery.Fault.Log.Trait)
		}
	}
	return nil
}

// accessRecord is the record of an exchange in the access log. It includes the summary as
// a field, because the message of the access log is Caddy's.
type accessRecord struct {
	exchange *record
	summary  string
}

// MarshalLogObject implements zapcore.ObjectMarshaler.
func (r accessRecord) MarshalLogObject(enc zapcore.ObjectEncoder) error {
	enc.AddString("summary", r.summary)
	return r.exchange.MarshalLogObject(enc)
}

// Clip returns at most the first 256 bytes of a text, for a log.
func Clip(s string) string {
	const most = 256
	if len(s) > most {
		return s[:most]
	}
	return s
}
