package transport

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// later delays the answer of a call until all others wait.
func later(rest answers) answers {
	return func(r *http.Request) (*http.Response, error) {
		time.Sleep(time.Second) // of the bubble
		return rest(r)
	}
}

// afterCancel answers when the call was cancelled, as if the answer had been on its way.
func afterCancel(rest answers) answers {
	return func(r *http.Request) (*http.Response, error) {
		<-r.Context().Done()
		return rest(r)
	}
}

// Only the sum of the usage was kept, which is unknown if that of one call is: what whole
// answers beside a failed one had reported was lost.
func TestEveryCallHasAResultOfItsOwn(t *testing.T) {
	counted := token.Usage{Counts: token.Counts{Fresh: 7, Answer: 2}, Known: true}
	for name, c := range map[string]struct {
		stream bool
		a, b   answers
		whole  bool
		status int // of b
		usage  token.Usage
	}{
		"both":                      {false, says(false, "1"), says(false, "2"), true, 200, counted},
		"both streams":              {true, says(true, "1"), says(true, "2"), true, 200, counted},
		"one refused":               {false, says(false, "1"), later(refuses(429)), false, 429, token.Usage{}},
		"one refused, streams":      {true, says(true, "1"), later(refuses(429)), false, 429, token.Usage{}},
		"one on its way":            {false, afterCancel(says(false, "1")), refuses(429), false, 429, token.Usage{}},
		"one cut before its usage":  {true, says(true, "1"), later(streams(chunkText, errReset)), false, 200, token.Usage{}},
		"one cut behind its usage":  {true, says(true, "1"), later(streams(chunkText+chunkUsage, errReset)), false, 200, counted},
		"an error after its usage":  {true, says(true, "1"), later(streams(chunkText+chunkUsage+chunkError, io.EOF)), false, 200, counted},
		"one that hangs":            {true, says(true, "1"), afterCancel(func(r *http.Request) (*http.Response, error) { return nil, r.Context().Err() }), false, 0, token.Usage{}},
		"one on its way, in pieces": {true, streams(strings.Repeat(chunkText, 1000)+chunkFinish+chunkUsage+done, io.EOF), later(refuses(500)), false, 500, token.Usage{}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				got := carry(t, newTransport(byPrompt{"aaa": c.a, "b": c.b}), fanned(t, c.stream, "aaa", "b"))
				assert.Equal(t, c.whole, got.Whole())
				require.Len(t, got.Parts, 2)
				assert.True(t, got.Parts[0].Result.Whole())
				assert.Equal(t, counted, got.Parts[0].Result.Usage)
				assert.Equal(t, "m1", got.Parts[0].Result.Head.AnsweredBy)
				assert.Equal(t, c.whole, got.Parts[1].Result.Whole())
				assert.Equal(t, c.status, got.Parts[1].Result.Status)
				assert.Equal(t, c.usage, got.Parts[1].Result.Usage)
				assert.Equal(t, c.stream && c.status == 200, !got.Parts[1].Result.Times.Began.IsZero())
				assert.Greater(t, got.Parts[0].Share, got.Parts[1].Share, "the longer prompt")
				assert.InDelta(t, 1, got.Parts[0].Share+got.Parts[1].Share, 1e-9)
			})
		})
	}
}

func TestASingleCallHasNoParts(t *testing.T) {
	got := carry(t, newTransport(says(false, "1")), fanned(t, false, "a"))
	assert.Nil(t, got.Parts)
	assert.Equal(t, exchange.Finished, got.State)
}
