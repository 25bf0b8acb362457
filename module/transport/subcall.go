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
			c.subcalls = append(c.subcalls, c.subcall(&memory))
		}
		c.rendered.close()
	}
	return nil
}

// subcall returns one of the calls that this one became. It has a result, a watch
// and variables of its own, so that it can be carried by a goroutine of its own.
func (c *call) subcall(m *translate.Memory) *call {
	result := *c.result
	b := &call{t: c.t, attempt: c.attempt, result: &result, request: c.request, client: c.client, rendered: c.rendered.share(), memory: *m}
	b.ctx, b.cancel = context.WithCancelCause(exchange.WithOwnVars(c.ctx))
	return b
}

// drop gives up what was rendered for calls that are not made.
func (c *call) drop() {
	for _, b := range c.subcalls {
		b.rendered.close()
		b.cancel(errEnded)
	}
	c.subcalls = nil
}

// subcall is one of the calls of a fan-out. Its goroutine does nothing but send
// and read; the reader of the whole answer handles what arrives.
type subcall struct {
	*call
	translator *pairs.Translator
	relay      relay // of a streamed answer

	noAnswer *noAnswer // nil while the call may give an answer

	room  *atomic.Int64 // bytes that all calls together may still read of JSON answers
	whole atomic.Bool   // the answer is whole: the rest is read for the end of the body alone
}

// noAnswer is what a call without an answer returns to reverse_proxy.
type noAnswer struct {
	res *http.Response
	err error
}

func newSubcall(c *call, t *pairs.Translator, room *atomic.Int64) *subcall {
	return &subcall{call: c, translator: t, room: room, relay: relay{
		call: c, lane: &translation{t, c.events()},
	}}
}

// arrival is what a subcall delivers: nothing but itself if it gave no answer.
type arrival struct {
	from  *subcall
	res   *http.Response
	whole bool   // data is a whole JSON answer, else the next bytes of a stream
	data  []byte // valid until the next arrival is asked for
	err   error  // behind data

	panicked any // to be raised again where somebody recovers
}

// run makes the call.
func (b *subcall) run(deliver func(arrival) bool) {
	defer b.watch.stop()
	defer func() {
		if p := recover(); p != nil {
			deliver(arrival{from: b, panicked: p})
		}
	}()
	res, err := b.send()
	switch {
	case err != nil:
		b.refuse(nil, b.fail(err), deliver)
	case res.StatusCode != http.StatusOK:
		res, err = b.call.refused(res)
		b.refuse(res, err, deliver)
	case isEventStream(res) && b.attempt.Exchange.Streaming():
		b.pump(res, deliver)
	default:
		b.collect(res, deliver)
	}
}

func (b *subcall) refuse(res *http.Response, err error, deliver func(arrival) bool) {
	b.noAnswer = &noAnswer{res, err}
	deliver(arrival{from: b})
}

// collect delivers a whole JSON answer. Those of all subcalls together may be as
// large as a single one.
func (b *subcall) collect(res *http.Response, deliver func(arrival) bool) {
	body, err := b.read(res, max(0, b.room.Load()))
	if err == nil && b.room.Add(-int64(len(body))) < 0 { // others were read meanwhile
		err = coding.ErrTooLarge
	}
	if err != nil {
		res, err = b.unread(res, err)
		b.refuse(res, err, deliver)
		return
	}
	_ = res.Body.Close()
	deliver(arrival{from: b, res: res, whole: true, data: body})
}

// pump delivers a stream as it comes. Of its two buffers one is filled while the
// other is read.
func (b *subcall) pump(res *http.Response, deliver func(arrival) bool) {
	defer res.Body.Close()
	b.watch.enter(phase{time.Duration(b.t.FirstEventTimeout), errFirstEvent})
	src, err := b.decoded(res)
	if err != nil {
		res, err = b.unread(res, err)
		b.refuse(res, err, deliver)
		return
	}
	var buffers [2][8 << 10]byte
	for i, rest := 0, maxReadOut; err == nil && rest > 0; i ^= 1 {
		var n int
		b.watch.resume()
		n, err = src.Read(buffers[i][:])
		b.watch.hold() // until the answer's reader asks for more
		if b.whole.Load() {
			rest--
			continue
		}
		if !deliver(arrival{from: b, res: res, data: buffers[i][:n], err: err}) {
			return
		}
	}
}

// take handles what has arrived, and reports whether the call may still give a
// whole answer. Before the client has content, a connection that breaks off leaves
// no answer.
func (b *subcall) take(a arrival, committed bool) bool {
	switch {
	case b.noAnswer != nil:
		return false
	case a.whole:
		return b.takeAnswer(a.data)
	case len(a.data) > 0:
		b.relay.took(a.data, 0)
	}
	err := b.relay.failure(a.err)
	switch {
	case err == nil || b.relay.lane.signals()&lastSignals != 0:
		return b.result.Fault == nil
	case err == io.EOF || committed || b.begun():
		b.relay.end(err)
		return b.result.Whole()
	default:
		b.noAnswer = &noAnswer{err: b.fail(fmt.Errorf("reading answer: %w", err))}
		return false
	}
}

// takeAnswer reads a whole JSON answer.
func (b *subcall) takeAnswer(body []byte) bool {
	fault := readAnswer(b.translator, body)
	b.relay.ready.Write(b.translator.Output())
	if fault != nil {
		b.result.Fail(fault)
		return false
	}
	b.result.Finish(b.translator.Usage())
	return true
}

// begun reports whether the answer has content or is whole. It does not read the
// result, which the goroutine of the call may be writing.
func (b *subcall) begun() bool { return b.whole.Load() || b.relay.begun() }

// finish begins to read out the body behind a whole answer.
func (b *subcall) finish() {
	b.watch.enter(phase{time.Duration(b.t.UsageWait), errDrain})
	b.whole.Store(true)
}

// failure returns what a failed call returns to reverse_proxy, once its goroutine
// has ended.
func (b *subcall) failure(res *http.Response) (*http.Response, error) {
	if b.noAnswer != nil {
		return b.noAnswer.res, b.noAnswer.err
	}
	if fault := b.result.Fault; fault != nil {
		return b.failed(res, b.attempt.Format.Errors.Status(fault), fault), nil
	}
	return nil, b.fail(io.ErrUnexpectedEOF) // only the client's end leaves no fault
}
