package reply

import (
	"bytes"
	"encoding/json"
)

// Encode returns v as JSON without HTML escapes. It panics for a value that JSON cannot
// represent; answers have none.
func Encode(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("encoding an answer: " + err.Error())
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
