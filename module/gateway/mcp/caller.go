package mcp

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/textproto"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// Caller is the client of a request, whom the server may learn.
type Caller struct {
	Owner string // of the key; "" for none
	// Token is the signed token of the client, which was verified as its key; "" for a client without one.
	Token string
}

// Identity is a header in which the server gets who calls it.
type Identity struct {
	// Header is the name of the header. Clients cannot set it.
	Header string `json:"header"`

	// Claim is the claim of the token of the client that is the value: a text, a number or a truth value.
	// Default: the owner of the key.
	Claim string `json:"claim,omitempty"`
}

// ErrNoCaller is the error of a request whose server needs to learn who calls it, which the key of the client
// does not have.
var ErrNoCaller = errors.New("the key of the client has no such claim, no owner or no token")

// check refuses a header that is taken for something else. taken are further names in canonical form.
func (i *Identity) check(taken []string) error {
	canonical := textproto.CanonicalMIMEHeaderKey(i.Header)
	if !httpguts.ValidHeaderFieldName(i.Header) || slices.Contains(ofConnection, canonical) || slices.Contains(forbidden, canonical) ||
		slices.Contains(taken, canonical) || strings.HasPrefix(canonical, parameterPrefix) {
		return fmt.Errorf("caller: '%s' cannot be the header", i.Header)
	}
	return nil
}

// set sets the header for a caller.
func (i *Identity) set(h http.Header, c Caller) error {
	value := c.Owner
	if i.Claim != "" {
		value = c.claim(i.Claim)
	}
	if value == "" || !httpguts.ValidHeaderFieldValue(value) {
		return ErrNoCaller
	}
	h.Set(i.Header, value)
	return nil
}

// claim returns a claim of the token as a text, "" if there is none.
func (c Caller) claim(name string) string {
	parts := strings.Split(c.Token, ".")
	if len(parts) != 3 {
		return ""
	}
	text, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil || !json.Valid(text) {
		return ""
	}
	switch value := jsonscan.MemberOf(text, name); {
	case jsonscan.IsString(value):
		return jsonscan.TextOf(value)
	case len(value) > 0 && value[0] != '{' && value[0] != '[' && value[0] != 'n':
		return string(value)
	}
	return ""
}

// UsesTokens reports whether requests to a server depend on the tokens of clients.
func (c *Config) UsesTokens() bool { return c.Caller != nil || c.Auth != nil && c.Auth.Exchange != nil }

// IsIssued reports whether a credential names one of the issuers.
func IsIssued(credential string, issuers []string) bool {
	return slices.Contains(issuers, Caller{Token: credential}.claim("iss"))
}
