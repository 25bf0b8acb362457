package upstream

import (
	"encoding/json"
	"errors"
	"net"
	"net/url"
	"regexp"
	"strings"
)

// errChosenAddress is the error of an address that depends on the request.
var errChosenAddress = errors.New("the address of a provider must not depend on the request; the only placeholders that it may contain are {env.*}, {file.*} and {system.*}")

// checkAddresses returns an error for addresses that a client could choose, because the
// provider's credential is sent there. Placeholders of other names than those of the
// machine may depend on the request, like those of the directives map and vars.
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

// settled reports whether value contains no placeholder that may depend on the request.
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

// ofMachine reports whether a placeholder has the same value for every request.
func ofMachine(name string) bool {
	for _, prefix := range [...]string{"env.", "file.", "system."} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// dialAddress returns the host and port of a base URL as the upstreams of reverse_proxy.
func dialAddress(base string) json.RawMessage {
	u, err := url.Parse(base)
	if err != nil {
		return nil
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	raw, _ := json.Marshal([]map[string]string{{"dial": net.JoinHostPort(u.Hostname(), port)}})
	return raw
}
