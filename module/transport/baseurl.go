package transport

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// ParseBaseURL parses the configured base URL, or standard if that is empty. If both are
// empty, it returns the zero URL; the addresses are then those of reverse_proxy.
func ParseBaseURL(configured, standard string) (*url.URL, error) {
	if configured == "" {
		configured = standard
	}
	if configured == "" {
		return new(url.URL), nil
	}
	u, err := aigateway.ParseBaseURL(configured)
	if err != nil {
		return nil, fmt.Errorf("base_url: %w", err)
	}
	u.Path = strings.TrimRight(u.Path, "/")
	return u, nil
}
