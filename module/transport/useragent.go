package transport

import (
	"runtime/debug"
	"strings"
)

const modulePath = "github.com/caddy-ai-gateway/caddy-ai-gateway"

// userAgent is the User-Agent of translated requests and of queries for models. Some
// firewalls refuse requests without one.
var userAgent = []string{product(debug.ReadBuildInfo())}

// product returns the name of the gateway, with its version if the build has one.
func product(build *debug.BuildInfo, ok bool) string {
	const name = "caddy-ai-gateway"
	if !ok {
		return name
	}
	for _, module := range append(build.Deps, &build.Main) {
		if module.Path == modulePath && module.Replace == nil && strings.HasPrefix(module.Version, "v") {
			return name + "/" + module.Version[1:]
		}
	}
	return name
}
