package transport

import (
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestX117CanonicalBodies(t *testing.T) {
	delivery := []string{"stream"}
	for body, want := range map[string]string{
		`{"b":1,"a":2}`: `{"a":2,"b":1,}`,
		" {\n\"b\" : [ 1 , {\"z\":null,\"y\":\"\\u0041\"} ] }": `{"b":[1,{"y":"\u0041","z":null,},],}`,
		`{"stream":true,"a":{"stream":true}}`:                  `{"a":{"stream":true,},}`,
		`{"a":1.0}`:                                            `{"a":1.0,}`,
		`{"a":12345678901234567890123}`:                        `{"a":12345678901234567890123,}`,
		`{"a":[],"b":{}}`:                                      `{"a":[],"b":{},}`,
		`{"a":[[1],[2]]}`:                                      `{"a":[[1,],[2,],],}`,
	} {
		got, ok := canonicalJSON([]byte(body), delivery)
		assert.True(t, ok, body)
		assert.Equal(t, want, string(got), body)
	}
	for _, body := range []string{
		``, `[1]`, `"a"`, `{"a":1,"a":2}`, `{"a":{"b":1,"c":{},"b":2}}`, `{"a":1`, `{"a":1}x`, "--boundary\r\n",
	} {
		_, ok := canonicalJSON([]byte(body), delivery)
		assert.False(t, ok, "no canonical form, or a member twice, of which providers read different ones: %s", body)
	}
}

func TestACopyHasABound(t *testing.T) {
	for length, want := range map[int]int{0: 0, 9: 9, 10: 10, 11: 0, 1000: 0} {
		c := &copied{ReadCloser: io.NopCloser(strings.NewReader(strings.Repeat("x", length))), room: 10}
		all, err := io.ReadAll(c)
		assert.NoError(t, err)
		assert.Len(t, all, length)
		assert.Len(t, c.body, want)
		assert.Equal(t, length <= 10, c.room >= 0)
	}
}
