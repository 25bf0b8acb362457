package aigateway

import "encoding/json"

// Upstream is the part of the configuration of a provider that describes the calls
// to it. The gateway passes it on to the transport.
type Upstream struct {
	// Preset is the module with the defaults of the provider: address, formats,
	// credential header. Default: the preset with the provider's own name.
	PresetRaw json.RawMessage `json:"preset,omitempty" caddy:"namespace=ai_gateway.providers inline_key=preset"`

	// APIKeys are references to credentials for the provider: {env.NAME} or
	// {file./absolute/path}. A literal credential is an error, because the admin API and
	// the autosaved configuration would show it. Each call uses one of the keys. A key
	// that the provider refuses or limits rests for a while, and the others are used. A
	// change of a file takes effect within about two seconds.
	// Lists of models and health checks use the first key. Default: none.
	APIKeys []string `json:"api_keys,omitempty"`

	// BaseURL is the address of the provider, in the form in which its SDKs take
	// it: https://api.openai.com/v1. It is an http or https URL without
	// credentials, query and fragment. Default: the preset's.
	BaseURL string `json:"base_url,omitempty"`

	// StreamEnd is the end of this provider's chat and completions streams. With "done",
	// a stream ends with [DONE], and any other end is a failure. With "finish", for
	// servers that never send [DONE], the body may also end without an error after every
	// choice has finished. Default: done.
	StreamEnd string `json:"stream_end,omitempty"`

	// Traits are the differences between the provider and its format, by name:
	// {"max_tokens_field": "max_completion_tokens"}. caddyfile/docs/reference.md lists the
	// traits and their defaults. Default: the traits of the preset.
	Traits map[string]string `json:"traits,omitempty"`

	// AnswerBounds restrict the answers of the provider. The default of each bound is
	// that of the site, else of the global option, else of the preset, else of
	// DefaultAnswerBounds.
	AnswerBounds

	// Transport is the transport module of reverse_proxy that sends the calls.
	// Default: http with a dial timeout of 3s.
	TransportRaw json.RawMessage `json:"transport,omitempty" caddy:"namespace=http.reverse_proxy.transport inline_key=protocol"`
}

// The values of StreamEnd.
const (
	StreamEndDone   = "done"
	StreamEndFinish = "finish"
)
