package gateway

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/backends"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/cache"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/guardrails"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/limits"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/mcp"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/pass"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/request/affinity"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/request/cors"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/request/labels"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/catalog"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/queue"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/written"
)

// Config is the configuration that the app (the global option) and a handler (a site)
// have in common. A site inherits the configuration of the app and adds to it. The same
// name in both is an error.
type Config struct {
	// Providers are the upstream services. If nothing else decides, a provider is
	// preferred to those after it.
	Providers []*catalog.ProviderConfig `json:"providers,omitempty"`

	// Models map the names that clients use to targets.
	Models []*catalog.ModelConfig `json:"models,omitempty"`

	// CatalogFile is the absolute path of a file with facts and prices of models, which
	// override the built-in ones row by row: see the package tables. It may contain
	// placeholders such as {env.*}. A change of the file takes effect within about two
	// seconds; if the new content is invalid, the old rows stay. The file of a site replaces
	// that of the global option; the facts of a provider's models are those of the file
	// where the provider is defined. Default: none.
	CatalogFile string `json:"catalog,omitempty"`

	// KeySourcesRaw are the sources in which the keys of clients are looked up, in this
	// order: the first source that has the key decides. The source "config" contains
	// the keys of the configuration itself. Without any source, only the keys of the
	// store are valid.
	KeySourcesRaw []json.RawMessage `json:"keys,omitempty" caddy:"namespace=ai_gateway.keys inline_key=source"`

	// KeyLimits are the limits that keys may name.
	KeyLimits []*limits.Limit `json:"limits,omitempty"`

	// Counters are the backend that counts for limits. Either the global option or
	// sites may set it. Default: "memory", the memory of this process.
	CountersRaw json.RawMessage `json:"counters,omitempty" caddy:"namespace=ai_gateway.counters inline_key=counters"`

	// Options configure store, ledger and accounts.
	backends.Options

	// Guards check the texts of requests and answers, in their order. Those of a site come
	// behind those of the global option. Default: none, and no text is searched.
	Guards []*guardrails.Config `json:"guards,omitempty"`

	// LogContent makes the gateway log the texts of requests and answers, with the logger
	// http.handlers.ai_gateway.content. That of a site replaces that of the global option.
	// Default: no texts are logged.
	LogContent *guardrails.LogConfig `json:"log_content,omitempty"`

	// Cache is where the answers of models with a cache are kept, and how many. Sites with the
	// same bounds share a memory. A reload keeps its answers unless it changes the bounds; a
	// restart loses them. The options of a site replace those of the global option.
	// Default: those of the package cache.
	Cache *cache.Options `json:"cache,omitempty"`

	// CORS lists the origins of web pages whose scripts may call the models and the
	// accounts from a browser: https://chat.example.com, or * for all. Such a script
	// needs a key or a token; session cookies are not accepted from other origins. The
	// list of a site replaces that of the global option. Default: none, so that
	// browsers allow only scripts of the gateway's own origin.
	CORS cors.Origins `json:"cors,omitempty"`

	// SealKeys are references to the keys that encrypt reasoning when it is translated
	// between the responses format and another: {env.NAME} or {file./absolute/path}, at
	// least 16 bytes each. The first key encrypts; all of them decrypt. A change of a file
	// takes effect within about two seconds. Default: a key
	// that is generated at the first use and kept in Caddy's storage.
	SealKeys []string `json:"seal_keys,omitempty"`

	// Pass lists the endpoints of providers that clients may call as they are. Those of a site come
	// behind those of the global option. Default: none.
	Pass []*pass.Config `json:"pass,omitempty"`

	// MCP lists the servers of the Model Context Protocol that clients may use. Those of a site come
	// behind those of the global option. Default: none.
	MCP []*mcp.Config `json:"mcp,omitempty"`

	// Sockets lists the providers to which clients of the responses format, of the Realtime API and of
	// Live APIs may open WebSockets. They are dialed in this order, with their API keys in the order of the configuration, until one
	// accepts. The list of a site replaces that of the global option. Default: none, and requests for
	// WebSockets are answered 426.
	Sockets []string `json:"sockets,omitempty"`

	// MaxBody is the largest request body in bytes, before and after decoding.
	// Requests with larger bodies are answered 413. Default: 33554432 (32 MiB).
	MaxBody int64 `json:"max_body,omitempty"`

	// MaxBatch is the largest body in bytes of a request that creates a batch, before and after
	// decoding. The body is held in memory while it is sent. Requests with larger bodies are answered
	// 413. Default: 67108864 (64 MiB).
	MaxBatch int64 `json:"max_batch,omitempty"`

	// MaxUpload is the largest body in bytes of a request that uploads a file, or a part of one. The
	// provider gets it while it arrives, so that little of it is held in memory. Larger ones are answered
	// 413. Default: 536870912 (512 MiB).
	MaxUpload int64 `json:"max_upload,omitempty"`

	// PublicURL is the address by which clients reach the gateway, the path included that stands before
	// /v1: https://ai.example.com. It begins the addresses in answers, such as that of the results of a
	// batch. Default: the address of the site, if that is one name; else such addresses have no
	// host, and official SDKs read them as ones below their own base URL.
	PublicURL string `json:"public_url,omitempty"`

	// CommitAfter is the longest time that a client waits for the first byte of a
	// stream. After it, the gateway sends status 200 and a keep-alive, so that clients
	// and proxies do not give up. An error after that is sent as an event of the stream,
	// no longer as a status. Default: 30s. Negative: never.
	CommitAfter caddy.Duration `json:"commit_after,omitempty"`

	// KeepAlive is the longest time without bytes in an open stream. After it, the
	// gateway sends a keep-alive: a ping (messages), an event that adds nothing
	// (responses), or a comment (other formats). Default: 15s. Negative: never.
	KeepAlive caddy.Duration `json:"keep_alive,omitempty"`

	// Deadline is the longest time for an exchange, its whole answer included. After
	// it, the client gets 504, or the error event of its stream. Default: no bound,
	// because the timeouts of the single steps end exchanges that make no progress.
	Deadline caddy.Duration `json:"deadline,omitempty"`

	// DisableRetry switches off the retry of the last target. Without it, when no
	// target is left, the gateway calls the last one again after a failure that cost
	// nothing: the provider could not be reached, or its error asks for a retry within
	// 5 seconds. Default: false.
	DisableRetry bool `json:"disable_retry,omitempty"`

	// Cooldown is the cooldown of providers that set none. Default: 30s. Negative:
	// providers never rest.
	Cooldown caddy.Duration `json:"cooldown,omitempty"`

	// FailRate is the fail rate of providers that set none: the percentage of failed calls
	// with which a model rests. Default: 40. Negative: only consecutive failures count.
	FailRate int `json:"fail_rate,omitempty"`

	// TargetHeader adds the header X-Gateway-Target to answers: the provider, a slash and
	// the provider's own name of the model that has answered. Default: false, because
	// clients then learn which services the gateway uses.
	TargetHeader bool `json:"target_header,omitempty"`

	// MaxRunning is the largest number of exchanges that run at once. The exchanges of
	// all sites count, also those of replaced configurations. Further requests are
	// answered 503 (messages clients: 529). Default: no bound.
	MaxRunning int `json:"max_running,omitempty"`

	// Queue lets requests wait, without their bodies, while MaxRunning exchanges run. Those that
	// find no place in it, or wait too long, are answered 429. Default: no queue.
	Queue *queue.Config `json:"queue,omitempty"`

	// Affinity lists the headers (header.X-Session) and fields (metadata.user_id) that
	// can identify the session of a request; the first one that a request has decides.
	// Requests of one session go to the same target, API key and address while these are
	// healthy, because the provider has cached the beginning of their prompts there. An
	// empty list switches affinity off. Default: header.X-Claude-Code-Session-Id,
	// header.X-Session-Affinity, prompt_cache_key, metadata.user_id, user.
	Affinity *affinity.Sources `json:"affinity,omitempty"`

	labels.Names

	// Written are the lines of the Caddyfile from which the configuration was adapted, for errors
	// and for the console. They change nothing. Default: none.
	Written *written.Caddyfile `json:"written,omitempty"`

	// AnswerBounds are the bounds of answers for providers that set none.
	aigateway.AnswerBounds
}

// The defaults of Config.
const (
	DefaultMaxBody     = 32 << 20
	DefaultMaxBatch    = 64 << 20
	DefaultMaxUpload   = 512 << 20
	DefaultCommitAfter = 30 * time.Second
	DefaultKeepAlive   = 15 * time.Second
)

// inherit sets the fields that the site leaves empty to those of the global option, else
// to their defaults.
func (c *Config) inherit(app *Config) error {
	c.MaxBody = cmp.Or(c.MaxBody, app.MaxBody, DefaultMaxBody)
	c.MaxBatch = cmp.Or(c.MaxBatch, app.MaxBatch, DefaultMaxBatch)
	c.MaxUpload = cmp.Or(c.MaxUpload, app.MaxUpload, DefaultMaxUpload)
	c.PublicURL = cmp.Or(c.PublicURL, app.PublicURL)
	c.CommitAfter = cmp.Or(c.CommitAfter, app.CommitAfter, caddy.Duration(DefaultCommitAfter))
	c.KeepAlive = cmp.Or(c.KeepAlive, app.KeepAlive, caddy.Duration(DefaultKeepAlive))
	if c.Cache == nil {
		c.Cache = app.Cache
	}
	if c.CORS == nil {
		c.CORS = app.CORS
	}
	if c.SealKeys == nil {
		c.SealKeys = app.SealKeys
	}
	c.Pass = slices.Concat(app.Pass, c.Pass)
	c.MCP = slices.Concat(app.MCP, c.MCP)
	if c.Sockets == nil {
		c.Sockets = app.Sockets
	}
	c.Names.Inherit(app.Names)
	c.AnswerBounds.Inherit(app.AnswerBounds)
	c.Cooldown = cmp.Or(c.Cooldown, app.Cooldown)
	c.FailRate = cmp.Or(c.FailRate, app.FailRate)
	c.Deadline = cmp.Or(c.Deadline, app.Deadline)
	c.MaxRunning, c.Queue = cmp.Or(c.MaxRunning, app.MaxRunning), cmp.Or(c.Queue, app.Queue)
	c.Affinity = cmp.Or(c.Affinity, app.Affinity, &affinity.Default)
	c.DisableRetry = c.DisableRetry || app.DisableRetry
	c.TargetHeader = c.TargetHeader || app.TargetHeader
	if c.CountersRaw != nil && app.CountersRaw != nil {
		return errors.New("counters is set in the global option ai_gateway already")
	}
	if c.CountersRaw != nil && len(app.KeyLimits) > 0 {
		return errors.New("counters must be set in the global option ai_gateway, which has limits that count there as well")
	}
	if c.CountersRaw == nil {
		c.CountersRaw = app.CountersRaw
	}
	return nil
}
