package gateway

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestY037ClientsReadTheErrorBeforeTheConnectionCloses: an abort right behind the error event
// hides the event from several clients.
func TestY037ClientsReadTheErrorBeforeTheConnectionCloses(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "data: {\"error\":{}}\n\n")
		w.(http.Flusher).Flush()
		abort(r.Context())
	}))
	defer server.Close()
	answer, err := server.Client().Get(server.URL)
	require.NoError(t, err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	assert.Equal(t, "data: {\"error\":{}}\n\n", string(body))
	assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
}
