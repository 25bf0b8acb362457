package service

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// concat joins parts of a table.
func concat(parts ...[]Rule) []Rule { return slices.Concat(parts...) }

// with returns the members with one more.
func with(s Set, path string, value any) Set {
	all := Set{path: value}
	maps.Copy(all, s)
	return all
}

// functions returns a number of tools in the format of chat.
func functions(n int) (tools []any) {
	for i := range n {
		tools = append(tools, Set{"type": "function", "function": Set{"name": "f" + strconv.Itoa(i), "parameters": Set{"type": "object"}}})
	}
	return tools
}

// turn returns a message.
func turn(role string, content any) Set { return Set{"role": role, "content": content} }

// long returns a text with a number of bytes.
func long(n int) string { return strings.Repeat("a", n) }
