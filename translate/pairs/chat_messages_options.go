package pairs

import (
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// refuseFields refuses what a messages provider could only ignore.
func (x *chatMessages) refuseFields() {
	r := &x.request
	if raw := r.N; raw != nil {
		if n, _ := integer(raw); n != 1 {
			x.refuse("n", shownNumber(raw))
		}
	}
	if isTrue(r.Logprobs) {
		x.refuse("logprobs", "")
	}
	if raw := r.TopLogprobs; raw != nil && !isZero(raw) {
		x.refuse("top_logprobs", shownNumber(raw))
	}
	for _, f := range [...]struct {
		path string
		raw  []byte
	}{{"functions", r.Functions}, {"function_call", r.FunctionCall}, {"audio", r.Audio}, {"web_search_options", r.WebSearchOptions}} {
		if f.raw != nil && string(f.raw) != "[]" {
			x.refuse(f.path, "")
		}
	}
	x.refuseModalities()
}

// refuseModalities refuses to answer in anything but text.
func (x *chatMessages) refuseModalities() {
	if x.request.Modalities == nil {
		return
	}
	c := jsonscan.Again(x.request.Modalities)
	if !c.EnterArray() {
		x.invalid("modalities", "must be an array of strings")
		return
	}
	for i := 0; c.Element(); i++ {
		if raw := c.Skip(); string(inner(raw)) != "text" {
			x.refuse("modalities["+strconv.Itoa(i)+"]", shown(raw))
		}
	}
}

// writeMaxTokens writes the bound of the answer, for which clients have two names.
func (x *chatMessages) writeMaxTokens() int64 {
	r := &x.request
	if r.MaxCompletionTokens == nil {
		return x.maxTokens(r.MaxTokens, "max_tokens")
	}
	if r.MaxTokens != nil {
		older, _ := integer(r.MaxTokens)
		if n, _ := integer(r.MaxCompletionTokens); n != older {
			x.invalid("max_tokens", "must equal max_completion_tokens, or be left out")
		}
	}
	return x.maxTokens(r.MaxCompletionTokens, "max_completion_tokens")
}

// writeSampling writes what the provider takes of the sampling fields. While it
// thinks, it takes neither a temperature other than its own nor top_k.
func (x *chatMessages) writeSampling(thinks bool) {
	r := &x.request
	temperature, topK := r.Temperature, r.TopK
	if thinks {
		temperature, topK = x.unlessThinking("temperature", temperature), x.unlessThinking("top_k", topK)
	}
	x.sampleMessages(temperature, r.TopP, topK)
	x.without("presence_penalty", r.PresencePenalty)
	x.without("frequency_penalty", r.FrequencyPenalty)
	x.without("seed", r.Seed)
	x.without("logit_bias", r.LogitBias)
	x.without("verbosity", r.Verbosity)
	x.without("prediction", r.Prediction)
}

// unlessThinking is a raw field that cannot be sent beside thinking.
func (x *chatMessages) unlessThinking(name string, raw []byte) []byte {
	if one, _ := integer(raw); raw == nil || name == "temperature" && one == 1 {
		return raw // 1 is the default
	}
	x.shaping(name)
	return nil
}

// writeUser tells the provider who the end user is.
func (x *chatMessages) writeUser() {
	r := &x.request
	if r.User == nil {
		x.endUser(r.SafetyIdentifier, "safety_identifier")
		return
	}
	x.endUser(r.User, "user")
	if r.SafetyIdentifier != nil && string(r.SafetyIdentifier) != string(r.User) {
		x.hint("safety_identifier")
	}
}

// writeTier writes the service tier.
func (x *chatMessages) writeTier() {
	switch tier := x.request.ServiceTier; {
	case tier == nil:
	case textOf(tier) == "auto":
		x.text("service_tier", "auto")
	case textOf(tier) == "default":
		x.text("service_tier", "standard_only")
	default:
		x.hint("service_tier")
	}
}

// instruction asks in words for an answer in JSON.
const instruction = `"Answer with one JSON object and nothing else."`

// readFormat reads which format the answer must have.
func (x *chatMessages) readFormat() {
	raw := x.request.ResponseFormat
	if raw == nil || !x.object(raw, "response_format") {
		return
	}
	var kind, schema []byte
	for x.options.Member() {
		switch name := x.options.Name(); string(name) {
		case "type":
			kind = x.option()
		case "json_schema":
			schema = x.option()
		default:
			x.losses.AddNamed(translate.Hint, "response_format.", name)
			x.options.Skip()
		}
	}
	switch word := string(inner(kind)); {
	case word == "text":
	case word == "json_schema":
		x.readSchema(schema)
	case word == "json_object" && x.traits.InstructJSONObject:
		x.shaping("response_format.type")
		x.system.text("", []byte(instruction))
	default:
		x.refuse("response_format.type", shown(kind))
	}
}

// readSchema reads the schema that the answer must follow.
func (x *chatMessages) readSchema(raw []byte) {
	const path = "response_format.json_schema"
	if !x.object(raw, path) {
		return
	}
	for x.options.Member() {
		if name := x.options.Name(); string(name) == "schema" {
			x.schema = x.option()
		} else {
			x.losses.AddNamed(translate.Hint, path+".", name)
			x.options.Skip()
		}
	}
	if x.schema == nil {
		x.invalid(path+".schema", "required")
	}
}
