package pass

import (
	"encoding/hex"
	"strings"
)

// isPlain reports whether all servers read a path with escapes alike: no segment is empty or leads
// elsewhere, and an escape is of a character that has no meaning in paths, and cannot be written
// without an escape. So a path without escapes has one spelling alone.
func isPlain(path string) bool {
	if !strings.HasPrefix(path, "/") {
		return false
	}
	for segment := range strings.SplitSeq(path[1:], "/") {
		if segment == "" || segment == "." || segment == ".." {
			return false
		}
	}
	for i := 0; i < len(path); i++ {
		switch c := path[i]; {
		case c == '%':
			if i+2 >= len(path) || !isEscape(path[i+1:i+3]) {
				return false
			}
			i += 2
		case c <= ' ' || c >= 0x7f || strings.IndexByte(`\;"<>^{|}?#`+"`", c) >= 0:
			return false
		}
	}
	return true
}

// isEscape reports whether the digits of an escape are of a character that needs one and is not
// among those that separate the parts of an address.
func isEscape(digits string) bool {
	decoded, err := hex.DecodeString(digits)
	if err != nil {
		return false
	}
	c := decoded[0]
	unreserved := c == '-' || c == '.' || c == '_' || c == '~' || '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z'
	return c >= ' ' && c != 0x7f && !unreserved && strings.IndexByte(`/\;%?#`, c) < 0
}

// Below returns what follows the prefix in a path with escapes. ok is false for other paths.
func (c *Config) Below(path string) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(path, c.Root())
	return rest, ok && strings.HasPrefix(rest, "/")
}
