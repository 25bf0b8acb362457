package transport

import (
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

const zeros = `"usage":{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0}`

// Usage was withheld only if its chunk contained nothing else. Cutting it out must not lose a
// byte of the other members, in any spelling of the chunk.
func TestUsageIsCutOutOfEventsAsTheyAreWritten(t *testing.T) {
	for written, want := range map[string]string{
		"data: {\"choices\":[{\"text\":\"a\"}]," + zeros + "}\n\n":                              "data: {\"choices\":[{\"text\":\"a\"}]}\n\n",
		"data:{ " + zeros + " , \"choices\" : [{\"text\":\"a\"}] }\r\n\r\n":                     "data:{ \"choices\" : [{\"text\":\"a\"}] }\r\n\r\n",
		": c\nid: 7\ndata: {\"choices\":[{\"text\":\"a\"}],\ndata:  " + zeros + "\ndata: }\n\n": ": c\nid: 7\ndata: {\"choices\":[{\"text\":\"a\"}]\ndata: }\n\n",
		"\ufeffdata: {\"choices\":[{\"text\":\"a\"}]," + zeros + ",\"x\":1}\n\n":                "\ufeffdata: {\"choices\":[{\"text\":\"a\"}],\"x\":1}\n\n",
		"data: {\"choices\":[{\"text\":\"a\"}],\"usage\":null}\n\n":                             "data: {\"choices\":[{\"text\":\"a\"}],\"usage\":null}\n\n",
	} {
		const end = "data: {\"choices\":[{\"text\":\"\",\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"
		for _, size := range []int{1, 2, 5, 1000} {
			got := replay(t, translate.Completions, true, split([]byte(written+end), func() int { return size }), io.EOF)
			require.NoError(t, got.err)
			assert.Equal(t, want+end, got.output)
		}
	}
}

// An event that is complete only with the end of the body is treated in the same way.
func TestUsageIsCutOutOfTheLastEvent(t *testing.T) {
	const last = "data: {\"choices\":[{\"text\":\"a\",\"finish_reason\":\"stop\"}]," + zeros + "}"
	got := replay(t, translate.Completions, true, whole([]byte(last)), io.EOF)
	assert.Equal(t, "data: {\"choices\":[{\"text\":\"a\",\"finish_reason\":\"stop\"}]}\n\n", got.output)
}
