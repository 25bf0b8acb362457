// Package vertex contains the preset of the models in Google's Vertex AI. Its credential is a
// token of Google, from a file with a service account, or from the machine.
package vertex

import (
	"cmp"
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/claude"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/mistral"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/presetwords"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

func init() { caddy.RegisterModule(Vertex{}) }

// Vertex is a project at a location. Messages requests go to the models of Anthropic, gemini
// requests to those of Google, and chat requests to the endpoint that is compatible with
// OpenAI's.
type Vertex struct {
	// Project is the id of the project.
	Project string `json:"project"`

	// Location is a region such as us-east5, a multi-region (us, eu), or global.
	// Default: global.
	Location string `json:"location,omitempty"`

	// Betas are further values of the header anthropic-beta that the service accepts. A
	// value that it does not know would make it refuse the request, so that others are
	// left out. Default: those that are known.
	Betas []string `json:"betas,omitempty"`
}

// CaddyModule returns the Caddy module information.
func (Vertex) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID:  "ai_gateway.providers.vertex",
		New: func() caddy.Module { return new(Vertex) },
	}
}

// Defaults implements aigateway.Preset.
func (v *Vertex) Defaults() aigateway.Defaults {
	traits := map[string]string{"thinking_style": "both", "request_cache": "false"} // of models that are not in the table
	if v.location() != global {
		traits["regional"] = "true"
	}
	return aigateway.Defaults{
		BaseURL:     "https://" + host(v.location()),
		Formats:     []translate.Format{translate.Messages},
		Traits:      traits,
		ModelTraits: append(claude.Traits(""), mistral.Traits...),
		Listing:     aigateway.Listing{Plain: plain},
		Protocol:    aigateway.Protocol{Address: v.address, Token: token, ForeignError: ofEdge},
	}
}

// plain returns the id of a model behind its resource name, as in publishers/google/models/gemini-2.5-pro,
// or behind its publisher, as chat requests have it: google/gemini-2.5-pro.
func plain(model string) string {
	if _, id, ok := strings.Cut(model, "/models/"); ok {
		return id
	}
	return strings.TrimPrefix(model, "google/")
}

// global is the location without a region.
const global = "global"

func (v *Vertex) location() string { return cmp.Or(v.Location, global) }

// host returns the host of a location.
func host(location string) string {
	switch location {
	case global:
		return "aiplatform.googleapis.com"
	case "us", "eu":
		return "aiplatform." + location + ".rep.googleapis.com"
	default:
		return location + "-aiplatform.googleapis.com"
	}
}

// addresses set the addresses of calls, by their format, below the path of the location.
var addresses = map[translate.Format]func(v *Vertex, call *aigateway.Call, location string) error{
	translate.Messages: (*Vertex).claude,
	translate.Gemini:   (*Vertex).gemini,
	translate.Chat:     (*Vertex).compatible,
}

// address sets the address of a call.
func (v *Vertex) address(call *aigateway.Call) error {
	address := addresses[call.Format]
	if address == nil {
		return errFormat
	}
	return address(v, call, strings.TrimSuffix(call.Base, "/v1")+"/v1/projects/"+v.Project+"/locations/"+v.location())
}

var (
	errFormat    = errors.New("the service does not have this format")
	errOperation = errors.New("the service does not have this endpoint")
)

// compatible is the endpoint that is compatible with OpenAI's. The model is in the body.
func (v *Vertex) compatible(call *aigateway.Call, location string) error {
	if call.Operation.Beside() {
		return errOperation
	}
	call.Path, call.Query = location+"/endpoints/openapi/chat/completions", ""
	return nil
}

// gemini is the endpoint of a model of Google. Its methods, which end the path, and the query
// are those of the format. A request for a count of tokens is not in a member of its own, and
// the service chooses its tier by headers.
func (v *Vertex) gemini(call *aigateway.Call, location string) error {
	if call.Operation.Beside() {
		return errOperation
	}
	segment, err := aigateway.PathSegment(call.Model)
	if err != nil {
		return err
	}
	call.Path = location + "/publishers/google/models/" + segment + call.Path[strings.LastIndexByte(call.Path, ':'):]
	if call.Operation == translate.CountTokens {
		call.Body.Only, call.Body.Without = "generateContentRequest", []string{"model"}
	}
	call.Body.Unsupported.Add(translate.Hint, "serviceTier")
	call.Body.Unsupported.Add(translate.Shaping, "toolConfig.includeServerSideToolInvocations")
	return nil
}

// claude is the endpoint of a model of Anthropic. The version is in the body, and the model
// in the path, except for a count of tokens.
func (v *Vertex) claude(call *aigateway.Call, location string) error {
	name, method := call.Model, ":rawPredict"
	call.Body.Without, call.Body.With = []string{"model", "anthropic_version"}, claude.Version(call, "vertex-2023-10-16")
	switch {
	case call.Operation == translate.CountTokens:
		// The endpoint refuses aliases of versions.
		plain, _ := aigateway.PathSegment(strings.TrimSuffix(strings.TrimSuffix(call.Model, "@latest"), "@default"))
		name, call.Body.With = "count-tokens", call.Body.With+`,"model":"`+plain+`"`
	case call.Stream:
		method = ":streamRawPredict"
	}
	segment, err := aigateway.PathSegment(name)
	if err != nil {
		return err
	}
	call.Path, call.Query = location+"/publishers/anthropic/models/"+segment+method, ""
	call.Body.Unsupported.Add(translate.Shaping, "tools.*.strict")
	claude.KeepBetas(call, slices.Concat(betas, v.Betas))
	return nil
}

// ofEdge reports whether an error comes from Google's servers in front of the models, which
// answer in a format of their own, sometimes in a list.
func ofEdge(format translate.Format, body []byte) bool {
	var answer struct {
		Type string `json:"type"`
	}
	return json.Unmarshal(body, &answer) != nil || format == translate.Messages && answer.Type != "error"
}

// betas are the values of anthropic-beta that the service accepts.
var betas = []string{
	"computer-use-2024-10-22", "computer-use-2025-01-24", "context-1m-2025-08-07", "context-management-2025-06-27",
	"dev-full-thinking-2025-05-14", "fine-grained-tool-streaming-2025-05-14", "interleaved-thinking-2025-05-14",
	"model-context-window-exceeded-2025-08-26", "output-128k-2025-02-19", "pdfs-2024-09-25", "search-results-2025-06-09",
	"token-counting-2024-11-01", "token-efficient-tools-2025-02-19", "web-search-2025-03-05",
}

var (
	projectName  = regexp.MustCompile(`^[a-z0-9][a-z0-9.:-]*$`)
	locationName = regexp.MustCompile(`^[a-z][a-z0-9-]*$`)
)

// Validate implements caddy.Validator.
func (v *Vertex) Validate() error {
	switch {
	case !projectName.MatchString(v.Project):
		return errors.New("vertex needs the id of a project: project <id>")
	case v.Location != "" && !locationName.MatchString(v.Location):
		return errors.New("location: is a region such as us-east5, us, eu or global")
	}
	return nil
}

// UnmarshalCaddyfile reads the words of the preset. Syntax:
//
//	project  <id>
//	location <region> | us | eu | global
//	betas    <value of anthropic-beta...>
func (v *Vertex) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	return presetwords.Read(d, "vertex", v,
		presetwords.Word{Name: "project", Needs: "one id", Value: &v.Project},
		presetwords.Word{Name: "location", Needs: "one region, us, eu or global", Value: &v.Location},
		presetwords.Word{Name: "betas", List: &v.Betas},
	)
}

// Interface guards
var (
	_ aigateway.Preset      = (*Vertex)(nil)
	_ caddy.Validator       = (*Vertex)(nil)
	_ caddyfile.Unmarshaler = (*Vertex)(nil)
)
