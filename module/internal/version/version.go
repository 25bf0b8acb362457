// Package version returns the version of the gateway.
package version

import (
	"fmt"
	"runtime/debug"
	"strings"
)

const modulePath = "github.com/caddy-ai-gateway/caddy-ai-gateway"

// Of returns the version of the gateway in a build without its "v", such as "1.4.0"; "" for
// a build from a checkout or with a replaced module.
func Of(build *debug.BuildInfo) string {
	for _, module := range append(build.Deps, &build.Main) {
		if module.Path == modulePath && module.Replace == nil && strings.HasPrefix(module.Version, "v") {
			return module.Version[1:]
		}
	}
	return ""
}

// Revision returns the commit of a build from a checkout, with "-dirty" if the checkout had
// changes; "" if the build does not have it.
func Revision(build *debug.BuildInfo) (revision string) {
	if build.Main.Path != modulePath {
		return ""
	}
	changed := false
	for _, s := range build.Settings {
		switch s.Key {
		case "vcs.revision":
			revision = s.Value
		case "vcs.modified":
			changed = s.Value == "true"
		}
	}
	if revision != "" && changed {
		revision += "-dirty"
	}
	return revision
}

// Full returns the version and the commit of a build for people, such as "v1.4.0 (3048ce562e48)".
func Full(build *debug.BuildInfo) string {
	full := "checkout"
	if v := Of(build); v != "" {
		full = "v" + v
	}
	if revision := Revision(build); revision != "" {
		full += fmt.Sprintf(" (%.12s)", revision)
	}
	return full
}

// Running returns the build information of this process; it is empty if the build has none.
func Running() *debug.BuildInfo {
	if build, ok := debug.ReadBuildInfo(); ok {
		return build
	}
	return new(debug.BuildInfo)
}
