// Package jsonschema edits JSON schemas: it walks a schema and the schemas in it, and copies
// what an edit leaves alone byte for byte.
package jsonschema
