package aigateway

import (
	"fmt"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
)

// AnswerBounds restrict how long the answer of a provider may take, and how much of
// it is in memory at once. A field that is zero is inherited.
type AnswerBounds struct {
	// ResponseHeaderTimeout is how long the provider may take to send the headers
	// of its answer. Default: 5m.
	ResponseHeaderTimeout caddy.Duration `json:"response_header_timeout,omitempty"`

	// FirstEventTimeout is how long a stream may take from its headers to the
	// first event with content. Default: 5m.
	FirstEventTimeout caddy.Duration `json:"first_event_timeout,omitempty"`

	// IdleTimeout is how long a stream may pause between events, where comments
	// are not events, and a JSON answer between bytes. There is no bound for the
	// duration of a whole answer. Default: 5m.
	IdleTimeout caddy.Duration `json:"idle_timeout,omitempty"`

	// UsageWait is how long a stream may take to send its usage and to end after
	// every choice has finished, and its reason after it has failed. Default: 5s.
	UsageWait caddy.Duration `json:"usage_wait,omitempty"`

	// MaxEventBytes is the largest size of an event of a stream in bytes, comments
	// and unknown fields included. A larger event ends the stream with an error, as
	// do MaxEventBytes and 1 MiB more without an event. It is also the most that a
	// translation holds back while a tool call is incomplete. From 1024 (1 KiB) to
	// 1073741824 (1 GiB). Default: 33554432 (32 MiB), as in the official SDKs.
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

// Inherit sets the fields of b that are zero to those of outer.
func (b *AnswerBounds) Inherit(outer AnswerBounds) {
	inherited := outer.timeouts()
	for i, t := range b.timeouts() {
		if *t.value == 0 {
			*t.value = *inherited[i].value
		}
	}
	if b.MaxEventBytes == 0 {
		b.MaxEventBytes = outer.MaxEventBytes
	}
}

// Check returns an error for the first bound that is out of range. Zero is in range.
func (b *AnswerBounds) Check() error {
	for _, t := range b.timeouts() {
		if *t.value < 0 {
			return fmt.Errorf("%s must be positive", t.name)
		}
	}
	return CheckMaxEventBytes(b.MaxEventBytes)
}

// CheckMaxEventBytes returns an error for a size that MaxEventBytes cannot have. It
// accepts 0.
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
