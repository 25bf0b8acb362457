package guardrails

import (
	"bytes"
	"context"
	"net/http"
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/texts"
)

// Receiver gets the answer of one call of a provider, and passes on what guards have passed. A
// JSON answer is held back as a whole, a stream by the window of its guards.
type Receiver struct {
	reply    *reply.Reply
	stop     context.CancelFunc // ends the call
	check    answerCheck
	reader   *texts.Answer
	accepted bool
	lexer    *sse.Lexer // nil for a JSON answer
	pending  []byte     // the beginning of an incomplete event, or a JSON answer so far
	blocked  *block
	follower *follower // nil before the first bytes, and for a format that needs none
}

// Receiver returns the receiver of the answer to a call, nil if it is neither checked nor logged.
// ctx is that of the client, and stop ends the call.
func (c *Checks) Receiver(ctx context.Context, answer *reply.Reply, stop context.CancelFunc) *Receiver {
	if c.Exchange.Request.Operation != translate.Generate {
		return nil
	}
	check := answerCheck{Checks: c, ctx: ctx, phase: aigateway.GuardAnswer}
	for _, g := range c.guards {
		if g.checks(OnAnswer) {
			check.guards = append(check.guards, g)
			check.window.Overlap = max(check.window.Overlap, g.window.Overlap)
			check.window.Step = max(check.window.Step, g.window.Step)
		}
	}
	if check.guards == nil && c.log == nil {
		return nil
	}
	check.held.open = check.guards == nil
	return &Receiver{reply: answer, stop: stop, check: check, reader: texts.NewAnswer(&c.Exchange.Request.Format.Answers)}
}

// Header implements exchange.Receiver.
func (r *Receiver) Header() http.Header { return r.reply.Header() }

// TakeHeader implements exchange.Receiver.
func (r *Receiver) TakeHeader(h http.Header) { r.reply.TakeHeader(h) }

// WriteHeader implements exchange.Receiver.
func (r *Receiver) WriteHeader(status int) {
	if status >= 200 {
		r.accepted = status == http.StatusOK
		if exchange.IsEventStream(r.Header().Get("Content-Type")) {
			r.lexer, r.check.phase = sse.NewLexer(mostHeld), aigateway.GuardStream
		}
	}
	r.reply.WriteHeader(status)
}

// FlushError implements exchange.Receiver.
func (r *Receiver) FlushError() error { return r.reply.FlushError() }

// Write implements exchange.Receiver. It passes on nothing of an answer that is blocked, and
// ends its call.
func (r *Receiver) Write(p []byte) (int, error) {
	if !r.accepted || r.blocked != nil {
		return len(p), nil
	}
	r.pending = append(r.pending, p...)
	if r.lexer != nil {
		r.lexer.Feed(p)
		r.readEvents()
		r.proceed(false)
	}
	if r.blocked == nil && len(r.pending)+r.check.held.size > mostHeld {
		r.blocked = &block{err: errMuchHeld}
	}
	if r.blocked != nil {
		r.stop()
	}
	return len(p), nil
}

// readEvents takes the complete events out of the pending bytes. Comments between them are
// dropped: the reply sends keep-alives of its own.
func (r *Receiver) readEvents() {
	first := r.lexer.Offset() - int64(len(r.pending))
	for {
		e, ok := r.lexer.Next()
		if !ok {
			break
		}
		r.add(e, bytes.Clone(r.pending[e.Start-first:e.End-first]))
	}
	if r.lexer.Err() != nil {
		r.blocked = &block{err: r.lexer.Err()}
	}
	r.pending = append(r.pending[:0], r.pending[r.lexer.Settled()-first:]...)
}

// add holds an event back.
func (r *Receiver) add(e sse.Event, raw []byte) {
	part := r.reader.Event(e)
	if part.Fault != nil && part.Fault.IsUnusable() {
		r.blocked = &block{err: errUnreadable}
	}
	r.check.held.add(raw, part, func(offset int) int { return e.Locate(raw, offset) })
}

// proceed checks what is held back, and passes on what may be sent. After the provider's last
// bytes it passes on nothing before the final check, because a part of an answer that is
// complete looks complete.
func (r *Receiver) proceed(final bool) {
	if r.blocked == nil {
		r.blocked = r.check.check(final)
	}
	if r.blocked != nil || !final && r.check.Exchange.Course.Result.State >= exchange.Finished {
		return
	}
	released, ok := r.check.held.release()
	if !ok {
		r.blocked = &block{err: errUnreadable}
		return
	}
	if len(released) > 0 {
		if r.lexer == nil && r.Header().Get("Content-Length") != "" {
			r.Header().Set("Content-Length", strconv.Itoa(len(released)))
		}
		r.follow(released)
		_, _ = r.reply.Write(released) // the reply handles a client that has disconnected
		_ = r.reply.FlushError()
	}
}

// follow lets the appender of the exchange read what the client gets.
func (r *Receiver) follow(released []byte) {
	result := r.check.Exchange.Course.Result
	if r.lexer == nil || result.Lane.Appender == nil {
		return
	}
	if r.follower == nil {
		if r.follower = newFollower(r.check.Exchange); r.follower == nil {
			result.Lane.Appender = nil
			return
		}
		result.Lane.Appender = r.follower
	}
	r.follower.note(released)
}

// Close ends the answer when the call has returned: it passes on the rest, or ends the reply
// with the fault of a block. An answer that the provider has not completed stays incomplete.
func (r *Receiver) Close() {
	if !r.accepted {
		return
	}
	if r.check.ctx.Err() != nil {
		r.logPart()
		return
	}
	if r.blocked == nil && r.lexer != nil {
		if e, ok := r.lexer.Close(); ok {
			r.add(e, append(bytes.Clone(r.pending), "\n\n"...))
		}
	} else if r.blocked == nil && len(r.pending) > 0 {
		r.check.held.add(r.pending, r.reader.Body(r.pending), func(offset int) int { return offset })
	}
	r.proceed(true)
	if r.blocked != nil {
		r.reply.Fail(r.blocked.answerFault())
		return
	}
	r.check.logContent(r.check.ctx, OnAnswer, r.check.held.sent())
}

// logPart logs what a client that has left has got of a stream.
func (r *Receiver) logPart() {
	if sent := r.check.held.sent(); r.blocked == nil && len(sent) > 0 {
		r.check.logContent(context.WithoutCancel(r.check.ctx), OnAnswer, sent)
	}
}
