package limiting_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/limiting"
)

// A mistyped limit was reported without the names that there are, unlike other words of
// the Caddyfile.
func TestTheErrorOfAnUnknownLimitNamesTheKnownOnes(t *testing.T) {
	keys := slices.Values([]*aigateway.Key{{ID: "alice", Limit: "smal"}})
	assert.EqualError(t, limiting.Limiters{}.Check(keys), "key 'alice' names the limit 'smal', which is not defined")
	defined := limiting.Limiters{"small": nil, "large": nil}
	assert.EqualError(t, defined.Check(keys), "key 'alice' names the limit 'smal', which is not defined; did you mean 'small'? known are: large, small")
}
