package transport

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
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

// endpoint returns the path for a call below the path of a base URL.
func endpoint(base string, format translate.Format, op translate.Operation) string {
	base = versioned(base, format)
	switch {
	case format == translate.Messages && op == translate.CountTokens:
		return base + "/messages/count_tokens"
	case format == translate.Messages:
		return base + "/messages"
	case format == translate.Completions:
		return base + "/completions"
	}
	return base + "/chat/completions"
}

// versioned returns the path of a base URL up to the version. SDKs of the chat
// and completions formats take a base URL that ends in the version (/v1), those
// of the messages format one without it; both are understood here, for either
// format.
func versioned(base string, format translate.Format) string {
	switch {
	case format == translate.Messages:
		return strings.TrimSuffix(base, "/v1") + "/v1"
	case base == "":
		return "/v1"
	}
	return base
}
