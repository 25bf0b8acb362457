package transport

import (
	"bytes"
	"net/http"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/coding"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/passthrough"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/signal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// tap reads from an answer that is passed on what the answer used. It changes no byte.
type tap interface {
	// take reads the next bytes of the answer, and keeps no slice of them.
	take(p []byte)
	// note sets what was read so far in the result. whole reports that the answer has ended.
	note(r *result, whole bool)
}

// tapOf returns the tap of an answer by the endpoint and the type of its content. An answer of an
// endpoint that the gateway does not know, and an error, are not read.
func (t *Transport) tapOf(a *exchange.Attempt, res *http.Response) tap {
	kind, name := res.Header.Get("Content-Type"), res.Header["Content-Encoding"]
	switch op := a.Exchange.Request.Operation; {
	case op == translate.Pass || op == translate.Manage || res.StatusCode/100 != 2:
		return noTap{}
	case passthrough.Passes(op, kind):
		return &textTap{attempt: a}
	case len(name) == 0 && exchange.IsEventStream(kind):
		return newEventTap(a, t)
	}
	return &bodyTap{attempt: a, t: t, coding: name, streams: exchange.IsEventStream(kind)}
}

type noTap struct{}

func (noTap) take([]byte)        {}
func (noTap) note(*result, bool) {}

// eventTap reads a stream of events.
type eventTap struct {
	signal.Observer
	events
	began time.Time
}

func newEventTap(a *exchange.Attempt, t *Transport) *eventTap {
	newObserver, _ := observerOf(a, t)
	return &eventTap{Observer: newObserver(), events: newEvents(t)}
}

func (s *eventTap) take(p []byte) {
	s.lexer.Feed(p)
	for {
		s.Repeat(s.lexer)
		event, ok := s.lexer.Next()
		if !ok {
			return
		}
		sig := s.Observe(event)
		if s.add(sig); sig.Has(signal.Content) && s.began.IsZero() {
			s.began = time.Now()
		}
	}
}

func (s *eventTap) note(r *result, whole bool) {
	if whole {
		if event, ok := s.lexer.Close(); ok {
			s.Observe(event)
		}
	}
	r.noteAnswer(s.Usage(), s.Text(), s.Model(), nil)
	if r.Result.Times.Began = s.began; s.sum.Has(signal.Terminal) { // though the client may have left before the body ended
		r.noteFinished(s)
	}
	if f := s.Fault(); f != nil && !f.IsUnusable() {
		r.hide.fault(f)
		r.Fault = f
	}
}

// bodyTap reads a whole answer in JSON, and any one with a content coding, from a copy.
type bodyTap struct {
	attempt  *exchange.Attempt
	t        *Transport
	coding   []string
	streams  bool
	copied   []byte
	exceeded bool // the answer is larger than maxAnswer, and is not read
}

func (b *bodyTap) take(p []byte) {
	if b.exceeded = b.exceeded || len(b.copied)+len(p) > maxAnswer; b.exceeded {
		b.copied = nil
		return
	}
	b.copied = append(b.copied, p...)
}

func (b *bodyTap) note(r *result, whole bool) {
	name, err := coding.Name(b.coding)
	if !whole || b.exceeded || err != nil {
		return
	}
	body := b.copied
	if name != "" {
		if body, err = coding.Decode(name, bytes.NewReader(body), maxAnswer); err != nil {
			return
		}
	}
	if b.streams {
		s := newEventTap(b.attempt, b.t)
		s.take(body)
		s.note(r, true)
		return
	}
	answer, f := b.attempt.Format.Answers.Inspect(body, b.attempt.Exchange.Request.Operation)
	if f != nil && !f.IsUnusable() { // the answer is an error
		r.hide.fault(f)
		r.Fault = f
	}
	var text token.Text
	text.Add(body)
	r.noteAnswer(answer.Usage, text, answer.Model, nil)
	r.EndedBy = answer.Ended
}

// textTap reads an answer that is a text or sound, of which the end shows the length.
type textTap struct {
	attempt *exchange.Attempt
	text    token.Text
	end     tail
}

func (s *textTap) take(p []byte) {
	s.text.Add(p)
	s.end.add(p)
}

func (s *textTap) note(r *result, whole bool) {
	r.Text = s.text
	if ex := s.attempt.Exchange; whole {
		r.Usage.Units = passthrough.UnitsOfText(s.end, ex.Request.Operation, ex.Request.View.Costs.Units)
	}
}
