package pairs

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/messages"
)

// fromMessages is what the conversions of messages requests share.
type fromMessages struct {
	conversion
	request messages.Request
	reader  messages.Reader
	config  outputConfig
}

// forget lets go of the body.
func (x *fromMessages) forget() {
	x.request, x.reader, x.config = messages.Request{}, messages.Reader{}, outputConfig{}
}

// readMessages reads the body, of which the visitor is told, and refuses what
// other providers could only ignore.
func (x *fromMessages) readMessages(body []byte, v messages.Visitor) {
	x.malformed(x.reader.Walk(body, &x.request, v))
	if x.request.Thread != nil {
		// Told first: clients that hear it send the whole conversation instead.
		x.fault = x.info.RefuseThread(x.to)
	}
	if x.traits.EstimateInputTokens {
		x.memory.InputEstimate = EstimateTokens(body, x.info.BytesPerToken)
	}
	x.refuseFields()
	x.readConfig()
}

// refuseFields refuses what another provider could only ignore.
func (x *fromMessages) refuseFields() {
	r := &x.request
	for _, f := range [...]struct {
		path string
		raw  []byte
	}{{"inference_geo", r.InferenceGeo}, {"container", r.Container}, {"mcp_servers", r.MCPServers}} {
		if f.raw != nil && !isEmptyList(f.raw) {
			x.refuse(f.path, "")
		}
	}
}

// outputConfig is what a client says of the answer, raw.
type outputConfig struct {
	effort, format []byte
}

// readConfig reads output_config.
func (x *fromMessages) readConfig() {
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

// schema is the schema that the answer shall follow, nil for none, and the path
// of the format that holds it.
func (x *fromMessages) schema() (schema []byte, path string) {
	raw, path := x.config.format, "output_config.format"
	if older := x.request.OutputFormat; older != nil {
		if raw != nil {
			x.invalid("output_format", "must not be sent together with output_config.format")
			return nil, path
		}
		raw, path = older, "output_format"
	}
	if raw == nil || !x.object(raw, path) {
		return nil, path
	}
	var kind []byte
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
	}
	return schema, path
}

// rememberStops keeps the stop sequences for the way back.
func (x *fromMessages) rememberStops() {
	raw := x.request.StopSequences
	if raw == nil {
		return
	}
	x.options = jsonscan.Again(raw)
	for x.options.EnterArray(); x.options.Element(); {
		x.memory.Stops = append(x.memory.Stops, textOf(x.options.Skip()))
	}
}

func (x *fromMessages) writeStream() {
	if x.memory.Stream = isTrue(x.request.Stream); x.memory.Stream {
		x.askStream()
	}
}

// maxChatUser is the longest id of a user that chat providers take, in bytes.
const maxChatUser = 64

// writeUser tells the provider who the end user is.
func (x *fromMessages) writeUser() {
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
	const path = "metadata.user_id"
	id := x.str(user, path)
	if len(id) > maxChatUser && x.traits.UserField != translate.UserFieldNone {
		id = digestOf(id)
		x.shaping(path)
	}
	x.userID(id, path)
}

// writeTier writes the service tier for the providers that have them: those
// that name service_tier among their extensions.
func (x *fromMessages) writeTier() {
	raw := x.request.ServiceTier
	if raw == nil {
		return
	}
	switch tier := textOf(raw); {
	case !x.traits.Extension(x.to, "service_tier"):
		x.hint("service_tier")
	case tier == "auto":
		x.text("service_tier", "auto")
	case tier == "standard_only":
		x.text("service_tier", "default")
	default:
		x.hint("service_tier")
	}
}

// dropSystemMembers reports what means something in system turns alone.
func (x *fromMessages) dropSystemMembers(m *messages.Message) {
	if m.OutputConfig != nil {
		x.losses.AddIn(translate.Hint, lostMessage, "output_config")
	}
	if m.ClearAt != nil {
		x.losses.AddIn(translate.Hint, lostMessage, "clear_at")
	}
}
