package aigateway

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

var (
	name         = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}$`)
	providerName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$`)

	errLimitName    = errors.New("the name of a limit is 1 to 64 letters, digits or ._@+- with a letter or digit first")
	errProviderName = errors.New("the name of a provider is 1 to 64 letters, digits, '.', '_' or '-', with a letter or digit first")
)

// IsName reports whether s is a valid name of a key, of the owner of a key or of a
// limit: 1 to 64 letters, digits or ._@+- with a letter or digit first.
func IsName(s string) bool { return name.MatchString(s) }

// CheckLimitName returns an error unless s is a valid name of a limit; see IsName.
func CheckLimitName(s string) error {
	if !IsName(s) {
		return errLimitName
	}
	return nil
}

// CheckLimitDefined returns an error unless limit is among defined, the names of the limits of the
// configuration. The error lists them.
func CheckLimitDefined(limit string, defined []string) error {
	switch {
	case slices.Contains(defined, limit):
		return nil
	case len(defined) == 0:
		return fmt.Errorf("the limit '%s' is not defined: the configuration has no limits", limit)
	}
	return fmt.Errorf("the limit '%s' is not defined; the limits of the configuration are: %s", limit, strings.Join(defined, ", "))
}

// CheckProviderName returns an error unless s is a valid name of a provider: 1 to 64
// letters, digits, '.', '_' or '-', with a letter or digit first. Such names can be
// in targets, logs and metrics.
func CheckProviderName(s string) error {
	if !providerName.MatchString(s) {
		return errProviderName
	}
	return nil
}
