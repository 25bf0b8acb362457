package caddyfile

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway"
)

// checkMatcher refuses a matcher whose paths are none of the gateway's: a matcher cuts nothing off
// a path, so that the site would answer everything itself.
func checkMatcher(h httpcaddyfile.Helper, matchers caddy.ModuleMap) error {
	var paths []string
	if err := json.Unmarshal(matchers["path"], &paths); err != nil || len(paths) == 0 || slices.ContainsFunc(paths, mayMatch) {
		return nil // no paths, or one of the gateway's
	}
	first, _, _ := strings.Cut(strings.TrimPrefix(paths[0], "/"), "/")
	prefix := "/" + strings.TrimRight(first, "*")
	h.Next() // to the line of the directive
	return h.Errf("matcher %s: no path of the gateway begins so; to put the gateway below %s, write handle_path %s/* { %s { … } }",
		strings.Join(paths, " "), prefix, prefix, directive)
}

// mayMatch reports whether a pattern of Caddy's path matcher can match a path of the gateway.
func mayMatch(pattern string) bool {
	beginning := strings.ToLower(pattern)
	if wild := strings.IndexAny(beginning, "*?[{%"); wild >= 0 {
		beginning = beginning[:wild]
	}
	return slices.ContainsFunc(append(gateway.PathRoots(), gateway.SiteRoots()...), func(root string) bool {
		root = strings.ToLower(root)
		return strings.HasPrefix(root, beginning) || strings.HasPrefix(beginning, root)
	})
}
