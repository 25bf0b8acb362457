package sink

import "github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"

// state is the part of an answer that the client has received.
type state uint8

// The states. failed and those after it are final.
const (
	waiting   state = iota // nothing
	pinged                 // the status line and keep-alives; another target may still answer
	flowing                // content
	complete               // the whole answer, or the first bytes of its end
	cut                    // content, then an error event, or the first bytes of one
	failed                 // an error
	abandoned              // nothing more is sent, because the client has disconnected
	closed                 // nothing more is sent, because the handler has returned
)

// open reports whether the answer may continue, so that keep-alives are needed.
func (s state) open() bool { return s <= flowing }

// final reports whether no more bytes of an answer are sent.
func (s state) final() bool { return s >= failed }

// hasContent reports whether the client has received content.
func (s state) hasContent() bool { return s == flowing || s == complete || s == cut }

// outcome returns how an exchange ended.
func (s state) outcome(ex *exchange.Exchange, clientGone bool) exchange.Outcome {
	switch {
	case s == complete:
		return exchange.Answered
	case s == abandoned, clientGone:
		return exchange.ClientClosed
	case s.hasContent():
		return exchange.Cut
	case ex.Course.Attempts() == 0:
		return exchange.Refused
	}
	return exchange.Failed
}

// Over reports whether no other target may be asked.
func (s *Sink) Over() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state.hasContent() || s.state.final() || s.ex.Course.Result.Whole()
}

// HasContent reports whether the client has received content.
func (s *Sink) HasContent() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state.hasContent()
}
