package aigateway

import (
	"errors"
	"net/url"
)

// ErrBaseURL is the error for an invalid base URL.
var ErrBaseURL = errors.New("must be an http or https URL with a host and without credentials, query or fragment")

// ParseBaseURL parses the base URL of a provider. Its error is ErrBaseURL, which does
// not contain the URL, because the URL may contain a password.
func ParseBaseURL(s string) (*url.URL, error) {
	u, err := url.Parse(s)
	if err != nil {
		return nil, ErrBaseURL
	}
	address := (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != ""
	if !address || u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		return nil, ErrBaseURL
	}
	return u, nil
}
