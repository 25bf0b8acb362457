package fault

import (
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Leaks reports whether a text of a provider repeats the secret, as it is or with
// escapes of JSON: some servers write every "/" as "\/", and "+" or "&" as \u
// escapes. No text leaks "".
func Leaks(text, secret string) bool {
	if secret == "" {
		return false
	}
	for range maxNesting {
		if strings.Contains(text, secret) {
			return true
		}
		if strings.IndexByte(text, '\\') < 0 {
			return false
		}
		text = unescaped(text)
	}
	return strings.Contains(text, secret)
}

// maxNesting is the number of JSON strings in which a text may be nested: proxies put
// the error of a provider into their own.
const maxNesting = 3

// unescaped returns a text without one layer of JSON escapes, to search in. The text
// need not be JSON.
func unescaped(text string) string {
	plain := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 == len(text) {
			plain = append(plain, text[i])
			continue
		}
		i++
		if r, ok := hexEscape(text[i:]); ok {
			plain = utf8.AppendRune(plain, r)
			i += 4
			continue
		}
		plain = append(plain, text[i])
	}
	return string(plain)
}

// hexEscape reads the "u" and four digits of an escape.
func hexEscape(text string) (rune, bool) {
	if len(text) < 5 || text[0] != 'u' {
		return 0, false
	}
	r, err := strconv.ParseUint(text[1:5], 16, 16)
	return rune(r), err == nil
}

// minLeak is the length of the shortest prefix of a secret that must not be shown.
const minLeak = 8

// leaksCutOff reports whether a text ends with the beginning of the secret because it
// was cut at maxDetail.
func leaksCutOff(text, secret string) bool {
	if len(text) <= maxDetail-utf8.UTFMax {
		return false
	}
	for n := len(secret) - 1; n >= minLeak; n-- {
		if strings.HasSuffix(text, secret[:n]) {
			return true
		}
	}
	return false
}

// Redact replaces the message, the code, the details and the cause if they repeat one
// of the secrets: texts such as the credential and the address of the provider, which
// neither the client nor the log may read.
func (f *Fault) Redact(secrets ...string) {
	for _, secret := range secrets {
		if Leaks(f.Message, secret) || leaksCutOff(f.Message, secret) {
			f.setMessage(genericMessage)
		}
		if Leaks(f.Code, secret) {
			f.Code = ""
		}
		if Leaks(string(f.Details), secret) {
			f.Details = nil
		}
		if f.Cause == nil {
			continue
		}
		if cause := f.Cause.Error(); Leaks(cause, secret) || leaksCutOff(cause, secret) {
			f.Cause = errRedacted
		}
	}
}

var errRedacted = errors.New("left out: it repeats a credential or an address")
