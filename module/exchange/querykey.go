package exchange

import (
	"net/url"
	"strings"
)

// HasQueryKey reports whether a raw query may have an API key: whether the name of one of its
// parameters ends with "key", in upper or lower case. Parameters that url.ParseQuery refuses are
// included, because logs contain them too.
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
		if before := len(name) - len("key"); before >= 0 && strings.EqualFold(name[before:], "key") {
			return true
		}
	}
	return false
}
