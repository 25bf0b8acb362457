package accounts

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The bounds of passwords and names.
const (
	minPassword = 8    // bytes
	maxPassword = 1024 // bytes
	maxName     = 64   // characters
)

var username = regexp.MustCompile(`^[a-z0-9][a-z0-9._@+-]{0,63}$`)

// foldName returns a username in lower case. Usernames ignore letter case.
func foldName(s string) string { return strings.ToLower(s) }

// newName returns the folded name of a new user, if it is valid.
func newName(s string) (string, error) {
	name := foldName(s)
	if !username.MatchString(name) {
		return "", invalid("username must be 1 to 64 letters, digits or ._@+- with a letter or digit first")
	}
	return name, nil
}

// checkPassword checks a new password.
func checkPassword(name, password string) error {
	if len(password) < minPassword || len(password) > maxPassword {
		return invalid("%s must be %d to %d bytes", name, minPassword, maxPassword)
	}
	return nil
}

// checkText checks a text that users see. It refuses control characters and other
// invisible characters, with which a text could look like another one.
func checkText(name, text string) error {
	hidden := func(r rune) bool { return !unicode.IsPrint(r) }
	if utf8.RuneCountInString(text) > maxName || strings.ContainsFunc(text, hidden) {
		return invalid("%s must be at most %d printable characters", name, maxName)
	}
	return nil
}
