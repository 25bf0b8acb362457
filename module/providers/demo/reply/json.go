package reply

import (
	"bytes"
	"encoding/json"
)

// Encode returns v as JSON without HTML escapes. It panics for values that JSON
// has no notation for: answers consist of none.
func Encode(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("encoding an answer: " + err.Error())
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
