package objects

import (
	"net/url"
	"slices"
	"strings"
)

// IsGeminiFile reports whether an address is that of a file that Google stores for an account: a name such as
// files/1abc, or an address of Google with a segment "files", in whatever spelling Google's servers may accept.
// Other hosts can be the gateway's or that of a provider: there, a name without a dot must end the path, behind
// a version. All other addresses are those of the web.
func IsGeminiFile(address string) bool {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil { // another server may be able to parse it
		return strings.Contains(strings.ToLower(address), "files")
	}
	if u.Scheme != "" && u.Scheme != "http" && u.Scheme != "https" {
		return false
	}
	segments := strings.FieldsFunc(strings.ToLower(unescaped(u.EscapedPath()+u.Opaque)), func(c rune) bool { return c == '/' || c == '\\' })
	if host := strings.ToLower(u.Hostname()); host == "" || isGoogle(host) {
		return slices.Contains(segments, "files")
	}
	n := len(segments)
	return n > 2 && isVersion(segments[n-3]) && segments[n-2] == "files" && !strings.Contains(segments[n-1], ".")
}

// isGoogle reports whether a host is one of Google's APIs. What Cloud Storage has at its addresses is of the web.
func isGoogle(host string) bool {
	host = "." + strings.TrimSuffix(host, ".")
	return strings.HasSuffix(host, ".googleapis.com") && !strings.HasSuffix(host, ".storage.googleapis.com")
}

// mostEscaped is how often the segment of a file may be escaped. No server decodes a path as often, and to decode
// it without a bound takes a time that grows with the square of its length.
const mostEscaped = 8

// unescaped returns a path without escapes, and without those that the escapes contain.
func unescaped(path string) string {
	for range mostEscaped {
		plain, err := url.PathUnescape(path)
		if err != nil || plain == path {
			break
		}
		path = plain
	}
	return path
}
