// Package azure contains the presets of the models in Azure: azure speaks the formats of
// OpenAI, and azure_claude that of Anthropic. Their credential is an API key, or a client
// secret that is exchanged for tokens of Microsoft Entra ID.
package azure

import (
	"cmp"
	"errors"
	"net/url"
	"regexp"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/claude"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/mistral"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/presetwords"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

func init() {
	for i := range services {
		caddy.RegisterModule(Azure{service: &services[i]})
	}
}

// service is one of the APIs of a resource.
type service struct {
	name    string
	host    string // behind the name of the resource
	path    string // of the base URL
	header  string // of an API key
	scope   string // of tokens
	formats []translate.Format
	traits  map[string]string
	models  []aigateway.ModelTraits
}

var services = []service{
	{
		name: "azure", host: ".openai.azure.com", path: "/openai/v1", header: "Api-Key",
		scope:   "https://cognitiveservices.azure.com/.default",
		formats: []translate.Format{translate.Responses, translate.Chat},
		traits: map[string]string{
			"max_tokens_field":    "max_completion_tokens", // reasoning models refuse max_tokens
			"max_stops":           "4",
			"tool_call_ids":       "short",
			"responses_reasoning": "encrypted",
		},
		models: mistral.Traits, // by deployments with the names of their models
	},
	// The service has the API of Anthropic, with names of deployments.
	{
		name: "azure_claude", host: ".services.ai.azure.com", path: "/anthropic", header: "X-Api-Key",
		scope:   "https://ai.azure.com/.default",
		formats: []translate.Format{translate.Messages},
		traits:  map[string]string{"thinking_style": "both"}, // of models that are not in the table
		models:  claude.Traits(""),                           // by deployments with the names of their models
	},
}

// classicFormats are the formats of deployments with an api-version. Not every version has
// responses.
var classicFormats = []translate.Format{translate.Chat, translate.Completions}

// Azure is a resource. The name of a model is the name of a deployment.
type Azure struct {
	// Resource is the name of the resource, from which the address follows. Default: none;
	// base_url has the address.
	Resource string `json:"resource,omitempty"`

	// APIVersion is the version of the API of deployments, such as 2024-10-21. The address
	// is then that of the resource, such as https://example.openai.azure.com, and paths
	// have the deployment. Default: none; the address is that of the API v1, which ends
	// in /openai/v1.
	APIVersion string `json:"api_version,omitempty"`

	// Entra makes the API keys of the provider secrets of an application, which are
	// exchanged for tokens. Default: none; they are API keys of the resource.
	Entra *Entra `json:"entra,omitempty"`

	service *service
}

// CaddyModule returns the Caddy module information.
func (a Azure) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID:  caddy.ModuleID("ai_gateway.providers." + a.service.name),
		New: func() caddy.Module { return &Azure{service: a.service} },
	}
}

// Defaults implements aigateway.Preset.
func (a *Azure) Defaults() aigateway.Defaults {
	d := aigateway.Defaults{
		Formats: a.service.formats, Header: a.service.header, KeyRequired: true, Traits: a.service.traits, ModelTraits: a.service.models,
		Listing: aigateway.Listing{As: services[0].name},
	}
	path := a.service.path
	if a.APIVersion != "" {
		path, d.Formats, d.Protocol.Address = "", classicFormats, a.deployment
	}
	if a.Resource != "" {
		d.BaseURL = "https://" + a.Resource + a.service.host + path
	}
	if a.Entra != nil {
		d.Header, d.Protocol.Token = "", a.token
	}
	return d
}

// deployment sets the address of a call to a deployment. Responses are not below one.
func (a *Azure) deployment(call *aigateway.Call) error {
	endpoint := strings.TrimPrefix(strings.TrimPrefix(call.Path, call.Base), "/v1")
	call.Path = strings.TrimSuffix(strings.TrimSuffix(call.Base, "/v1"), "/openai") + "/openai"
	if call.Format != translate.Responses {
		name, err := aigateway.PathSegment(call.Model)
		if err != nil {
			return err
		}
		call.Path += "/deployments/" + name
	}
	call.Path += endpoint
	call.Query = url.Values{"api-version": {a.APIVersion}}.Encode()
	return nil
}

var (
	resourceName = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9-]*$`)
	tenantName   = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9.-]*$`)
)

// Validate implements caddy.Validator.
func (a *Azure) Validate() error {
	switch {
	case a.Resource != "" && !resourceName.MatchString(a.Resource):
		return errors.New("resource: is the first word of the host, such as example of example.openai.azure.com")
	case a.APIVersion != "" && a.service.path != services[0].path:
		return errors.New("api_version: this service has none")
	case a.Entra != nil:
		return a.Entra.check()
	}
	return nil
}

// UnmarshalCaddyfile reads the words of the presets. Syntax:
//
//	resource    <name>
//	api_version <version>
//	entra       <tenant> <client_id> {
//		authority <url>
//		scope     <scope>
//	}
func (a *Azure) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	return presetwords.Read(d, a.service.name, a,
		presetwords.Word{Name: "resource", Needs: "one name", Value: &a.Resource},
		presetwords.Word{Name: "api_version", Needs: "one version, such as 2024-10-21", Value: &a.APIVersion},
		presetwords.Word{Name: "entra", Read: func(d *caddyfile.Dispenser) error {
			a.Entra = new(Entra)
			return a.Entra.read(d)
		}},
	)
}

// scope returns the scope of tokens.
func (a *Azure) scope() string { return cmp.Or(a.Entra.Scope, a.service.scope) }

// Interface guards
var (
	_ aigateway.Preset      = (*Azure)(nil)
	_ caddy.Validator       = (*Azure)(nil)
	_ caddyfile.Unmarshaler = (*Azure)(nil)
)
