package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/reply"
)

// Body is the body of a request while it is read. It keeps the first refusal, and ignores
// further ones.
type Body struct {
	Object         // the whole body
	Path    string // of the URL, with escapes
	Strict  bool   // unknown fields are refused
	dotted  bool
	refused *reply.Refusal
}

// NewBody returns a body to read. It refuses a body that is not a JSON object.
func NewBody(raw []byte, family *Family, strict bool) *Body {
	b := &Body{Strict: strict, dotted: family.DottedPaths}
	b.Object = Object{body: b}
	if err := json.Unmarshal(raw, &b.members); err != nil || b.members == nil {
		b.Refuse(reply.Invalid("request body", "must be a JSON object", "invalid_json"))
	}
	return b
}

// Of returns an object of the body as a body of its own.
func (b *Body) Of(inner Object) *Body {
	own := *b
	own.Object = inner
	own.Object.body = &own
	return &own
}

// Refuse keeps the refusal if it is the first.
func (b *Body) Refuse(r *reply.Refusal) {
	if b.refused == nil {
		b.refused = r
	}
}

// Refused returns the first refusal, nil if there is none.
func (b *Body) Refused() *reply.Refusal { return b.refused }

// element returns the path of an element of the array at path.
func (b *Body) element(path string, i int) string {
	if b.dotted {
		return path + "." + strconv.Itoa(i)
	}
	return fmt.Sprintf("%s[%d]", path, i)
}

// object reads a value that must be an object.
func (b *Body) object(raw json.RawMessage, path string) Object {
	o := Object{body: b, path: path}
	if err := json.Unmarshal(raw, &o.members); err != nil || o.members == nil {
		b.Refuse(reply.Invalid(path, "must be an object", "invalid_type"))
	}
	return o
}

// Quoted reports whether raw is a JSON string.
func Quoted(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] == '"' }

// letters are the characters of names of tools and of ids of calls.
const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"

// IsWord reports whether s consists of letters, digits, underscores and hyphens.
func IsWord(s string) bool { return strings.Trim(s, letters) == "" }

// isNull reports whether raw is null. It returns false for an absent member.
func isNull(raw json.RawMessage) bool { return bytes.Equal(raw, []byte("null")) }
