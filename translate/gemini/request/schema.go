package request

import (
	"bytes"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/jsonschema"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// Models without JSON Schema accept a subset of the schemas of OpenAPI 3.0, and refuse every
// other member.

var (
	errRecursive  = errors.New("contains itself, which the model cannot express")
	errUnresolved = errors.New("refers to a schema that it does not contain")
	errTooLarge   = errors.New("becomes too large without its references")
)

// maxNodes bounds the schemas in a schema whose references are replaced by what they refer to.
const maxNodes = 10_000

// maxRead bounds the sizes of all schemas that are read, those inside others and those in which a
// reference is looked up included, in bytes.
const maxRead = 64 << 20

// converter converts one JSON schema.
type converter struct {
	root    []byte
	nodes   int
	read    int               // of maxRead
	targets map[string][]byte // of references
	looser  bool              // a constraint was left out
}

// appendSchema appends a schema in the older dialect. looser reports that constraints were
// left out, empty that the schema is an object without properties, for which nothing is
// appended.
func appendSchema(dst, schema []byte) (written []byte, looser, empty bool, err error) {
	v := converter{root: schema}
	var n node
	if err = v.collect(&n, schema); err != nil {
		return dst, false, false, err
	}
	if kind := n.kind(); (kind == "" || kind == "object") && len(n.types) < 2 && len(n.properties)+len(n.anyOf) == 0 {
		return dst, v.looser, true, nil
	}
	written, err = v.appendNode(dst, &n)
	return written, v.looser, false, err
}

// node is a schema without references: those of $ref and allOf are merged into it.
type node struct {
	references []string // the references that led to the schema
	types      []string
	nullable   bool
	texts      [][]byte // raw, of enum
	properties []property
	required   [][]byte // raw
	items      []byte
	anyOf      [][]byte
	copied     core.Members
	has        map[string]bool // the members of copied
}

// property is a property by its raw name without quotes, with its raw schema.
type property struct{ name, schema []byte }

// kept are the members that both dialects have.
var kept = map[string]bool{
	"title": true, "description": true, "minItems": true, "maxItems": true, "minProperties": true, "maxProperties": true,
	"minimum": true, "maximum": true, "minLength": true, "maxLength": true, "pattern": true, "default": true, "propertyOrdering": true,
}

// annotations are members whose loss changes no constraint.
var annotations = map[string]bool{
	"$schema": true, "$id": true, "$defs": true, "definitions": true, "$comment": true, "$anchor": true, "examples": true,
	"additionalProperties": true, "readOnly": true, "writeOnly": true, "deprecated": true,
}

// formats are the formats that the dialect has.
var formats = map[string]bool{"enum": true, "date-time": true, "float": true, "double": true, "int32": true, "int64": true}

// collect adds a schema to a node. Of members that are there already, those of the node hold.
func (v *converter) collect(n *node, schema []byte) error {
	v.nodes, v.read = v.nodes+1, v.read+len(schema)
	if v.nodes > maxNodes || v.read > maxRead {
		return errTooLarge
	}
	var merged [][]byte
	for name, value := range jsonscan.Members(schema) {
		switch name := string(name); name {
		case "$ref":
			target, err := v.follow(n, jsonscan.TextOf(value))
			if err != nil {
				return err
			}
			merged = append(merged, target)
		case "allOf":
			merged = append(merged, jsonschema.Elements(value)...)
		case "anyOf", "oneOf":
			merged = append(merged, v.choose(n, value)...)
		case "type":
			n.addTypes(value)
		case "nullable":
			n.nullable = n.nullable || jsonscan.IsTrue(value)
		case "enum":
			v.addEnum(n, jsonschema.Elements(value))
		case "const":
			v.addEnum(n, [][]byte{value})
		case "properties":
			for name, schema := range jsonscan.Members(value) {
				if n.addProperty(property{name, schema}); len(n.properties) > maxNodes {
					return errTooLarge
				}
			}
		case "required":
			n.required = append(n.required, jsonschema.Elements(value)...)
		case "items":
			if n.items == nil {
				n.items = value
			}
		case "exclusiveMinimum", "exclusiveMaximum":
			v.addBound(n, name, value, schema)
		case "format":
			if formats[jsonscan.TextOf(value)] {
				n.add(name, value)
			}
		default:
			if kept[name] {
				n.add(name, value)
			} else if !annotations[name] {
				v.looser = true
			}
		}
	}
	for _, other := range merged {
		if err := v.collect(n, other); err != nil {
			return err
		}
	}
	return nil
}

// follow returns the schema that a reference names.
func (v *converter) follow(n *node, reference string) (target []byte, err error) {
	if reference == "#" || slices.Contains(n.references, reference) {
		return nil, errRecursive
	}
	n.references = append(slices.Clip(n.references), reference)
	if target = v.targets[reference]; target != nil {
		return target, nil
	}
	path, ok := strings.CutPrefix(reference, "#/")
	if !ok {
		return nil, errUnresolved
	}
	target = v.root
	unescape := strings.NewReplacer("~1", "/", "~0", "~")
	for step := range strings.SplitSeq(path, "/") {
		if v.read += len(target); v.read > maxRead {
			return nil, errTooLarge
		}
		step = unescape.Replace(step)
		found := []byte(nil)
		for name, value := range jsonscan.Members(target) {
			if string(jsonscan.AppendUnescaped(nil, name)) == step {
				found = value
			}
		}
		if target = found; target == nil {
			return nil, errUnresolved
		}
	}
	if v.targets == nil {
		v.targets = make(map[string][]byte)
	}
	v.targets[reference] = target
	return target, nil
}

// add adds a member that needs no change.
func (n *node) add(name string, value []byte) {
	if n.has[name] {
		return
	}
	if n.has == nil {
		n.has = make(map[string]bool)
	}
	n.has[name] = true
	n.copied.Raw(name, value)
}

func (n *node) addProperty(p property) {
	if !slices.ContainsFunc(n.properties, func(other property) bool { return bytes.Equal(other.name, p.name) }) {
		n.properties = append(n.properties, p)
	}
}

// addTypes sets the types, unless there are some.
func (n *node) addTypes(value []byte) {
	types := [][]byte{value}
	if !jsonscan.IsString(value) {
		types = jsonschema.Elements(value)
	}
	first := len(n.types) == 0
	for _, raw := range types {
		switch word := strings.ToLower(jsonscan.TextOf(raw)); word {
		case "null":
			n.nullable = true
		case "string", "number", "integer", "boolean", "array", "object":
			if first {
				n.types = append(n.types, word)
			}
		}
	}
}

// addEnum adds the values of an enum, which has only strings in the dialect.
func (v *converter) addEnum(n *node, values [][]byte) {
	var texts [][]byte
	for _, value := range values {
		switch {
		case string(value) == "null":
			n.nullable = true
		case jsonscan.IsString(value):
			texts = append(texts, value)
		default:
			v.looser = true
			return
		}
	}
	if n.texts == nil {
		n.texts = texts
	}
}

// addBound adds an exclusive bound of integers, whose neighbour is the bound.
func (v *converter) addBound(n *node, name string, value, schema []byte) {
	bound, ok := jsonscan.Integer(value)
	if !ok || typeOf(schema) != "integer" {
		v.looser = true
	} else if name == "exclusiveMinimum" {
		n.add("minimum", strconv.AppendInt(nil, bound+1, 10))
	} else {
		n.add("maximum", strconv.AppendInt(nil, bound-1, 10))
	}
}

// choose adds the schemas of which one holds. It returns the only one that is left without
// null, which is merged into the node.
func (v *converter) choose(n *node, list []byte) (only [][]byte) {
	var left [][]byte
	for _, schema := range jsonschema.Elements(list) {
		if typeOf(schema) == "null" {
			n.nullable = true
		} else {
			left = append(left, schema)
		}
	}
	if len(left) <= 1 {
		return left
	}
	v.looser = v.looser || len(n.anyOf) > 0
	n.anyOf = left
	return nil
}

// typeOf returns the type of a schema that has one type, else "".
func typeOf(schema []byte) string {
	for name, value := range jsonscan.Members(schema) {
		if string(name) == "type" {
			return jsonscan.TextOf(value)
		}
	}
	return ""
}

// kind returns the type of a node, "" for any.
func (n *node) kind() string {
	switch {
	case len(n.types) == 1:
		return n.types[0]
	case len(n.types) > 1 || len(n.anyOf) > 0:
		return ""
	case len(n.properties) > 0:
		return "object"
	case n.items != nil:
		return "array"
	case n.texts != nil:
		return "string"
	}
	return ""
}

// append appends a schema that is a part of another one, to which references led.
func (v *converter) append(dst, schema []byte, references []string) ([]byte, error) {
	n := node{references: references}
	if err := v.collect(&n, schema); err != nil {
		return dst, err
	}
	return v.appendNode(dst, &n)
}

// appendNode appends a node.
func (v *converter) appendNode(dst []byte, n *node) (_ []byte, err error) {
	start := len(dst)
	members := core.Members(dst)
	kind, choices := n.kind(), n.anyOf
	if len(n.types) > 1 {
		v.looser = v.looser || len(choices) > 0
		choices = nil
		for _, word := range n.types {
			choices = append(choices, []byte(`{"type":"`+word+`"}`))
		}
	}
	if kind != "" {
		members.Word("type", strings.ToUpper(kind))
	}
	if n.nullable {
		members.Raw("nullable", []byte("true"))
	}
	if len(n.texts) > 0 && kind == "string" {
		members.Raw("enum", jsonschema.List(n.texts))
	}
	members = append(members, n.copied...)
	if kind == "array" { // the dialect requires the schema of the elements
		members.Name("items")
		if members, err = v.append(members, n.items, n.references); err != nil {
			return members, err
		}
	}
	if len(choices) > 0 {
		members.Name("anyOf")
		first := len(members)
		for _, schema := range choices {
			if members, err = v.append(append(members, ','), schema, n.references); err != nil {
				return members, err
			}
		}
		members[first] = '['
		members = append(members, ']')
	}
	if members, err = v.appendProperties(members, n); err != nil {
		return members, err
	}
	if len(members) == start {
		return append(members, "{}"...), nil
	}
	members[start] = '{'
	return append(members, '}'), nil
}

// appendProperties appends the properties, and those of them that are required.
func (v *converter) appendProperties(members core.Members, n *node) (_ core.Members, err error) {
	if len(n.properties) == 0 {
		return members, nil
	}
	members.Name("properties")
	first := len(members)
	for _, p := range n.properties {
		members = append(append(append(members, `,"`...), p.name...), `":`...)
		if members, err = v.append(members, p.schema, n.references); err != nil {
			return members, err
		}
	}
	members[first] = '{'
	members = append(members, '}')
	optional := make(map[string]bool, len(n.properties))
	for _, p := range n.properties {
		optional[string(p.name)] = true
	}
	var required [][]byte
	for _, raw := range n.required {
		if name := string(jsonscan.Inner(raw)); optional[name] {
			delete(optional, name)
			required = append(required, raw)
		}
	}
	if len(required) > 0 {
		members.Raw("required", jsonschema.List(required))
	}
	return members, nil
}
