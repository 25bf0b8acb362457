package request

import (
	"math"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/schema"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/strict"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// fields are the fields of a request, in the order in which faults are reported.
var fields = strict.Fields{
	{Name: "model", Check: strict.Model},
	{Name: "contents"},
	{Name: "systemInstruction", Other: "system_instruction"},
	{Name: "generationConfig", Other: "generation_config"},
	{Name: "tools"},
	{Name: "toolConfig", Other: "tool_config"},
	{Name: "safetySettings", Other: "safety_settings"},
	{Name: "cachedContent", Other: "cached_content"},
	{Name: "serviceTier", Other: "service_tier", Check: strict.Tier},
	{Name: "labels", Check: strict.Map},
	{Name: wrapped, Other: "generate_content_request"},
}

// wrapped is the member with the whole request in a request to count tokens.
const wrapped = "generateContentRequest"

// request reads one request body.
type request struct{ *strict.Pass }

// Inspect is the strict pass over a request body. It returns the view of the request, or the
// fault that comes first: JSON faults in byte order, then the fields in the order of their
// table. The view has neither the kind of the answer, which only the path states, nor usually
// the model.
func Inspect(body []byte, op translate.Operation) (translate.View, *fault.Fault) {
	r := request{Pass: strict.Begin(body, strict.Brackets, fields)}
	for r.NextField() {
		r.read(r.Field())
	}
	switch {
	case op != translate.CountTokens || !r.Has(wrapped):
		r.Require("contents")
	case r.Has("contents"):
		r.NoteField(wrapped, "must not be sent together with contents")
	}
	return r.End()
}

// The objects of fields, as the rows describe them.
var (
	configObjects = rows.Objects(config)
	toolObjects   = rows.Objects("tools[*]")
	choiceObjects = rows.Objects("toolConfig")
	safetyObjects = rows.Objects("safetySettings[*]")
)

// read reads the field with a name.
func (r *request) read(field string) {
	switch field {
	case "contents":
		r.Messages(func(int) { r.content(true) })
	case "systemInstruction":
		r.content(false)
	case config:
		checkConfig(r.Pass, configObjects)
	case "tools":
		strict.Objects(r.Pass, toolObjects)
	case "toolConfig":
		strict.Object(r.Pass, choiceObjects)
	case "safetySettings":
		strict.Objects(r.Pass, safetyObjects)
	case "cachedContent":
		r.WantString("must be a string")
		r.View.Beyond.State = field
	case wrapped:
		r.object(requestMembers, func(name string) {
			if name == "model" {
				r.modelOf()
			} else {
				r.read(name)
			}
		})
	default:
		r.JSON.Skip()
	}
}

// modelOf reads the model of a request in a request.
func (r *request) modelOf() {
	start := r.JSON.Offset()
	r.View.Model = jsonscan.TextOf(r.JSON.StringOrSkip())
	r.View.ModelSpan = translate.Span{Start: start, End: r.JSON.Offset()}
}

// object reads an object of a table. read reads the members that are not null.
func (r *request) object(table *schema.Table, read func(name string)) strict.Members {
	var m strict.Members
	r.ReadObject(&m, table, func(name string) {
		if !r.JSON.Null() {
			read(name)
		}
	})
	return m
}

// checkConfig checks the options of the answer.
func checkConfig(p *strict.Pass, objects *strict.Table) {
	checkPair(p, objects, "responseSchema", "responseJsonSchema")
}

// checkThinking checks how much the model thinks.
func checkThinking(p *strict.Pass, objects *strict.Table) {
	checkPair(p, objects, "thinkingBudget", "thinkingLevel")
}

// checkFunctions checks the declarations of functions. Schemas are only copied.
func checkFunctions(p *strict.Pass, objects *strict.Table) {
	p.Elements("must be an array of objects", func(int) { checkPair(p, objects, "parameters", "parametersJsonSchema") })
}

// checkPair checks an object that has at most one of two members.
func checkPair(p *strict.Pass, objects *strict.Table, one, other string) {
	var m strict.Members
	if p.Object(&m, objects) && !strict.Missing(m.Kind(one)) && !strict.Missing(m.Kind(other)) {
		p.NoteMember(other, "must not be sent together with "+one)
	}
}

// checkBudget checks how many tokens the model may think.
func checkBudget(p *strict.Pass, _ *strict.Table) { p.AtLeast(-1, math.MaxInt32) }

// countSearches counts the searches of a tool that the service has.
func countSearches(p *strict.Pass, _ *strict.Table) {
	p.View.Costs.Searches = min(p.View.Costs.Searches+token.DefaultSearches, token.MaxSearches)
	p.JSON.Skip()
}
