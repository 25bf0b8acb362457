package gateway

import (
	"encoding/json"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/cors"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// Config is what the app (the global option) and a handler (a site) have in
// common. A site inherits what the app has and adds to it; the same name in
// both is an error.
type Config struct {
	// Providers are the upstream services, in the order in which they are
	// preferred where nothing else decides.
	Providers []*Provider `json:"providers,omitempty"`

	// Models lead names that clients use to targets.
	Models []*Model `json:"models,omitempty"`

	// KeySources are where clients' keys are looked up, in order; the first
	// that knows a key decides. The source "config" holds keys of the
	// configuration itself. A gateway without any source lets in those alone
	// who have a key of its store.
	KeySourcesRaw []json.RawMessage `json:"keys,omitempty" caddy:"namespace=ai_gateway.keys inline_key=source"`

	// KeyLimits are what keys may be bounded by, which name them.
	KeyLimits []*KeyLimit `json:"limits,omitempty"`

	// Counters are where is counted what limits bound. Either the global option
	// or sites may say. Default: "memory", that of this process.
	CountersRaw json.RawMessage `json:"counters,omitempty" caddy:"namespace=ai_gateway.counters inline_key=counters"`

	// Store is where users, their sessions and the keys that they make are kept.
	// Its keys are known beside those of KeySources. Either the global option or
	// sites may have one. Default: SQLite, in a file of Caddy's data directory;
	// none where accounts are disabled.
	StoreRaw json.RawMessage `json:"store,omitempty" caddy:"namespace=ai_gateway.stores inline_key=store"`

	// Accounts configure how people log in and make keys of their own, below
	// /api/: see the module ai_gateway.accounts. Either the global option or
	// sites may have them. Default: on, with its defaults.
	AccountsRaw json.RawMessage `json:"accounts,omitempty"`

	// DisableAccounts switches accounts off: the paths below /api/ are left to
	// the site. The keys of a store that is configured still work.
	DisableAccounts bool `json:"disable_accounts,omitempty"`

	// CORS are the origins of web pages whose scripts may call the models and the
	// accounts from a browser: https://chat.example.com, or * for all. Scripts
	// need a key or a token: the cookie of a session does not count for them. A
	// site's own list replaces that of the global option. Default: none, so that
	// browsers let scripts of the gateway's own origin alone do so.
	CORS cors.Origins `json:"cors,omitempty"`

	// MaxBody is the largest request body in bytes, counted after decoding.
	// Default: 33554432 (32 MiB). Larger bodies are answered 413.
	MaxBody int64 `json:"max_body,omitempty"`

	// CommitAfter is how long a streaming request may have sent nothing
	// before it is answered 200 with a keep-alive, so that clients and proxies
	// in between do not give up. A provider's error can no longer be shown by
	// its status from then on. Default: 30s. Negative: never.
	CommitAfter caddy.Duration `json:"commit_after,omitempty"`

	// KeepAlive is how long an open stream may be silent before a ping
	// (messages) or a comment (other formats) is sent. Default: 15s.
	// Negative: never.
	KeepAlive caddy.Duration `json:"keep_alive,omitempty"`

	// AnswerBounds bound the answers of providers without bounds of their own.
	aigateway.AnswerBounds
}

// The defaults of Config.
const (
	DefaultMaxBody     = 32 << 20
	DefaultCommitAfter = 30 * time.Second
	DefaultKeepAlive   = 15 * time.Second
)

// KeyLimit is what a key may be bounded by. It counts for each key by itself; the
// keys that one user has made share it.
type KeyLimit struct {
	// Name is what keys name it by: 1 to 64 letters, digits or ._@+- with a
	// letter or digit first.
	Name string `json:"name"`

	aigateway.LimitRules
}

// Provider is a named upstream service.
type Provider struct {
	// Name identifies the provider in models, logs and metrics.
	Name string `json:"name"`

	// Upstream is how the provider is called.
	aigateway.Upstream

	// Formats are the wire formats that the provider speaks natively, the
	// preferred one first. A client whose own format is among them has its
	// bytes relayed unchanged. Default: the preset's.
	Formats []translate.Format `json:"formats,omitempty"`

	// Models are the model names (patterns, "*" matches anything) that this
	// provider serves where no model block claims the name. Default: every
	// name that nobody else claims, which one provider alone can serve.
	Models []string `json:"models,omitempty"`

	// DisableModels lets model blocks alone lead to this provider: it serves
	// no name of itself, and Models are empty then. Default: false.
	DisableModels bool `json:"disable_models,omitempty"`

	// ModelList says where GET /v1/models gets the names of this provider's
	// models from: "auto" asks the provider for its own list, of which it shows
	// what Models allow; "static" shows the exact names of the configuration
	// alone. A list is asked for when a client asks, at most once a minute, and
	// never because of another request. Default: auto for presets whose service
	// documents a list, else static.
	ModelList string `json:"model_list,omitempty"`

	// ReverseProxyRaw is the configuration of a reverse_proxy handler that
	// stands between the gateway and the provider, for load balancing, health
	// checks, dynamic upstreams and header operations. Its transport is
	// TransportRaw. Without it, and with one address, calls go straight to
	// the transport.
	ReverseProxyRaw json.RawMessage `json:"reverse_proxy,omitempty" caddy:"namespace=http.handlers inline_key=handler"`
}

// The values of Provider's ModelList.
const (
	ModelListAuto   = "auto"
	ModelListStatic = "static"
)

// Model leads a name that clients use to targets.
type Model struct {
	// Name is the model name, or a pattern in which "*" matches anything. An
	// exact name wins over patterns, a longer literal prefix over a shorter.
	Name string `json:"name"`

	// Targets are tried in order.
	Targets []Target `json:"targets"`

	// FallbackOn are the failures after which the next target is tried: a
	// status (429), a class (5xx), timeout, unreachable.
	// Default: 401 402 403 404 408 429 5xx timeout unreachable.
	FallbackOn []string `json:"fallback_on,omitempty"`

	// Traits are set for all targets of the model, over those of their
	// providers: {"on_loss": "reject"}. Default: the providers'.
	Traits map[string]string `json:"traits,omitempty"`

	// Attempts is the most targets that are asked for one request. One that is
	// passed over because the request cannot be translated for it does not
	// count. Default: all.
	Attempts int `json:"attempts,omitempty"`
}

// Target is a provider and the provider's own model name.
type Target struct {
	// Provider is the name of a provider of this site or of the global option.
	Provider string `json:"provider"`

	// Model is the provider's own name for the model. Default: the name that
	// the client used.
	Model string `json:"model,omitempty"`

	// Traits are set for this target alone, over those of the model and of the
	// provider: {"reasoning_replay": "none"}. Default: theirs.
	Traits map[string]string `json:"traits,omitempty"`
}
