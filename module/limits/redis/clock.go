package redis

import (
	"sync/atomic"
	"time"
)

// clock has the time of the server, by which all gateways count.
type clock struct {
	server func() (micros int64) // in tests; nil for the time of the server
	local  func() time.Time      // in tests; nil for time.Now

	ahead atomic.Int64 // micros of the server before those of this machine, as far as known
}

// micros returns the time for a script: 0 for that of the server.
func (c *clock) micros() int64 {
	if c.server == nil {
		return 0
	}
	return c.server()
}

// now returns the time of the server, as far as it is known. A script that names a period
// by it checks that.
func (c *clock) now() time.Time {
	return c.here().Add(time.Duration(c.ahead.Load()) * time.Microsecond)
}

// set sets the time of the server.
func (c *clock) set(micros int64) { c.ahead.Store(micros - c.here().UnixMicro()) }

// here returns the time of this machine.
func (c *clock) here() time.Time {
	if c.local == nil {
		return time.Now()
	}
	return c.local()
}
