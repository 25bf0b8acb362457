package gateway

import (
	"encoding/json"
	"errors"
	"regexp"
	"strings"
)

// errChosenAddress is that of an address that depends on the request.
var errChosenAddress = errors.New("the address of a provider must not depend on the request: of placeholders it may hold {env.*}, {file.*} and {system.*} alone")

// checkAddresses refuses addresses that a client could choose: it would be sent
// the provider's credential. Other placeholders than those of the machine are
// of the request, or may be: the directives map and vars make some of any name.
func checkAddresses(proxy map[string]json.RawMessage) error {
	for _, field := range [...]string{"upstreams", "dynamic_upstreams"} {
		var value any
		if raw := proxy[field]; raw != nil {
			if err := json.Unmarshal(raw, &value); err != nil {
				return err
			}
		}
		if !settled(value) {
			return errChosenAddress
		}
	}
	return nil
}

var placeholderName = regexp.MustCompile(`\{([^{}]*)`)

// settled reports whether no text in value has a placeholder of the request.
func settled(value any) bool {
	switch v := value.(type) {
	case []any:
		for _, item := range v {
			if !settled(item) {
				return false
			}
		}
	case map[string]any:
		for _, item := range v {
			if !settled(item) {
				return false
			}
		}
	case string:
		for _, name := range placeholderName.FindAllStringSubmatch(v, -1) {
			if !ofMachine(name[1]) {
				return false
			}
		}
	}
	return true
}

func ofMachine(name string) bool {
	for _, prefix := range [...]string{"env.", "file.", "system."} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}
