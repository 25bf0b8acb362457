package jsonschema

import (
	"hash/maphash"
	"sync/atomic"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// Root is what the outermost object of a schema of arguments has: a set of the values below.
type Root uint8

// The values of a Root.
const (
	Typed   Root = 1 << iota // it has a type
	Refused                  // it has members that services refuse there
	OddName                  // an argument has a name that the Claude API refuses
	Bare                     // it is an object without properties
	Gaps                     // it, or a schema inside it, has a null or an array without items
	known                    // in a word of roots, which is 0 before
)

// Has reports whether the root has a value.
func (r Root) Has(value Root) bool { return r&value != 0 }

// roots are the roots of the schemas that were read last, each in the low byte of a hash of the schema:
// agents send the same tools with each request, and a hash takes less time than a reading.
// The seed keeps clients from choosing schemas of one hash.
var (
	roots [4096]atomic.Uint64
	seed  = maphash.MakeSeed()
)

// RootOf returns the root of a valid schema.
func RootOf(schema []byte) Root {
	if len(schema) == 0 || schema[0] != '{' {
		return 0
	}
	hash := maphash.Bytes(seed, schema)
	word, hash := &roots[hash%uint64(len(roots))], hash&^0xff
	if last := word.Load(); last&^0xff == hash && Root(last).Has(known) {
		return Root(last) &^ known
	}
	root := readRoot(schema)
	word.Store(hash | uint64(root|known))
	return root
}

// readRoot reads the outermost object of a schema. Members that are null are as if they were absent.
func readRoot(schema []byte) (root Root) {
	object, properties := true, false
	c := jsonscan.Again(schema)
	for c.EnterObject(); c.Member(); {
		if c.Kind() == jsonscan.Null {
			c.Skip()
			continue
		}
		switch string(c.Name()) {
		case "allOf", "anyOf", "oneOf", "enum", "const", "not":
			root |= Refused
			c.Skip()
		case "type":
			root |= Typed
			if c.Kind() == jsonscan.Array {
				root |= Refused
			}
			object = hasType(c.Skip(), "object")
		case "properties":
			properties = true
			if readProperties(&c) {
				root |= OddName
			}
		default:
			c.Skip()
		}
	}
	if object && !properties {
		root |= Bare
	}
	if hasGaps(schema) {
		root |= Gaps
	}
	return root
}

// readProperties consumes the properties of a schema, and reports whether one of them has a name
// that the Claude API refuses.
func readProperties(c *jsonscan.Cursor) (odd bool) {
	for c.OpenObject(); c.Member(); c.Skip() {
		odd = odd || !isArgumentName(c.Name())
	}
	return odd
}
