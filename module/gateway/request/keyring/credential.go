package keyring

import (
	"net/http"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

// The greatest lengths of a key and of a signed token, in bytes.
const (
	maxKey   = 256
	maxToken = 16 << 10
)

// Credential returns the credential of a request: the bearer token, else the value of the
// header other, else that of a parameter of the query. Both are "" for none. If one has a
// value, those behind it are not read.
func (s Sources) Credential(r *http.Request, other, parameter string) (string, *fault.Fault) {
	token, f := bearerToken(r.Header["Authorization"])
	if other != "" && token == "" && f == nil {
		token, f = single(strings.ToLower(other), r.Header[other])
	}
	if parameter != "" && token == "" && f == nil && r.URL.RawQuery != "" {
		token, f = single(parameter, r.URL.Query()[parameter])
	}
	switch {
	case f != nil:
		return "", f
	case token == "":
		return "", fault.NoCredential(strings.ToLower(other))
	case len(token) > maxToken || len(token) > maxKey && !s.verifiesTokens() || strings.ContainsFunc(token, func(c rune) bool { return c <= ' ' || c > '~' }):
		return "", fault.BadKey()
	}
	return token, nil
}

// Bearer returns the bearer token of a request, "" for none and for several. Of a request whose key is known
// it is the credential.
func Bearer(r *http.Request) string {
	token, _ := bearerToken(r.Header["Authorization"])
	return token
}

// HasBearer reports whether the credential of a request is in Authorization, so that other
// places of a credential are not read.
func HasBearer(r *http.Request) bool {
	token, f := bearerToken(r.Header["Authorization"])
	return token != "" || f != nil
}

// bearerToken returns the bearer token in the values of Authorization, "" if there is
// none. It ignores values of other schemes and values without a token, because a proxy in
// front may have its own credential there.
func bearerToken(values []string) (string, *fault.Fault) {
	var tokens []string
	for _, value := range values {
		scheme, token, _ := strings.Cut(strings.Trim(value, blank), " ")
		if token = strings.Trim(token, blank); token != "" && strings.EqualFold(scheme, "Bearer") {
			tokens = append(tokens, token)
		}
	}
	return single("authorization", tokens)
}

const blank = " \t"

// single returns the value of a header that may be sent only once, "" if it was not sent.
func single(name string, values []string) (string, *fault.Fault) {
	switch {
	case len(values) == 0:
		return "", nil
	case len(values) > 1 || strings.Contains(values[0], ","):
		return "", fault.CredentialRepeated(name)
	}
	return strings.Trim(values[0], blank), nil
}
