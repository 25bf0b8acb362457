package gateway

import (
	"sync"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/messages"
)

// ratios holds how many bytes of a request make a token, for each model of each
// provider. It learns that from what providers say they have counted, for the
// estimates of token counts that nobody makes. Its methods may be called at
// once; a nil *ratios knows nothing and learns nothing.
type ratios struct {
	mu sync.RWMutex // guards the map, not what is in it
	of map[modelKey]*ratio
}

// modelKey is a provider and its own name of a model.
type modelKey struct{ provider, model string }

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

// ratio is what is known of one model.
type ratio struct {
	mu            sync.Mutex // guards all below
	bytes, tokens float64    // both with the same weights
	seen          int64      // requests that could have been learned from
}

func newRatio() *ratio {
	return &ratio{bytes: messages.DefaultBytesPerToken * priorTokens, tokens: priorTokens}
}

// perToken is the ratio of a model, as far as it is known.
func (r *ratios) perToken(key modelKey) float64 {
	known := r.find(key)
	if known == nil {
		return messages.DefaultBytesPerToken
	}
	known.mu.Lock()
	defer known.mu.Unlock()
	return known.bytes / known.tokens
}

// find returns what is known of a model, nil when nothing is.
func (r *ratios) find(key modelKey) *ratio {
	if r == nil {
		return nil
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.of[key]
}

// want begins to learn of a model. Where there is no room any more, any other
// one is forgotten.
func (r *ratios) want(key modelKey) {
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

// learnFrom learns from an exchange that was answered. Where the provider takes
// the client's own format it counts tokens itself, and nothing is learned unless
// it turned out that it does not.
func (r *ratios) learnFrom(ex *exchange.Exchange) {
	a := ex.Attempt
	if ex.Format != translate.Messages || ex.Operation != translate.Generate || len(ex.Body) > maxLearned ||
		a == nil || !a.Finished || !a.Usage.Known {
		return
	}
	key := modelKey{a.Provider, a.Model}
	if !a.ByteLane() {
		r.want(key)
	}
	known := r.find(key)
	if known == nil || !known.due() {
		return
	}
	if size := messages.Measure(ex.Body); size.Images == 0 && size.Documents == 0 {
		known.add(float64(size.Bytes), float64(a.Usage.TotalInput()))
	}
}

// due reports whether the next request is to be learned from.
func (r *ratio) due() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen++
	return r.seen <= settledAfter || r.seen%readOneOf == 0
}

// add learns from one request, whose weight is its length. What cannot be true
// is ignored; so are requests so short that what a provider adds to each of them
// outweighs what they say.
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

// ratioPool keeps the one ratios of this process from one configuration to the
// next.
var ratioPool = caddy.NewUsagePool()

const ratioPoolKey = "ratios"

// loadRatios returns those that the configuration before has learned, or new
// ones. Each call is to be followed by one of releaseRatios.
func loadRatios() *ratios {
	loaded, _ := ratioPool.LoadOrStore(ratioPoolKey, &ratios{of: make(map[modelKey]*ratio)})
	return loaded.(*ratios)
}

func releaseRatios() error {
	_, err := ratioPool.Delete(ratioPoolKey)
	return err
}

// Destruct has nothing to release.
func (r *ratios) Destruct() error { return nil }

var _ caddy.Destructor = (*ratios)(nil)
