package exchange

import (
	"net/url"
	"strings"
)

// secretNames are the ends of the names of parameters that may have an API key, in lower case and
// without separators. The gateway reads few of them, but clients send their keys in all of them.
var secretNames = [...]string{"key", "token", "secret", "password", "auth", "authorization", "bearer", "credential", "credentials", "jwt", "signature"}

// HasQueryKey reports whether a raw query may have an API key: whether the name of one of its
// parameters ends as a secret name does, in any notation. Parameters that url.ParseQuery
// refuses are included, because logs contain them too.
func HasQueryKey(query string) bool {
	for query != "" {
		name, rest := query, ""
		if end := strings.IndexAny(query, "&;"); end >= 0 {
			name, rest = query[:end], query[end+1:]
		}
		query = rest
		name, _, _ = strings.Cut(name, "=")
		if plain, err := url.QueryUnescape(name); err == nil {
			name = plain
		}
		name = strings.ReplaceAll(strings.ReplaceAll(strings.TrimSpace(name), "-", ""), "_", "")
		for _, end := range secretNames {
			if hasEnd(name, end) && !hasEnd(name, "pagetoken") {
				return true
			}
		}
	}
	return false
}

// hasEnd reports whether a name ends with a text, in upper or lower case.
func hasEnd(name, end string) bool {
	start := len(name) - len(end)
	return start >= 0 && strings.EqualFold(name[start:], end)
}
