package choices

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func chunkOf(text string) []byte {
	return fmt.Appendf(nil, `{"id":"x","choices":[{"index":0,"delta":{"content":"%s"},"finish_reason":null}],"usage":null}`, text)
}

func TestChunksThatDifferInTheirTextAloneAreAlike(t *testing.T) {
	var a alike
	for _, text := range []string{" the sea", " then sea"} { // texts may have much in common
		a.learn(chunkOf(text))
	}
	for _, text := range []string{"", "b", " there", `\n`, `ü`, "}", `\\u`} {
		assert.True(t, a.matches(chunkOf(text)), text)
	}
}

// What is not plainly the text of the same string is never alike: it may hold
// anything.
func TestChunksThatMayTellMoreAreNotAlike(t *testing.T) {
	var a alike
	a.learn(chunkOf("a"))
	a.learn(chunkOf("b"))
	require.True(t, a.known)
	for name, chunk := range map[string]string{
		"another member":       `{"id":"x","choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop","x":{"y":""},"finish_reason":null}],"usage":null}`,
		"a quote in a text":    string(chunkOf(`\"`)),
		"an escape at the end": `{"id":"x","choices":[{"index":0,"delta":{"content":"a\"},"finish_reason":null}],"usage":null}`,
		"a shorter chunk":      `{"id":"x"}`,
		"usage":                `{"id":"x","choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null}],"usage":{}}`,
	} {
		assert.False(t, a.matches([]byte(chunk)), name)
	}
}

// A head that ends in a member's name would let any name pass.
func TestNamesAreNeverAlike(t *testing.T) {
	var a alike
	a.learn([]byte(`{"choices":[],"xa":null}`))
	a.learn([]byte(`{"choices":[],"xb":null}`))
	assert.False(t, a.matches([]byte(`{"choices":[],"xerror":null}`)))

	a = alike{}
	a.learn([]byte(`{"choices":[{"a":"","x":1}]}`))
	a.learn([]byte(`{"choices":[{"b":"","x":1}]}`))
	assert.False(t, a.known)
}
