package transport

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

// TestEveryCallHasTimesOfItsOwn also ensures that no goroutine outlives the
// answer: the bubble would not end.
func TestEveryCallHasTimesOfItsOwn(t *testing.T) {
	limits := func(t *Transport) {
		t.ResponseHeaderTimeout = caddy.Duration(10 * time.Second)
		t.FirstEventTimeout = caddy.Duration(20 * time.Second)
		t.IdleTimeout = caddy.Duration(40 * time.Second)
		t.UsageWait = caddy.Duration(80 * time.Second)
	}
	busy := func(pause time.Duration, texts int) answers { // a stream with signs of life
		return func(r *http.Request) (*http.Response, error) {
			reader, writer := io.Pipe()
			go func() {
				for range texts {
					select {
					case <-time.After(pause):
						_, _ = io.WriteString(writer, chunkText)
					case <-r.Context().Done():
						_ = writer.CloseWithError(r.Context().Err())
						return
					}
				}
				_, _ = io.WriteString(writer, chunkFinish+chunkUsage+done)
				_ = writer.Close()
			}()
			return responds(200, "text/event-stream", reader), nil
		}
	}
	for _, test := range []struct {
		name     string
		a, b     answers
		wait     time.Duration
		finished bool
	}{
		{"no headers", stalls(": wait\n\n"), func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		}, 10 * time.Second, false},
		{"no event", stalls(""), stalls(": wait\n\n"), 20 * time.Second, false},
		{"no event beside a call that speaks", busy(9*time.Second, 9), stalls(""), 20 * time.Second, false},
		{"no more events beside a call that speaks", busy(9*time.Second, 9), stalls(chunkText), 40 * time.Second, false},
		{"no usage and no end", busy(9*time.Second, 2), stalls(chunkText + chunkFinish), 80 * time.Second, true},
		{"no end behind the last event", busy(9*time.Second, 2), stalls(chunkText + chunkFinish + done), 80 * time.Second, true},
		{"all speak", busy(9*time.Second, 20), busy(19*time.Second, 10), 190 * time.Second, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				got := carry(t, newTransport(byPrompt{"a": test.a, "b": test.b}, limits), fanned(t, true, "a", "b"))
				assert.Equal(t, test.wait, time.Since(start))
				assert.Equal(t, test.finished, got.Whole())
				if test.finished {
					assert.Nil(t, got.Fault)
					assert.Contains(t, got.output, "[DONE]")
					return
				}
				require.NotNil(t, got.Fault)
				assert.Equal(t, fault.Timeout, got.Fault.Kind)
				assert.NotErrorIs(t, got.err, context.Canceled)
			})
		})
	}
}

// carryUntil makes the attempt for a client that can leave.
func carryUntil(ctx context.Context, t *Transport, c *exchange.Conduit) (*http.Response, error) {
	r := (&http.Request{Method: http.MethodPost, URL: new(url.URL)}).WithContext(exchange.WithConduit(ctx, c))
	return t.RoundTrip(r)
}

func TestAClientThatLeavesEndsEveryCall(t *testing.T) {
	for name, first := range map[string]answers{"before content": stalls(""), "in mid-stream": stalls(chunkText)} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var cancelled sync.WaitGroup
				ctx, leave := context.WithCancel(t.Context())
				c := &exchange.Conduit{Attempt: *fanned(t, true, "a", "b", "c")}
				time.AfterFunc(time.Second, leave)
				res, err := carryUntil(ctx, newTransport(byPrompt{"a": first, "b": hangs(&cancelled), "c": hangs(&cancelled)}), c)
				if err == nil {
					_, err := io.ReadAll(res.Body)
					require.NoError(t, err)
					require.NoError(t, res.Body.Close())
				} else {
					assert.ErrorIs(t, err, context.Canceled)
				}
				cancelled.Wait()
				assert.Nil(t, c.Result.Fault)
				assert.False(t, c.Result.Whole())
			})
		})
	}
}

func TestAnAnswerThatIsClosedEarlyEndsEveryCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var cancelled sync.WaitGroup
		inner := byPrompt{"a": stalls(chunkText), "b": hangs(&cancelled), "c": streams(strings.Repeat(chunkText, 10_000), io.EOF)}
		res, err := carryUntil(t.Context(), newTransport(inner), &exchange.Conduit{Attempt: *fanned(t, true, "a", "b", "c")})
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		cancelled.Wait()
	})
}

// If the finish of a stream arrived together with the first content, the gateway did not
// wait for the usage.
func TestTheWaitForUsageCountsFromAFinishThatCameAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		got := carry(t, newTransport(stalls(chunkText+chunkFinish)), fanned(t, true, "a"))
		assert.Equal(t, time.Duration(aigateway.DefaultAnswerBounds.UsageWait), time.Since(start))
		assert.True(t, got.Whole())
	})
}
