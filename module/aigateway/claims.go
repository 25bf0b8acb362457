package aigateway

import (
	"fmt"
	"math"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Claims are the claims of a token that was verified.
type Claims map[string]any

// At returns the claim at a path, nil for none. Dots lead into objects:
// "realm_access.roles". A claim whose own name is the whole path takes precedence, such as one
// that is named by a URL.
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

// value returns the claim at a path, and the reason for which it does not count. An e-mail address
// that the issuer has not verified may be that of somebody else: it counts only beside an
// "email_verified" of the same object.
func (c Claims) value(path string) (any, error) {
	value := c.At(path)
	if value == nil {
		return nil, fmt.Errorf("the claim %s is missing", path)
	}
	object, isEmail := strings.CutSuffix(path, "email")
	if !isEmail || object != "" && !strings.HasSuffix(object, ".") {
		return value, nil
	}
	switch verified := c.At(object + "email_verified"); {
	case isTrue(verified):
		return value, nil
	case verified == nil:
		return nil, fmt.Errorf("the claim %s is not verified: the issuer sends no email_verified", path)
	default:
		return nil, fmt.Errorf("the claim %s is not verified: email_verified is %.20q", path, fmt.Sprint(verified))
	}
}

// isTrue reports whether a claim is true. Cognito, Apple, JumpCloud and PayPal send the text.
func isTrue(value any) bool {
	text, isText := value.(string)
	return value == true || isText && strings.EqualFold(text, "true")
}

// Text returns the text at a path: a text, a whole number in digits, or the only element of a list
// of these. The error is the reason for none.
func (c Claims) Text(path string) (string, error) {
	value, err := c.value(path)
	if err != nil {
		return "", err
	}
	if list, ok := value.([]any); ok && len(list) == 1 {
		value = list[0]
	}
	text, ok := textOf(value)
	switch {
	case !ok:
		return "", fmt.Errorf("the claim %s is not one text", path)
	case text == "":
		return "", fmt.Errorf("the claim %s is empty", path)
	}
	return text, nil
}

// mostExact is the number up to which the numbers of JSON are exact here. Two larger ones could
// become the same text.
const mostExact = 1 << 53

// textOf returns a text, or the digits of a whole number.
func textOf(value any) (string, bool) {
	switch v := value.(type) {
	case string:
		return v, true
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), v == math.Trunc(v) && math.Abs(v) < mostExact
	}
	return "", false
}

// Words returns the texts of the list at a path. Some issuers send a text in place of a list of
// one element, or of words with spaces between them: of a text, Words returns the whole and each
// word.
func (c Claims) Words(path string) (texts []string) {
	value, err := c.value(path)
	if err != nil {
		return nil
	}
	list, ok := value.([]any)
	if !ok {
		list = []any{value}
	}
	for _, element := range list {
		if text, isText := textOf(element); isText {
			texts = append(texts, text)
		}
	}
	if words := strings.Fields(strings.Join(texts, "")); !ok && len(words) > 1 {
		texts = append(texts, words...)
	}
	return texts
}

// Has reports whether the claim at a path is a value, or a list or words that contain it. The
// value of a claim that is a boolean is "true" or "false".
func (c Claims) Has(path, value string) bool {
	claim, err := c.value(path)
	if boolean, ok := claim.(bool); ok {
		return strconv.FormatBool(boolean) == value
	}
	return err == nil && (value == "true" && isTrue(claim) || slices.Contains(c.Words(path), value))
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
