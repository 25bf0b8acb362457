package transport

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// chunks is a body that arrives in pieces, and then ends with an error.
type chunks struct {
	pieces [][]byte
	end    error
	closed bool
}

func (c *chunks) Read(p []byte) (int, error) {
	if len(c.pieces) == 0 {
		return 0, c.end
	}
	n := copy(p, c.pieces[0])
	if c.pieces[0] = c.pieces[0][n:]; len(c.pieces[0]) == 0 {
		c.pieces = c.pieces[1:]
	}
	return n, nil
}

func (c *chunks) Close() error {
	c.closed = true
	return nil
}

// answers is an inner transport that answers without a network.
type answers func(*http.Request) (*http.Response, error)

func (a answers) RoundTrip(r *http.Request) (*http.Response, error) { return a(r) }

// body answers with 200 and an event stream.
func body(b io.ReadCloser) answers {
	return func(*http.Request) (*http.Response, error) {
		return &http.Response{
			StatusCode: http.StatusOK, Body: b, ContentLength: -1,
			Header: http.Header{"Content-Type": {"text/event-stream"}},
		}, nil
	}
}

// newTransport returns a transport above inner, for a provider with an address.
func newTransport(inner http.RoundTripper, change ...func(*Transport)) *Transport {
	t := &Transport{
		carrier: carrier{inner: inner}, credentials: credentials{header: "Authorization"},
		service: service{base: &url.URL{Scheme: "https", Host: "provider.example"}},
	}
	for _, c := range change {
		c(t)
	}
	t.AnswerBounds.Inherit(aigateway.DefaultAnswerBounds)
	return t
}

func endsWithFinish(t *Transport) { t.StreamEnd = aigateway.StreamEndFinish }

// attemptFor returns an attempt at a streaming request, which asks for usage or leaves that to
// the gateway.
func attemptFor(t testing.TB, format translate.Format, usage bool) *exchange.Attempt {
	t.Helper()
	bodies := map[translate.Format]string{
		translate.Messages:    `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"x"}],"stream":true`,
		translate.Chat:        `{"model":"m","messages":[{"role":"user","content":"x"}],"stream":true`,
		translate.Completions: `{"model":"m","prompt":"x","stream":true`,
		translate.Responses:   `{"model":"m","input":"x","stream":true`,
		translate.Gemini:      `{"contents":[{"parts":[{"text":"x"}]}]`,
	}
	text := bodies[format]
	if usage && formats.Of(format).Answers.Usage.Ask != nil {
		text += `,"stream_options":{"include_usage":true}`
	}
	ex := &exchange.Exchange{ID: "req_0", Request: exchange.Request{Format: formats.Of(format), Body: []byte(text + "}"), Client: http.Header{}}}
	view, fault := formats.Of(format).Requests.Inspect(ex.Request.Body, translate.Generate)
	require.Nil(t, fault)
	if formats.Of(format).Requests.ModelName != nil { // the path names the model, and asks for a stream
		view.Model, view.Stream = "m", true
	}
	ex.Request.View = view
	return &exchange.Attempt{Exchange: ex, Provider: "p", Format: formats.Of(format), Model: view.Model, Traits: new(trait.Traits)}
}

// replayed is the result of a call.
type replayed struct {
	*exchange.Result
	status int // of the response, 0 for an error
	output string
	err    error
}

// carry makes the attempt and reads its answer to the end.
func carry(tb testing.TB, t *Transport, a *exchange.Attempt) replayed {
	tb.Helper()
	return carryBy(tb, t, a, io.ReadAll)
}

// carryBy is carry with a reader of the answer.
func carryBy(tb testing.TB, t *Transport, a *exchange.Attempt, read func(io.Reader) ([]byte, error)) replayed {
	tb.Helper()
	c := &exchange.Conduit{Attempt: *a}
	res, err := t.Ask(context.Background(), c)
	if err != nil {
		require.Nil(tb, res)
		return replayed{Result: &c.Result, err: err}
	}
	output, err := read(res.Body)
	require.NoError(tb, err, "a reader of the answer never sees an error")
	require.NoError(tb, res.Body.Close())
	return replayed{&c.Result, res.StatusCode, string(output), nil}
}

// replay plays a stream in pieces that ends with an error, which may be io.EOF.
func replay(t testing.TB, format translate.Format, withhold bool, pieces [][]byte, end error, change ...func(*Transport)) replayed {
	t.Helper()
	source := &chunks{pieces: pieces, end: end}
	got := carry(t, newTransport(body(source), change...), attemptFor(t, format, !withhold))
	require.True(t, source.closed, "the provider's body was left open")
	return got
}

// whole returns a stream in one piece.
func whole(data []byte) [][]byte { return [][]byte{data} }

// split cuts data into pieces of the sizes given.
func split(data []byte, size func() int) (pieces [][]byte) {
	for len(data) > 0 {
		n := min(size(), len(data))
		pieces = append(pieces, data[:n])
		data = data[n:]
	}
	return pieces
}

var errReset = errors.New("connection reset by peer")

// setCredential gives t one credential.
func setCredential(t *Transport, secret aigateway.Secret) {
	t.credentials.keys = make([]atomic.Pointer[aigateway.Secret], 1)
	t.credentials.keys[0].Store(&secret)
}
