package sink

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
)

func TestEventBoundaryIsFoundForEveryLineBreak(t *testing.T) {
	for text, want := range map[string]bool{
		"": true, "data: x\n\n": true, "data: x\r\n\r\n": true, "data: x\r\r": true, "data: x\n\r\n": true, "data: x\r\n\n": true,
		"data: x\r\n\r": true, ": comment\n\n": true, "\n\n": true,
		"data: x": false, "data: x\n": false, "data: x\r": false, "data: x\r\n": false, "data: x\n\nd": false, "x": false, "\n": false, "\r\n": false,
	} {
		for size := 1; size <= 5; size++ {
			var end eventBoundary
			for rest := text; rest != ""; {
				n := min(size, len(rest))
				end.note([]byte(rest[:n]))
				rest = rest[n:]
			}
			assert.Equal(t, want, end.reached(), "%q in pieces of %d", text, size)
		}
	}
}

// TestEventBoundaryAgreesWithTheLexer checks every text of a few characters: if the boundary
// is reached, the lexer begins a new event with the next byte.
func TestEventBoundaryAgreesWithTheLexer(t *testing.T) {
	var texts []string
	for level := []string{"data: x"}; len(level[0]) < len("data: x")+6; {
		var longer []string
		for _, text := range level {
			for _, c := range []string{"\n", "\r", "x"} {
				longer = append(longer, text+c)
			}
		}
		texts, level = append(texts, longer...), longer
	}
	for _, text := range texts {
		var end eventBoundary
		end.note([]byte(text))
		lexer := sse.NewLexer(0)
		lexer.Feed([]byte(text + "data: probe\n\n"))
		var last sse.Event
		for event, ok := lexer.Next(); ok; event, ok = lexer.Next() {
			last = event
			last.Data = append([]byte(nil), event.Data...)
		}
		assert.Equal(t, string(last.Data) == "probe" && last.Start == int64(len(text)), end.reached(), "%q", text)
	}
}
