package module_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/stretchr/testify/require"
)

// issuer signs tokens, and signs persons in as the page of an OpenID provider does.
type issuer struct {
	*httptest.Server
	t   testing.TB
	key *ecdsa.PrivateKey

	mu     sync.Mutex
	claims map[string]map[string]any // of ID tokens, by code
}

func newIssuer(t testing.TB) *issuer {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	i := &issuer{t: t, key: key, claims: make(map[string]map[string]any)}
	answer := func(w http.ResponseWriter, document any) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(document)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, map[string]any{
			"issuer": i.URL, "jwks_uri": i.URL + "/keys", "authorization_endpoint": i.URL + "/authorize", "token_endpoint": i.URL + "/token",
			"id_token_signing_alg_values_supported": []string{"ES256"},
		})
	})
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: key.Public(), KeyID: "1", Algorithm: "ES256", Use: "sig"}}})
	})
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, r *http.Request) {
		i.mu.Lock()
		defer i.mu.Unlock()
		answer(w, map[string]any{"access_token": "a", "token_type": "Bearer", "id_token": i.token("ai-gateway", i.claims[r.FormValue("code")])})
	})
	i.Server = httptest.NewServer(mux)
	t.Cleanup(i.Close)
	return i
}

// token returns a token for an audience, which is valid for five minutes.
func (i *issuer) token(audience string, claims map[string]any) string {
	all := map[string]any{"iss": i.URL, "aud": audience, "iat": time.Now().Unix(), "exp": time.Now().Add(5 * time.Minute).Unix()}
	maps.Copy(all, claims)
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: i.key, KeyID: "1"}}, nil)
	require.NoError(i.t, err)
	text, err := jwt.Signed(signer).Claims(all).Serialize()
	require.NoError(i.t, err)
	return text
}

// signIn signs a person in at the gateway, and returns the token of the session.
func (c company) signIn(person map[string]any) string {
	c.T.Helper()
	browser := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	get := func(address string, cookies []*http.Cookie) *http.Response {
		r, err := http.NewRequestWithContext(c.T.Context(), http.MethodGet, address, nil)
		require.NoError(c.T, err)
		for _, cookie := range cookies {
			r.AddCookie(cookie)
		}
		response, err := browser.Do(r)
		require.NoError(c.T, err)
		require.NoError(c.T, response.Body.Close())
		require.Equal(c.T, http.StatusSeeOther, response.StatusCode)
		return response
	}
	begun := get(c.URL("site", "/api/v1/signin/Example"), nil)
	asked, err := url.Parse(begun.Header.Get("Location"))
	require.NoError(c.T, err)
	claims := maps.Clone(person)
	claims["nonce"] = asked.Query().Get("nonce")
	code := rand.Text()
	c.employees.mu.Lock()
	c.employees.claims[code] = claims
	c.employees.mu.Unlock()
	back := url.Values{"code": {code}, "state": {asked.Query().Get("state")}}
	done := get(c.URL("site", "/api/v1/signin/Example/callback?"+back.Encode()), begun.Cookies())
	for _, cookie := range done.Cookies() {
		if cookie.Name == "session" {
			return cookie.Value
		}
	}
	return fmt.Sprint("refused: ", done.Header.Get("Location"))
}
