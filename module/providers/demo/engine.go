package demo

import (
	"crypto/sha256"
	"errors"
	"io"
	"mime"
	"net/http"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// DefaultPace is the pause before each piece of content of a stream: slow
// enough for people to see it flow.
const DefaultPace = 15 * time.Millisecond

// MaxBody is the largest request body that the engine reads, in bytes.
const MaxBody = 32 << 20

// Engine answers model requests. It is safe for concurrent use and holds no
// state. Make one with New; the zero value answers too, without a pace.
type Engine struct {
	pace   time.Duration
	strict bool
	key    string
	models []string
	clock  func() time.Time
}

// Option sets one property of an Engine.
type Option func(*Engine)

// WithPace sets the pause before each piece of content of a stream; 0 is none.
func WithPace(d time.Duration) Option { return func(e *Engine) { e.pace = d } }

// WithStrict makes the engine refuse unknown fields, as the vendors' own
// services do and self-hosted servers do not, and thinking that it did not
// sign. The default is not to.
func WithStrict(on bool) Option { return func(e *Engine) { e.strict = on } }

// WithKey makes the engine demand this API key: as bearer credential, or as
// x-api-key on the messages endpoints. Without it every caller is served.
func WithKey(key string) Option { return func(e *Engine) { e.key = key } }

// WithModels makes the engine know these models alone; the default is to list
// "demo" and to answer for every name.
func WithModels(names ...string) Option { return func(e *Engine) { e.models = names } }

// WithClock sets where the time of creation comes from; the default is
// time.Now.
func WithClock(now func() time.Time) Option { return func(e *Engine) { e.clock = now } }

// New makes an engine with DefaultPace.
func New(options ...Option) *Engine {
	e := &Engine{pace: DefaultPace}
	for _, set := range options {
		set(e)
	}
	return e
}

// exchange is one request with everything known about its answer.
type exchange struct {
	engine *Engine
	w      http.ResponseWriter
	r      *http.Request
	route  route
	body   []byte
	hash   [sha256.Size]byte
}

// ServeHTTP answers one request. It panics with http.ErrAbortHandler when a
// fault on request, or a client that left, breaks an answer off.
func (e *Engine) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := &exchange{engine: e, w: w, r: r, route: routeOf(r)}
	if refused := x.open(); refused != nil {
		x.refuse(refused)
		return
	}
	x.route.serve(x)
}

// open does what every route needs: the right method, the credential, the body.
func (x *exchange) open() *refusal {
	for _, check := range []func() *refusal{x.checkMethod, x.checkCredential, x.checkHeaders, x.readBody} {
		if refused := check(); refused != nil {
			return refused
		}
	}
	return nil
}

func (x *exchange) checkMethod() *refusal {
	if x.r.Method == x.route.method {
		return nil
	}
	x.w.Header().Set("Allow", x.route.method)
	return &refusal{status: http.StatusMethodNotAllowed, message: "this method is not allowed here"}
}

func (x *exchange) checkCredential() *refusal {
	if x.engine.key == "" || x.r.Header.Get("Authorization") == "Bearer "+x.engine.key {
		return nil
	}
	if x.route.format == translate.Messages && x.r.Header.Get("X-Api-Key") == x.engine.key {
		return nil
	}
	return &refusal{status: http.StatusUnauthorized, message: "the API key is not valid", code: "invalid_api_key"}
}

func (x *exchange) checkHeaders() *refusal {
	if x.route.format == translate.Messages && x.r.Header.Get("Anthropic-Version") == "" {
		return &refusal{status: http.StatusBadRequest, message: "anthropic-version: header is required"}
	}
	if x.r.Method != http.MethodPost {
		return nil
	}
	if coding := x.r.Header.Get("Content-Encoding"); coding != "" && coding != "identity" {
		return &refusal{status: http.StatusBadRequest, message: "content-encoding: only plain bodies are read"}
	}
	if media, _, _ := mime.ParseMediaType(x.r.Header.Get("Content-Type")); media != "application/json" {
		return &refusal{status: http.StatusUnsupportedMediaType, message: "content-type: must be application/json"}
	}
	return nil
}

func (x *exchange) readBody() *refusal {
	if x.r.Body == nil {
		return nil
	}
	var err error
	x.body, err = io.ReadAll(http.MaxBytesReader(x.w, x.r.Body, MaxBody))
	x.hash = sha256.Sum256(x.body)
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return &refusal{status: http.StatusRequestEntityTooLarge, message: "request body: too large"}
	}
	if err != nil {
		return &refusal{status: http.StatusBadRequest, message: "request body: not readable to its end"}
	}
	return nil
}

// created is the time of creation of an answer in seconds.
func (x *exchange) created() int64 {
	if x.engine.clock != nil {
		return x.engine.clock().Unix()
	}
	return time.Now().Unix()
}

// knows reports whether the engine answers for the model.
func (e *Engine) knows(model string) bool {
	for _, name := range e.models {
		if name == model {
			return true
		}
	}
	return len(e.models) == 0
}

// Interface guards.
var (
	_ http.Handler      = (*Engine)(nil)
	_ http.RoundTripper = (*Engine)(nil)
)
