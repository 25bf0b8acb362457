package sse_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
)

func TestLocateFindsEveryByteOfTheData(t *testing.T) {
	for _, stream := range []string{
		"data: {\"a\":1}\n\n",
		"data:{}\n\ndata:  x\n\n",
		": comment\nevent: e\ndata: {\ndata:\"a\": 1,\nid: 7\ndata\ndata: \"b\":\"data: \"\ndata: }\n\n",
		"\ufeffdata: a\n\n\ufeffdata: b\ndata: c\n\n",
		"data: [\nretry: 5\ndata: 1]",
	} {
		for _, end := range []string{"\n", "\r\n", "\r"} {
			text := strings.ReplaceAll(stream, "\n", end)
			lexer := sse.NewLexer(0)
			lexer.Feed([]byte(text))
			seen := 0
			event, ok := lexer.Next()
			if !ok {
				event, ok = lexer.Close()
			}
			for ; ok; event, ok = lexer.Next() {
				seen++
				raw := []byte(text)[event.Start:event.End]
				for i, b := range event.Data {
					pos := event.Locate(raw, i)
					if b == '\n' {
						b = end[0]
					}
					require.Equal(t, string(b), string(raw[pos]), "%q at %d", raw, i)
				}
				last := len(event.Data) - 1
				assert.Equal(t, event.Locate(raw, last)+1, event.Locate(raw, last+1), "%q", raw)
			}
			assert.NotZero(t, seen)
		}
	}
}
