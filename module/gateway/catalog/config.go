package catalog

import (
	"encoding/json"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// ProviderConfig is a named upstream service.
type ProviderConfig struct {
	// Name identifies the provider in models, logs and metrics.
	Name string `json:"name"`

	// Upstream is how the provider is called.
	aigateway.Upstream

	// Formats are the wire formats that the provider speaks natively, the
	// preferred one first. A client whose own format is among them has its
	// bytes relayed unchanged. Default: the preset's.
	Formats []translate.Format `json:"formats,omitempty"`

	// Cooldown is how long an API key rests once the provider has refused it, and a
	// model after five failures in a row; each further rest is twice as long, up to 10
	// minutes. While a target rests, other targets are asked first. Default: that of
	// the site, else 30s. Negative: never.
	Cooldown caddy.Duration `json:"cooldown,omitempty"`

	// MaxRunning is how many calls may run at the provider at once. Further requests
	// go to other targets, or are answered 503 (messages clients: 529). All sites and
	// configurations of the process count together. Default: no bound.
	MaxRunning int `json:"max_running,omitempty"`

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

// The values of ProviderConfig's ModelList.
const (
	ModelListAuto   = "auto"
	ModelListStatic = "static"
)

// ModelConfig leads a name that clients use to targets.
type ModelConfig struct {
	// Name is the name of the model, or a pattern in which "*" matches anything. An
	// exact name takes precedence over patterns, a longer text before the "*" over a
	// shorter one.
	Name string `json:"name"`

	// Targets are tried in order. Those with weights that follow each other share
	// the requests.
	Targets []TargetConfig `json:"targets"`

	// FallbackOn are the failures after which the next target is tried: a
	// status (429), a class (5xx), timeout, unreachable.
	// Default: 401 402 403 404 408 429 5xx timeout unreachable.
	FallbackOn []string `json:"fallback_on,omitempty"`

	// Traits of all targets of the model, which take precedence over those of the
	// providers: {"on_loss": "reject"}. Default: those of the providers.
	Traits map[string]string `json:"traits,omitempty"`

	// Prices are what the targets of the model cost, over those of their providers:
	// columns as those of a provider, without models. Default: those of the providers.
	Prices []map[string]string `json:"prices,omitempty"`

	// Attempts is how many targets are asked for one request at most. A target that
	// the request cannot be translated for does not count. Default: all.
	Attempts int `json:"attempts,omitempty"`
}

// TargetConfig is a provider and the provider's own model name.
type TargetConfig struct {
	// Provider is the name of a provider of this site or of the global option.
	Provider string `json:"provider"`

	// Model is the provider's own name for the model. Default: the name that
	// the client used.
	Model string `json:"model,omitempty"`

	// Weight is the share of the requests that the target gets among the targets with
	// weights directly before and behind it. Those targets are one step of the order:
	// if one of them fails, the others follow before the next step. Default: 0, a step
	// of its own.
	Weight int `json:"weight,omitempty"`

	// Traits of this target, which take precedence over those of the model and of the
	// provider: {"reasoning_replay": "none"}. Default: theirs.
	Traits map[string]string `json:"traits,omitempty"`

	// Prices are what this target costs, over those of the model: columns as those of
	// a provider, without models. Default: those of the model.
	Prices []map[string]string `json:"prices,omitempty"`
}
