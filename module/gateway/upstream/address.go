package upstream

import (
	"encoding/json"
	"errors"
	"net"
	"net/url"
	"regexp"
	"strings"
)

// errChosenAddress is the error for an address that depends on the request.
var errChosenAddress = errors.New("the address of a provider must not depend on the request: of placeholders it may hold {env.*}, {file.*} and {system.*} alone")

// checkAddresses refuses addresses that a client could choose, since the provider's
// credential is sent there. Only the placeholders of the machine are safe: those of
// any other name may depend on the request, as the ones of the directives map and
// vars do.
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

// ofMachine reports whether a placeholder has the same value for every request.
func ofMachine(name string) bool {
	for _, prefix := range [...]string{"env.", "file.", "system."} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// dialAddress is a base URL's host and port as the upstreams of reverse_proxy.
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
