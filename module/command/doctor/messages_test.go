package doctor

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// The table showed 1 token for a cached prompt of 31: in the messages format, input_tokens
// does not include cached ones.
func TestTheInputIncludesWhatTheCacheReads(t *testing.T) {
	const usage = `"usage":{"input_tokens":1,"cache_read_input_tokens":20,"cache_creation_input_tokens":10,"output_tokens":5}`
	a, err := parseMessage([]byte(`{"content":[],` + usage + `}`))
	assert.NoError(t, err)
	assert.Equal(t, Usage{31, 5}, a.usage)
	s := messages.parseStream([]byte(`data: {"type":"message_start","message":{` + usage + `}}` + "\n"))
	assert.Equal(t, Usage{31, 5}, s.usage)
}
