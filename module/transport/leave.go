package transport

import (
	"context"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
)

// linger is the longest time for which an answer is read after its client has left. It is
// no longer than the time that a shutdown leaves to exchanges after it has cancelled their
// calls.
const linger = 2 * time.Second

// leave handles the end of the client's context. It cancels the call at once, unless the
// client has left when the turn may be over: the provider charges for the whole turn then,
// and only the rest of the answer has the usage.
func (c *call) leave() {
	cause := context.Cause(c.client)
	if c.left() && c.turnOver.Load() {
		time.AfterFunc(linger, func() { c.cancel(cause) })
		return
	}
	c.cancel(cause)
}

// left reports whether the client has left. The cause is of the server, and differs between
// the versions of HTTP.
func (c *call) left() bool {
	if c.client.Err() == nil {
		return false
	}
	_, ending := context.Cause(c.client).(exchange.Ending)
	return !ending
}

// readUsage reads the rest of the turn after the client has left, and passes nothing on. It
// stops when the turn goes on with more content.
func (r *relay) readUsage(buf []byte) {
	r.call.result.Unread = true
	most := r.lane.offset() + r.call.maxSilence()
	for r.src != nil && !r.ended() && r.call.turnOver.Load() && r.lane.offset() < most {
		_, err := r.step(buf)
		r.ready.Reset()
		if err = r.failure(err); err != nil && !r.ended() {
			r.end(err)
		}
	}
}
