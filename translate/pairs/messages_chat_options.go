package pairs

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

func (x *messagesChat) writeMaxTokens() {
	if n, ok := integer(x.request.MaxTokens); ok {
		x.name(x.maxTokensField())
		x.out = strconv.AppendInt(x.out, n, 10)
	}
}

func (x *conversion) maxTokensField() string {
	if x.traits.MaxCompletionTokens {
		return "max_completion_tokens"
	}
	return "max_tokens"
}

// writeSampling writes what the provider takes of the sampling fields.
func (x *messagesChat) writeSampling() {
	r := &x.request
	x.sample("temperature", r.Temperature, x.traits.SamplingFor(x.to) != translate.SamplingNone)
	x.sample("top_p", r.TopP, x.mayTopP(r.Temperature))
	x.sample("top_k", r.TopK, x.traits.SamplingFor(x.to) != translate.SamplingNone && x.traits.Extension(x.to, "top_k"))
}

// mayTopP reports whether top_p may be sent beside a raw temperature.
func (x *conversion) mayTopP(temperature []byte) bool {
	switch x.traits.SamplingFor(x.to) {
	case translate.SamplingNone:
		return false
	case translate.SamplingOne:
		return temperature == nil
	default:
		return true
	}
}

// isNumber reports whether a raw value is a number, or absent; another kind is
// at fault.
func (x *conversion) isNumber(name string, raw []byte) bool {
	if raw == nil || raw[0] == '-' || '0' <= raw[0] && raw[0] <= '9' {
		return true
	}
	x.invalid(name, "must be a number")
	return false
}

// sample writes a field that shapes sampling, or reports its loss.
func (x *conversion) sample(name string, raw []byte, may bool) {
	switch {
	case raw == nil:
	case may:
		x.field(name, raw)
	default:
		x.shaping(name)
	}
}

func (x *messagesChat) writeStop() {
	x.rememberStops()
	if len(x.memory.Stops) > 0 {
		x.field("stop", x.request.StopSequences)
	}
}

// askStream asks a chat or completions provider for a stream.
func (x *conversion) askStream() {
	x.field("stream", []byte("true"))
	if !x.traits.WithoutUsage {
		x.field("stream_options", []byte(`{"include_usage":true}`))
	}
}

// writeFormat asks for an answer that follows a schema.
func (x *messagesChat) writeFormat() {
	if schema, _ := x.schema(); schema != nil {
		x.writeSchema(schema)
	}
}

// writeSchema writes the format of answers. It is strict, since the client was
// promised that the schema is followed; one that cannot be then fails loudly.
func (x *messagesChat) writeSchema(schema []byte) {
	x.name("response_format")
	x.out = append(x.out, `{"type":"json_schema","json_schema":{"name":"response","schema":`...)
	x.out = append(x.out, schema...)
	x.out = append(x.out, `,"strict":true}}`...)
}

// userID writes the id of an end user into the field that the provider has.
func (x *conversion) userID(id, path string) {
	switch x.traits.UserFieldFor(x.to) {
	case translate.UserFieldUser:
		x.text("user", id)
	case translate.UserFieldSafetyIdentifier:
		x.text("safety_identifier", id)
	default:
		x.hint(path)
	}
}

// digestOf stands for an id that the provider could not take.
func digestOf(id string) string {
	digest := sha256.Sum256([]byte(id))
	return hex.EncodeToString(digest[:])
}

// writePrefill says that the last message is to be continued, where a server
// asks for that.
func (x *messagesChat) writePrefill() {
	if x.turns.role == "assistant" && x.traits.Prefill == translate.PrefillVLLM {
		x.field("continue_final_message", []byte("true"))
		x.field("add_generation_prompt", []byte("false"))
	}
}
