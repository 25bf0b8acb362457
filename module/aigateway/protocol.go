package aigateway

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"

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

	// Sign signs a request of a provider without an API key, as the last change of the
	// request. Its body is what body writes. With retry, the service has refused the last
	// credentials. Sign returns what it has sent of a secret.
	Sign func(r *http.Request, body io.WriterTo, retry bool) (sent []string, err error)

	// Open changes an answer to an operation into one of the format of the call. Reading its
	// body returns an error for an answer that is not whole.
	Open func(res *http.Response, format translate.Format, op translate.Operation)

	// ForeignError reports whether the body of an error answer does not have the format of
	// the call. A client of the format gets an error that the gateway writes then, else the
	// body itself.
	ForeignError func(format translate.Format, body []byte) bool

	// LoadedModels is the path of a list of the models that a server has loaded, with the length of
	// the context that each was loaded with, such as /api/ps. It is behind the address without /v1.
	// Default: none; the list of models has the lengths, or nothing has.
	LoadedModels string
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

	// Body is how the body changes.
	Body BodyChanges

	// Lost are losses that are reported in any case.
	Lost translate.Losses
}

// BodyChanges are changes of the body of a call.
type BodyChanges struct {
	// Only is the name of a member. If its value is an object, this object is sent in place
	// of the whole body, and the other changes apply to it.
	Only string

	// Without are paths of members that are left out because With or the path of the
	// request replaces them. With are members that are put before all others:
	// `"version":"1"`.
	Without []string
	With    string

	// Around, unless it is empty, are the bytes before and behind the changed body, which
	// becomes base64 between them.
	Around [2]string

	// Unsupported are members that the service refuses, by their paths ("tools.*.strict"), or
	// values of members ("thinking.display=updates").
	// They are left out, and reported if the body has them.
	Unsupported translate.Losses
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

// PathSegment returns the name of a model as one escaped segment of a path, in which a colon
// is escaped, too: some services put a method behind one. Its error is ErrModelName if the
// name is empty, or would lead to another folder of the path.
func PathSegment(model string) (string, error) {
	if model == "" || model == "." || model == ".." {
		return "", ErrModelName
	}
	return strings.ReplaceAll(url.PathEscape(model), ":", "%3A"), nil
}
