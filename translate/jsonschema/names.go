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
// of tools that are made of OpenAPI documents. The bytes are the same if there are none. lost has
// what differs, by its path in the schema.
func Named(schema []byte) (_ []byte, lost translate.Losses) {
	if !hasOddNames(schema) {
		return schema, nil
	}
	var root, kept Schema
	for name, value := range jsonscan.Members(jsonscan.MemberOf(schema, "properties")) {
		if isArgumentName(name) {
			kept.Members = append(kept.Members, Member{string(name), value})
		}
	}
	for name, value := range jsonscan.Members(schema) {
		root.Members = append(root.Members, Member{string(name), value})
	}
	root.Set("properties", kept.object())
	if required := Elements(root.Raw("required")); required != nil {
		root.Set("required", List(slices.DeleteFunc(required, func(name []byte) bool { return !isArgumentName(jsonscan.Inner(name)) })))
	}
	lost.AddIn(translate.Shaping, ".properties.", "*")
	return root.object(), lost
}

// hasOddNames reports whether an argument has a name that is refused. It reads nearly every tool
// of every request, once.
func hasOddNames(schema []byte) bool {
	c := jsonscan.Again(schema)
	for c.OpenObject(); c.Member(); {
		if string(c.Name()) != "properties" {
			c.Skip()
			continue
		}
		for c.OpenObject(); c.Member(); c.Skip() {
			if !isArgumentName(c.Name()) {
				return true
			}
		}
		return false
	}
	return false
}

// isArgumentName reports whether the Claude API accepts an escaped name of an argument.
func isArgumentName(name []byte) bool {
	if jsonscan.HasEscapes(name) {
		name = jsonscan.AppendUnescaped(nil, name)
	}
	odd := func(b byte) bool { return b != '.' && !translate.PlainByte(b) }
	return len(name) > 0 && len(name) <= maxName && !slices.ContainsFunc(name, odd)
}
