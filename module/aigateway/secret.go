package aigateway

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/caddyserver/caddy/v2"
)

// Secret is a credential in memory. Printing or encoding it gives "[redacted]", so that no
// log line or error contains it by accident. Only a conversion to string reveals it.
type Secret string

const redacted = "[redacted]"

// String hides the secret from fmt, zap and text templates.
func (Secret) String() string { return redacted }

// GoString hides the secret from %#v.
func (Secret) GoString() string { return redacted }

// Format hides the secret from every other verb.
func (Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(redacted)) }

// MarshalText hides the secret from encoding/json and other encoders.
func (Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// ErrSecretLiteral is the error for a configuration that contains a secret instead
// of a reference to it. Caddy's admin API and autosaved configuration would show
// the secret.
var ErrSecretLiteral = errors.New("a secret must be a reference, {env.NAME} or {file./absolute/path}, not the secret itself")

// reference matches one placeholder of the two kinds that keep a secret out of the
// configuration.
var reference = regexp.MustCompile(`^\{(env\.[^{}]+|file\./[^{}]+)\}$`)

// CheckSecretReference returns ErrSecretLiteral unless ref is {env.NAME} or
// {file./absolute/path}.
func CheckSecretReference(ref string) error {
	if !reference.MatchString(ref) {
		return ErrSecretLiteral
	}
	return nil
}

// ResolveSecret returns the value of the environment variable or the content of the
// file that ref refers to, without white space around it. A variable that is not
// set, a file that cannot be read, and an empty value are errors.
func ResolveSecret(ref string) (Secret, error) {
	if err := CheckSecretReference(ref); err != nil {
		return "", err
	}
	value, err := caddy.NewReplacer().ReplaceOrErr(ref, true, true)
	if err != nil {
		return "", fmt.Errorf("resolving secret: %w", err)
	}
	if value = strings.TrimSpace(value); value == "" {
		return "", fmt.Errorf("resolving secret: %s is empty", ref)
	}
	return Secret(value), nil
}
