package sse_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
)

func FuzzAnyChunkingReadsWhatTheReferenceReads(f *testing.F) {
	for _, tc := range streams {
		f.Add([]byte(tc.stream), uint64(1), uint8(3))
	}
	random := rand.New(rand.NewPCG(5, 6))
	for _, end := range []string{"\n", "\r\n", "\r"} {
		f.Add([]byte(conversation(random, end)), uint64(7), uint8(30))
	}
	f.Fuzz(func(t *testing.T, stream []byte, seed uint64, limit uint8) {
		random := rand.New(rand.NewPCG(seed, 0))
		next := func() int { return random.IntN(int(limit) + 2) }
		assert.Equal(t, reference(string(stream)), lex(t, sse.NewLexer(0), string(stream), next))

		// A limit strikes at the same event however the stream comes.
		one, many := sse.NewLexer(24), sse.NewLexer(24)
		assert.Equal(t, lex(t, one, string(stream), whole), lex(t, many, string(stream), next))
		assert.Equal(t, one.Err(), many.Err())
	})
}
