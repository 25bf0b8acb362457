package transport

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

// A failure of any call before the first content is answered with a status.
func TestOneCallThatFailsBeforeContentFailsTheWhole(t *testing.T) {
	for _, test := range []struct {
		name   string
		fails  answers
		status int // 0 for an error
		kind   fault.Kind
		code   string
	}{
		{"an error status", refuses(http.StatusInternalServerError), 500, fault.Internal, ""},
		{"a rate limit", refuses(http.StatusTooManyRequests, "Retry-After", "7", "X-Request-Id", "theirs"), 429, fault.RateLimited, "rate_limit_exceeded"},
		{"a reset", func(*http.Request) (*http.Response, error) { return nil, errReset }, 0, fault.BadGateway, "upstream_unreachable"},
		{"no JSON", func(*http.Request) (*http.Response, error) {
			return responds(200, "text/html", io.NopCloser(strings.NewReader("<html>"))), nil
		}, 502, fault.BadGateway, "upstream_invalid_response"},
		{"an error in 200", func(*http.Request) (*http.Response, error) {
			return responds(200, "application/json", io.NopCloser(strings.NewReader(`{"error":{"message":"no","code":503}}`))), nil
		}, 503, fault.Overloaded, "overloaded"},
		{"half an answer", func(*http.Request) (*http.Response, error) {
			return responds(200, "application/json", &chunks{pieces: whole([]byte(`{"id":`)), end: errReset}), nil
		}, 0, fault.BadGateway, "upstream_unreachable"},
		{"an unknown coding", func(*http.Request) (*http.Response, error) {
			return responds(200, "text/event-stream", io.NopCloser(strings.NewReader(chunkText)), "Content-Encoding", "compress"), nil
		}, 0, fault.BadGateway, "upstream_invalid_response"},
	} {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, stream %t", test.name, stream), func(t *testing.T) {
				var cancelled sync.WaitGroup
				inner := byPrompt{"a": hangs(&cancelled), "b": test.fails, "c": hangs(&cancelled)}
				got := carry(t, newTransport(inner), fanned(t, stream, "a", "b", "c"))
				cancelled.Wait()
				require.NotNil(t, got.Fault)
				assert.Equal(t, test.kind, got.Fault.Kind)
				assert.Equal(t, test.code, got.Fault.Code)
				assert.Equal(t, test.status, got.status)
				assert.Equal(t, test.status == 0, got.err != nil)
				assert.NotErrorIs(t, got.err, context.Canceled)
				assert.Empty(t, got.output)
				assert.False(t, got.Whole())
				if test.status == 429 {
					assert.Equal(t, http.Header{"Retry-After": {"7"}}, got.Result.Head.Header)
					assert.Equal(t, "theirs", got.Result.Head.RequestID)
					assert.Equal(t, 429, got.Status)
				}
			})
		}
	}
}

func TestAStreamThatFailsBeforeContentFailsTheWhole(t *testing.T) {
	for name, test := range map[string]struct {
		stream string
		end    error
		code   string
	}{
		"an error event": {chunkError, io.EOF, "rate_limit_exceeded"},
		"nothing":        {"", io.EOF, "upstream_stream_truncated"},
		"a reset":        {": comment\n\n", errReset, "upstream_unreachable"},
		"garbage":        {"data: x\n\n", io.EOF, "upstream_invalid_response"},
		"a giant":        {"data: " + strings.Repeat("x", 33<<20), errReset, "upstream_invalid_response"},
	} {
		t.Run(name, func(t *testing.T) {
			var cancelled sync.WaitGroup
			inner := byPrompt{"a": hangs(&cancelled), "b": streams(test.stream, test.end)}
			got := carry(t, newTransport(inner), fanned(t, true, "a", "b"))
			cancelled.Wait()
			require.NotNil(t, got.Fault)
			assert.Equal(t, test.code, got.Fault.Code)
			assert.NotEqual(t, 200, got.status)
			assert.Empty(t, got.output)
		})
	}
}

// A failure in the same bytes as content became an error status.
func TestAFailureRightBehindContentCutsTheWholeOff(t *testing.T) {
	for name, failing := range map[string]answers{
		"an error event": streams(chunkText+chunkError+done, io.EOF),
		"no end":         streams(chunkText, io.EOF),
		"a reset":        streams(chunkText, errReset),
	} {
		t.Run(name, func(t *testing.T) {
			var cancelled sync.WaitGroup
			inner := byPrompt{"a": hangs(&cancelled), "b": failing}
			got := carry(t, newTransport(inner), fanned(t, true, "a", "b"))
			cancelled.Wait()
			assert.Equal(t, 200, got.status)
			require.NotNil(t, got.Fault)
			assert.False(t, got.Whole())
			assert.Contains(t, got.output, `"text":"hi"`)
		})
	}
}

// after delays the answer of a call until the reader of the merged answer has seen content.
func after(seen <-chan struct{}, rest answers) answers {
	return func(r *http.Request) (*http.Response, error) {
		<-seen
		return rest(r)
	}
}

// untilContent returns a reader of an answer that reports its first content to seen.
func untilContent(seen chan<- struct{}) func(io.Reader) ([]byte, error) {
	return func(r io.Reader) ([]byte, error) {
		var head []byte
		for !bytes.Contains(head, []byte(`"text":"hi"`)) {
			buf := make([]byte, 1<<10)
			n, err := r.Read(buf)
			if head = append(head, buf[:n]...); err != nil {
				return head, err
			}
		}
		close(seen)
		rest, err := io.ReadAll(r)
		return append(head, rest...), err
	}
}

// After the first content of a call, the failure of another call cuts the answer off (G109).
func TestOneCallThatFailsBehindContentCutsTheWholeOff(t *testing.T) {
	for name, fails := range map[string]answers{
		"an error status": refuses(http.StatusInternalServerError),
		"a failed call":   func(*http.Request) (*http.Response, error) { return nil, errReset },
		"no end":          streams(chunkText, io.EOF),
		"a reset":         streams(chunkText, errReset),
		"an early reset":  streams("", errReset),
		"an error event":  streams(chunkText+chunkError+done, io.EOF),
		"nothing at all":  streams("", io.EOF),
		"no JSON": func(*http.Request) (*http.Response, error) {
			return responds(200, "application/json", io.NopCloser(strings.NewReader("<html>"))), nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			seen := make(chan struct{})
			inner := byPrompt{"a": stalls(chunkText), "b": after(seen, fails), "c": says(true, "c")}
			got := carryBy(t, newTransport(inner), fanned(t, true, "a", "b", "c"), untilContent(seen))
			assert.Equal(t, 200, got.status)
			require.NotNil(t, got.Fault)
			assert.False(t, got.Whole())
			assert.False(t, got.State == exchange.Relayed, "the gateway sends the error in the client's format")
			assert.Contains(t, got.output, `"text":"hi"`)
			assert.NotContains(t, got.output, `"finish_reason":"`)
			assert.NotContains(t, got.output, "[DONE]")
			assert.True(t, strings.HasSuffix(got.output, "\n\n"))
		})
	}
}

// A panic in a goroutine that does not recover would end the whole server.
func TestAPanicInACallIsRaisedWhereTheAnswerIsRead(t *testing.T) {
	seen := make(chan struct{})
	panics := func(*http.Request) (*http.Response, error) { panic("boom") }
	early := newTransport(byPrompt{"a": panics, "b": stalls("")})
	assert.PanicsWithValue(t, "boom", func() { carry(t, early, fanned(t, true, "a", "b")) })
	late := newTransport(byPrompt{"a": stalls(chunkText), "b": after(seen, panics)})
	assert.PanicsWithValue(t, "boom", func() { carryBy(t, late, fanned(t, true, "a", "b"), untilContent(seen)) })
}
