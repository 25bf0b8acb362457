package sink

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
)

// reset is the ResponseWriter of an HTTP/2 stream that the client has reset: a frame with the
// bytes is written later.
type reset struct {
	http.ResponseWriter
	frame []byte
}

func (r *reset) Write(p []byte) (int, error) {
	r.frame = p
	return 0, http.ErrAbortHandler
}

// The buffer of an answer was used for the next client while a frame for a client that had reset
// its stream could still be written from it.
func TestAFrameAfterAResetHasNothingOfOthers(t *testing.T) {
	stream := &reset{ResponseWriter: httptest.NewRecorder()}
	r := httptest.NewRequest(http.MethodPost, "/v1/chat/completions", nil)
	assert.Same(t, stream, Copying(stream, r), "HTTP/1.1 writes nothing later")
	r.ProtoMajor = 2
	s := new(Sink)
	s.Init(Copying(stream, r), &exchange.Exchange{Request: exchange.Request{Format: formats.Of(translate.Chat)}})
	another(s)
	s.WriteHeader(http.StatusOK)
	buffer := []byte("the answer of the one")
	_, err := s.Write(buffer)
	assert.NoError(t, err)
	copy(buffer, "what another one gets")
	assert.Equal(t, "the answer of the one", string(stream.frame))
}
