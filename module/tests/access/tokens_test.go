package access_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// startIssuer starts an issuer, and returns its address and what signs a token of a subject
// with a group.
func startIssuer(t *testing.T) (address string, token func(subject, group string, lasts time.Duration) string) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	server := httptest.NewServer(nil)
	t.Cleanup(server.Close)
	server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var document any = map[string]string{"issuer": server.URL, "jwks_uri": server.URL + "/keys"}
		if r.URL.Path == "/keys" {
			document = jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: key.Public(), KeyID: "1"}}}
		}
		_ = json.NewEncoder(w).Encode(document)
	})
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: key, KeyID: "1"}}, nil)
	require.NoError(t, err)
	return server.URL, func(subject, group string, lasts time.Duration) string {
		token, err := jwt.Signed(signer).Claims(map[string]any{
			"iss": server.URL, "aud": "llm-gateway", "sub": subject, "groups": []string{group}, "exp": time.Now().Add(lasts).Unix(),
			"padding": strings.Repeat("x", 3000), // as groups of a large company
		}).Serialize()
		require.NoError(t, err)
		return token
	}
}

// Tokens open the gateway for all formats, within the models and the limit of their group.
func TestTokensOfAnIssuerAreKeys(t *testing.T) {
	address, token := startIssuer(t)
	s := site.StartCaddyfile(t, site.Block("log", site.DemoProvider, "limit two {\nper key\nrequests 2/1h\n}",
		"keys jwt {\nissuer "+address+"\naudience llm-gateway\ngroup staff {\nmodels demo\nlimit two\n}\n}"))
	ask := func(path, credential, model string) site.Reply {
		return s.Ask(path, site.BodyFor(path, model, "hi", false), "Authorization", "Bearer "+credential)
	}
	for i, path := range site.CallPaths {
		subject := "alice" + strings.Repeat("e", i)
		answer := ask(path, token(subject, "staff", time.Hour), "demo")
		require.Equal(t, http.StatusOK, answer.Status, answer.Body)
		record := s.AccessEntry(answer.ID())["ai_gateway"].(map[string]any)
		assert.Equal(t, "jwt:"+strings.TrimPrefix(address, "http://")+":"+subject, record["key_id"])
		assert.Equal(t, http.StatusOK, ask(path, token(subject, "staff", 2*time.Hour), "demo").Status)
		assert.Equal(t, http.StatusTooManyRequests, ask(path, token(subject, "staff", 3*time.Hour), "demo").Status, "another token of the subject has no limit of its own")

		expired := ask(path, token("bob", "staff", -time.Hour), "demo")
		assert.Equal(t, http.StatusUnauthorized, expired.Status)
		assert.Equal(t, "the token is not valid: it has expired", expired.Failure(t).Message)
		forbidden := ask(path, token("bob", "guests", time.Hour), "demo")
		assert.Equal(t, http.StatusForbidden, forbidden.Status)
		assert.Equal(t, "the token is valid, but none of its groups may use the gateway", forbidden.Failure(t).Message)
		assert.Equal(t, http.StatusForbidden, ask(path, token("bob", "staff", time.Hour), "other").Status, "the models of the group")
	}
	inHeader := token("carol", "staff", time.Hour)
	answer := s.Ask(site.MessagesPath, site.BodyFor(site.MessagesPath, "demo", "hi", false), "Authorization", "", "X-Api-Key", inHeader)
	assert.Equal(t, http.StatusOK, answer.Status, answer.Body)
	assert.Equal(t, http.StatusUnauthorized, site.Status(s, strings.Repeat("k", 300)))
	bearer := token("dave", "staff", time.Hour)
	assert.Equal(t, http.StatusOK, ask(site.ChatPath, bearer, "demo").Status)
	assert.False(t, strings.Contains(s.Logs.String(), bearer[:len(bearer)-90]), "tokens are masked as keys are")
	assert.False(t, strings.Contains(s.Logs.String(), "ai_gateway_key_expires"), "tokens end soon, and are renewed")
}

// A limit that does not exist would leave the tokens of a group without one.
func TestGroupsOfTokensHaveKnownLimits(t *testing.T) {
	t.Setenv("CLIENT_KEY", site.ClientKey)
	raw, err := gatewaytest.Adapt(strings.Replace(site.Block("", site.DemoProvider, "keys jwt {\nissuer https://login.example.com\naudience a\ngroup staff {\nlimit nowhere\n}\n}"), "PORT(site)", "1", 1))
	require.NoError(t, err)
	var config caddy.Config
	require.NoError(t, caddy.StrictUnmarshalJSON(raw, &config))
	err = caddy.Validate(&config)
	assert.ErrorContains(t, err, "names the limit 'nowhere', which is not defined")
}
