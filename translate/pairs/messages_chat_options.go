package pairs

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// outputConfig is what a client says of the answer, raw.
type outputConfig struct {
	effort, format []byte
}

// readConfig reads output_config.
func (x *messagesChat) readConfig() {
	x.config = outputConfig{}
	if x.request.OutputConfig == nil || !x.object(x.request.OutputConfig, "output_config") {
		return
	}
	for x.options.Member() {
		switch name := x.options.Name(); string(name) {
		case "effort":
			x.config.effort = x.option()
		case "format":
			x.config.format = x.option()
		default:
			x.losses.AddNamed(translate.Hint, "output_config.", name)
			x.options.Skip()
		}
	}
}

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
	x.sample("top_k", r.TopK, x.traits.SamplingFor(x.to) != translate.SamplingNone && x.traits.Extension("top_k"))
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
	raw := x.request.StopSequences
	if raw == nil || isEmptyList(raw) {
		return
	}
	x.field("stop", raw)
	x.options = jsonscan.Again(raw)
	for x.options.EnterArray(); x.options.Element(); {
		x.memory.Stops = append(x.memory.Stops, textOf(x.options.Skip()))
	}
}

func (x *messagesChat) writeStream() {
	if !isTrue(x.request.Stream) {
		return
	}
	x.memory.Stream = true
	x.askStream()
}

// askStream asks a chat provider for a stream.
func (x *conversion) askStream() {
	x.field("stream", []byte("true"))
	if !x.traits.WithoutUsage {
		x.field("stream_options", []byte(`{"include_usage":true}`))
	}
}

// writeFormat asks for an answer that follows a schema.
func (x *messagesChat) writeFormat() {
	raw, path := x.config.format, "output_config.format"
	if older := x.request.OutputFormat; older != nil {
		if raw != nil {
			x.invalid("output_format", "must not be sent together with output_config.format")
			return
		}
		raw, path = older, "output_format"
	}
	if raw == nil || !x.object(raw, path) {
		return
	}
	var kind, schema []byte
	for x.options.Member() {
		switch name := x.options.Name(); string(name) {
		case "type":
			kind = x.option()
		case "schema":
			schema = x.option()
		default:
			x.losses.AddNamed(translate.Hint, path+".", name)
			x.options.Skip()
		}
	}
	switch {
	case textOf(kind) != "json_schema":
		x.refuse(path+".type", shown(kind))
	case schema == nil:
		x.invalid(path+".schema", "required")
	default:
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

// maxChatUser is the longest id of a user that chat providers take, in bytes.
const maxChatUser = 64

// writeUser tells the provider who the end user is.
func (x *messagesChat) writeUser() {
	if x.request.Metadata == nil || !x.object(x.request.Metadata, "metadata") {
		return
	}
	var user []byte
	for x.options.Member() {
		if name := x.options.Name(); string(name) == "user_id" {
			user = x.option()
		} else {
			x.losses.AddNamed(translate.Hint, "metadata.", name)
			x.options.Skip()
		}
	}
	if user == nil {
		return
	}
	id := x.str(user, "metadata.user_id")
	if len(id) > maxChatUser {
		id = digestOf(id)
	}
	x.userID(id, "metadata.user_id")
}

// userID writes the id of an end user into the field that the provider has.
func (x *conversion) userID(id, path string) {
	switch x.traits.UserField {
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

// writeTier writes the service tier for the providers that have them: those
// that name service_tier among their extensions.
func (x *messagesChat) writeTier() {
	raw := x.request.ServiceTier
	if raw == nil {
		return
	}
	switch tier := textOf(raw); {
	case !x.traits.Extension("service_tier"):
		x.hint("service_tier")
	case tier == "auto":
		x.text("service_tier", "auto")
	case tier == "standard_only":
		x.text("service_tier", "default")
	default:
		x.hint("service_tier")
	}
}

// writePrefill says that the last message is to be continued, where a server
// asks for that.
func (x *messagesChat) writePrefill() {
	if x.turns.role == "assistant" && x.traits.Prefill == translate.PrefillVLLM {
		x.field("continue_final_message", []byte("true"))
		x.field("add_generation_prompt", []byte("false"))
	}
}

// extension keeps a field that only this provider knows.
func (x *messagesChat) extension(name, value []byte) {
	x.hasArguments = x.hasArguments || string(name) == templateArguments
	x.extensions = append(x.extensions, `,"`...)
	x.extensions = append(x.extensions, name...)
	x.extensions = append(x.extensions, `":`...)
	x.extensions = append(x.extensions, value...)
}

func (x *messagesChat) writeExtensions() { x.out = append(x.out, x.extensions...) }
