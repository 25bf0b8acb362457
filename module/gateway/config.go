package gateway

import (
	"encoding/json"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/affinity"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/catalog"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/cors"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/limiting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/userbase"
)

// Config is what the app (the global option) and a handler (a site) have in
// common. A site inherits what the app has and adds to it; the same name in
// both is an error.
type Config struct {
	// Providers are the upstream services. If nothing else decides, earlier ones
	// are preferred.
	Providers []*catalog.ProviderConfig `json:"providers,omitempty"`

	// Models lead names that clients use to targets.
	Models []*catalog.ModelConfig `json:"models,omitempty"`

	// PricesFile is the path of a file with prices, as the package prices describes it,
	// which are over those that are compiled in. It must be absolute, and may contain
	// placeholders such as {env.*}. A change of the file takes effect within about two
	// seconds; a wrong one leaves the prices as they were. The file of a site replaces
	// that of the global option. Default: none.
	PricesFile string `json:"prices_file,omitempty"`

	// KeySources are where the keys of clients are looked up, in order; the first
	// that has a key decides. The source "config" holds keys of the configuration
	// itself. Without any source, only the keys of the store are valid.
	KeySourcesRaw []json.RawMessage `json:"keys,omitempty" caddy:"namespace=ai_gateway.keys inline_key=source"`

	// KeyLimits are the limits that keys may name.
	KeyLimits []*limiting.Limit `json:"limits,omitempty"`

	// Counters are where limits count. Either the global option or sites may set
	// them. Default: "memory", the memory of this process.
	CountersRaw json.RawMessage `json:"counters,omitempty" caddy:"namespace=ai_gateway.counters inline_key=counters"`

	// Options are store, ledger and accounts.
	userbase.Options

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

	// Deadline is how long an exchange may take, the whole answer included. After it,
	// the client gets 504, or the error event of its stream. Default: no bound, since
	// the bounds of the steps of an answer end exchanges that make no progress.
	Deadline caddy.Duration `json:"deadline,omitempty"`

	// DisableRetry switches off that a target is asked a second time, when none is
	// left, after a failure that cost nothing: it could not be reached, or asked to be
	// tried again within 5 seconds. Default: false.
	DisableRetry bool `json:"disable_retry,omitempty"`

	// Cooldown is that of providers without one of their own; see there. Default: 30s.
	// Negative: never.
	Cooldown caddy.Duration `json:"cooldown,omitempty"`

	// MaxRunning is how many exchanges may run at once, of all sites and configurations
	// of the process. Further requests are answered 503 (messages clients: 529).
	// Default: no bound.
	MaxRunning int `json:"max_running,omitempty"`

	// Affinity are where requests name their session, in order: a header
	// (header.X-Session) or a field (metadata.user_id). Requests of one session go to
	// the same target, API key and address while these are healthy, because that is
	// where the beginning of their prompts is cached. An empty list switches it off.
	// Default: header.X-Claude-Code-Session-Id, header.X-Session-Affinity,
	// prompt_cache_key, metadata.user_id, user.
	Affinity *affinity.Sources `json:"affinity,omitempty"`

	// AnswerBounds bound the answers of providers without bounds of their own.
	aigateway.AnswerBounds
}

// The defaults of Config.
const (
	DefaultMaxBody     = 32 << 20
	DefaultCommitAfter = 30 * time.Second
	DefaultKeepAlive   = 15 * time.Second
)
