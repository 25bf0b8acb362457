package accounts

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/signin"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// issuer is an issuer of OpenID Connect whose answers a test can spoil. It is as strict as the
// specifications allow: a code counts once, with its verifier, its callback and its client.
type issuer struct {
	*httptest.Server
	t   testing.TB
	ids string // client id

	mu       sync.Mutex // guards the fields below
	key      *ecdsa.PrivateKey
	keyID    string
	codes    map[string]url.Values             // the requests of codes that have not been used
	persons  map[string]aigateway.Claims       // who signed in, by code
	document map[string]any                    // changes of the discovery document
	userinfo aigateway.Claims                  // nil: there is no such endpoint
	token    func(claims aigateway.Claims)     // changes the claims of ID tokens
	sign     func(claims aigateway.Claims) any // replaces the ID token
	answer   http.HandlerFunc                  // replaces every answer
	calls    map[string]int                    // by path
}

const (
	clientID     = "gateway"
	clientSecret = "secret-of-the-client"
)

func newIssuer(t testing.TB) *issuer {
	i := &issuer{
		t: t, ids: clientID, codes: map[string]url.Values{}, persons: map[string]aigateway.Claims{},
		document: map[string]any{}, calls: map[string]int{}, token: func(aigateway.Claims) {},
	}
	i.rotate("first")
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", i.serveDocument)
	mux.HandleFunc("GET /keys", i.serveKeys)
	mux.HandleFunc("POST /token", i.serveToken)
	mux.HandleFunc("GET /userinfo", i.serveUserInfo)
	i.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		i.mu.Lock()
		defer i.mu.Unlock()
		i.calls[r.URL.Path]++
		if i.answer != nil {
			i.answer(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(i.Close)
	return i
}

// change changes the issuer while it runs.
func (i *issuer) change(change func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	change()
}

// rotate replaces the key of the issuer. The caller holds mu, or has not started the issuer.
func (i *issuer) rotate(id string) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(i.t, err)
	i.key, i.keyID = key, id
}

func writeDocument(w http.ResponseWriter, document any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(document)
}

func (i *issuer) serveDocument(w http.ResponseWriter, _ *http.Request) {
	document := map[string]any{
		"issuer": i.URL, "authorization_endpoint": i.URL + "/authorize", "token_endpoint": i.URL + "/token", "jwks_uri": i.URL + "/keys",
		"id_token_signing_alg_values_supported": []string{"ES256", "HS256", "none"},
	}
	if i.userinfo != nil {
		document["userinfo_endpoint"] = i.URL + "/userinfo"
	}
	maps.Copy(document, i.document)
	writeDocument(w, document)
}

func (i *issuer) serveKeys(w http.ResponseWriter, _ *http.Request) {
	writeDocument(w, jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: i.key.Public(), KeyID: i.keyID, Algorithm: "ES256", Use: "sig"}}})
}

func (i *issuer) serveToken(w http.ResponseWriter, r *http.Request) {
	refuse := func(code string) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, `{"error":"%s","error_description":"secret text of the issuer"}`, code)
	}
	id, secret, ok := r.BasicAuth()
	if !ok || id != clientID || secret != clientSecret {
		refuse("invalid_client")
		return
	}
	code := r.FormValue("code")
	asked, known := i.codes[code]
	delete(i.codes, code)
	challenge := sha256.Sum256([]byte(r.FormValue("code_verifier")))
	if !known || asked.Get("redirect_uri") != r.FormValue("redirect_uri") ||
		asked.Get("code_challenge") != base64.RawURLEncoding.EncodeToString(challenge[:]) {
		refuse("invalid_grant")
		return
	}
	now := time.Now()
	claims := aigateway.Claims{
		"iss": i.URL, "aud": i.ids, "nonce": asked.Get("nonce"), "iat": now.Unix(), "exp": now.Add(5 * time.Minute).Unix(),
	}
	maps.Copy(claims, i.persons[code])
	i.token(claims)
	var token any
	if token = i.signed(i.key, i.keyID, claims); i.sign != nil {
		token = i.sign(claims)
	}
	writeDocument(w, map[string]any{"access_token": "access to " + code, "token_type": "Bearer", "id_token": token, "expires_in": 300})
}

// signed returns a token with a signature.
func (i *issuer) signed(key *ecdsa.PrivateKey, id string, claims aigateway.Claims) string {
	return i.jws(jose.ES256, jose.JSONWebKey{Key: key, KeyID: id}, claims)
}

func (i *issuer) jws(algorithm jose.SignatureAlgorithm, key any, claims aigateway.Claims) string {
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: algorithm, Key: key}, nil)
	require.NoError(i.t, err)
	payload, err := json.Marshal(claims)
	require.NoError(i.t, err)
	signed, err := signer.Sign(payload)
	require.NoError(i.t, err)
	text, err := signed.CompactSerialize()
	require.NoError(i.t, err)
	return text
}

func (i *issuer) serveUserInfo(w http.ResponseWriter, r *http.Request) {
	assert.True(i.t, strings.HasPrefix(r.Header.Get("Authorization"), "Bearer access to "), "the access token of the sign-in")
	writeDocument(w, i.userinfo)
}

// authorize answers the request of a browser as the page of the issuer does after the person has
// signed in, and returns the query of the callback.
func (i *issuer) authorize(address string, person aigateway.Claims) url.Values {
	u, err := url.Parse(address)
	require.NoError(i.t, err)
	q := u.Query()
	require.Equal(i.t, i.URL+"/authorize", u.Scheme+"://"+u.Host+u.Path)
	require.Equal(i.t, []string{"code", i.ids, "S256"}, []string{q.Get("response_type"), q.Get("client_id"), q.Get("code_challenge_method")})
	require.NotContains(i.t, address, clientSecret)
	code := rand.Text()
	i.change(func() { i.codes[code], i.persons[code] = q, person })
	return url.Values{"code": {code}, "state": {q.Get("state")}}
}

// settings returns the configuration of the issuer, with the name "company".
func (i *issuer) settings(change func(*signin.Issuer)) *signin.Issuer {
	t := i.t.(interface{ Setenv(name, value string) })
	t.Setenv("OIDC_SECRET", clientSecret)
	s := &signin.Issuer{Issuer: i.URL, Name: "company", ClientID: clientID, ClientSecret: "{env.OIDC_SECRET}"}
	if change != nil {
		change(s)
	}
	return s
}

// creating lets unknown persons in.
func creating(s *signin.Issuer) { s.Create = "user" }

// browser keeps the cookies of a person.
type browser struct {
	*site
	cookies map[string]string
	host    string
}

func (s *site) browser() *browser { return &browser{s, map[string]string{}, "ai.example.com"} }

// get requests a path of the site.
func (b *browser) get(path string) testAnswer {
	b.t.Helper()
	var sent []string
	for name, value := range b.cookies {
		sent = append(sent, name+"="+value)
	}
	header := http.Header{"Sec-Fetch-Site": {"cross-site"}, "Sec-Fetch-Mode": {"navigate"}} // as after a redirection of the issuer
	if strings.HasPrefix(path, "/api/user/") {
		header = http.Header{"Sec-Fetch-Site": {"same-origin"}}
	}
	if len(sent) > 0 {
		header.Set("Cookie", strings.Join(sent, "; "))
	}
	answer := b.ask(testRequest{call: "GET http://" + b.host + path, header: header})
	for _, line := range answer.header.Values("Set-Cookie") {
		cookie, err := http.ParseSetCookie(line)
		require.NoError(b.t, err)
		assert.True(b.t, cookie.HttpOnly)
		if cookie.MaxAge < 0 {
			delete(b.cookies, cookie.Name)
		} else {
			b.cookies[cookie.Name] = cookie.Value
		}
	}
	return answer
}

// begin begins a sign-in, and returns the address of the issuer.
func (b *browser) begin(name string) string {
	b.t.Helper()
	answer := b.get("/api/v1/signin/" + name)
	require.Equal(b.t, http.StatusSeeOther, answer.status, answer.body)
	return answer.header.Get("Location")
}

// signIn signs a person in, and returns where the browser is then.
func (b *browser) signIn(i *issuer, person aigateway.Claims) string {
	b.t.Helper()
	answer := b.get("/api/v1/signin/company/callback?" + i.authorize(b.begin("company"), person).Encode())
	require.Equal(b.t, http.StatusSeeOther, answer.status, answer.body)
	return answer.header.Get("Location")
}

// self returns the user of the session, nil without one.
func (b *browser) self() map[string]any {
	b.t.Helper()
	answer := b.get("/api/user/self")
	if answer.status == http.StatusUnauthorized {
		return nil
	}
	require.Equal(b.t, http.StatusOK, answer.status, answer.body)
	return answer.data(b.t)
}

// person returns the claims of a person whose name is taken from the subject.
func person(subject string, groups ...string) aigateway.Claims {
	return aigateway.Claims{"sub": subject, "preferred_username": subject, "name": "The " + subject, "groups": groups}
}

// signInSite returns a site with an issuer.
func signInSite(t *testing.T, change func(*signin.Issuer)) (*site, *issuer) {
	i := newIssuer(t)
	return newSite(t, func(a *Accounts) { a.Issuers = []*signin.Issuer{i.settings(change)} }), i
}
