package pairs

import "github.com/caddy-ai-gateway/caddy-ai-gateway/translate"

// chatFormat is what the client says of the form of the answer, raw.
type chatFormat struct{ kind, schema []byte }

// readFormat reads response_format.
func (x *chatCompletions) readFormat() {
	const path = "response_format"
	raw := x.request.ResponseFormat
	if raw == nil || !x.object(raw, path) {
		return
	}
	var wrapped []byte
	for x.options.Member() {
		switch name := x.options.Name(); string(name) {
		case "type":
			x.format.kind = x.option()
		case "json_schema":
			wrapped = x.option()
		default:
			x.losses.AddNamed(translate.Hint, path+".", name)
			x.options.Skip()
		}
	}
	switch kind := textOf(x.format.kind); {
	case kind == "text":
	case kind == "json_schema":
		x.readSchema(wrapped, path+".json_schema")
	case kind == "json_object" && x.traits.InstructJSONObject:
		x.shaping(path)
		x.prompt.hoisted.add([]byte(jsonObjectSystem))
	default:
		x.refuse(path+".type", shown(x.format.kind))
	}
}

// jsonObjectSystem asks in words for a JSON object.
const jsonObjectSystem = "Answer with one JSON object and nothing else."

// readSchema finds the schema that the answer shall follow.
func (x *chatCompletions) readSchema(raw []byte, path string) {
	if !x.object(raw, path) {
		return
	}
	for x.options.Member() {
		switch name := x.options.Name(); string(name) {
		case "schema":
			x.format.schema = x.option()
		default: // its name and the like say nothing
			x.losses.AddNamed(translate.Hint, path+".", name)
			x.options.Skip()
		}
	}
	if x.format.schema == nil {
		x.invalid(path+".schema", "required")
	}
}
