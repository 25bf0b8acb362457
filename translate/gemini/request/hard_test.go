package request

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Schemas of some megabytes kept a processor busy for minutes: each reference was looked up in the
// whole schema, and each name and member was searched for among all others. The test would not end.
func TestHardSchemasOfOlderModelsCostLittle(t *testing.T) {
	const n = 60_000
	many := func(n int, value func(i int) string) string {
		all := make([]string, n)
		for i := range all {
			all[i] = value(i)
		}
		return strings.Join(all, ",")
	}
	name := func(i int) string { return fmt.Sprintf(`"p%05d"`, i) }
	object := func(i int) string { return name(i) + `:{"type":"string"}` }
	reference := func(i int) string { return fmt.Sprintf(`%s:{"$ref":"#/$defs/p%05d"}`, name(i), n-1-i) }
	for what, tt := range map[string]struct {
		schema string
		want   error
	}{
		"properties":         {`{"type":"object","properties":{` + many(n, object) + `}}`, errTooLarge},
		"references":         {`{"type":"object","properties":{` + many(4000, reference) + `},"$defs":{` + many(n, object) + `}}`, errTooLarge},
		"the same reference": {`{"type":"object","properties":{` + many(4000, func(i int) string { return name(i) + `:{"$ref":"#/$defs/p59999"}` }) + `},"$defs":{` + many(n, object) + `}}`, nil},
		"required":           {`{"type":"object","properties":{` + many(9000, object) + `},"required":[` + many(10*n, func(i int) string { return name(i % n) }) + `]}`, nil},
		"members":            {`{"type":"string","description":"` + strings.Repeat("x", 1<<20) + `",` + many(2*n, func(int) string { return `"title":"a"` }) + `}`, nil},
		"a list inside many": {strings.Repeat(`{"type":"array","items":`, 90) + `{"type":"string","enum":[` + many(4*n, name) + `]}` + strings.Repeat("}", 90), errTooLarge},
	} {
		_, _, _, err := appendSchema(nil, []byte(tt.schema))
		assert.ErrorIs(t, err, tt.want, what)
	}
}
