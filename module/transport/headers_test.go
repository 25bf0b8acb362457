package transport

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// These headers were relayed without a check, and some clients wait as long as a header
// asks.
func TestOnlySensibleTimesToComeAgainAreHandedOn(t *testing.T) {
	for _, tt := range []struct {
		name, value string
		kept        bool
	}{
		{"Retry-After", "0", true},
		{"Retry-After", "1.5", true},
		{"Retry-After", "86400", true},
		{"Retry-After", "86401", false},
		{"Retry-After", "-1", false},
		{"Retry-After", "1e3", false},
		{"Retry-After", "soon", false},
		{"Retry-After", "", false},
		{"Retry-After", "Fri, 07 Aug 2026 10:00:00 GMT", true}, // in the past
		{"Retry-After", time.Now().Add(23 * time.Hour).UTC().Format(http.TimeFormat), true},
		{"Retry-After", time.Now().Add(25 * time.Hour).UTC().Format(http.TimeFormat), false},
		{"Retry-After", "Wed, 21 Oct 2099 07:28:00 GMT", false},
		{"Retry-After-Ms", "1500", true},
		{"Retry-After-Ms", "86400001", false},
		{"X-Should-Retry", "false", true},
		{"X-Should-Retry", "perhaps", false},
	} {
		got := carry(t, newTransport(refuses(429, tt.name, tt.value)), attemptFor(t, translate.Chat, false))
		assert.Equal(t, tt.kept, got.Result.Head.ClientHeader().Get(tt.name) != "", "%s: %s", tt.name, tt.value)
	}
}

// A quota that begins anew in three days looked like a rate, since the time of it was dropped: Claude Code
// repeated the request for minutes.
func TestAClientIsAskedNotToRepeatWhatIsRefusedForDays(t *testing.T) {
	for _, tt := range []struct{ name, value, want string }{
		{"Retry-After", "287441", "false"},
		{"Retry-After", time.Now().Add(25 * time.Hour).UTC().Format(http.TimeFormat), "false"},
		{"Retry-After-Ms", "86400001", "false"},
		{"Retry-After", "86400", "true"},
		{"Retry-After", "1e9", "true"},
		{"Retry-After", "soon", "true"},
	} {
		got := carry(t, newTransport(refuses(429, tt.name, tt.value, "X-Should-Retry", "true")), attemptFor(t, translate.Chat, false))
		assert.Equal(t, tt.want, got.Result.Head.ClientHeader().Get("X-Should-Retry"), "%s: %s", tt.name, tt.value)
	}
}

// An id of 60 KB was sent to the client, and some clients cannot read an answer with more
// than 16 KB of headers.
func TestLongHeadersAreLeftOut(t *testing.T) {
	long := strings.Repeat("x", maxHeaderValue+1)
	for _, tt := range []struct{ ids, want string }{
		{strings.Repeat("x", maxHeaderValue), strings.Repeat("x", maxHeaderValue)},
		{long, ""},
		{long + "|short", "short"},
	} {
		first, second, _ := strings.Cut(tt.ids, "|")
		got := carry(t, newTransport(refuses(429, "Request-Id", first, "X-Request-Id", second)), attemptFor(t, translate.Chat, false))
		assert.Equal(t, tt.want, got.Result.Head.RequestID)
	}
}

// Any content type of the provider was relayed, and a missing one was guessed. Official SDKs
// then read JSON as plain text.
func TestAnswersHaveTheContentTypeOfWhatTheyAre(t *testing.T) {
	long := "; x=" + strings.Repeat("x", maxHeaderValue)
	for _, tt := range []struct {
		streaming bool
		own, want string
	}{
		{false, "application/json", "application/json"},
		{false, "application/json; charset=utf-8", "application/json; charset=utf-8"},
		{false, "application/vnd.vendor+json", "application/vnd.vendor+json"},
		{false, "application/json" + long, "application/json"},
		{false, "application/json; key=sk-secret", "application/json"},
		{false, "text/plain; charset=utf-8", "application/json"},
		{false, "application/octet-stream", "application/json"},
		{false, "text/html", "application/json"},
		{false, "text/event-stream", "application/json"},
		{false, "", "application/json"},
		{true, "text/event-stream", "text/event-stream"},
		{true, "text/event-stream; charset=utf-8", "text/event-stream; charset=utf-8"},
		{true, "text/event-stream" + long, "text/event-stream"},
		{true, "Text/Event-Stream ; charset", "Text/Event-Stream ; charset"},
		{true, "application/json", "text/event-stream; charset=utf-8"}, // replayed as a stream
		{true, "", "text/event-stream; charset=utf-8"},
	} {
		a := attemptFor(t, translate.Chat, true)
		a.Exchange.Request.View.Stream = tt.streaming
		text := answer
		if strings.HasPrefix(strings.ToLower(tt.own), "text/event-stream") && tt.streaming {
			text = chunkText + done
		}
		transport := newTransport(answers(func(*http.Request) (*http.Response, error) {
			return responds(http.StatusOK, tt.own, io.NopCloser(strings.NewReader(text))), nil
		}))
		setCredential(transport, "sk-secret")
		c := &exchange.Conduit{Attempt: *a}
		r := (&http.Request{URL: new(url.URL)}).WithContext(exchange.WithConduit(context.Background(), c))
		res, err := transport.RoundTrip(r)
		require.NoError(t, err)
		_, err = io.Copy(io.Discard, res.Body)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		assert.True(t, c.Result.Whole(), "%+v", tt)
		assert.Equal(t, []string{tt.want}, res.Header["Content-Type"], "%+v", tt)
	}
}
