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

// Engine answers requests of all formats. It is safe for concurrent use, and keeps no state.
// New returns an engine with defaults; the zero value is an engine without a pace.
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

// WithStrict makes the engine as strict as the services of the vendors, which refuse unknown
// options, and reasoning that they have not signed. The default is as lenient as self-hosted
// servers.
func WithStrict(strict bool) Option { return func(e *Engine) { e.strict = strict } }

// WithKey makes the engine require an API key: as a bearer token, or in the header of the
// format for keys. By default, no key is required.
func WithKey(key string) Option { return func(e *Engine) { e.key = key } }

// WithModels restricts the engine to some models. By default, it lists "demo", and answers
// for every name.
func WithModels(names ...string) Option { return func(e *Engine) { e.models = names } }

// WithClock sets the clock for times of creation. The default is time.Now.
func WithClock(now func() time.Time) Option { return func(e *Engine) { e.clock = now } }

// New returns an engine with DefaultPace.
func New(options ...Option) *Engine {
	e := &Engine{pace: DefaultPace}
	for _, set := range options {
		set(e)
	}
	return e
}

// ServeHTTP answers one request. It panics with http.ErrAbortHandler if a fault of the prompt
// or a client that disconnects breaks the answer off.
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
