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

// read reads the field with a name.
func (r *request) read(field string) {
	switch field {
	case "contents":
		r.Messages(func(int) { r.content(true) })
	case "systemInstruction":
		r.content(false)
	case "generationConfig":
		r.config()
	case "tools":
		r.Elements("must be an array of objects", func(int) { r.tool() })
	case "toolConfig":
		r.toolConfig()
	case "safetySettings":
		r.Elements("must be an array of objects", func(int) {
			r.object(safetyMembers, func(string) { r.WantString("must be a string") })
		})
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

// config reads the options of the answer.
func (r *request) config() {
	m := r.object(configMembers, r.option)
	if !strict.Missing(m.Kind("responseSchema")) && !strict.Missing(m.Kind("responseJsonSchema")) {
		r.NoteMember("responseJsonSchema", "must not be sent together with responseSchema")
	}
}

func (r *request) option(name string) {
	switch name {
	case "stopSequences", "responseModalities":
		r.Elements("must be an array of strings", func(int) { r.WantString("must be a string") })
	case "candidateCount":
		r.View.Answers = r.AtLeast(1, math.MaxInt32)
	case "maxOutputTokens":
		r.View.MaxTokens = r.AtLeast(1, math.MaxInt32)
	case "temperature":
		r.Between(0, 2)
	case "topP", "presencePenalty", "frequencyPenalty":
		if _, ok := r.JSON.Number(); !ok {
			r.Refuse("must be a number" + r.Got())
		}
	case "topK", "seed", "logprobs":
		r.WantInteger()
	case "responseLogprobs":
		r.Flag()
	case "responseMimeType":
		r.WantString("must be a string")
	case "responseSchema", "responseJsonSchema":
		strict.WantOptions(r.Pass, nil)
	case "thinkingConfig":
		r.thinking()
	default:
		r.JSON.Skip()
	}
}

// thinking reads how much the model thinks.
func (r *request) thinking() {
	m := r.object(thinkingMembers, func(name string) {
		switch name {
		case "includeThoughts":
			r.Flag()
		case "thinkingBudget":
			r.AtLeast(-1, math.MaxInt32)
		default:
			r.WantString("must be a string")
		}
	})
	if !strict.Missing(m.Kind("thinkingBudget")) && !strict.Missing(m.Kind("thinkingLevel")) {
		r.NoteMember("thinkingLevel", "must not be sent together with thinkingBudget")
	}
}

// tool reads an element of the tools. Schemas are only copied.
func (r *request) tool() {
	r.object(toolMembers, func(name string) {
		switch name {
		case "functionDeclarations":
			r.Elements("must be an array of objects", func(int) { r.function() })
			return
		case "googleSearch", "googleSearchRetrieval", "enterpriseWebSearch", "googleMaps":
			r.View.Costs.Searches = min(r.View.Costs.Searches+token.DefaultSearches, token.MaxSearches)
		}
		r.JSON.Skip()
	})
}

// function reads the declaration of a function.
func (r *request) function() {
	m := r.object(functionMembers, func(name string) {
		if name == "name" || name == "description" {
			r.WantString("must be a string")
		} else {
			r.JSON.Skip()
		}
	})
	r.WantKind("name", m.Kind("name"), jsonscan.String)
	if !strict.Missing(m.Kind("parameters")) && !strict.Missing(m.Kind("parametersJsonSchema")) {
		r.NoteMember("parametersJsonSchema", "must not be sent together with parameters")
	}
}

// toolConfig reads the choice among the tools.
func (r *request) toolConfig() {
	r.object(choiceMembers, func(name string) {
		if name != "functionCallingConfig" {
			r.JSON.Skip()
			return
		}
		r.object(callingMembers, func(name string) {
			if name == "mode" {
				r.WantString("must be a string")
			} else {
				r.Elements("must be an array of strings", func(int) { r.WantString("must be a string") })
			}
		})
	})
}
