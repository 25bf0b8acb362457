package meter

import (
	"sync"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// Ratios are the bytes per token of the models of providers, learned from reported usage,
// for estimates of tokens. The methods may be called concurrently. A nil *Ratios returns
// the default and learns nothing.
type Ratios struct {
	mu     sync.RWMutex // guards the map, but not its values
	models map[Model]*ratio
}

// Model identifies a model: a provider, and its own name of the model.
type Model struct{ Provider, Name string }

// The bounds of learning.
const (
	maxRatios     = 1024    // models; clients may use any number of model names of some providers
	maxLearned    = 1 << 20 // bytes of a request to learn from; longer ones take too long to measure
	minPerToken   = 1       // bytes per token; the average of every tokenizer is in these bounds
	maxPerToken   = 8
	priorTokens   = 256     // the weight of the default ratio, in tokens
	rememberedFor = 1 << 18 // tokens after which earlier requests have half their weight
	settledAfter  = 32      // requests after which only one of readOneOf is measured
	readOneOf     = 16
)

// ratio is the ratio of one model.
type ratio struct {
	mu            sync.Mutex // guards the fields below
	bytes, tokens float64    // sums over requests, with the same weights
	seen          int64      // requests that were suitable for learning
}

func newRatio() *ratio {
	return &ratio{bytes: token.DefaultBytesPerToken * priorTokens, tokens: priorTokens}
}

// BytesPerToken returns the ratio of a model, or the default while it is unknown.
func (r *Ratios) BytesPerToken(key Model) float64 {
	known := r.find(key)
	if known == nil {
		return token.DefaultBytesPerToken
	}
	known.mu.Lock()
	defer known.mu.Unlock()
	return known.bytes / known.tokens
}

// find returns the ratio of a model, nil if it is not tracked.
func (r *Ratios) find(key Model) *ratio {
	if r == nil {
		return nil
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.models[key]
}

// Track begins to learn the ratio of a model. If maxRatios models are tracked already, any
// other one is removed.
func (r *Ratios) Track(key Model) {
	if r == nil || r.find(key) != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.models[key] != nil {
		return
	}
	for other := range r.models {
		if len(r.models) < maxRatios {
			break
		}
		delete(r.models, other)
	}
	r.models[key] = newRatio()
}

// Measure returns the size of the request of an attempt, nil if nothing is learned from
// it. It is called before the call, because the body is released before the usage is
// reported. Providers that speak the client's format count tokens themselves, so only
// tracked models of theirs are measured.
func (r *Ratios) Measure(a *exchange.Attempt) *token.Size {
	ex := a.Exchange
	if ex.Request.Operation != translate.Generate || len(ex.Request.Body) > maxLearned {
		return nil
	}
	known := r.find(Model{a.Provider, a.Model})
	if known == nil && a.ByteLane() || known != nil && !known.due() {
		return nil
	}
	size := ex.Request.Format.Requests.Measure(ex.Request.Body)
	if size.Images > 0 || size.Documents > 0 {
		return nil
	}
	return &size
}

// Learn updates the ratio of a model with the reported usage of a whole answer, and the size
// of its request.
func (r *Ratios) Learn(c *exchange.Conduit, size *token.Size) {
	if size == nil || !c.Result.Whole() || !c.Result.Usage.Known {
		return
	}
	key := Model{c.Attempt.Provider, c.Attempt.Model}
	if !c.Attempt.ByteLane() {
		r.Track(key)
	}
	if known := r.find(key); known != nil {
		known.add(float64(size.Bytes), float64(c.Result.Usage.Input()))
	}
}

// due reports whether to learn from the next request.
func (r *ratio) due() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen++
	return r.seen <= settledAfter || r.seen%readOneOf == 0
}

// add adds a request, weighted by its length. It ignores implausible numbers. Short requests
// are often implausible, because a provider adds tokens to each request.
func (r *ratio) add(bytes, tokens float64) {
	if tokens <= 0 || bytes < minPerToken*tokens || bytes > maxPerToken*tokens {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.bytes += bytes
	r.tokens += tokens
	for r.tokens > 2*rememberedFor {
		r.bytes /= 2
		r.tokens /= 2
	}
}

// ratioPool keeps the Ratios of this process over reloads.
var ratioPool = caddy.NewUsagePool()

const ratioPoolKey = "ratios"

// LoadRatios returns the Ratios of the process, or new ones if no configuration uses any.
// For each call, ReleaseRatios must be called once.
func LoadRatios() *Ratios {
	loaded, _ := ratioPool.LoadOrStore(ratioPoolKey, &Ratios{models: make(map[Model]*ratio)})
	return loaded.(*Ratios)
}

// ReleaseRatios ends the use that LoadRatios began.
func ReleaseRatios() error {
	_, err := ratioPool.Delete(ratioPoolKey)
	return err
}

// Destruct implements caddy.Destructor. It has nothing to release.
func (r *Ratios) Destruct() error { return nil }

var _ caddy.Destructor = (*Ratios)(nil)
