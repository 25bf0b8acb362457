package state

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/limits"
)

// An operator saw that a key may not use a model, and had to look for the reason at the key, its team and its limit.
func TestTheReasonWhyAKeyMayNotUseAModel(t *testing.T) {
	team := &aigateway.Team{Models: []aigateway.Pattern{"r*", "s"}}
	chain := new(limits.Chain)
	for want, c := range map[string]struct {
		key   aigateway.Key
		chain *limits.Chain
	}{
		"":                                {aigateway.Key{}, chain},
		"its models are m* x":             {aigateway.Key{Models: []aigateway.Pattern{"m*", "x"}, Team: team}, chain},
		"the models of its team are r* s": {aigateway.Key{Models: []aigateway.Pattern{"other"}, Team: team}, chain},
		"its limit 'removed' is not defined or cannot be applied": {aigateway.Key{Limit: "removed"}, nil},
		"it has expired at 2026-11-30T00:00:00Z":                  {aigateway.Key{Expires: time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)}, chain},
	} {
		assert.Equal(t, want, refusal(&c.key, c.chain, "other"))
	}
}
