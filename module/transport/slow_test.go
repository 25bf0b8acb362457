package transport

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
)

// living is a body that ends with its call, like the body of a connection.
type living struct {
	io.Reader
	ctx context.Context
}

func (l living) Read(p []byte) (int, error) {
	if err := l.ctx.Err(); err != nil {
		return 0, err
	}
	return l.Reader.Read(p[:min(len(p), 64)])
}

func (living) Close() error { return nil }

// prompt answers with a whole stream, as fast as it is read.
func prompt(r *http.Request) (*http.Response, error) {
	text := strings.Repeat(chunkText, 20) + chunkFinish + chunkUsage + done
	return responds(http.StatusOK, "text/event-stream", living{strings.NewReader(text), r.Context()}), nil
}

// hourly is a client that takes an hour for every piece of the answer.
func hourly(answer io.Reader) (all []byte, err error) {
	buf := make([]byte, 512)
	for err == nil {
		time.Sleep(time.Hour)
		var n int
		n, err = answer.Read(buf)
		all = append(all, buf[:n]...)
	}
	return all, nil
}

// The time between two reads of the answer, in which a slow client reads, counted as silence
// of the provider, and ended the answer with a timeout.
func TestASlowClientIsNoTimeoutOfTheProvider(t *testing.T) {
	for name, a := range everyLane(t) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				got := carryBy(t, newTransport(answers(prompt)), a, hourly)
				assert.Nil(t, got.Fault)
				assert.True(t, got.Whole())
			})
		})
	}
}

// TestASilentProviderIsGivenUpBehindASlowClient ensures that a pause of the client does not
// give the provider more time.
func TestASilentProviderIsGivenUpBehindASlowClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		got := carryBy(t, newTransport(stalls(chunkText)), attemptFor(t, translate.Chat, true), hourly)
		require.NotNil(t, got.Fault)
		assert.Equal(t, fault.Timeout, got.Fault.Kind)
		assert.Less(t, time.Since(start), 4*time.Hour)
	})
}

// dripping sends a beginning, and then a comment every second, for a day.
func dripping(begin string) answers {
	return func(r *http.Request) (*http.Response, error) {
		return responds(http.StatusOK, "text/event-stream", &drip{strings.NewReader(begin), r.Context(), time.Now().Add(24 * time.Hour)}), nil
	}
}

type drip struct {
	begin *strings.Reader
	ctx   context.Context
	end   time.Time
}

func (d *drip) Read(p []byte) (int, error) {
	if d.begin.Len() > 0 {
		return d.begin.Read(p)
	}
	if time.Now().After(d.end) {
		return 0, io.EOF
	}
	select {
	case <-time.After(time.Second):
		return copy(p, ": still here\n\n"), nil
	case <-d.ctx.Done():
		return 0, d.ctx.Err()
	}
}

func (*drip) Close() error { return nil }

// Comments after the finish of a translated stream restarted the wait for its usage, so a
// provider that never stopped sending them held the client for ever.
func TestAFinishedStreamWaitsForItsUsageOnce(t *testing.T) {
	translated := attemptFor(t, translate.Messages, false)
	translated.Format = formats.Of(translate.Chat)
	for name, a := range map[string]*exchange.Attempt{"translation": translated, "fan": fanned(t, true, "a", "b")} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				got := carry(t, newTransport(dripping(chunkText+chunkFinish)), a)
				assert.True(t, got.Whole())
				assert.Nil(t, got.Fault)
				assert.Equal(t, 5*time.Second, time.Since(start))
			})
		})
	}
}

// Every comment counted as a sign of life, so a provider that sent nothing else held its
// client for ever. In the byte lane, a stream ends with [DONE], not with its finish.
func TestAStreamOfCommentsIsGivenUp(t *testing.T) {
	for name, begin := range map[string]string{"before content": "", "behind content": chunkText, "behind the finish": chunkText + chunkFinish} {
		for lane, a := range everyLane(t) {
			if begin != "" && begin != chunkText && lane != "bytes" {
				continue // the wait for usage
			}
			t.Run(name+" on the lane of "+lane, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					start := time.Now()
					got := carry(t, newTransport(dripping(begin)), a)
					require.NotNil(t, got.Fault)
					assert.Equal(t, fault.Timeout, got.Fault.Kind)
					assert.Equal(t, 5*time.Minute, time.Since(start))
				})
			})
		}
	}
}

// TestPingsAreSignsOfLife ensures that pings keep a call alive, because they are events.
func TestPingsAreSignsOfLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reader, writer := io.Pipe()
		go func() { // ends with its last write
			for _, text := range []string{chunkText, chunkEmpty, chunkEmpty, chunkFinish, done} {
				time.Sleep(9 * time.Second)
				_, _ = io.WriteString(writer, text)
			}
			_ = writer.Close()
		}()
		idle := func(t *Transport) { t.IdleTimeout = caddy.Duration(10 * time.Second) }
		inner := answers(func(r *http.Request) (*http.Response, error) {
			return responds(http.StatusOK, "text/event-stream", living{reader, r.Context()}), nil
		})
		got := carry(t, newTransport(inner, idle), attemptFor(t, translate.Chat, true))
		assert.True(t, got.Whole())
	})
}
