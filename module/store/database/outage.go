package database

import (
	"sync"

	"go.uber.org/zap"
)

// Outage logs a failure once, again when its reason changes, and its end once.
type Outage struct {
	mu     sync.Mutex // guards reason
	reason string     // empty while there is no outage
}

// Begin logs a failure unless it is known.
func (o *Outage) Begin(logger func() *zap.Logger, message string, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if reason := err.Error(); o.reason != reason {
		o.reason = reason
		logger().Error(message, zap.Error(err))
	}
}

// End logs the end of the outage, if there was one.
func (o *Outage) End(logger func() *zap.Logger, message string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.reason != "" {
		o.reason = ""
		logger().Info(message)
	}
}
