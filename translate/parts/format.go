package parts

import "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"

// AppendSchema appends the members that describe the schema of the answer, the first
// without a comma. A schema without a name comes from a format that enforces schemas:
// it is marked as strict, so that a schema that cannot be enforced is an error.
func AppendSchema(dst core.Members, o *core.Options) core.Members {
	name, strict := o.Raw(core.SchemaName), o.Raw(core.SchemaStrict)
	if name == nil {
		name = []byte(`"response"`)
		if strict == nil {
			strict = []byte("true")
		}
	}
	dst = append(append(dst, `"name":`...), name...)
	dst.Raw("schema", o.Raw(core.Schema))
	dst.Option("description", &o[core.SchemaDescription])
	if strict != nil {
		dst.Raw("strict", strict)
	}
	return dst
}
