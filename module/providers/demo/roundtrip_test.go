package demo_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo"
)

func streamRequest(t *testing.T, ctx context.Context, prompt string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://demo.invalid"+chatPath,
		strings.NewReader(ask(chatPath, prompt, `,"stream":true`)))
	require.NoError(t, err)
	r.Header.Set("Content-Type", "application/json")
	return r
}

func TestRoundTripReturnsWithTheHeadersAndPacesTheBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		response, err := demo.New().RoundTrip(streamRequest(t, t.Context(), "hi"))
		require.NoError(t, err)
		assert.Zero(t, time.Since(start), "the headers do not wait for the body")
		body, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		contents := strings.Count(string(body), `"content":`) - 1 // the role's is empty and not paced
		assert.Equal(t, time.Duration(contents)*demo.DefaultPace, time.Since(start))
	})
}

// A handler must end when its answer is no longer read: synctest fails if a goroutine
// remains.
func TestClosingTheBodyStopsTheHandler(t *testing.T) {
	for _, prompt := range []string{"[[words:1000]]", "[[fault:stall]]", "[[fault:slow-first=1h]]"} {
		synctest.Test(t, func(t *testing.T) {
			response, err := demo.New().RoundTrip(streamRequest(t, t.Context(), prompt))
			require.NoError(t, err)
			require.NoError(t, response.Body.Close())
			synctest.Wait()
			_, err = response.Body.Read(make([]byte, 1))
			assert.Error(t, err)
		})
	}
}

func TestTheEndOfTheContextStopsTheHandlerAndTheReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		response, err := demo.New().RoundTrip(streamRequest(t, ctx, "[[fault:stall]]"))
		require.NoError(t, err)
		time.AfterFunc(time.Second, cancel)
		_, err = io.ReadAll(response.Body)
		assert.ErrorIs(t, err, context.Canceled)
	})
}

func TestTheEndOfTheContextBeforeTheHeadersIsItsError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := demo.New().RoundTrip(streamRequest(t, ctx, "[[fault:slow-headers=1h]]"))
		assert.ErrorIs(t, err, context.DeadlineExceeded)
	})
}

func TestAResetInProcessIsAnErrorOfTheCall(t *testing.T) {
	_, err := demo.New().RoundTrip(streamRequest(t, t.Context(), "[[fault:reset]]"))
	assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
	assert.ErrorContains(t, err, "connection reset")
}

type trackedBody struct {
	io.Reader
	closed bool
}

func (b *trackedBody) Close() error {
	b.closed = true
	return nil
}

func TestRoundTripClosesTheRequestBodyAndLeavesTheRequestAlone(t *testing.T) {
	body := &trackedBody{Reader: strings.NewReader(ask(chatPath, "hi", ""))}
	r := streamRequest(t, t.Context(), "")
	r.Body = body
	response, err := demo.New(demo.WithPace(0)).RoundTrip(r)
	require.NoError(t, err)
	_, err = io.ReadAll(response.Body)
	require.NoError(t, err)
	assert.True(t, body.closed)
	assert.Empty(t, r.RequestURI)
	assert.Same(t, r, response.Request)
}
