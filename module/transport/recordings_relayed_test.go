//go:build !race

package transport

import (
	"bytes"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

func TestAnyChunkingOfAStreamHandsOnTheSameBytesAndUsage(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	splits := 0
	for _, r := range recordings(t) {
		t.Run(r.name, func(t *testing.T) {
			sizes := []func() int{
				func() int { return len(r.bytes) },
				func() int { return 1 },
				func() int { return 1 + random.IntN(7) },
				func() int { return 1 + random.IntN(97) },
				func() int { return 1 + random.IntN(997) },
			}
			for _, size := range sizes {
				for _, withhold := range []bool{true, false} {
					splits++
					want := r.expect(withhold)
					got := replay(t, r.format, withhold, split(r.bytes, size), io.EOF)
					requireAsExpected(t, want, got)
				}
			}
			for range 10 {
				m := r.mutated(random)
				for _, most := range []int{len(m.bytes), 300} {
					got := replay(t, m.format, false, split(m.bytes, func() int { return 1 + random.IntN(most) }), io.EOF)
					requireAsExpected(t, m.expect(false), got)
				}
			}
		})
	}
	assert.GreaterOrEqual(t, splits, 200)
}

// TestAnyReaderOfAStreamGetsTheSameBytes reads answers into buffers of many
// sizes, some of them smaller than an event.
func TestAnyReaderOfAStreamGetsTheSameBytes(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for _, r := range recordings(t) {
		want := r.expect(true)
		for _, most := range []int{1, 16, 500, 5000} {
			source := &chunks{pieces: split(r.bytes, func() int { return 1 + random.IntN(300) }), end: io.EOF}
			got := carryBy(t, newTransport(body(source)), attemptFor(t, r.format, false), func(answer io.Reader) (all []byte, err error) {
				for err == nil {
					var n int
					buf := make([]byte, 1+random.IntN(most))
					n, err = answer.Read(buf)
					all = append(all, buf[:n]...)
				}
				require.Equal(t, io.EOF, err)
				return all, nil
			})
			requireAsExpected(t, want, got)
		}
	}
}

func requireAsExpected(t *testing.T, want expected, got replayed) {
	t.Helper()
	require.NoError(t, got.err)
	// An error event that arrived together with content became a status, and the usage of
	// a failed attempt was lost.
	if !want.content && !want.finished {
		require.NotEqual(t, 200, got.status, "no answer has begun")
		require.NotNil(t, got.Fault)
		require.Empty(t, got.output)
		require.Equal(t, want.usage, got.Usage)
		return
	}
	require.Equal(t, 200, got.status)
	require.Equal(t, want.output, got.output)
	require.Equal(t, want.finished, got.Whole())
	require.Equal(t, !want.finished, got.Fault != nil)
	require.Equal(t, want.relayed, got.State == exchange.Relayed)
	require.Equal(t, want.usage, got.Usage)
	require.Equal(t, want.text, got.Text)
	require.Equal(t, want.model, got.Result.Head.AnsweredBy)
	if want.number != "" {
		require.Equal(t, want.number, number.FindString(string(got.Result.Lane.Appender.AppendFailure(nil, fault.Truncated(nil)))))
	}
}

// TestNoProperPrefixOfAStreamIsFinished ensures that a stream which breaks off at any byte is
// a failure. After an even number of bytes the body ends with EOF, after an odd one with a
// reset. The bytes that are passed on before are whole events, and a prefix of the bytes of
// the whole stream.
func TestNoProperPrefixOfAStreamIsFinished(t *testing.T) {
	for _, r := range recordings(t) {
		want := r.expect(true)
		if !want.finished {
			continue
		}
		t.Run(r.name, func(t *testing.T) {
			// EOF counts as the blank line after the last event, so a prefix that
			// lacks only this line is complete.
			data := len(strings.TrimRight(string(r.bytes[:want.terminal]), "\r\n"))
			output := lines.Replace(want.output)
			for n := range int(want.terminal) - 1 {
				switch {
				case !r.telling(n):
				case n < data && n%2 == 0:
					requireBrokenOff(t, output, replay(t, r.format, true, whole(r.bytes[:n]), io.EOF))
				default:
					requireBrokenOff(t, output, replay(t, r.format, true, whole(r.bytes[:n]), errReset))
				}
			}
		})
	}
}

// telling reports whether the prefix of n bytes is tested: every prefix that ends near the end
// of a line, and some of the others, which are much alike. With unusual line ends, fewer
// prefixes are tested.
func (r recording) telling(n int) bool {
	if !strings.HasSuffix(r.name, "/LF") {
		return n%23 == 0
	}
	return n%7 == 0 || bytes.ContainsRune(r.bytes[max(0, n-3):min(n+6, len(r.bytes))], '\n')
}

func requireBrokenOff(t *testing.T, want string, got replayed) {
	if got.Whole() || got.Fault == nil {
		require.Fail(t, "a stream that broke off looks finished")
	}
	output := lines.Replace(got.output)
	if !strings.HasPrefix(want, output) {
		require.Equal(t, want, output, "other bytes were passed on")
	}
	if output != "" && !strings.HasSuffix(output, "\n\n") {
		require.Fail(t, "half an event was handed on", output)
	}
}

// lines returns text with LF as all line ends: the blank line that is added to a last event
// has LF.
var lines = strings.NewReplacer("\r\n", "\n", "\r", "\n")

func TestAReadErrorBehindTheLastEventChangesNothing(t *testing.T) {
	for _, r := range recordings(t) {
		// An LF may follow a lone CR, so the end of this line is unknown.
		if want := r.expect(true); want.terminal > 0 && !strings.HasSuffix(r.name, "/CR") {
			requireAsExpected(t, want, replay(t, r.format, true, whole(r.bytes), errReset))
		}
	}
}

func TestNothingIsHandedOnBehindTheLastEvent(t *testing.T) {
	const junk = "data: {\"more\":1}\n\ndata: [DONE]\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"
	for _, r := range recordings(t) {
		want := r.expect(true)
		if !want.content || want.terminal == 0 && !want.failed {
			continue
		}
		for _, size := range []int{1, 64, len(r.bytes) + len(junk)} {
			pieces := split([]byte(string(r.bytes)+junk), func() int { return size })
			got := replay(t, r.format, true, pieces, io.EOF)
			requireAsExpected(t, want, got)
		}
	}
}
