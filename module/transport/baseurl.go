package transport

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// errBaseURL names all that a base URL may be, once.
var errBaseURL = errors.New("must be an http or https URL with a host and without credentials, query or fragment")

// ParseBaseURL returns the address in configured, or else in standard. Both
// empty is the zero URL: then the addresses come from reverse_proxy.
func ParseBaseURL(configured, standard string) (*url.URL, error) {
	if configured == "" {
		configured = standard
	}
	if configured == "" {
		return new(url.URL), nil
	}
	u, err := url.Parse(configured)
	if err != nil {
		return nil, fmt.Errorf("base_url: %w", errBaseURL) // err would repeat the URL, credentials included
	}
	address := (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != ""
	if !address || u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		return nil, fmt.Errorf("base_url: %w", errBaseURL)
	}
	u.Path = strings.TrimRight(u.Path, "/")
	return u, nil
}
