package aigateway

import (
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
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
// the secret. Its text is the same wherever a secret is configured.
var ErrSecretLiteral = errors.New("a secret is {env.NAME} or {file./absolute/path}; a literal secret is refused, and {$NAME} inserts one: the admin API and the autosaved configuration would show it")

// reference matches one placeholder of the two kinds that keep a secret out of the
// configuration, and the path of a file.
var reference = regexp.MustCompile(`^\{(?:env\.[^{}]+|file\.(/[^{}]+))\}$`)

// CheckSecretReference returns ErrSecretLiteral unless ref is {env.NAME} or
// {file./absolute/path}.
func CheckSecretReference(ref string) error {
	if !reference.MatchString(ref) {
		return ErrSecretLiteral
	}
	return nil
}

// SecretFile returns the path of the file that ref refers to, and false if ref does not
// refer to a file.
func SecretFile(ref string) (path string, ok bool) {
	if match := reference.FindStringSubmatch(ref); match != nil {
		path = match[1]
	}
	return path, path != ""
}

// maxSecretFile is the size of the largest file with a secret, in bytes.
const maxSecretFile = 1 << 20

// ResolveSecret returns the value of the environment variable or the content of the
// file that ref refers to, without white space around it. A variable that is not
// set, a file that cannot be read, and an empty value are errors.
func ResolveSecret(ref string) (Secret, error) {
	if err := CheckSecretReference(ref); err != nil {
		return "", err
	}
	value, err := readSecret(ref)
	if err != nil {
		return "", fmt.Errorf("resolving secret: %w", err)
	}
	if value = strings.TrimSpace(value); value == "" {
		return "", fmt.Errorf("resolving secret: %s is empty", ref)
	}
	return Secret(value), nil
}

// readSecret returns the value of a reference as it is in the environment or in the file.
func readSecret(ref string) (string, error) {
	if path, ok := SecretFile(ref); ok {
		text, err := readFile(path)
		if err != nil {
			return "", fmt.Errorf("%s cannot be read: %w", ref, err)
		}
		return string(text), nil
	}
	value, ok := os.LookupEnv(strings.TrimSuffix(strings.TrimPrefix(ref, "{env."), "}"))
	if !ok {
		return "", fmt.Errorf("%s is not set", ref)
	}
	return value, nil
}

func readFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxSecretFile+1))
	if err == nil && len(text) > maxSecretFile {
		err = fmt.Errorf("the file is larger than %d bytes", maxSecretFile)
	}
	return text, err
}
