package request

import (
	"bytes"
	"math"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/strict"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// fields are the fields of a request, in the order in which faults are reported.
var fields = strict.Fields{
	{Name: "model", Check: strict.Model},
	{Name: "messages"},
	{Name: "system"},
	{Name: "max_tokens"},
	{Name: "temperature"},
	{Name: "top_p", Check: strict.Number},
	{Name: "top_k", Check: strict.Integer},
	{Name: "stream", Check: strict.Stream},
	{Name: "stop_sequences", Check: strict.Texts},
	{Name: "tools"},
	{Name: "tool_choice", Check: typed},
	{Name: "thinking", Check: typed},
	{Name: "metadata", Check: strict.Map},
	{Name: "output_config"},
	{Name: "output_format"},
	{Name: "cache_control", Check: strict.Options},
	{Name: "thread", Check: strict.Options},
	{Name: "service_tier", Check: strict.Tier},
	{Name: "speed"},
	{Name: "inference_geo"},
	{Name: "context_management"},
	{Name: "compaction"},
}

// typed checks an object that has a type.
func typed(p *strict.Pass, _ *strict.Table) { p.WantTyped() }

// request reads one request body.
type request struct {
	*strict.Pass
	hasSystem bool
	leads     bool // the first message is a system text
}

// Inspect is the strict pass over a request body. It returns the view of the request, or
// the fault that comes first: JSON faults in byte order, then the fields in the order of
// their table. Requests of CountTokens need no max_tokens.
func Inspect(body []byte, op translate.Operation) (translate.View, *fault.Fault) {
	r := request{Pass: strict.Begin(body, strict.Dots, fields)}
	for r.NextField() {
		r.read()
	}
	if r.leads && r.hasSystem {
		r.View.LateSystem = "messages.0.role"
	}
	r.Require("model", "messages")
	if op != translate.CountTokens {
		r.Require("max_tokens")
	}
	return r.End()
}

// read reads the current field.
func (r *request) read() {
	switch r.Field() {
	case "messages":
		r.messages()
	case "system":
		r.system()
	case "max_tokens":
		r.View.MaxTokens = r.AtLeast(1, math.MaxInt32)
	case "temperature":
		r.Between(0, 1)
	case "speed":
		r.View.Costs.Terms.ReadSpeed(r.JSON.StringOrSkip())
	case "inference_geo":
		r.View.Costs.Terms.ReadRegion(r.JSON.StringOrSkip())
	case "context_management":
		r.contextManagement()
	case "compaction":
		r.View.Costs.Compacts = true
		r.JSON.Skip()
	case "output_config":
		r.outputConfig()
	case "output_format":
		r.View.Schema = "output_format"
		r.Options()
	case "tools":
		r.Elements("must be an array of objects", r.tool)
	}
}

// contextManagement reads the edits of the conversation that the provider may make. They are
// checked by the provider.
func (r *request) contextManagement() {
	for r.JSON.OpenObject(); r.Member(); {
		if string(r.JSON.Name()) != "edits" {
			r.JSON.Skip()
			continue
		}
		for r.JSON.OpenArray(); r.JSON.Element(); {
			for r.JSON.OpenObject(); r.Member(); {
				if string(r.JSON.Name()) != "type" {
					r.JSON.Skip()
					continue
				}
				kind := jsonscan.DecodedOf(r.JSON.StringOrSkip())
				r.View.Costs.Compacts = r.View.Costs.Compacts || bytes.HasPrefix(kind, []byte("compact_"))
			}
		}
	}
}

// outputConfig reads the options of the answer.
func (r *request) outputConfig() {
	for r.JSON.OpenObject(); r.Member(); {
		switch {
		case string(r.JSON.Name()) != "format":
			r.JSON.Skip()
		case !r.JSON.Null():
			r.View.Schema = "output_config.format"
			r.OptionsOf("format")
		}
	}
}

// tool reads a tool. Its schema is only copied.
func (r *request) tool(i int) {
	r.Item(i)
	if !r.JSON.EnterObject() {
		r.Refuse("must be an object")
		return
	}
	var kind []byte
	searches := int64(token.DefaultSearches)
	for r.Member() {
		switch string(r.JSON.Name()) {
		case "type":
			kind = r.JSON.StringOrSkip()
		case "max_uses":
			token.ReadCount(&r.JSON, &searches)
		case "name":
			r.Push("name")
			if !r.JSON.Null() {
				r.WantString("must be a string")
			}
			r.Pop()
		case "cache_control":
			r.OptionsOf("cache_control")
		default:
			r.JSON.Skip()
		}
	}
	if token.IsSearchTool(kind) {
		r.View.Costs.Searches = min(r.View.Costs.Searches+searches, token.MaxSearches)
	}
}
