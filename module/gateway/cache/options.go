package cache

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
)

// Options are where answers are kept, and how many.
type Options struct {
	Bounds

	// InRaw is a module in the namespace ai_gateway.caches that gateways share, which has its own
	// bounds. Default: the memory of the process.
	InRaw json.RawMessage `json:"in,omitempty" caddy:"namespace=ai_gateway.caches inline_key=cache"`
}

// Bounds are the bounds of the kept answers.
type Bounds struct {
	// Max is the largest size of all answers in the memory together, in bytes. The answer that was
	// not used for the longest time makes room for a new one. Default: 256 MiB.
	Max int64 `json:"max,omitempty"`

	// Entry is the largest size of one answer, in bytes; a larger one is not kept. Default:
	// 1 MiB.
	Entry int64 `json:"entry,omitempty"`
}

// The defaults of Bounds.
const (
	DefaultMax   = 256 << 20
	DefaultEntry = 1 << 20
)

// Load returns the cache with these options, nil for the defaults, until ctx ends. seals returns the
// keys of a cache that gateways share.
func Load(ctx caddy.Context, o *Options, seals func() *seal.Ring) (exchange.CachedAnswers, error) {
	var own Options // a copy: loading empties the raw field, which sites inherit
	if o != nil {
		own = *o
	}
	if own.Max < 0 || own.Entry < 0 {
		return nil, errors.New("cache: max and entry must be positive")
	}
	if own.InRaw != nil {
		return own.loadShared(ctx, seals)
	}
	if own.Max == 0 {
		own.Max = DefaultMax
	}
	if own.Entry == 0 {
		own.Entry = min(DefaultEntry, own.Max)
	}
	if own.Entry > own.Max {
		return nil, fmt.Errorf("cache: entry (%d bytes) is larger than max (%d bytes)", own.Entry, own.Max)
	}
	return loadMemory(ctx, own.Bounds)
}

func (o *Options) loadShared(ctx caddy.Context, seals func() *seal.Ring) (exchange.CachedAnswers, error) {
	if o.Max != 0 {
		return nil, errors.New("cache: max is the bound of the memory; what gateways share has a bound of its own")
	}
	mod, err := ctx.LoadModule(o, "InRaw")
	if err != nil {
		return nil, fmt.Errorf("loading cache: %w", err)
	}
	entry := o.Entry
	if entry == 0 {
		entry = DefaultEntry
	}
	return &Shared{store: mod.(aigateway.AnswerCache), seals: seals, entry: entry}, nil
}
