package redis

import (
	"sync/atomic"
	"time"
)

// clock estimates the time of the server. All gateways count by that time.
type clock struct {
	server func() (micros int64) // in tests; nil for the time of the server
	local  func() time.Time      // in tests; nil for time.Now

	ahead atomic.Int64 // microseconds by which the server was last ahead of this machine
}

// micros returns the time argument of a script: 0 for the time of the server.
func (c *clock) micros() int64 {
	if c.server == nil {
		return 0
	}
	return c.server()
}

// now returns the estimated time of the server. The script admit checks the periods of
// budgets that are computed from it.
func (c *clock) now() time.Time {
	return c.here().Add(c.lead())
}

// lead returns the time by which the server was last ahead of this machine.
func (c *clock) lead() time.Duration { return time.Duration(c.ahead.Load()) * time.Microsecond }

// set sets the time of the server.
func (c *clock) set(micros int64) { c.ahead.Store(micros - c.here().UnixMicro()) }

// here returns the time of this machine.
func (c *clock) here() time.Time {
	if c.local == nil {
		return time.Now()
	}
	return c.local()
}
