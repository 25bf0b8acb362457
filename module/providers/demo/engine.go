package demo

import (
	"net/http"
	"slices"
	"time"
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

// WithStrict makes the engine as strict as the vendors' own services, which
// refuse unknown fields, and reasoning that they did not sign. The default is as
// lenient as self-hosted servers.
func WithStrict(on bool) Option { return func(e *Engine) { e.strict = on } }

// WithKey makes the engine demand this API key: as the bearer credential, or in
// the header that the format has for it. The default is to serve every caller.
func WithKey(key string) Option { return func(e *Engine) { e.key = key } }

// WithModels makes the engine know only these models; the default is to list
// "demo" and to answer for every name.
func WithModels(names ...string) Option { return func(e *Engine) { e.models = names } }

// WithClock sets the clock of the time of creation; the default is time.Now.
func WithClock(now func() time.Time) Option { return func(e *Engine) { e.clock = now } }

// New makes an engine with DefaultPace.
func New(options ...Option) *Engine {
	e := &Engine{pace: DefaultPace}
	for _, set := range options {
		set(e)
	}
	return e
}

// ServeHTTP answers one request. It panics with http.ErrAbortHandler when a
// fault of the prompt, or a client that left, breaks an answer off.
func (e *Engine) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := &exchange{engine: e, w: w, r: r, route: routeOf(r)}
	if refused := x.open(); refused != nil {
		x.refuse(refused)
		return
	}
	x.route.serve(x)
}

// now returns the time of creation of an answer.
func (e *Engine) now() time.Time {
	if e.clock != nil {
		return e.clock()
	}
	return time.Now()
}

// names returns the models that the engine lists.
func (e *Engine) names() []string {
	if len(e.models) == 0 {
		return []string{"demo"}
	}
	return e.models
}

// knows reports whether the engine answers for the model.
func (e *Engine) knows(model string) bool {
	return len(e.models) == 0 || slices.Contains(e.models, model)
}

// Interface guards.
var (
	_ http.Handler      = (*Engine)(nil)
	_ http.RoundTripper = (*Engine)(nil)
)
