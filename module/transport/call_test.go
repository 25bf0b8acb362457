package transport

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
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

// TestCallErrorsNeverLookLikeACancellationOfALivingClient ensures that
// reverse_proxy, which answers 499 and reports success for such an error, asks
// the next address instead.
func TestCallErrorsNeverLookLikeACancellationOfALivingClient(t *testing.T) {
	for _, test := range []struct {
		name string
		err  error
		kind fault.Kind
	}{
		{"canceled", context.Canceled, fault.BadGateway},
		{"canceled, wrapped", fmt.Errorf("reading: %w", context.Canceled), fault.BadGateway},
		{"canceled, joined", errors.Join(io.EOF, context.Canceled), fault.BadGateway},
		{"deadline", context.DeadlineExceeded, fault.Timeout},
		{"dial timeout", &net.OpError{Op: "dial", Err: os.ErrDeadlineExceeded}, fault.Timeout},
		{"dial refused", &net.OpError{Op: "dial", Err: errors.New("refused")}, fault.BadGateway},
		{"reset", errReset, fault.BadGateway},
	} {
		t.Run(test.name, func(t *testing.T) {
			inner := answers(func(*http.Request) (*http.Response, error) { return nil, test.err })
			got := carry(t, newTransport(inner), attemptFor(t, translate.Chat, true))
			require.Error(t, got.err)
			assert.NotErrorIs(t, got.err, context.Canceled)
			require.NotNil(t, got.Fault)
			assert.Equal(t, test.kind, got.Fault.Kind)
			assert.Zero(t, got.Status)
		})
	}
}

func TestACallErrorKeepsADialErrorForReverseProxy(t *testing.T) {
	dial := &net.OpError{Op: "dial", Err: errors.New("refused")}
	inner := answers(func(*http.Request) (*http.Response, error) { return nil, dial })
	got := carry(t, newTransport(inner), attemptFor(t, translate.Chat, true))
	var opError *net.OpError
	require.ErrorAs(t, got.err, &opError)
	assert.Same(t, dial, opError)
}

func TestAClientThatLeavesIsNoFaultOfTheProvider(t *testing.T) {
	ctx, leave := context.WithCancel(context.Background())
	c := &exchange.Conduit{Attempt: *attemptFor(t, translate.Chat, true)}
	inner := answers(func(r *http.Request) (*http.Response, error) {
		leave()
		<-r.Context().Done()
		return nil, r.Context().Err()
	})
	_, err := newTransport(inner).RoundTrip((&http.Request{URL: new(url.URL)}).WithContext(exchange.WithConduit(ctx, c)))
	assert.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, exchange.Result{Times: exchange.Times{Called: c.Result.Times.Called}}, c.Result)
}

// silent is a body without bytes, which ends when the call ends.
type silent struct{ ctx context.Context }

func (s silent) Read([]byte) (int, error) {
	<-s.ctx.Done()
	return 0, s.ctx.Err()
}

func (silent) Close() error { return nil }

// then is a body that consists of a text and another body.
func then(text string, rest io.ReadCloser) io.ReadCloser {
	return struct {
		io.Reader
		io.Closer
	}{io.MultiReader(strings.NewReader(text), rest), rest}
}

func TestEveryTimeOfACallEndsItWithATimeout(t *testing.T) {
	limits := func(t *Transport) {
		t.ResponseHeaderTimeout = caddy.Duration(10 * time.Second)
		t.FirstEventTimeout = caddy.Duration(20 * time.Second)
		t.IdleTimeout = caddy.Duration(40 * time.Second)
		t.UsageWait = caddy.Duration(80 * time.Second)
	}
	answering := func(contentType, text string) answers {
		return func(r *http.Request) (*http.Response, error) {
			return &http.Response{
				StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {contentType}},
				Body: then(text, silent{r.Context()}), ContentLength: -1,
			}, nil
		}
	}
	const stream, whole = "text/event-stream", "application/json"
	for _, test := range []struct {
		name     string
		inner    answers
		wait     time.Duration
		output   string
		finished bool
	}{
		{"no headers", func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		}, 10 * time.Second, "", false},
		{"no event", answering(stream, ": comment\n\n"), 20 * time.Second, "", false},
		{"no more events", answering(stream, chunkText), 40 * time.Second, chunkText, false},
		{"half an event", answering(stream, chunkText+"data: {"), 40 * time.Second, chunkText, false},
		{"half a JSON answer", answering(whole, `{"id":`), 40 * time.Second, "", false},
		{"no end behind the last event", answering(stream, chunkText+done), 80 * time.Second, chunkText + done, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				got := carry(t, newTransport(test.inner, limits), attemptFor(t, translate.Chat, true))
				assert.Equal(t, test.wait, time.Since(start))
				assert.Equal(t, test.output, got.output)
				assert.Equal(t, test.finished, got.Whole())
				if test.finished {
					assert.Nil(t, got.Fault)
					return
				}
				require.NotNil(t, got.Fault)
				assert.Equal(t, fault.Timeout, got.Fault.Kind)
				assert.NotErrorIs(t, got.err, context.Canceled)
			})
		})
	}
}

func compressed(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := io.WriteString(w, text)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.Bytes()
}

const answer = `{"id":"c","object":"chat.completion","model":"m1","choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":7,"completion_tokens":2,"total_tokens":9}}`

// A provider whose answer could not be decoded was reported as unreachable.
func TestAnswersThatCannotBeReadAreUnusable(t *testing.T) {
	for _, test := range []struct {
		name, contentType, coding string
		body                      []byte
		stream                    bool
	}{
		{"JSON in an unknown coding", "application/json", "compress", []byte(answer), false},
		{"JSON in two codings", "application/json", "gzip, br", []byte(answer), false},
		{"JSON that is no gzip", "application/json", "gzip", []byte(answer), false},
		{"JSON whose gzip is cut", "application/json", "gzip", compressed(t, answer)[:40], false},
		{"a stream in an unknown coding", "text/event-stream", "compress", []byte(chunkText + done), true},
		{"a stream that is no gzip", "text/event-stream", "gzip", []byte(chunkText + done), true},
		{"no JSON", "application/json", "", []byte("<html>"), false},
		{"nothing", "application/json", "", nil, false},
		{"no JSON in place of a stream", "text/html", "", []byte("<html>"), true},
		{"doubtful JSON in place of a stream", "application/json", "", []byte(`{"choices":[{"message":{"content":"a","content":"b"}}]}`), true},
		{"a stream in place of JSON", "text/event-stream", "", []byte(chunkText + done), false},
		{"a stream whose first event is too large", "text/event-stream", "", []byte("data: " + strings.Repeat("x", 33<<20)), true},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := attemptFor(t, translate.Chat, true)
			a.Exchange.Request.View.Stream = test.stream
			inner := answers(func(*http.Request) (*http.Response, error) {
				h := http.Header{"Content-Type": {test.contentType}}
				if test.coding != "" {
					h.Set("Content-Encoding", test.coding)
				}
				return &http.Response{StatusCode: http.StatusOK, Header: h, Body: io.NopCloser(bytes.NewReader(test.body)), ContentLength: -1}, nil
			})
			got := carry(t, newTransport(inner), a)
			assert.Empty(t, got.output)
			assert.False(t, got.Whole())
			require.NotNil(t, got.Fault)
			assert.Equal(t, "the upstream returned an unusable answer", got.Fault.Message)
			assert.Equal(t, 502, formats.Of(translate.Chat).Errors.Status(got.Fault))
		})
	}
}

func TestCodedAnswersAreHandedOnDecoded(t *testing.T) {
	for _, stream := range []bool{false, true} {
		a := attemptFor(t, translate.Chat, true)
		a.Exchange.Request.View.Stream = stream
		contentType, text := "application/json", answer
		if stream {
			contentType, text = "text/event-stream", chunkText+chunkUsage+done
		}
		inner := answers(func(*http.Request) (*http.Response, error) {
			return &http.Response{
				StatusCode: http.StatusOK, ContentLength: -1,
				Header: http.Header{"Content-Type": {contentType}, "Content-Encoding": {"gzip"}},
				Body:   io.NopCloser(bytes.NewReader(compressed(t, text))),
			}, nil
		})
		got := carry(t, newTransport(inner), a)
		assert.Equal(t, text, got.output)
		assert.True(t, got.Whole())
		assert.EqualValues(t, 2, got.Usage.Output())
	}
}

// Only net/http promises a map of headers, and the headers for the sink take the place of those
// of the provider.
func TestAnAnswerWithoutAMapOfHeadersIsHandedOn(t *testing.T) {
	inner := answers(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, ContentLength: -1, Body: io.NopCloser(strings.NewReader(answer))}, nil
	})
	a := attemptFor(t, translate.Chat, true)
	a.Exchange.Request.View.Stream = false
	got := carry(t, newTransport(inner), a)
	assert.Equal(t, answer, got.output)
	assert.True(t, got.Whole())
}
