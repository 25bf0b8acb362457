package transport

import (
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestTheUserAgentNamesTheVersionThatWasBuilt(t *testing.T) {
	released := debug.BuildInfo{Main: debug.Module{Path: "github.com/caddy-ai-gateway/caddy-ai-gateway", Version: "v1.3.0-rc1"}}
	assert.Equal(t, "caddy-ai-gateway/1.3.0-rc1", product(&released))
	assert.Equal(t, "caddy-ai-gateway", product(new(debug.BuildInfo)), "a build without modules")
}
