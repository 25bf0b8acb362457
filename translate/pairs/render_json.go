package pairs

import (
	"bytes"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// isString reports whether a raw value is a string.
func isString(raw []byte) bool { return len(raw) >= 2 && raw[0] == '"' }

// isTrue reports whether a raw value is true.
func isTrue(raw []byte) bool { return len(raw) > 0 && raw[0] == 't' }

// inner is a raw string without its quotes; nil for a value of another kind.
func inner(raw []byte) []byte {
	if !isString(raw) {
		return nil
	}
	return raw[1 : len(raw)-1]
}

// textOf is the decoded text of a raw string, "" for a value of another kind.
func textOf(raw []byte) string {
	if text := inner(raw); !isEscaped(text) {
		return string(text)
	}
	return string(jsonscan.AppendText(nil, raw))
}

// isEscaped reports whether a raw string must be decoded before its bytes mean
// anything.
func isEscaped(raw []byte) bool { return bytes.IndexByte(raw, '\\') >= 0 }

// isEmptyList reports whether a raw value is an array or an object without
// anything in it.
func isEmptyList(raw []byte) bool {
	return len(raw) >= 2 && (raw[0] == '[' || raw[0] == '{') && len(bytes.TrimSpace(raw[1:len(raw)-1])) == 0
}

// shown is a word of a closed set as refusals repeat it, "" when it is no
// string or too long to be one of the set.
func shown(raw []byte) string {
	if text := inner(raw); text != nil && !isEscaped(text) {
		return shownText(text)
	}
	return ""
}

// maxShown bounds the words that refusals repeat.
const maxShown = 64

func shownText(text []byte) string {
	if len(text) == 0 || len(text) > maxShown {
		return ""
	}
	return "'" + string(text) + "'"
}

// shownNumber is a number as refusals repeat it.
func shownNumber(raw []byte) string {
	if len(raw) > maxShown {
		return ""
	}
	return string(raw)
}

// integer is the value of a raw number that is an integer, however it is
// written; ok is false for any other value.
func integer(raw []byte) (n int64, ok bool) {
	if len(raw) == 0 || raw[0] != '-' && (raw[0] < '0' || raw[0] > '9') {
		return 0, false
	}
	return jsonscan.ParseInt(raw)
}
