package gateway

import "strings"

// headerSafe returns a model name as a header value: names may hold what
// header values must not.
func headerSafe(name string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' || c > '~' {
			return '?'
		}
		return c
	}, name)
}
