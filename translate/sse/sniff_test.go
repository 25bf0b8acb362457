package sse_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
)

func TestSniffKnowsAStreamByItsFirstLine(t *testing.T) {
	for head, want := range map[string][2]bool{ // stream, known
		"data: {}\n": {true, true}, "event: x\n": {true, true}, ": x": {true, true}, "id:1": {true, true}, "retry:1": {true, true},
		"\ufeffdata:": {true, true}, "\r\n\ndata:": {true, true},
		"": {}, "d": {}, "dat": {}, "\xef": {}, "\xef\xbb": {}, "\ufeff": {}, "\ufeffre": {}, "\n": {},
		"{": {false, true}, " {": {false, true}, "\ufeff{": {false, true}, "<html": {false, true}, "date": {false, true}, "database": {false, true}, "\xef\x00": {false, true},
	} {
		stream, known := sse.Sniff([]byte(head))
		assert.Equal(t, want, [2]bool{stream, known}, "%q", head)
	}
}
