package accounts

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The bounds of what people choose.
const (
	shortestPassword = 8    // bytes
	longestPassword  = 1024 // bytes
	longestName      = 64   // characters
)

var username = regexp.MustCompile(`^[a-z0-9][a-z0-9._@+-]{0,63}$`)

// foldName is a username as it is kept: letter case makes no difference.
func foldName(s string) string { return strings.ToLower(s) }

// newName checks the name of a new user.
func newName(s string) (string, error) {
	name := foldName(s)
	if !username.MatchString(name) {
		return "", invalid("username must be 1 to 64 letters, digits or ._@+- with a letter or digit first")
	}
	return name, nil
}

// checkPassword checks a new password.
func checkPassword(name, password string) error {
	if len(password) < shortestPassword || len(password) > longestPassword {
		return invalid("%s must be %d to %d bytes", name, shortestPassword, longestPassword)
	}
	return nil
}

// checkText checks a text that people read: without control characters, or
// anything else that could pass for another text.
func checkText(name, text string) error {
	hidden := func(r rune) bool { return !unicode.IsPrint(r) }
	if utf8.RuneCountInString(text) > longestName || strings.ContainsFunc(text, hidden) {
		return invalid("%s must be at most %d printable characters", name, longestName)
	}
	return nil
}
