package store

import (
	"sync"

	"go.uber.org/zap"
)

// outage tells once that something went wrong, again when the reason is
// another one, and once that it is over.
type outage struct {
	mu     sync.Mutex // guards reason
	reason string     // empty while there is no outage
}

func (o *outage) begin(logger func() *zap.Logger, message string, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if reason := err.Error(); o.reason != reason {
		o.reason = reason
		logger().Error(message, zap.Error(err))
	}
}

func (o *outage) end(logger func() *zap.Logger, message string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.reason != "" {
		o.reason = ""
		logger().Info(message)
	}
}
