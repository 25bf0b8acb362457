package aigateway

import (
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Claims are the claims of a token that was verified.
type Claims map[string]any

// At returns the claim at a path, nil for none. Dots lead into objects:
// "realm_access.roles". A claim whose name has the dots itself takes precedence, as names that
// are addresses have them.
func (c Claims) At(path string) any {
	if value, ok := c[path]; ok {
		return value
	}
	first, rest, ok := strings.Cut(path, ".")
	if inner, isObject := c[first].(map[string]any); ok && isObject {
		return Claims(inner).At(rest)
	}
	return nil
}

// Text returns the text at a path, "" for none. An e-mail address that the issuer has not
// verified may be that of somebody else, and counts as none.
func (c Claims) Text(path string) string {
	text, _ := c.At(path).(string)
	if path == "email" && c["email_verified"] != true {
		return ""
	}
	return text
}

// Words returns the texts of the list at a path, or the words of the text there.
func (c Claims) Words(path string) (texts []string) {
	switch v := c.At(path).(type) {
	case string:
		return strings.Fields(v)
	case []any:
		for _, element := range v {
			if text, ok := element.(string); ok {
				texts = append(texts, text)
			}
		}
	}
	return texts
}

// Has reports whether the claim at a path is a value, or a list or words that contain it. The
// value of a claim that is a boolean is "true" or "false".
func (c Claims) Has(path, value string) bool {
	switch v := c.At(path).(type) {
	case bool:
		return strconv.FormatBool(v) == value
	case string:
		if v == value {
			return true
		}
	}
	return slices.Contains(c.Words(path), value)
}

// IsProtectedAddress reports whether nobody on the way can change what an address answers: its
// scheme is https, or its host is this machine.
func IsProtectedAddress(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil || u.Fragment != "" {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Scheme == "https" || u.Scheme == "http" && (u.Hostname() == "localhost" || ip != nil && ip.IsLoopback())
}
