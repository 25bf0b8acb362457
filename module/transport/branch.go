package transport

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/coding"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/pairs"
)

// split makes a call of its own for each prompt, as often as samples are wanted
// of it. Nothing is sent yet: a later prompt may be at fault.
func (c *call) split(prompts, samples int) *translate.Fault {
	for n := range prompts {
		if n > 0 {
			if _, fault := c.renderPrompt(n); fault != nil {
				c.drop()
				return fault
			}
		}
		memory := c.memory
		for range samples {
			c.branches = append(c.branches, c.branch(&memory))
		}
		c.lease.Release()
	}
	return nil
}

// branch is one of the calls that this one became. It has an attempt, a watch
// and variables of its own, so that it can be carried by a goroutine of its own.
func (c *call) branch(m *translate.Memory) *call {
	a := *c.attempt
	b := &call{t: c.t, attempt: &a, request: c.request, client: c.client, rendered: c.rendered, lease: c.lease, memory: *m}
	b.ctx, b.cancel = context.WithCancelCause(exchange.WithOwnVars(c.ctx))
	b.lease.Retain()
	return b
}

// drop gives up what was rendered for calls that are not made.
func (c *call) drop() {
	for _, b := range c.branches {
		b.lease.Release()
		b.cancel(errEnded)
	}
	c.branches = nil
}

// branch is one of the calls of a fan. Its goroutine does nothing but send and
// read: what it gets is looked at by the reader of the whole answer.
type branch struct {
	*call
	translator *pairs.Translator
	relay      relay // of a streamed answer

	// The result of a call that gave no answer.
	refused bool
	res     *http.Response
	err     error

	room *atomic.Int64 // bytes that all calls together may still read of JSON answers
	over atomic.Bool   // the answer is complete: what still comes is read for the end of the body alone
}

func newBranch(c *call, t *pairs.Translator, room *atomic.Int64) *branch {
	return &branch{call: c, translator: t, room: room, relay: relay{
		call: c, lane: &translation{t, c.sayings()},
	}}
}

// arrival is what a branch hands over: nothing but itself where its call gave
// no answer.
type arrival struct {
	from  *branch
	res   *http.Response
	whole bool   // data is a whole JSON answer, else the next bytes of a stream
	data  []byte // valid until the next arrival is asked for
	err   error  // behind data

	panicked any // to be raised again where somebody recovers
}

// run makes the call.
func (b *branch) run(tell func(arrival) bool) {
	defer b.watch.stop()
	defer func() {
		if p := recover(); p != nil {
			tell(arrival{from: b, panicked: p})
		}
	}()
	res, err := b.send()
	switch {
	case err != nil:
		b.refuse(nil, b.fail(err), tell)
	case res.StatusCode != http.StatusOK:
		res, err = b.call.refused(res)
		b.refuse(res, err, tell)
	case isEventStream(res) && b.attempt.Exchange.Streaming():
		b.pump(res, tell)
	default:
		b.collect(res, tell)
	}
}

func (b *branch) refuse(res *http.Response, err error, tell func(arrival) bool) {
	b.refused, b.res, b.err = true, res, err
	tell(arrival{from: b})
}

// collect hands over a whole JSON answer. All those of a fan together may be as
// large as a single one.
func (b *branch) collect(res *http.Response, tell func(arrival) bool) {
	body, err := b.read(res, max(0, b.room.Load()))
	if err == nil && b.room.Add(-int64(len(body))) < 0 { // others were read meanwhile
		err = coding.ErrTooLarge
	}
	if err != nil {
		res, err = b.unread(res, err)
		b.refuse(res, err, tell)
		return
	}
	_ = res.Body.Close()
	tell(arrival{from: b, res: res, whole: true, data: body})
}

// pump hands over a stream as it comes. Of its two buffers one is filled while
// the other is looked at.
func (b *branch) pump(res *http.Response, tell func(arrival) bool) {
	defer res.Body.Close()
	b.watch.enter(phase{time.Duration(b.t.FirstEventTimeout), errFirstEvent})
	src, err := b.decoded(res)
	if err != nil {
		res, err = b.unread(res, err)
		b.refuse(res, err, tell)
		return
	}
	var buffers [2][8 << 10]byte
	for i, rest := 0, maxDrain; err == nil && rest > 0; i ^= 1 {
		var n int
		b.watch.resume()
		n, err = src.Read(buffers[i][:])
		b.watch.hold() // until the answer's reader asks for more
		if b.over.Load() {
			rest--
			continue
		}
		if !tell(arrival{from: b, res: res, data: buffers[i][:n], err: err}) {
			return
		}
	}
}

// take looks at what the call has got, and writes down in the attempt what it
// means. Before anything was said to the client, a connection that breaks off
// leaves no answer.
func (b *branch) take(a arrival, committed bool) {
	r := &b.relay
	if a.whole {
		b.attempt.Fault = readAnswer(b.translator, a.data)
		b.attempt.Finished = b.attempt.Fault == nil
		r.ready.Write(b.translator.Output())
		return
	}
	if len(a.data) > 0 {
		r.took(a.data, 0)
		b.begin()
	}
	err := r.failure(a.err)
	switch {
	case err == nil || r.lane.said()&lastSignals != 0:
	case err == io.EOF || committed || b.speaks():
		r.end(err)
	default:
		b.refused, b.err = true, b.fail(fmt.Errorf("reading answer: %w", err))
	}
}

// begin enters the next phase with the first content.
func (b *branch) begin() {
	if b.relay.primed || !b.speaks() {
		return
	}
	b.relay.primed = true
	if !b.relay.finishing {
		b.watch.enter(phase{time.Duration(b.t.IdleTimeout), errIdle})
	}
}

// speaks reports whether the answer has said something.
func (b *branch) speaks() bool {
	return b.attempt.Finished || b.relay.begun()
}

// broken reports whether the call gives no whole answer.
func (b *branch) broken() bool {
	return b.refused || b.attempt.Fault != nil || b.relay.ended && !b.attempt.Finished
}

// finish is called when the answer is complete.
func (b *branch) finish() {
	b.watch.enter(phase{time.Duration(b.t.UsageWait), errDrain})
	b.over.Store(true)
}

// result is that of a broken call, once its goroutine has ended.
func (b *branch) result(res *http.Response) (*http.Response, error) {
	if fault := b.attempt.Fault; !b.refused && fault != nil {
		return b.failed(res, fault.Status(b.attempt.Format), fault), nil
	}
	return b.res, b.err
}
