// Package observe shows exchanges to operators: as placeholders, in the log, and as
// metrics.
//
// It promises names, numbers and bounded texts. It refuses prompts, answers,
// credentials, and names that only a client chose.
package observe

import (
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

// Clip bounds a text of a client or a provider for the log.
func Clip(s string) string {
	const most = 256
	if len(s) > most {
		return s[:most]
	}
	return s
}
