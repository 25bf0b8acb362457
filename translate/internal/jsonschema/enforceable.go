package jsonschema

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// Enforceable schemas are those that services accept whose models cannot but follow the schema:
// the documentation of structured outputs of the Claude API, which that of Amazon Bedrock
// repeats, lists what such a schema must and must not contain.
// (platform.claude.com/docs/en/build-with-claude/structured-outputs#json-schema-limitations)

// enforced are the members that the services take, with a check of the values of those that are
// taken in part. Of the others, those among limits restrict the answers.
var enforced = map[string]func(value []byte) bool{
	"type": areTypes, "enum": areScalars, "const": isScalar, "default": always,
	"properties": always, "required": always, "additionalProperties": always, "items": isSchema, "minItems": isNoneOrOne,
	"anyOf": always, "allOf": always, "$ref": isInside, "$defs": always, "definitions": always,
	"format": isKnownFormat, "pattern": isPlainPattern,
	"title": always, "description": always, "examples": always, "deprecated": always, "readOnly": always, "writeOnly": always,
	"$schema": always, "$id": always, "$anchor": always, "$comment": always,
}

// limits are the members that the services do not take although they restrict the answer.
var limits = set(
	"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength",
	"maxItems", "uniqueItems", "prefixItems", "additionalItems", "unevaluatedItems", "contains", "minContains", "maxContains",
	"minProperties", "maxProperties", "propertyNames", "unevaluatedProperties", "dependencies", "dependentRequired", "dependentSchemas",
	"oneOf", "not", "if", "then", "else", "contentEncoding", "contentMediaType", "contentSchema",
	"nullable", "$dynamicRef", "$recursiveRef",
)

var types = set("object", "array", "string", "number", "integer", "boolean", "null")

// formats are the formats of texts that the services know.
var formats = set("date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid")

func always([]byte) bool { return true }

func isScalar(value []byte) bool { return len(value) > 0 && value[0] != '{' && value[0] != '[' }

func areScalars(list []byte) bool { return !slices.ContainsFunc(Elements(list), isArrayOrObject) }

func isArrayOrObject(value []byte) bool { return !isScalar(value) }

func isSchema(value []byte) bool { return len(value) > 0 && value[0] == '{' }

// areTypes reports whether a value is a type or a list of types.
func areTypes(value []byte) bool {
	if list := Elements(value); len(list) > 0 {
		return !slices.ContainsFunc(list, func(value []byte) bool { return !areTypes(value) })
	}
	return types[jsonscan.TextOf(value)]
}

// isInside reports whether a reference is one to a part of the schema.
func isInside(value []byte) bool { return strings.HasPrefix(jsonscan.TextOf(value), "#") }

func isNoneOrOne(value []byte) bool {
	n, ok := jsonscan.Integer(value)
	return ok && (n == 0 || n == 1)
}

func isKnownFormat(value []byte) bool { return formats[jsonscan.TextOf(value)] }

// odd finds what patterns must not contain: groups that look around or have names, references
// to groups, ends of words, and classes by name.
var odd = regexp.MustCompile(`\(\?[^:]|\\[1-9bBkpPuxcAzZG]`)

func isPlainPattern(value []byte) bool {
	return !odd.MatchString(strings.ReplaceAll(jsonscan.TextOf(value), `\\`, ""))
}

// Enforceable returns a schema in the form that services enforce: every object is closed, and
// what the services do not take is left out. The bytes are the same if the schema has that form.
// lost has what differs, by its path in the schema; a Hint if the answers are the same without it.
// free is the path of what no enforceable schema has and without which the answer is another one: of
// members by names that the answer chooses, of a schema that contains itself, or of one that holds
// beside others; or of a schema too deep to be edited; "" for none.
func Enforceable(schema []byte) (_ []byte, lost translate.Losses, free string) {
	var e enforcer
	edited, deep := Append(nil, schema, e.edit)
	if !e.changed {
		edited = schema
	}
	return edited, e.lost, cmp.Or(e.free, deep, cycle(schema))
}

type enforcer struct {
	lost    translate.Losses
	free    string
	changed bool
}

func (e *enforcer) edit(s *Schema) {
	e.close(s)
	e.require(s)
	e.rename(s)
	s.Members = slices.DeleteFunc(s.Members, func(m Member) bool {
		takes, known := enforced[m.Name]
		switch {
		case known && takes(m.Value):
			return false
		case known || limits[m.Name]:
			e.lose(translate.Shaping, s, m.Name)
		default:
			e.lose(translate.Hint, s, m.Name)
		}
		return true
	})
}

func (e *enforcer) lose(class translate.LossClass, s *Schema, name string) {
	e.changed = true
	path := string(s.Path) + "."
	if known := enforced[name] != nil || limits[name]; known && name[0] == '$' { // no name that members of formats have
		e.lost.AddIn(class, path, name)
		return
	}
	e.lost.AddNamed(class, path, []byte(name))
}

// close closes an object. The services demand that of every object.
func (e *enforcer) close(s *Schema) {
	const others, patterns = "additionalProperties", "patternProperties"
	raw := s.Raw(others)
	switch {
	case s.Raw(patterns) != nil:
		e.free = string(s.Path) + "." + patterns
	case isSchema(raw) && !jsonscan.IsZero(raw):
		e.free = string(s.Path) + "." + others
	case string(raw) == "false", raw == nil && s.Raw("properties") == nil && !s.IsType("object"):
	default:
		s.Set(others, []byte("false"))
		e.lose(translate.Shaping, s, others)
	}
}

// require leaves out the names of required members that a closed object does not have.
func (e *enforcer) require(s *Schema) {
	const name = "required"
	required := Elements(s.Raw(name))
	if len(required) == 0 || string(s.Raw("additionalProperties")) != "false" {
		return
	}
	known := make(map[string]bool)
	for property := range jsonscan.Members(s.Raw("properties")) {
		known[string(jsonscan.AppendUnescaped(nil, property))] = true
	}
	kept := slices.DeleteFunc(slices.Clone(required), func(raw []byte) bool { return !known[jsonscan.TextOf(raw)] })
	if len(kept) < len(required) {
		s.Set(name, List(kept))
		e.lose(translate.Shaping, s, name)
	}
}

// rename writes what the services take by another name: a choice of one schema as a choice of
// any, the reference that is all of a list as a reference, and a type that may be null as two types.
func (e *enforcer) rename(s *Schema) {
	for i := range s.Members {
		m := &s.Members[i]
		switch {
		case m.Name == "oneOf" && s.Raw("anyOf") == nil:
			m.Name = "anyOf"
			e.lose(translate.Shaping, s, "oneOf")
		case m.Name == "allOf" && s.Raw("$ref") == nil:
			if target := onlyReference(Elements(m.Value)); target != nil {
				m.Name, m.Value, e.changed = "$ref", target, true
			}
		}
	}
	if slices.ContainsFunc(Elements(s.Raw("allOf")), func(schema []byte) bool { return jsonscan.MemberOf(schema, "$ref") != nil }) {
		e.free = cmp.Or(e.free, string(s.Path)+".allOf") // beside others, which the services refuse
	}
	if word := s.Raw("type"); jsonscan.IsTrue(s.Raw("nullable")) && jsonscan.IsString(word) {
		s.Set("type", List([][]byte{word, []byte(`"null"`)}))
		s.remove("nullable")
		e.changed = true
	}
}

// onlyReference returns the target of the reference that is the only member of the only
// schema, or nil.
func onlyReference(schemas [][]byte) (target []byte) {
	if len(schemas) != 1 {
		return nil
	}
	for name, value := range jsonscan.Members(schemas[0]) {
		if target != nil || string(name) != "$ref" {
			return nil
		}
		target = value
	}
	return target
}
