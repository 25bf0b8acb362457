package aigateway

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// Protocol is what the calls of a service need beyond the wire formats that it speaks. Each
// field may be nil, and is then what other services of the format need. The functions are
// called concurrently.
type Protocol struct {
	// Address changes the address, the headers and the body of a call. Its error, such as
	// ErrModelName, refuses the request.
	Address func(*Call) error

	// Token returns a valid token for an API key of the provider. The token is sent in
	// place of the API key. Token does not wait if it has a valid token.
	// Its error is ErrKeyRefused if the service does not accept the API key.
	Token func(context.Context, TokenRequest) (Secret, error)
}

// Call is a request to a service, before its credential is added.
type Call struct {
	Format    translate.Format
	Operation translate.Operation
	Model     string // the service's own name; it may be the client's
	Stream    bool   // an event stream is asked for

	Base  string // the path of the base URL, without a slash at its end
	Path  string // the path of the request, with escapes; it begins with Base
	Query string // the query of the request, without "?"

	// Header contains the headers of the request. Address may change it.
	Header http.Header

	// Without are names of members of the body that are left out, and With are members
	// that are put before all others: `"version":"1"`.
	Without []string
	With    string
}

// TokenRequest is a request for a token.
type TokenRequest struct {
	Key     Secret       // the API key; "" if none is configured
	Refused Secret       // a token that the service has refused; "" for none
	Client  *http.Client // sends requests as the provider's calls are sent; it follows no redirects
}

// ErrKeyRefused is the error of a service that does not accept an API key.
var ErrKeyRefused = errors.New("the API key was refused")

// ErrModelName is the error for the name of a model that no path can contain.
var ErrModelName = errors.New("the name of the model cannot be part of a path")

// PathSegment returns the name of a model as one escaped segment of a path. Its error is
// ErrModelName if the name is empty, or would lead to another folder of the path.
func PathSegment(model string) (string, error) {
	if model == "" || model == "." || model == ".." {
		return "", ErrModelName
	}
	return url.PathEscape(model), nil
}
