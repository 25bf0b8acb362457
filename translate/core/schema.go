package core

import "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"

// AppendSchema appends the schema of a tool, with the type that providers require.
func AppendSchema(dst, schema []byte) []byte {
	if schema[0] != '{' || jsonscan.HasMember(schema, "type") {
		return append(dst, schema...)
	}
	dst = append(dst, `{"type":"object"`...)
	if !jsonscan.IsEmptyList(schema) {
		dst = append(dst, ',')
	}
	return append(dst, schema[1:]...)
}
