package catalog

import (
	"cmp"
	"encoding/json"
	"strconv"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/cache"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/queue"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// ProviderConfig is a named upstream service.
type ProviderConfig struct {
	// Name identifies the provider in models, logs and metrics.
	Name string `json:"name"`

	// Upstream configures the calls to the provider.
	aigateway.Upstream

	// Formats are the wire formats that the provider speaks natively, the preferred one
	// first. The bytes of a client whose format is listed are relayed unchanged.
	// Default: the formats of the preset.
	Formats []translate.Format `json:"formats,omitempty"`

	// Cooldown is the time for which an API key rests after the provider has refused it,
	// and for which a model rests after five consecutive failures. Each further rest is
	// twice as long, up to 10 minutes. While a target rests, other targets are asked
	// first. Default: the cooldown of the site, else 30s. Negative: never.
	Cooldown caddy.Duration `json:"cooldown,omitempty"`

	// FailRate is the percentage of failed calls with which a model rests: at least five
	// failures within a minute, and at least this percentage of the calls since the first
	// of them. Default: the rate of the site, else 40. Negative: only consecutive failures
	// count.
	FailRate int `json:"fail_rate,omitempty"`

	CallBounds

	// Models are the names of models, or patterns in which "*" matches anything, that
	// this provider serves unless a model block claims the name. Default: every name
	// that is not claimed otherwise; only one provider can have this default.
	Models []string `json:"models,omitempty"`

	// DisableModels makes the provider serve only the targets of model blocks. Models
	// must be empty then. Default: false.
	DisableModels bool `json:"disable_models,omitempty"`

	// ModelList is the source of this provider's models in GET /v1/models. With "auto",
	// it is the provider's own list, restricted to the names that Models match. With
	// "static", it is the exact names of the configuration. The gateway reads the
	// provider's list when a client asks for models, at most once a minute. Default:
	// auto for presets whose service documents a list, else static.
	ModelList string `json:"model_list,omitempty"`

	// ListedAs is the name of the provider in the tables of models and prices: the preset of
	// the service whose models it has. Default: the name of the preset.
	ListedAs string `json:"listed_as,omitempty"`

	// Prices override the prices of this provider's models in the table. Each is a row
	// of the table by the names of its columns, such as {"models": "gpt-5*",
	// "input": "1.25", "output": "10"}. See the package prices.
	Prices []map[string]string `json:"prices,omitempty"`

	// ReverseProxyRaw is the configuration of a reverse_proxy handler between the
	// gateway and the provider, for load balancing, health checks, dynamic upstreams
	// and header operations. Its transport is TransportRaw. Without it, calls go
	// directly to the transport.
	ReverseProxyRaw json.RawMessage `json:"reverse_proxy,omitempty" caddy:"namespace=http.handlers inline_key=handler"`
}

// CallBounds bound the calls of a provider.
type CallBounds struct {
	// MaxRunning is the largest number of calls that run at the provider at once.
	// Further requests go to other targets, or are answered 503 (messages clients: 529).
	// The calls of all sites and configurations of the process count together. Default:
	// no bound.
	MaxRunning int `json:"max_running,omitempty"`

	// Queue lets requests wait while MaxRunning calls run, if no other target takes them. Those
	// that find no place in it, or wait too long, are answered 429. Default: no queue.
	Queue *queue.Config `json:"queue,omitempty"`

	// Limit bounds the calls of the provider, whatever key they are for. While a rule is used up,
	// other targets of the model are asked; if there is none, requests are answered 429. A
	// running call counts with the tokens, and the cost at this provider, that it may have.
	// Default: no bound.
	Limit *aigateway.LimitRules `json:"limit,omitempty"`
}

// The values of ProviderConfig's ModelList.
const (
	ModelListAuto   = "auto"
	ModelListStatic = "static"
)

// ModelConfig maps a name that clients use to targets.
type ModelConfig struct {
	// Name is the name of the model, or a pattern in which "*" matches anything. An
	// exact name takes precedence over patterns, and a pattern with a longer text before
	// its "*" over one with a shorter text.
	Name string `json:"name"`

	// Targets are tried in this order. Consecutive targets with weights share the
	// requests.
	Targets []TargetConfig `json:"targets"`

	// Order is what decides which target is tried first: "cost", the lowest price of the
	// request, or "latency", the shortest time to the first content of recent streams. It is
	// the order within each step of targets with weights; if no target has a weight, that of
	// all targets. Default: the order of Targets.
	Order string `json:"order,omitempty"`

	// OrderWithin is the percentage above the best target within which targets share the
	// requests by their weights. Default: 0 for cost, 20 for latency.
	OrderWithin int `json:"order_within,omitempty"`

	// SplitBy is what stays with one target of a step: "customer", "key" or "session". Each
	// customer, key or session has its target by its name and that of the model, so that the
	// targets with weights are the arms of an experiment. A request without a customer or a
	// session is split by its key. It needs targets with weights, and excludes Order.
	// Default: sessions have their targets, which are the same for all models, and requests
	// without one are spread at random.
	SplitBy string `json:"split_by,omitempty"`

	// Mirror is a target that gets a copy of some requests. Its answers are discarded.
	// Default: none.
	Mirror *MirrorConfig `json:"mirror,omitempty"`

	// FallbackOn are the failures after which the next target is tried: a status (429),
	// a class (5xx), timeout, unreachable, context_length (the request is too long for the
	// model), content_policy (the provider refuses the content of the request), budget (what
	// is left of a budget cannot pay for the target, which is then not asked), or default.
	// Default: default, which is 401 402 403 404 408 429 498 5xx timeout unreachable.
	FallbackOn []string `json:"fallback_on,omitempty"`

	// Traits are traits of all targets of the model. They take precedence over the
	// traits of the providers: {"on_loss": "reject"}. Default: none.
	Traits map[string]string `json:"traits,omitempty"`

	// Prices are the prices of all targets of the model. They take precedence over the
	// prices of the providers. A price has the same columns, without models. Default:
	// none.
	Prices []map[string]string `json:"prices,omitempty"`

	// Cache makes the gateway answer equal requests from memory. Default: every request is
	// sent to a provider.
	Cache *cache.Rule `json:"cache,omitempty"`

	HedgeConfig

	// Attempts is the largest number of targets that are asked for one request. A target
	// for which the request cannot be translated does not count. Default: all.
	Attempts int `json:"attempts,omitempty"`
}

// HedgeConfig is when a second target is called as well.
type HedgeConfig struct {
	// Hedge is the time after which a second target is called as well, if the first has no content.
	// The call with the first content answers, and the other one is cancelled. Only streams without
	// tools are hedged; budgets reserve both calls. Default: no second call.
	Hedge caddy.Duration `json:"hedge,omitempty"`

	// HedgeShare is the largest percentage of these requests for which a second target is called, above 0
	// and at most 100, so that a slow provider does not double the cost. After a time with fewer ones, ten
	// more in a row. Default: 100.
	HedgeShare float64 `json:"hedge_share,omitempty"`
}

// String returns the hedge as in the Caddyfile: "2s 10%"; "" for none.
func (c *HedgeConfig) String() string {
	if c.Hedge == 0 {
		return ""
	}
	text := time.Duration(c.Hedge).String()
	if c.HedgeShare > 0 {
		text += " " + strconv.FormatFloat(c.HedgeShare, 'f', -1, 64) + "%"
	}
	return text
}

// MirrorConfig is a target that gets a copy of some requests of a model.
type MirrorConfig struct {
	// Provider is the name of a provider of this site or of the global option.
	Provider string `json:"provider"`

	// Model is the provider's own name for the model. Default: the name that the client
	// used.
	Model string `json:"model,omitempty"`

	// Share is the percentage of the requests that are copied, above 0 and at most 100.
	// Default: 100.
	Share float64 `json:"share,omitempty"`
}

// String returns the mirror as in the Caddyfile: "openai/gpt-5 5%".
func (c *MirrorConfig) String() string {
	target := c.Provider
	if c.Model != "" {
		target += "/" + c.Model
	}
	return target + " " + strconv.FormatFloat(cmp.Or(c.Share, 100), 'f', -1, 64) + "%"
}

// TargetConfig is a provider and the provider's own model name.
type TargetConfig struct {
	// Provider is the name of a provider of this site or of the global option.
	Provider string `json:"provider"`

	// Model is the provider's own name for the model. Default: the name that
	// the client used.
	Model string `json:"model,omitempty"`

	// Weight is the share of the target in the requests of its step. Consecutive targets
	// with weights are one step: if one of them fails, the others are asked before the
	// next step. Default: 0, which makes the target a step of its own.
	Weight int `json:"weight,omitempty"`

	// Traits are traits of this target. They take precedence over the traits of the
	// model and of the provider: {"reasoning_replay": "none"}. Default: none.
	Traits map[string]string `json:"traits,omitempty"`

	// Prices are the prices of this target. They take precedence over the prices of the
	// model and of the provider. A price has the same columns, without models. Default:
	// none.
	Prices []map[string]string `json:"prices,omitempty"`

	// Limit bounds the calls of the target, whatever key they are for. While a rule is used up,
	// other targets of the model are asked; if there is none, requests are answered 429. A
	// running call counts with the tokens, and the cost at this target, that it may have.
	// Default: no bound.
	Limit *aigateway.LimitRules `json:"limit,omitempty"`

	// If is a CEL expression, as of Caddy's matcher "expression", over placeholders of the
	// request: "{http.ai_gateway.request.input_tokens} > 100000". The target takes only
	// requests for which it holds. Default: none; the target takes all requests.
	If string `json:"if,omitempty"`
}
