package event

import "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"

// Without contains, by name, what AppendNative writes in place of the values of members: ""
// leaves the member out, null replaces every value, and an empty string, object or array
// replaces values of its kind, and an empty string or object also null.
type Without map[string]string

// AppendNative appends the members of a valid object, the text of a Native event, each with
// a comma before it.
func AppendNative(dst, object []byte, without Without) []byte {
	for name, value := range jsonscan.Members(object) {
		with, replaced := without[string(name)]
		if replaced && with == "" {
			continue
		}
		dst = append(append(append(dst, `,"`...), name...), `":`...)
		isNull := value[0] == 'n'
		if replaced && (with == "null" || with[0] == value[0] || isNull && with != "[]") {
			dst = append(dst, with...)
		} else {
			dst = jsonscan.AppendCompact(dst, value)
		}
	}
	return dst
}
