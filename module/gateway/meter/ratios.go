package meter

import (
	"sync"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// Ratios hold the bytes per token of each model of each provider, learned from
// reported usage, for estimates of token counts. Their methods may be called at
// once; a nil *Ratios returns the default and learns nothing.
type Ratios struct {
	mu sync.RWMutex // guards the map, not what is in it
	of map[Model]*ratio
}

// Model identifies a model: a provider, and its own name of the model.
type Model struct{ Provider, Name string }

// The bounds of what is learned.
const (
	maxRatios     = 1024    // models; a client may name any where a provider takes any
	maxLearned    = 1 << 20 // bytes of a request that is learned from: longer ones take too long to read
	leastPerToken = 1       // bytes per token: no tokenizer has longer or shorter tokens on average
	mostPerToken  = 8
	priorTokens   = 256     // the weight of the default ratio
	rememberedFor = 1 << 18 // tokens, after which what was learned has half its weight
	settledAfter  = 32      // requests learned from, after which only some are read
	readOneOf     = 16
)

// ratio is the ratio of one model.
type ratio struct {
	mu            sync.Mutex // guards all below
	bytes, tokens float64    // both with the same weights
	seen          int64      // requests that could have been learned from
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
	return r.of[key]
}

// Track begins to learn the ratio of a model. With maxRatios models known, any
// other one is dropped.
func (r *Ratios) Track(key Model) {
	if r == nil || r.find(key) != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.of[key] != nil {
		return
	}
	for other := range r.of {
		if len(r.of) < maxRatios {
			break
		}
		delete(r.of, other)
	}
	r.of[key] = newRatio()
}

// Measure measures the request of an attempt to learn from, and returns nil for all
// others. The body is gone when the usage is reported. A provider that speaks the
// client's own format counts tokens itself: nothing is learned of its models unless
// they are tracked.
func (r *Ratios) Measure(a *exchange.Attempt) *token.Size {
	ex := a.Exchange
	if ex.Operation != translate.Generate || len(ex.Body) > maxLearned {
		return nil
	}
	known := r.find(Model{a.Provider, a.Model})
	if known == nil && a.ByteLane() || known != nil && !known.due() {
		return nil
	}
	size := ex.Format.Requests.Measure(ex.Body)
	if size.Images > 0 || size.Documents > 0 {
		return nil
	}
	return &size
}

// Learn learns from the reported usage of a whole answer and the size of its
// request.
func (r *Ratios) Learn(c *exchange.Conduit, size *token.Size) {
	if size == nil || !c.Result.Whole() || !c.Result.Usage.Known {
		return
	}
	key := Model{c.Attempt.Provider, c.Attempt.Model}
	if !c.Attempt.ByteLane() {
		r.Track(key)
	}
	if known := r.find(key); known != nil {
		known.add(float64(size.Bytes), float64(c.Result.Usage.TotalInput()))
	}
}

// due reports whether to learn from the next request.
func (r *ratio) due() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen++
	return r.seen <= settledAfter || r.seen%readOneOf == 0
}

// add learns from one request, weighted by its length. It ignores impossible
// numbers, and requests so short that what a provider adds to each of them
// outweighs their text.
func (r *ratio) add(bytes, tokens float64) {
	if tokens <= 0 || bytes < leastPerToken*tokens || bytes > mostPerToken*tokens {
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

// LoadRatios returns the Ratios of the process, or new ones if no configuration
// uses any. Each call needs one of ReleaseRatios.
func LoadRatios() *Ratios {
	loaded, _ := ratioPool.LoadOrStore(ratioPoolKey, &Ratios{of: make(map[Model]*ratio)})
	return loaded.(*Ratios)
}

// ReleaseRatios ends the use that LoadRatios began.
func ReleaseRatios() error {
	_, err := ratioPool.Delete(ratioPoolKey)
	return err
}

// Destruct has nothing to release.
func (r *Ratios) Destruct() error { return nil }

var _ caddy.Destructor = (*Ratios)(nil)
