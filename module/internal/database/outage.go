package database

import (
	"errors"
	"sync"

	"go.uber.org/zap"
)

// Outage logs the beginning and the end of an outage, and every change of its reason.
type Outage struct {
	mu     sync.Mutex // guards reason
	reason string     // empty while there is no outage
}

// Begin logs a failure unless its reason is that of the previous one. It reports whether
// the failure begins an outage.
func (o *Outage) Begin(logger func() *zap.Logger, message string, err error) (begins bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	begins = o.reason == ""
	if reason := err.Error(); o.reason != reason {
		o.reason = reason
		logger().Error(message, zap.Error(err))
	}
	return begins
}

// End logs the end of the outage, and reports whether there was one.
func (o *Outage) End(logger func() *zap.Logger, message string) (ended bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.reason == "" {
		return false
	}
	o.reason = ""
	logger().Info(message)
	return true
}

// Problem returns the reason of the outage, nil if there is none.
func (o *Outage) Problem() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.reason == "" {
		return nil
	}
	return errors.New(o.reason)
}
