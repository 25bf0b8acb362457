package trait_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

func TestNearestEffort(t *testing.T) {
	for _, c := range []struct{ set, effort, want string }{
		{"true", "none", "none"},
		{"true", "xhigh", "xhigh"},
		{"low high", "minimal", "low"},
		{"low high", "medium", "low"},
		{"low high", "max", "high"},
		{"high max", "low", "high"},
		{"minimal high", "medium", "minimal"},
		{"medium high xhigh", "low", "medium"},
		{"none high", "low", "high"},
		{"none", "high", ""},
		{"low high", "none", ""},
		{"false", "none", ""},
		{"false", "max", ""},
	} {
		var traits trait.Traits
		require.NoError(t, traits.Set("reasoning_effort", c.set))
		assert.Equal(t, c.want, traits.ReasoningEffort.Nearest(trait.EffortOf(c.effort)).String(), "%s of %s", c.effort, c.set)
	}
}
