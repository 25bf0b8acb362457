package aigateway

import (
	"fmt"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
)

// AnswerBounds bound how long the answer of a provider may take, and how much of
// it is kept at once. The zero value of a field stands for the inherited one.
type AnswerBounds struct {
	// ResponseHeaderTimeout is how long the provider may take to send response
	// headers. Default: 5m.
	ResponseHeaderTimeout caddy.Duration `json:"response_header_timeout,omitempty"`

	// FirstEventTimeout is how long a stream may take from its headers to the
	// first event with content. Default: 5m.
	FirstEventTimeout caddy.Duration `json:"first_event_timeout,omitempty"`

	// IdleTimeout is how long a stream may go without an event, comments not
	// counted, and a JSON answer without any byte. There is no limit to the whole
	// of an answer that goes on. Default: 5m.
	IdleTimeout caddy.Duration `json:"idle_timeout,omitempty"`

	// UsageWait is how long a stream in which every choice has finished may take
	// to send its usage and to close. Default: 5s.
	UsageWait caddy.Duration `json:"usage_wait,omitempty"`

	// MaxEventBytes is the largest event of a stream in bytes, comments and
	// unknown fields included; a larger one ends the stream with an error. So do
	// that many bytes and 1 MiB more without any event. It also bounds what a
	// translation keeps behind a tool call that is still open. From 1024 (1 KiB)
	// to 1073741824 (1 GiB).
	// Default: 33554432 (32 MiB), as in the official SDKs.
	MaxEventBytes int64 `json:"max_event_bytes,omitempty"`
}

// DefaultAnswerBounds apply where the configuration sets nothing.
var DefaultAnswerBounds = AnswerBounds{
	ResponseHeaderTimeout: caddy.Duration(5 * time.Minute),
	FirstEventTimeout:     caddy.Duration(5 * time.Minute),
	IdleTimeout:           caddy.Duration(5 * time.Minute),
	UsageWait:             caddy.Duration(5 * time.Second),
	MaxEventBytes:         sse.DefaultMaxEvent,
}

// The bounds of MaxEventBytes.
const (
	MinMaxEventBytes = 1 << 10
	MaxMaxEventBytes = 1 << 30
)

// Inherit sets the fields of b that are zero.
func (b *AnswerBounds) Inherit(from AnswerBounds) {
	inherited := from.timeouts()
	for i, t := range b.timeouts() {
		if *t.value == 0 {
			*t.value = *inherited[i].value
		}
	}
	if b.MaxEventBytes == 0 {
		b.MaxEventBytes = from.MaxEventBytes
	}
}

// Check reports the first bound that no answer could keep to. A zero value is no
// bound.
func (b *AnswerBounds) Check() error {
	for _, t := range b.timeouts() {
		if *t.value < 0 {
			return fmt.Errorf("%s must be positive", t.name)
		}
	}
	return CheckMaxEventBytes(b.MaxEventBytes)
}

// CheckMaxEventBytes refuses a size beyond the bounds of MaxEventBytes, but for
// 0, which is none.
func CheckMaxEventBytes(size int64) error {
	if size != 0 && (size < MinMaxEventBytes || size > MaxMaxEventBytes) {
		return fmt.Errorf("max_event_bytes must be from %d (1KiB) to %d (1GiB), got %d", MinMaxEventBytes, MaxMaxEventBytes, size)
	}
	return nil
}

type namedTimeout struct {
	name  string
	value *caddy.Duration
}

func (b *AnswerBounds) timeouts() [4]namedTimeout {
	return [...]namedTimeout{
		{"response_header_timeout", &b.ResponseHeaderTimeout},
		{"first_event_timeout", &b.FirstEventTimeout},
		{"idle_timeout", &b.IdleTimeout},
		{"usage_wait", &b.UsageWait},
	}
}
