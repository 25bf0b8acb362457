package translatetest

import (
	"errors"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
)

// Parser is what the parsers of the formats have in common.
type Parser interface {
	Event(sse.Event)
	Answer(body []byte)
	End(clean bool)
}

// Parse puts bytes through parsers as a stream that ends cleanly, as one that
// breaks off, and as a JSON answer, and returns the first law that is broken.
// Each must come to exactly one end, and nothing of what follows may count.
func Parse(parser func(event.Handler) Parser, data []byte) error {
	for _, clean := range []bool{true, false} {
		laws := NewLaws()
		p := parser(laws)
		feed(p, data)
		p.End(clean)
		if err := ended(p, laws); err != nil {
			return err
		}
	}
	laws := NewLaws()
	p := parser(laws)
	p.Answer(data)
	return ended(p, laws)
}

// feed gives a parser the events of a stream.
func feed(p Parser, stream []byte) {
	lexer := sse.NewLexer(0)
	lexer.Feed(stream)
	for event, ok := lexer.Next(); ok; event, ok = lexer.Next() {
		p.Event(event)
	}
	if event, ok := lexer.Close(); ok {
		p.Event(event)
	}
}

// ended checks that an answer is over, whatever else comes.
func ended(p Parser, laws *Laws) error {
	if !laws.Ended {
		return errors.New("no end")
	}
	p.Event(sse.Event{Data: []byte(`{"type":"message_start","choices":[{"delta":{"content":"late"},"text":"late"}]}`)})
	p.End(true)
	return laws.Err()
}
