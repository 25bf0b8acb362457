package transport

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/pairs"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/signal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
)

// translation is the lane of a stream for a client of another format.
type translation struct {
	translator *pairs.Translator
	events
}

// relaysErrors returns false, because the client cannot read the error event.
func (t *translation) relaysErrors() bool { return false }

func (t *translation) observed() observed { return t.translator }

func (t *translation) continuation() format.Continuation { return t.translator.Continuation() }

func (t *translation) restore([]byte) int { return 0 }

func (t *translation) take(p []byte, _ int, ready *output) int {
	t.lexer.Feed(p)
	for t.sum&lastSignals == 0 {
		event, ok := t.lexer.Next()
		if !ok {
			break
		}
		t.event(event, ready)
	}
	return 0
}

func (t *translation) event(event sse.Event, ready *output) {
	t.note(event.End, t.translator.Event(event))
	ready.Write(t.translator.Output())
}

func (t *translation) end(eof bool, ready *output) {
	if eof {
		if event, ok := t.lexer.Close(); ok {
			t.event(event, ready)
		} else if event, ok := t.lexer.Bare(); ok && t.sum&lastSignals == 0 {
			t.event(event, ready)
		}
	}
	if t.sum&lastSignals == 0 {
		t.translator.End(eof)
		ready.Write(t.translator.Output())
		if t.translator.Fault() != nil && (eof || t.sum.Has(signal.Failing)) {
			t.add(signal.Failed)
		}
	}
	if t.translator.Finished() {
		t.add(signal.Terminal)
	}
}
