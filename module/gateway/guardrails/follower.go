package guardrails

import (
	"sync"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/signal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
)

// follower is the appender of a stream whose added events depend on the events before them. It
// reads what the client gets: the transport has read more, and its event of a failure would
// repeat texts that no guard has passed.
type follower struct {
	exchange *exchange.Exchange
	format.Continuation

	mu       sync.Mutex // guards all below: a timer asks for keep-alives
	observer signal.Observer
	lexer    *sse.Lexer
	written  int64
}

// newFollower returns the follower of a stream, nil for a format that needs none.
func newFollower(ex *exchange.Exchange) *follower {
	observer := ex.Request.Format.Answers.NewObserver()
	c, ok := observer.(format.Continuation)
	if !ok {
		return nil
	}
	return &follower{exchange: ex, Continuation: c, observer: observer, lexer: sse.NewLexer(mostHeld)}
}

// note reads bytes that the client gets.
func (f *follower) note(p []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.written += int64(len(p))
	f.lexer.Feed(p)
	for e, ok := f.lexer.Next(); ok; e, ok = f.lexer.Next() {
		f.observer.Observe(e)
	}
}

// AppendKeepAlive implements exchange.Appender.
func (f *follower) AppendKeepAlive(dst []byte, sent int64) []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	if sent != f.written {
		return dst
	}
	return f.Continuation.AppendKeepAlive(dst)
}

// AppendFailure implements exchange.Appender.
func (f *follower) AppendFailure(dst []byte, failure *fault.Fault) []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.Continuation.AppendFailure(dst, f.exchange.AnswerIDs(f.exchange.Course.Attempt.Model), failure)
}
