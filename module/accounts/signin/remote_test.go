package signin

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"golang.org/x/oauth2"
)

// Trying one way after the other uses up the code.
func TestAClientAuthenticatesAsTheIssuerAsks(t *testing.T) {
	const header, body = oauth2.AuthStyleInHeader, oauth2.AuthStyleInParams
	for methods, want := range map[string]oauth2.AuthStyle{
		"": header, "client_secret_basic": header, "client_secret_post": body, "client_secret_post client_secret_basic": header, "private_key_jwt": body,
	} {
		assert.Equal(t, want, style(strings.Fields(methods), true), methods)
		assert.Equal(t, body, style(strings.Fields(methods), false), "a public client has no secret to send")
	}
}
