package mcp

import (
	"encoding/base64"
	"net/textproto"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

// The headers of the protocol, in canonical form.
const (
	VersionHeader = "Mcp-Protocol-Version"
	SessionHeader = "Mcp-Session-Id"
	MethodHeader  = "Mcp-Method"
	NameHeader    = "Mcp-Name"
)

// Stateless is the first version in which no request belongs to a session.
const Stateless = "2026-07-28"

// IsStateless reports whether a version is Stateless or a later one.
func IsStateless(version string) bool { return version >= Stateless }

// Headers are the headers of a request that repeat what is in its message: the values of each.
type Headers map[string][]string

// Check refuses headers that differ from the message. Whoever decides by them would decide about
// another message.
func (m *Message) Check(h Headers) *fault.Fault {
	name := ""
	if len(m.Uses) > 0 && methods[m.Method].member != "" {
		name = m.Uses[0].Name
	}
	for _, repeats := range [...]struct{ header, value string }{
		{MethodHeader, m.Method}, {NameHeader, name}, {VersionHeader, m.Version},
	} {
		values := h[textproto.CanonicalMIMEHeaderKey(repeats.header)]
		if len(values) == 0 || repeats.header == VersionHeader && repeats.value == "" {
			continue
		}
		if text, ok := decode(values[0]); len(values) > 1 || !ok || text != repeats.value {
			return fault.MCPHeaderMismatch(repeats.header)
		}
	}
	return nil
}

// Named returns the headers that repeat the method of a message and the name of what it uses, as pairs
// of a name and a value. The version requires them of every client.
func (m *Message) Named() (pairs [][2]string) {
	if m.Method == "" {
		return nil
	}
	pairs = append(pairs, [2]string{MethodHeader, m.Method})
	if len(m.Uses) > 0 && methods[m.Method].member != "" {
		pairs = append(pairs, [2]string{NameHeader, encode(m.Uses[0].Name)})
	}
	return pairs
}

const (
	encodedBegin = "=?base64?"
	encodedEnd   = "?="
)

// decode returns the text of a header value.
func decode(value string) (text string, ok bool) {
	encoded, begins := strings.CutPrefix(value, encodedBegin)
	encoded, ends := strings.CutSuffix(encoded, encodedEnd)
	if !begins || !ends {
		return value, true
	}
	raw, err := base64.StdEncoding.DecodeString(encoded)
	return string(raw), err == nil
}

// encode returns the header value of a text.
func encode(text string) string {
	isPlain := !strings.HasPrefix(text, encodedBegin) && strings.TrimSpace(text) == text &&
		!strings.ContainsFunc(text, func(c rune) bool { return c < ' ' || c > '~' })
	if isPlain {
		return text
	}
	return encodedBegin + base64.StdEncoding.EncodeToString([]byte(text)) + encodedEnd
}
