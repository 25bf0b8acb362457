package request

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest"
)

// A member of the format that no row names would be lost as an unknown one is.
func TestEveryMemberOfTheFormatHasARow(t *testing.T) {
	table := core.Join(&Source, &core.Target{Outcomes: new(core.Outcomes)})
	for _, name := range []string{
		"model", "prompt", "suffix", "echo", "max_tokens", "n", "best_of", "stop", "temperature", "top_p", "presence_penalty",
		"frequency_penalty", "logit_bias", "seed", "logprobs", "stream", "stream_options", "user",
	} {
		assert.True(t, translatetest.HasRow(table, []string{""}, name), name)
	}
}
