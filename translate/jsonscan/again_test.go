package jsonscan

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// walk reads a value with everything in it and writes it compactly.
func walk(c *Cursor, dst []byte) []byte {
	switch c.Kind() {
	case Object:
		c.EnterObject()
		dst = append(dst, '{')
		for c.Member() {
			dst = append(AppendString(dst, c.Name()), ':')
			dst = append(walk(c, dst), ',')
		}
		return append(dst, '}')
	case Array:
		c.EnterArray()
		dst = append(dst, '[')
		for c.Element() {
			dst = append(walk(c, dst), ',')
		}
		return append(dst, ']')
	case String:
		text, _ := c.Text()
		return AppendString(dst, text)
	default:
		return append(dst, c.Skip()...)
	}
}

func FuzzAgain(f *testing.F) {
	for _, seed := range []string{
		`{"a":[1,-2.5e3,true,false,null,"x\\\"y\\\\"],"b":{"c":"\\u00e9 {[\\\""}}`, ` [ "" , [] , {} , "\\\\" ] `, `"a\\\\\\"b"`, `12`, "\ufeff{\"a\":1}", `{"a":`, `"`, `[}`,
		`{"a":"` + strings.Repeat(`long \"text\" `, 20) + `","b":["x","` + strings.Repeat(`\\`, 100) + `"]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		first := New(data)
		want := walk(&first, nil)
		second := Again(data)
		got := walk(&second, nil) // whatever data is, it ends
		if first.Finish() != nil {
			return
		}
		require.NoError(t, second.Finish())
		assert.Equal(t, string(want), string(got))

		checked := Skipped(data)
		assert.Equal(t, string(want), string(walk(&checked, nil)))
		require.NoError(t, checked.Finish())

		var noting Cursor
		noting.Init(data)
		walk(&noting, nil)
		known := noting.Texts().Again(data)
		assert.Equal(t, string(want), string(walk(&known, nil)))
		require.NoError(t, known.Finish())

		skipped := Again(data)
		raw := skipped.Skip()
		require.NoError(t, skipped.Finish())
		assert.True(t, json.Valid(raw))
	})
}

// A value that was skipped is known to be valid, but for the names in it.
func TestNamesOfASkippedValueAreChecked(t *testing.T) {
	const value = `{"a":{"b":1,"b":2}}`
	for want, read := range map[string]func([]byte) Cursor{"": Again, "duplicate object member at byte 12": Skipped} {
		c := read([]byte(value))
		walk(&c, nil)
		if err := c.Finish(); want == "" {
			assert.NoError(t, err)
		} else {
			assert.EqualError(t, err, want)
		}
	}
}
