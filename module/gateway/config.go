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
	// Providers are the upstream services. If nothing else decides, earlier ones
	// are preferred.
	Providers []*Provider `json:"providers,omitempty"`

	// Models lead names that clients use to targets.
	Models []*Model `json:"models,omitempty"`

	// KeySources are where the keys of clients are looked up, in order; the first
	// that has a key decides. The source "config" holds keys of the configuration
	// itself. Without any source, only the keys of the store are valid.
	KeySourcesRaw []json.RawMessage `json:"keys,omitempty" caddy:"namespace=ai_gateway.keys inline_key=source"`

	// KeyLimits are the limits that keys may name.
	KeyLimits []*KeyLimit `json:"limits,omitempty"`

	// Counters are where limits count. Either the global option or sites may set
	// them. Default: "memory", the memory of this process.
	CountersRaw json.RawMessage `json:"counters,omitempty" caddy:"namespace=ai_gateway.counters inline_key=counters"`

	// Store is where users, their sessions and their keys are stored. Its keys are
	// valid beside those of KeySources. Either the global option or sites may have
	// one. Default: SQLite, in a file of Caddy's data directory; none if accounts are
	// disabled.
	StoreRaw json.RawMessage `json:"store,omitempty" caddy:"namespace=ai_gateway.stores inline_key=store"`

	// Ledger has every exchange leave a record of what it used, in the store. Either
	// the global option or sites may have one. Default: none.
	Ledger *Ledger `json:"ledger,omitempty"`

	// Accounts configure how users log in and make keys, below /api/: see the module ai_gateway.accounts. Either the global option or
	// sites may have them. Default: on, with its defaults.
	AccountsRaw json.RawMessage `json:"accounts,omitempty"`

	// DisableAccounts switches accounts off: the paths below /api/ are left to the
	// site. The keys of a configured store still work. Default: false.
	DisableAccounts bool `json:"disable_accounts,omitempty"`

	// CORS are the origins of web pages whose scripts may call the models and the
	// accounts from a browser: https://chat.example.com, or * for all. Scripts need
	// a key or a token: the cookie of a session does not count for them. The list of
	// a site replaces that of the global option. Default: none, so that browsers
	// allow only scripts of the gateway's own origin.
	CORS cors.Origins `json:"cors,omitempty"`

	// SealKeys are references to the keys that seal reasoning which passes between the
	// responses format and others: {env.NAME} or {file./absolute/path}, at least 16
	// bytes each. The first seals, all of them open. Default: a key that is made at
	// the first use, in Caddy's storage.
	SealKeys []string `json:"seal_keys,omitempty"`

	// MaxBody is the largest request body in bytes, counted after decoding.
	// Default: 33554432 (32 MiB). Larger bodies are answered 413.
	MaxBody int64 `json:"max_body,omitempty"`

	// CommitAfter is how long a streaming request may wait for its first byte. After
	// that it is answered 200 with a keep-alive, so that clients and proxies do not
	// give up; an error of the provider no longer shows in the status. Default: 30s.
	// Negative: never.
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

// KeyLimit is a limit that keys may name. It counts for each key by itself; the keys
// of one user share it.
type KeyLimit struct {
	// Name is the name that keys use: 1 to 64 letters, digits or ._@+- with a letter
	// or digit first.
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

	// Models are the names of models, or patterns in which "*" matches anything, that
	// this provider serves unless a model block claims the name. Default: every name
	// that is not claimed otherwise; only one provider can have this default.
	Models []string `json:"models,omitempty"`

	// DisableModels lets only model blocks lead to this provider. Models must be empty
	// then. Default: false.
	DisableModels bool `json:"disable_models,omitempty"`

	// ModelList is where GET /v1/models gets the names of this provider's models:
	// "auto" asks the provider for its own list, and shows what Models allow of it;
	// "static" shows only the exact names of the configuration. The provider is asked
	// when a client asks for the list, at most once a minute. Default: auto for
	// presets whose service documents a list, else static.
	ModelList string `json:"model_list,omitempty"`

	// PricedAs is the provider's name in the table of prices that the gateway has.
	// Default: the name of the preset.
	PricedAs string `json:"priced_as,omitempty"`

	// Prices are what models of this provider cost, over those of the table: each by
	// the names of its columns, such as {"models": "gpt-5*", "input": "1.25",
	// "output": "10"}. See the package prices.
	Prices []map[string]string `json:"prices,omitempty"`

	// ReverseProxyRaw is the configuration of a reverse_proxy handler between the
	// gateway and the provider, for load balancing, health checks, dynamic upstreams
	// and header operations. Its transport is TransportRaw. Without it, calls go
	// straight to the transport.
	ReverseProxyRaw json.RawMessage `json:"reverse_proxy,omitempty" caddy:"namespace=http.handlers inline_key=handler"`
}

// The values of Provider's ModelList.
const (
	ModelListAuto   = "auto"
	ModelListStatic = "static"
)

// Model leads a name that clients use to targets.
type Model struct {
	// Name is the name of the model, or a pattern in which "*" matches anything. An
	// exact name takes precedence over patterns, a longer text before the "*" over a
	// shorter one.
	Name string `json:"name"`

	// Targets are tried in order.
	Targets []Target `json:"targets"`

	// FallbackOn are the failures after which the next target is tried: a
	// status (429), a class (5xx), timeout, unreachable.
	// Default: 401 402 403 404 408 429 5xx timeout unreachable.
	FallbackOn []string `json:"fallback_on,omitempty"`

	// Traits of all targets of the model, which take precedence over those of the
	// providers: {"on_loss": "reject"}. Default: those of the providers.
	Traits map[string]string `json:"traits,omitempty"`

	// Attempts is how many targets are asked for one request at most. A target that
	// the request cannot be translated for does not count. Default: all.
	Attempts int `json:"attempts,omitempty"`
}

// Target is a provider and the provider's own model name.
type Target struct {
	// Provider is the name of a provider of this site or of the global option.
	Provider string `json:"provider"`

	// Model is the provider's own name for the model. Default: the name that
	// the client used.
	Model string `json:"model,omitempty"`

	// Traits of this target, which take precedence over those of the model and of the
	// provider: {"reasoning_replay": "none"}. Default: theirs.
	Traits map[string]string `json:"traits,omitempty"`
}
