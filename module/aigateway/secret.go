package aigateway

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/caddyserver/caddy/v2"
)

// Secret is a credential in memory. It prints itself as "[redacted]" whatever
// the verb, so that no log line or error can carry it by accident; only an
// explicit conversion to string reveals it.
type Secret string

const redacted = "[redacted]"

// String hides the secret from fmt, zap and text templates.
func (Secret) String() string { return redacted }

// GoString hides the secret from %#v.
func (Secret) GoString() string { return redacted }

// Format hides the secret from every other verb.
func (Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(redacted)) }

// MarshalText hides the secret from encoding/json and the like.
func (Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// ErrSecretLiteral is returned for a secret that is written out instead of
// referred to: it would lie in the admin API and in autosaved configurations.
var ErrSecretLiteral = errors.New("a secret must be a reference, {env.NAME} or {file./absolute/path}, not the secret itself")

// reference allows exactly one placeholder of the two kinds that keep a secret
// out of the configuration.
var reference = regexp.MustCompile(`^\{(env\.[^{}]+|file\./[^{}]+)\}$`)

// CheckSecretReference returns ErrSecretLiteral unless ref is a reference.
func CheckSecretReference(ref string) error {
	if !reference.MatchString(ref) {
		return ErrSecretLiteral
	}
	return nil
}

// ResolveSecret reads what ref refers to. An unset or empty variable, or a
// file that cannot be read or is empty, is an error: an empty credential must
// never pass for one.
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
