package translatetest

import (
	"errors"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
)

// Parser is the part that the parsers of all formats have in common.
type Parser interface {
	Event(sse.Event)
	Answer(body []byte)
	End(clean bool)
}

// Parse reads data as a stream that ends cleanly, as one that breaks off, and as a JSON
// answer. It returns the first broken law. Each answer must end exactly once, and ignore
// everything after its end.
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

// feed passes the events of a stream to a parser.
func feed(p Parser, stream []byte) {
	lexer := sse.NewLexer(0)
	lexer.Feed(stream)
	for event, ok := lexer.Next(); ok; event, ok = lexer.Next() {
		p.Event(event)
	}
	if event, ok := lexer.Close(); ok {
		p.Event(event)
	} else if event, ok := lexer.Bare(); ok {
		p.Event(event)
	}
}

// ended checks that an answer is over and ignores later events.
func ended(p Parser, laws *Laws) error {
	if !laws.Ended {
		return errors.New("no end")
	}
	p.Event(sse.Event{Data: []byte(`{"type":"message_start","choices":[{"delta":{"content":"late"},"text":"late"}]}`)})
	p.End(true)
	return laws.Err()
}
