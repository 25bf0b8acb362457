// Package bedrock contains the preset of the models in Amazon Bedrock: those of Anthropic and OpenAI in
// their own formats, and all others by Converse. Requests are signed with the credentials of the
// machine, or have an API key of the service.
package bedrock

import (
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/claude"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/presetwords"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

func init() { caddy.RegisterModule(Bedrock{}) }

// Bedrock is the service in a region. The name of a model is its id, the id of an inference
// profile, or an ARN. Messages requests go to the models of Anthropic, responses and chat requests to
// those of OpenAI, and converse requests to all others.
type Bedrock struct {
	// Region is the region of the service, such as us-east-1.
	Region string `json:"region"`

	// Profile is a profile of the shared configuration of AWS, whose credentials sign the
	// requests. Default: the first credentials in the order of the AWS SDKs: environment,
	// shared configuration, web identity, container, instance.
	Profile string `json:"profile,omitempty"`

	// Betas are further values of the header anthropic-beta that the service accepts. A
	// value that it does not know would make it refuse the request, so that others are
	// left out. Default: those that are known.
	Betas []string `json:"betas,omitempty"`
}

// CaddyModule returns the Caddy module information.
func (Bedrock) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID:  "ai_gateway.providers.bedrock",
		New: func() caddy.Module { return new(Bedrock) },
	}
}

// Defaults implements aigateway.Preset.
func (b *Bedrock) Defaults() aigateway.Defaults {
	d := aigateway.Defaults{
		Formats:      []translate.Format{translate.Converse, translate.Messages, translate.Responses, translate.Chat},
		ModelFormats: modelFormats,
		Traits:       map[string]string{"thinking_style": "both", "request_cache": "false"}, // of models that are not in the table
		ModelTraits:  modelTraits,
		Listing:      aigateway.Listing{Plain: plain, Base: standard},
		Protocol:     aigateway.Protocol{Address: b.address, Sign: b.sign, Open: openAs},
	}
	if b.Region != "" {
		d.BaseURL = "https://bedrock-runtime." + b.Region + ".amazonaws.com"
		if strings.HasPrefix(b.Region, "cn-") {
			d.BaseURL += ".cn"
		}
	}
	return d
}

// The models of Anthropic and OpenAI are asked in their own formats, and all others by Converse, also those
// of application inference profiles, whose names do not show the model. The service has no responses of the
// open models of OpenAI, and their reasoning is a part of the text in its chat answers.
var modelFormats = []aigateway.ModelFormats{
	{Pattern: "*anthropic.*", Formats: []translate.Format{translate.Messages}},
	{Pattern: "*openai.gpt-oss*", Formats: []translate.Format{translate.Converse}},
	{Pattern: "*openai.gpt-*", Formats: []translate.Format{translate.Responses, translate.Chat}},
	{Pattern: "*", Formats: []translate.Format{translate.Converse}},
}

// modelTraits are those of the models of Anthropic and Nova, which have a cache, and of OpenAI. The models of
// Nova see videos, but for the smallest. The open models of OpenAI, which get requests of Converse, have none of
// the traits of its other models.
var modelTraits = func() []aigateway.ModelTraits {
	all := append(claude.Traits("*anthropic."),
		aigateway.ModelTraits{Pattern: "*amazon.nova-micro*", Traits: make(map[string]string)},
		aigateway.ModelTraits{Pattern: "*amazon.nova*", Traits: map[string]string{"video": "true"}})
	for i := range all {
		all[i].Traits["cache_breakpoints"] = "true"
	}
	return append(all, aigateway.ModelTraits{Pattern: "*openai.gpt-oss*", Traits: make(map[string]string)},
		aigateway.ModelTraits{Pattern: "*openai.gpt-*", Traits: map[string]string{
			"max_tokens_field": "max_completion_tokens", "max_stops": "4", "tool_call_ids": "short",
			"responses_reasoning": "encrypted", "count_tokens": "estimate",
		}})
}()

// plain returns the id of the model, or of the inference profile of a system, behind an ARN such as
// arn:aws:bedrock:us-east-1:1:inference-profile/us.amazon.nova-pro-v1:0. The ARN of an application
// inference profile does not show its model.
func plain(model string) string {
	if !strings.HasPrefix(model, "arn:") {
		return model
	}
	return model[strings.LastIndexByte(model, '/')+1:]
}

// base returns the id of the model behind the inference profile of a region.
func base(model string) string { return region.ReplaceAllString(model, "") }

// standard returns the id of the model of which a model is a variant: that behind the profile of a
// region, or that with the usual context, as amazon.nova-pro-v1:0 of amazon.nova-pro-v1:0:300k.
func standard(model string) string { return variant.ReplaceAllString(base(model), "") }

// variant matches the end of the name of a model with another context.
var variant = regexp.MustCompile(`:[0-9]+k$`)

// address sets the address of a call: the model and the kind of answer are in the path. Base
// URLs may have the path that other services of the format have.
func (b *Bedrock) address(call *aigateway.Call) error {
	name := call.Model
	if call.Operation == translate.CountTokens {
		name = base(name)
	}
	model, err := aigateway.PathSegment(name)
	path := strings.TrimSuffix(call.Base, "/v1") + "/model/" + model
	switch {
	case err != nil:
		return err
	case call.Operation.Beside():
		return errOperation
	case isOpenAI(call.Format):
		if call.Operation != translate.Generate {
			return errOperation
		}
		endpoint := strings.TrimPrefix(strings.TrimPrefix(call.Path, call.Base), "/v1")
		call.Path = strings.TrimSuffix(strings.TrimSuffix(call.Base, "/v1"), "/openai") + "/openai/v1" + endpoint
		return nil
	case call.Format == translate.Converse:
		call.Path = path + call.Path[strings.LastIndexByte(call.Path, '/'):]
	case call.Format == translate.Messages:
		b.invoke(call, path)
	default:
		return errFormat
	}
	if call.Stream {
		call.Header.Set("Accept", streamType)
	}
	return nil
}

// isOpenAI reports whether a format is one of those that the service has below /openai/v1.
func isOpenAI(f translate.Format) bool { return f == translate.Responses || f == translate.Chat }

// region matches the beginning of an inference profile. Tokens are counted under the name of the
// model behind it.
var region = regexp.MustCompile(`^(global|us-gov|apac|[a-z]{2})\.`)

// invoke sets the address of a call of a model of Anthropic below its path. The version and the
// betas are in the body. A request for a count of tokens contains such a body, with a bound of
// the answer.
func (b *Bedrock) invoke(call *aigateway.Call, path string) {
	call.Body.Without, call.Body.With = []string{"model", "stream", "anthropic_version"}, claude.Version(call, "bedrock-2023-05-31")
	method := "/invoke"
	switch {
	case call.Operation == translate.CountTokens:
		method = "/count-tokens"
		call.Body.Without, call.Body.With = append(call.Body.Without, "max_tokens"), call.Body.With+`,"max_tokens":1`
		call.Body.Around = [...]string{`{"input":{"invokeModel":{"body":"`, `"}}}`}
	case call.Stream:
		method = "/invoke-with-response-stream"
	}
	call.Path, call.Query = path+method, ""
	if kept := claude.KeepBetas(call, slices.Concat(betas, b.Betas)); kept != nil {
		list, _ := json.Marshal(kept) // strings
		call.Body.With += `,"anthropic_beta":` + string(list)
		call.Body.Without = append(call.Body.Without, "anthropic_beta")
		call.Header.Del("Anthropic-Beta")
	}
}

// openAs changes an answer of the service into one of a format.
func openAs(res *http.Response, format translate.Format, op translate.Operation) {
	if isOpenAI(format) {
		openOpenAI(res)
		return
	}
	counted := op == translate.CountTokens && res.StatusCode < http.StatusBadRequest
	if open(res, op); counted && format == translate.Messages {
		renameCount(res)
	}
}

var (
	errOperation = errors.New("the service does not have this operation")
	errFormat    = errors.New("the service does not have this format")
)

// betas are the values of anthropic-beta that the service accepts.
var betas = []string{
	"computer-use-2024-10-22", "computer-use-2025-01-24", "context-1m-2025-08-07", "context-management-2025-06-27",
	"dev-full-thinking-2025-05-14", "fine-grained-tool-streaming-2025-05-14", "interleaved-thinking-2025-05-14",
	"mcp-client-2025-04-04", "mcp-client-2025-11-20", "mcp-client-2026-09-15",
	"model-context-window-exceeded-2025-08-26", "output-128k-2025-02-19",
	"pdfs-2024-09-25", "search-results-2025-06-09", "token-counting-2024-11-01", "token-efficient-tools-2025-02-19",
	"tool-search-tool-2025-10-19", "web-search-2025-03-05",
}

var regionName = regexp.MustCompile(`^[a-z]+(-[a-z0-9]+)+$`)

// Validate implements caddy.Validator.
func (b *Bedrock) Validate() error {
	if !regionName.MatchString(b.Region) {
		return errors.New("bedrock needs a region: region us-east-1")
	}
	return nil
}

// UnmarshalCaddyfile reads the words of the preset. Syntax:
//
//	region  <region>
//	profile <name>
//	betas   <value of anthropic-beta...>
func (b *Bedrock) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	return presetwords.Read(d, "bedrock", b,
		presetwords.Word{Name: "region", Needs: "one name, such as us-east-1", Value: &b.Region},
		presetwords.Word{Name: "profile", Needs: "one name", Value: &b.Profile},
		presetwords.Word{Name: "betas", List: &b.Betas},
	)
}

// Interface guards
var (
	_ aigateway.Preset      = (*Bedrock)(nil)
	_ caddy.Validator       = (*Bedrock)(nil)
	_ caddyfile.Unmarshaler = (*Bedrock)(nil)
)
