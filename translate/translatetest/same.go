package translatetest

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// SameMessage asserts that a JSON answer and what a stream of the same exchange
// adds up to tell the same. They may differ in one thing alone: arguments which
// begin like an object reach the client of a stream before it is known that they
// are none, while an answer wraps them, or leaves them out if they were cut off.
func SameMessage(t testing.TB, answer, added Object) {
	t.Helper()
	blocks, _ := added["content"].([]any)
	theirs, _ := answer["content"].([]any)
	for i := range min(len(blocks), len(theirs)) {
		block, other := blocks[i].(Object), theirs[i].(Object)
		if raw, broken := block["input"].(string); broken {
			block["input"] = Object{"_invalid_arguments": raw}
			if answer["stop_reason"] == "max_tokens" {
				block["input"] = Object{}
			}
		}
		assert.Equal(t, other, block)
	}
	assert.Equal(t, answer, added)
}
