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
	least atomic.Int64 // the smallest number of microseconds that arrived has found, unknown before
}

// unknown is later than every time, and can be exact in Lua.
const unknown = 1<<53 - 1

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

// arrived records the time of the server when a call arrived. That it is ahead of the time at which the call
// was sent is due to the clocks and to the way of the call.
func (c *clock) arrived(sent time.Time, micros int64) {
	ahead := micros - sent.UnixMicro()
	for least := c.least.Load(); ahead < least; least = c.least.Load() {
		if c.least.CompareAndSwap(least, ahead) {
			return
		}
	}
}

// latest returns the latest time of the server, in microseconds, at which a call can have been sent. A slow
// call arrives later: a budget that was read before it arrived would seem to be read before it was applied.
func (c *clock) latest(sent time.Time) int64 {
	if least := c.least.Load(); least != unknown {
		return sent.UnixMicro() + least
	}
	return unknown
}

// here returns the time of this machine.
func (c *clock) here() time.Time {
	if c.local == nil {
		return time.Now()
	}
	return c.local()
}
