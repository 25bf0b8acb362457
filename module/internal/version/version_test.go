package version

import (
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestTheVersionIsThatOfTheGatewayInTheBuild(t *testing.T) {
	ours := func(version string) debug.Module { return debug.Module{Path: modulePath, Version: version} }
	caddy := debug.Module{Path: "github.com/caddyserver/caddy/v2", Version: "v2.99.0"}
	required, replaced := ours("v1.2.3"), ours("v1.2.3")
	replaced.Replace = &debug.Module{Path: "."}
	for _, build := range []struct {
		name string
		info debug.BuildInfo
		want string
	}{
		{"a dependency", debug.BuildInfo{Main: caddy, Deps: []*debug.Module{&caddy, &required}}, "1.2.3"},
		{"the main module", debug.BuildInfo{Main: ours("v1.3.0-rc1"), Deps: []*debug.Module{&caddy}}, "1.3.0-rc1"},
		{"a checkout", debug.BuildInfo{Main: ours("(devel)")}, ""},
		{"a checkout in place of a version", debug.BuildInfo{Main: caddy, Deps: []*debug.Module{&replaced}}, ""},
		{"a build without modules", debug.BuildInfo{}, ""},
	} {
		assert.Equal(t, build.want, Of(&build.info), build.name)
	}
}

func TestTheRevisionIsThatOfTheCheckout(t *testing.T) {
	build := debug.BuildInfo{Main: debug.Module{Path: modulePath}, Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.modified", Value: "false"}}}
	assert.Equal(t, "abc", Revision(&build))
	assert.Equal(t, "checkout (abc)", Full(&build))
	build.Settings[1].Value = "true"
	assert.Equal(t, "abc-dirty", Revision(&build))
	build.Main.Version, build.Settings[0].Value = "v1.4.0", "3048ce562e489658f4edd2d7f2568e057e62c560"
	assert.Equal(t, "v1.4.0 (3048ce562e48)", Full(&build))
	build.Main.Path = "example.com/other" // whose revision it is
	assert.Empty(t, Revision(&build))
	assert.Equal(t, "checkout", Full(&build))
}
