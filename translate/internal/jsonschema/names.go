package jsonschema

import (
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// maxName is the length in bytes of the longest name of an argument that the Claude API accepts.
const maxName = 64

// Named returns a schema of the arguments of a tool without those whose names the Claude API
// refuses: all but letters, digits, "_", "." and "-". Such arguments are "$filter" and "user[id]"
// of tools that are made of OpenAPI documents. The bytes are the same if the root has no OddName.
// lost has what differs, by its path in the schema.
func Named(schema []byte) (_ []byte, lost translate.Losses) {
	if !RootOf(schema).Has(OddName) {
		return schema, nil
	}
	var root, kept Schema
	for name, value := range jsonscan.Members(jsonscan.MemberOf(schema, "properties")) {
		if isArgumentName(jsonscan.AppendUnescaped(nil, name)) {
			kept.Members = append(kept.Members, Member{string(name), value})
		}
	}
	for name, value := range jsonscan.Members(schema) {
		root.Members = append(root.Members, Member{string(name), value})
	}
	root.Set("properties", kept.object())
	if required := Elements(root.Raw("required")); required != nil {
		root.Set("required", List(slices.DeleteFunc(required, func(name []byte) bool { return !isArgumentName(jsonscan.DecodedOf(name)) })))
	}
	lost.AddIn(translate.Shaping, ".properties.", "*")
	return root.object(), lost
}

// isArgumentName reports whether the Claude API accepts a name of an argument.
func isArgumentName(name []byte) bool {
	for _, b := range name {
		if b != '.' && !translate.PlainByte(b) {
			return false
		}
	}
	return len(name) > 0 && len(name) <= maxName
}
