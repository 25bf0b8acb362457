// Package cache keeps answers for equal requests: which ones, for whom, and the memory that has
// them.
//
// An answer is kept only where a model asks for that, and for the keys of its scope. A key of the
// memory is a keyed hash: it contains no part of a prompt in clear. Requests that act, that refer
// to what a provider stores, or whose answers are expected to differ, are not answered from the
// cache. The memory has a bound in bytes.
package cache

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
)

// Rule is for how long, for whom and for which requests the answers of a model are kept.
type Rule struct {
	// TTL is how long an answer is kept. Default: 1h.
	TTL caddy.Duration `json:"ttl,omitempty"`

	// Scope is who shares answers: the requests of a key, the keys of a user, or all keys.
	// Default: key.
	Scope Scope `json:"scope,omitempty"`

	// Keys are the ids and patterns of ids of the keys whose answers are kept. Default: all keys.
	Keys []aigateway.Pattern `json:"keys,omitempty"`

	// AnyTemperature keeps the answers to requests of any temperature. Default: false; the
	// request must state the temperature 0, unless it is for embeddings, ranks or moderation.
	AnyTemperature bool `json:"any_temperature,omitempty"`

	// ToolCalls keeps answers that call tools, too. Default: false.
	ToolCalls bool `json:"tool_calls,omitempty"`
}

// Scope is who shares answers.
type Scope string

// The scopes.
const (
	ScopeKey  Scope = "key"  // the requests of a key
	ScopeUser Scope = "user" // the keys of a user of the store; a key without one has its own answers
	ScopeAll  Scope = "all"  // all keys that may use the model
)

// DefaultTTL is the default of Rule.TTL.
const DefaultTTL = time.Hour

// Validate returns an error for an invalid rule. A nil rule is valid.
func (r *Rule) Validate() error {
	if r == nil {
		return nil
	}
	switch r.Scope {
	case "", ScopeKey, ScopeUser, ScopeAll:
	default:
		return fmt.Errorf("cache: scope must be key, user or all, not '%s'", r.Scope)
	}
	if r.TTL < 0 {
		return errors.New("cache: ttl must be positive")
	}
	for _, pattern := range r.Keys {
		if _, err := aigateway.ParsePattern(string(pattern)); err != nil {
			return fmt.Errorf("cache: keys: %w", err)
		}
	}
	return nil
}

// For returns the cache for an exchange whose key is known and whose request was read; nil if the
// request, its model or its client excludes it.
func (r *Rule) For(ex *exchange.Exchange, answers exchange.CachedAnswers) *exchange.Cache {
	wish := wishOf(strings.Join(ex.Request.Client["Cache-Control"], ","))
	if wish.noStore || !r.isFor(ex.Key) || !repeats(ex, r.AnyTemperature) {
		return nil
	}
	return &exchange.Cache{
		Answers: answers, Scope: r.scopeOf(ex), TTL: time.Duration(cmp.Or(r.TTL, caddy.Duration(DefaultTTL))),
		MaxAge: wish.maxAge, Refresh: wish.noCache, ToolCalls: r.ToolCalls,
	}
}

// isFor reports whether the answers of a key are kept.
func (r *Rule) isFor(key *aigateway.Key) bool {
	return len(r.Keys) == 0 || slices.ContainsFunc(r.Keys, func(p aigateway.Pattern) bool { return p.Match(key.ID) })
}

// scopeOf returns the scope of a key.
func (r *Rule) scopeOf(ex *exchange.Exchange) exchange.CacheScope {
	if r.Scope == ScopeAll {
		return exchange.CacheScope{}
	}
	return scopeOf(ex.Key, r.Scope)
}

// Scopes returns the scopes whose answers belong to a key: its own, and that of its user.
func Scopes(key *aigateway.Key) []exchange.CacheScope {
	return []exchange.CacheScope{scopeOf(key, ScopeKey), scopeOf(key, ScopeUser)}
}

// scopeOf returns a scope of a key. Names of keys are unique in a site alone, which may share
// the memory with others: a key of a configuration is identified by its digest as well. The users
// of stores are unique. A token has another digest each time, and the user of its issuer.
func scopeOf(key *aigateway.Key, scope Scope) exchange.CacheScope {
	parts := []string{key.Subject}
	if key.Subject == "" {
		parts = append(parts, string(key.Digest[:]))
	}
	if key.Subject == "" || scope != ScopeUser {
		parts = append(parts, key.ID)
	}
	return sha256.Sum256(fmt.Appendf(nil, "%q", parts))
}

// wish is what a client asks of the cache.
type wish struct {
	noStore, noCache bool
	maxAge           time.Duration
}

// wishOf reads the header Cache-Control. Directives that a cache of answers does not know have no
// effect.
func wishOf(header string) wish {
	w := wish{maxAge: math.MaxInt64}
	for directive := range strings.SplitSeq(strings.ToLower(header), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(directive), "=")
		switch name {
		case "no-store":
			w.noStore = true
		case "no-cache":
			w.noCache = true
		case "max-age":
			if seconds, err := strconv.ParseInt(strings.Trim(value, `"`), 10, 32); err == nil && seconds >= 0 {
				w.maxAge = time.Duration(seconds) * time.Second
			}
		}
	}
	return w
}
