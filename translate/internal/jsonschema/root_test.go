package jsonschema_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/jsonschema"
)

// The roots of the last schemas are remembered by a hash. A schema must never get the root of another
// one, also when many more are read than are remembered, and in any order.
func TestRootsAreThoseOfTheirSchemas(t *testing.T) {
	kinds := []struct {
		schema string
		root   jsonschema.Root
	}{
		{`{"description":"%d"}`, jsonschema.Bare},
		{`{"type":"object","title":"%d"}`, jsonschema.Bare | jsonschema.Typed},
		{`{"type":"object","properties":{"a%d":{"type":"array"}}}`, jsonschema.Typed | jsonschema.Gaps},
		{`{"properties":{"a %d":{}}}`, jsonschema.OddName},
		{`{"type":["object","null"],"title":"%d","properties":{}}`, jsonschema.Typed | jsonschema.Refused},
		{`{"oneOf":[{"title":"%d"}],"properties":{},"required":null}`, jsonschema.Refused | jsonschema.Gaps},
		{`[%d]`, 0},
	}
	for pass := range 2 {
		for i := range 20_000 {
			kind := kinds[(i+pass)%len(kinds)]
			schema := fmt.Appendf(nil, kind.schema, i)
			require.Equal(t, kind.root, jsonschema.RootOf(schema), string(schema))
			require.Equal(t, kind.root, jsonschema.RootOf(schema), string(schema))
		}
	}
}
