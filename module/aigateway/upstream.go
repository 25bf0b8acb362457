package aigateway

import (
	"encoding/json"
)

// Upstream is how a provider is called: the part of a provider's configuration
// that the gateway hands on to the transport. Both embed it, so that operators
// write it once and it is described once.
type Upstream struct {
	// Preset says what kind of service the provider is: address, formats,
	// credential header. Default: the preset with the provider's own name.
	PresetRaw json.RawMessage `json:"preset,omitempty" caddy:"namespace=ai_gateway.providers inline_key=preset"`

	// APIKey refers to the credential sent to the provider: {env.NAME} or
	// {file./absolute/path}. Literals are refused: they would show in the
	// admin API and in the autosaved configuration.
	APIKey string `json:"api_key,omitempty"`

	// BaseURL is the address as the provider's SDKs take it, for example
	// https://api.openai.com/v1. Default: the preset's. It must be http or
	// https and have no credentials, query or fragment.
	BaseURL string `json:"base_url,omitempty"`

	// StreamEnd says how this provider's chat and completions streams end:
	// "done" (the default: by [DONE]; anything else is a stream that broke
	// off) or "finish" (for servers that never send [DONE]: an orderly end of
	// the body counts as the end once every choice has finished).
	StreamEnd string `json:"stream_end,omitempty"`

	// Traits say what the provider can take beside what its format states, by
	// name: {"max_tokens_field": "max_completion_tokens"}. caddyfile/README.md lists
	// them. Default, for each: the preset's, else that of the list.
	Traits map[string]string `json:"traits,omitempty"`

	// AnswerBounds bound its answers. Default, for each: that of the site, of the
	// global option, of the preset, of DefaultAnswerBounds.
	AnswerBounds

	// Transport is the transport of reverse_proxy that carries the calls.
	// Default: http with a dial timeout of 3s.
	TransportRaw json.RawMessage `json:"transport,omitempty" caddy:"namespace=http.reverse_proxy.transport inline_key=protocol"`
}

// The values of StreamEnd.
const (
	StreamEndDone   = "done"
	StreamEndFinish = "finish"
)
