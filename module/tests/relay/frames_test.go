package relay_test

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

func init() {
	caddy.RegisterModule(framing{})
	httpcaddyfile.RegisterHandlerDirective("framing", func(httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) { return framing{}, nil })
	httpcaddyfile.RegisterDirectiveOrder("framing", httpcaddyfile.Before, "header")
}

// framing is a handler before the gateway. It keeps the memory that the gateway writes, as
// net/http's HTTP/2 server does for a frame whose stream the client resets.
type framing struct{}

var (
	framesLock sync.Mutex
	frames     map[*byte]*http.Request // whose answers were written from a memory
	mixed      int                     // writes from the memory of another answer
)

func (framing) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.framing", New: func() caddy.Module { return framing{} }}
}

func (framing) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	return next.ServeHTTP(&framed{w, r}, r)
}

type framed struct {
	http.ResponseWriter
	request *http.Request
}

func (f *framed) Unwrap() http.ResponseWriter { return f.ResponseWriter }

func (f *framed) Write(p []byte) (int, error) {
	framesLock.Lock()
	defer framesLock.Unlock()
	if owner := frames[&p[0]]; owner != nil && owner != f.request {
		mixed++
	}
	frames[&p[0]] = f.request
	return f.ResponseWriter.Write(p)
}

var _ caddyhttp.MiddlewareHandler = framing{}

// With HTTP/2, the buffer of an answer was used for the next client while a frame for a client
// that had reset its stream could still be written from it.
func TestNoAnswerIsInTheFramesOfAnother(t *testing.T) {
	site.EachWay(t, func(t *testing.T, w site.Way) {
		frames, mixed = make(map[*byte]*http.Request), 0
		p := gatewaytest.NewProvider(t)
		s := site.StartCaddyfile(t, "{\nservers {\nprotocols h1 h2c\n}\n}\n"+site.Block("framing", w.Provider("p", p, "format chat")))
		client := site.NewClient(t, true)
		for range 20 {
			for _, stream := range []bool{false, true} {
				request, err := http.NewRequest(http.MethodPost, s.URL("site", site.ChatPath), strings.NewReader(site.BodyFor(site.ChatPath, "m", "hello", stream)))
				require.NoError(t, err)
				site.SetClientHeaders(request)
				response, err := client.Do(request)
				require.NoError(t, err)
				_, err = io.Copy(io.Discard, response.Body)
				require.NoError(t, err)
				require.NoError(t, response.Body.Close())
				require.Equal(t, 2, response.ProtoMajor)
			}
		}
		framesLock.Lock()
		defer framesLock.Unlock()
		assert.NotEmpty(t, frames)
		assert.Zero(t, mixed)
	})
}
