package transport

import (
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestTheUserAgentNamesTheVersionThatWasBuilt(t *testing.T) {
	ours := func(version string) debug.Module { return debug.Module{Path: modulePath, Version: version} }
	caddy := debug.Module{Path: "github.com/caddyserver/caddy/v2", Version: "v2.99.0"}
	required, replaced := ours("v1.2.3"), ours("v1.2.3")
	replaced.Replace = &debug.Module{Path: "."}
	for _, build := range []struct {
		name string
		info debug.BuildInfo
		want string
	}{
		{"a dependency", debug.BuildInfo{Main: caddy, Deps: []*debug.Module{&caddy, &required}}, "caddy-ai-gateway/1.2.3"},
		{"the main module", debug.BuildInfo{Main: ours("v1.3.0-rc1"), Deps: []*debug.Module{&caddy}}, "caddy-ai-gateway/1.3.0-rc1"},
		{"a checkout", debug.BuildInfo{Main: ours("(devel)")}, "caddy-ai-gateway"},
		{"a checkout in place of a version", debug.BuildInfo{Main: caddy, Deps: []*debug.Module{&replaced}}, "caddy-ai-gateway"},
	} {
		assert.Equal(t, build.want, product(&build.info, true), build.name)
	}
	assert.Equal(t, "caddy-ai-gateway", product(nil, false), "a build without modules")
}
