package exchange

import (
	"net/url"
	"strings"
)

// secretNames are the ends of the names of parameters that may have an API key. The gateway reads
// few of them, but clients send their keys in all of them.
var secretNames = [...]string{"key", "access_token", "api_token", "auth_token", "id_token", "secret", "password", "authorization"}

// HasQueryKey reports whether a raw query may have an API key: whether the name of one of its
// parameters ends as a secret name does, in upper or lower case. Parameters that url.ParseQuery
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
		name = strings.TrimSpace(name)
		for _, end := range secretNames {
			if before := len(name) - len(end); before >= 0 && strings.EqualFold(name[before:], end) {
				return true
			}
		}
		if strings.EqualFold(name, "token") { // pageToken is none
			return true
		}
	}
	return false
}
