package jwt

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/issuer"
)

// issuerServer is an issuer of tokens.
type issuerServer struct {
	*httptest.Server
	mu       sync.Mutex // guards the fields below
	keys     map[string]crypto.Signer
	down     bool
	requests int // for keys
}

func newIssuer(t *testing.T) *issuerServer {
	i := &issuerServer{keys: map[string]crypto.Signer{"1": newRSA(t)}}
	mux := http.NewServeMux()
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]string{"issuer": i.URL, "jwks_uri": i.URL + "/keys"})
	})
	mux.HandleFunc("/keys", func(w http.ResponseWriter, _ *http.Request) {
		i.mu.Lock()
		defer i.mu.Unlock()
		i.requests++
		if i.down {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		_ = json.NewEncoder(w).Encode(i.set())
	})
	i.Server = httptest.NewServer(mux)
	t.Cleanup(i.Close)
	return i
}

var newRSA = func() func(t *testing.T) crypto.Signer {
	var next int
	var made []crypto.Signer // which take long
	return func(t *testing.T) crypto.Signer {
		if next == len(made) {
			key, err := rsa.GenerateKey(rand.Reader, 2048)
			require.NoError(t, err)
			made = append(made, key)
		}
		next++
		t.Cleanup(func() { next-- })
		return made[next-1]
	}
}()

func (i *issuerServer) set() (set jose.JSONWebKeySet) {
	for id, key := range i.keys {
		set.Keys = append(set.Keys, jose.JSONWebKey{Key: key.Public(), KeyID: id, Use: "sig"})
	}
	return set
}

func (i *issuerServer) rotate(id string, key crypto.Signer) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.keys = map[string]crypto.Signer{id: key}
}

func (i *issuerServer) count() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.requests
}

// claims are those of a token that is accepted, with changes; nil removes a claim.
func (i *issuerServer) claims(changes map[string]any) map[string]any {
	now := time.Now().Unix()
	all := map[string]any{
		"iss": i.URL, "aud": "llm-gateway", "sub": "alice", "iat": now, "nbf": now, "exp": now + 3600, "groups": []string{"staff", "claude-users"},
		"email": "alice@example.com", "email_verified": true,
	}
	for name, value := range changes {
		if all[name] = value; value == nil {
			delete(all, name)
		}
	}
	return all
}

// sign returns a token that the key with an id has signed.
func sign(t *testing.T, algorithm jose.SignatureAlgorithm, key any, id string, claims map[string]any, options ...func(*jose.SignerOptions)) string {
	t.Helper()
	o := (&jose.SignerOptions{}).WithType("JWT")
	for _, option := range options {
		option(o)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: algorithm, Key: jose.JSONWebKey{Key: key, KeyID: id}}, o)
	require.NoError(t, err)
	token, err := jwt.Signed(signer).Claims(claims).Serialize()
	require.NoError(t, err)
	return token
}

func (i *issuerServer) token(t *testing.T, changes map[string]any) string {
	t.Helper()
	return sign(t, jose.RS256, i.keys["1"], "1", i.claims(changes))
}

// provisioned returns a source of the issuer.
func (i *issuerServer) source(t *testing.T, words ...string) *Tokens {
	t.Helper()
	source := new(Tokens)
	text := "jwt {\nissuer " + i.URL + "\naudience llm-gateway\n" + strings.Join(words, "\n") + "\n}"
	if !strings.Contains(text, "group ") {
		text = strings.TrimSuffix(text, "}") + "group claude-users {\nmodels claude-*\nlimit staff\n}\ngroup repo:acme/* {\nmodels gpt-*\n}\n}"
	}
	require.NoError(t, source.UnmarshalCaddyfile(caddyfile.NewTestDispenser(text)))
	ctx, cancel := caddy.NewContext(caddy.Context{Context: t.Context()})
	t.Cleanup(cancel)
	require.NoError(t, source.Provision(ctx))
	return source
}

func TestATokenIsAKey(t *testing.T) {
	i := newIssuer(t)
	source := i.source(t, "claim owner email")
	token := i.token(t, nil)
	digest := sha256.Sum256([]byte(token))
	assert.Nil(t, source.Lookup(digest), "it was not verified yet")
	key, err := source.Verify(t.Context(), token)
	require.NoError(t, err)
	require.NotNil(t, key)
	assert.Equal(t, "jwt:"+strings.TrimPrefix(i.URL, "http://")+":alice", key.ID)
	assert.Equal(t, key.ID, key.Subject)
	assert.Equal(t, "alice@example.com", key.Owner)
	assert.Equal(t, "staff", key.Limit)
	assert.True(t, key.Allows("claude-x"))
	assert.False(t, key.Allows("gpt-x"))
	assert.Same(t, key, source.Lookup(digest))
	assert.Zero(t, key.Expires, "there is no warning before the end of a token")
	assert.Equal(t, 1, i.count())
}

// TestX128TokensOfOneSubjectAreOneKey: a person could have as many limits as tokens.
func TestX128TokensOfOneSubjectAreOneKey(t *testing.T) {
	i := newIssuer(t)
	source := i.source(t)
	ids := make(map[string]bool)
	for n := range 3 {
		key, err := source.Verify(t.Context(), i.token(t, map[string]any{"jti": strings.Repeat("x", n), "email": "other@example.com"}))
		require.NoError(t, err)
		ids[key.ID] = true
	}
	assert.Len(t, ids, 1)
	key, err := source.Verify(t.Context(), i.token(t, map[string]any{"sub": "bob"}))
	require.NoError(t, err)
	assert.False(t, ids[key.ID])
}

// TestX126TokensOfOthersAreRefused has the ways in which gateways accepted what they should not.
func TestX126TokensOfOthersAreRefused(t *testing.T) {
	i := newIssuer(t)
	source := i.source(t)
	public, err := x509.MarshalPKIXPublicKey(i.keys["1"].Public())
	require.NoError(t, err)
	pemKey := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public})
	other := newRSA(t)
	encode := base64.RawURLEncoding.EncodeToString
	payload, err := json.Marshal(i.claims(nil))
	require.NoError(t, err)
	valid := i.token(t, nil)
	parts := strings.Split(valid, ".")
	embedded := func(o *jose.SignerOptions) { o.EmbedJWK = true }
	now := time.Now().Unix()
	for name, tt := range map[string]struct{ token, problem string }{
		"another audience":             {i.token(t, map[string]any{"aud": "calendar"}), "it is for another audience"},
		"audiences without ours":       {i.token(t, map[string]any{"aud": []string{"calendar", "llm"}}), "it is for another audience"},
		"no audience":                  {i.token(t, map[string]any{"aud": nil}), "it is for another audience"},
		"expired":                      {i.token(t, map[string]any{"exp": now - 61}), "it has expired"},
		"no expiry":                    {i.token(t, map[string]any{"exp": nil}), "it has no expiry"},
		"not yet":                      {i.token(t, map[string]any{"nbf": now + 90}), "it is not valid yet"},
		"of the future":                {i.token(t, map[string]any{"iat": now + 90}), "it is not valid yet"},
		"HMAC with the public key":     {sign(t, jose.HS256, pemKey, "1", i.claims(nil)), "its algorithm is not accepted"},
		"another key with the same id": {sign(t, jose.RS256, other, "1", i.claims(nil)), "its signature does not match"},
		"a key in the token":           {sign(t, jose.RS256, other, "1", i.claims(nil), embedded), "its signature does not match"},
		"another payload":              {parts[0] + "." + encode([]byte(strings.Replace(string(payload), "alice", "root", 1))) + "." + parts[2], "its signature does not match"},
		"no signature":                 {parts[0] + "." + parts[1] + ".", "its signature does not match"},
		"a token of another kind":      {sign(t, jose.RS256, i.keys["1"], "1", i.claims(nil), func(o *jose.SignerOptions) { o.WithType("logout+jwt") }), "its type is not that of an access token"},
		"no subject":                   {i.token(t, map[string]any{"sub": nil}), "it has no subject: the claim sub is missing"},
		"a subject that is no text":    {i.token(t, map[string]any{"sub": 7}), "its claims are not those of a token"},
		"an id that is no text":        {i.token(t, map[string]any{"jti": 7}), "its claims are not those of a token"},
	} {
		key, err := source.Verify(t.Context(), tt.token)
		assert.Nil(t, key, name)
		refused := new(aigateway.TokenError)
		require.ErrorAs(t, err, &refused, name)
		assert.Equal(t, tt.problem, refused.Problem, name)
		assert.Equal(t, name == "expired", refused.Expired, name)
		assert.Nil(t, source.Lookup(sha256.Sum256([]byte(tt.token))), name)
	}
	for name, credential := range map[string]string{
		"another issuer": i.token(t, map[string]any{"iss": "https://other.example"}), "a key": "sk-0123456789", "nothing": "",
		"none": encode([]byte(`{"alg":"none"}`)) + "." + encode(payload) + ".",
		"None": encode([]byte(`{"alg":"None","kid":"1"}`)) + "." + encode(payload) + "." + parts[2],
		"JSON": `{"payload":"` + parts[1] + `","signatures":[{"protected":"` + parts[0] + `","signature":"` + parts[2] + `"}]}`,
	} {
		key, err := source.Verify(t.Context(), credential)
		assert.Nil(t, key, name)
		assert.NoError(t, err, name)
	}
}

func TestAlgorithms(t *testing.T) {
	i := newIssuer(t)
	p256, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	p384, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	require.NoError(t, err)
	_, edwards, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	i.keys["p256"], i.keys["p384"], i.keys["ed"] = p256, p384, edwards
	source := i.source(t)
	for _, tt := range []struct {
		algorithm jose.SignatureAlgorithm
		id        string
	}{{jose.RS256, "1"}, {jose.PS256, "1"}, {jose.ES256, "p256"}, {jose.ES384, "p384"}, {jose.EdDSA, "ed"}, {jose.RS256, ""}} {
		key := i.keys[tt.id]
		if tt.id == "" {
			key = i.keys["1"]
		}
		found, err := source.Verify(t.Context(), sign(t, tt.algorithm, key, tt.id, i.claims(nil)))
		require.NoError(t, err, tt)
		assert.NotNil(t, found, tt)
	}
	_, err = source.Verify(t.Context(), sign(t, jose.RS512, i.keys["1"], "1", i.claims(nil)))
	assert.ErrorContains(t, err, "its algorithm is not accepted")
}

// TestX129ATokenWithoutAGroupIsForbidden: it is valid, so that its owner must not ask for
// another one, and learns nothing of the groups.
func TestX129ATokenWithoutAGroupIsForbidden(t *testing.T) {
	i := newIssuer(t)
	source := i.source(t)
	for _, groups := range []any{nil, []string{}, "", []string{"claude", "Claude-Users"}, map[string]any{"claude-users": true}, 7} {
		_, err := source.Verify(t.Context(), i.token(t, map[string]any{"groups": groups}))
		refused := new(aigateway.TokenError)
		require.ErrorAs(t, err, &refused)
		assert.True(t, refused.Forbidden)
		assert.NotContains(t, err.Error(), "claude")
	}
}

func TestGroupsAreReadInTheirShapes(t *testing.T) {
	i := newIssuer(t)
	for words, changes := range map[string]map[string]any{
		"":                                 {"groups": "staff claude-users"},
		"claim groups realm_access.roles":  {"realm_access": map[string]any{"roles": []any{"x", 1, "claude-users"}}},
		"claim groups https://a.example/g": {"https://a.example/g": []string{"claude-users"}},
		"claim groups sub":                 {"sub": "repo:acme/web:ref:refs/heads/main"},
		"group *":                          {"groups": nil},
	} {
		key, err := i.source(t, words).Verify(t.Context(), i.token(t, changes))
		require.NoError(t, err, words)
		assert.NotNil(t, key, words)
	}
}

// The first group of the configuration decides, whatever the order of the token.
func TestTheFirstGroupDecides(t *testing.T) {
	i := newIssuer(t)
	key, err := i.source(t, "group b {\nlimit b\n}", "group a {\nlimit a\n}").Verify(t.Context(), i.token(t, map[string]any{"groups": []string{"a", "b"}}))
	require.NoError(t, err)
	assert.Equal(t, "b", key.Limit)
}

// Anybody could be the owner of a key whose issuer lets users enter any address. Why a token has
// no owner is in the log, since limits and usage do not show it.
func TestOnlyVerifiedAddressesAreOwners(t *testing.T) {
	const alice = "alice@example.com"
	i := newIssuer(t)
	for _, c := range []struct {
		claim         string
		changes       map[string]any
		owner, reason string
	}{
		{"email", map[string]any{"email_verified": true}, alice, ""},
		{"email", map[string]any{"email_verified": "true"}, alice, ""},
		{"email", map[string]any{"email_verified": "True"}, alice, ""},
		{"email", map[string]any{"email_verified": false}, "", `the claim email is not verified: email_verified is "false"`},
		{"email", map[string]any{"email_verified": nil}, "", "the claim email is not verified: the issuer sends no email_verified"},
		{"email", map[string]any{"email_verified": true, "email": "a b\n"}, "", `the claim email is not a valid name: "a b\n"`},
		{"team", map[string]any{"team": []string{"search"}}, "search", ""},
		{"team", map[string]any{"team": 42}, "42", ""},
		{"team", map[string]any{"team": []string{"a", "b"}}, "", "the claim team is not one text"},
		{"team", nil, "", "the claim team is missing"},
	} {
		source := i.source(t, "claim owner "+c.claim)
		core, logs := observer.New(zap.WarnLevel)
		source.logger = zap.New(core)
		key, err := source.Verify(t.Context(), i.token(t, c.changes))
		require.NoError(t, err)
		assert.Equal(t, c.owner, key.Owner)
		var reason string
		for _, line := range logs.All() {
			reason, _ = line.ContextMap()["error"].(string)
		}
		assert.Equal(t, c.reason, reason)
	}
}

func TestNamesAreSafeToShow(t *testing.T) {
	assert.Equal(t, "repo:acme/web", plain("repo:acme/web"))
	for _, odd := range []string{"a b", "a\nb", "é", strings.Repeat("a", 101)} {
		assert.Regexp(t, `^sha256-[0-9a-f]{32}$`, plain(odd))
	}
	assert.NotEqual(t, plain("a b"), plain("a  b"))
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// A key that the issuer has withdrawn was accepted for as long as its tokens were remembered.
func TestWithdrawnKeysEndSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		away := false
		i := &issuerServer{keys: map[string]crypto.Signer{"1": newRSA(t)}, Server: &httptest.Server{URL: "https://issuer.example"}}
		source := i.source(t, "jwks https://issuer.example/keys", "group *")
		before := issuer.Client.Transport
		t.Cleanup(func() { issuer.Client.Transport = before })
		issuer.Client.Transport = roundTrip(func(*http.Request) (*http.Response, error) {
			if away {
				return nil, errors.New("away")
			}
			w := httptest.NewRecorder()
			_ = json.NewEncoder(w).Encode(i.set())
			return w.Result(), nil
		})
		verify := func(token string) error {
			_, err := source.Verify(t.Context(), token)
			synctest.Wait() // for a reading of keys that nobody has waited for
			return err
		}
		token := i.token(t, map[string]any{"exp": time.Now().Add(48 * time.Hour).Unix()})
		digest := sha256.Sum256([]byte(token))
		require.NoError(t, verify(token))
		require.NotNil(t, source.Lookup(digest))
		time.Sleep(knownFor)
		assert.Nil(t, source.Lookup(digest), "it is verified again")

		time.Sleep(time.Hour - knownFor - time.Second)
		require.NoError(t, verify(token))
		require.NotNil(t, source.Lookup(digest))
		i.rotate("2", newRSA(t))
		time.Sleep(time.Second)
		require.NoError(t, verify(sign(t, jose.RS256, i.keys["2"], "2", i.claims(nil))))
		assert.Nil(t, source.Lookup(digest), "the keys have been read again")
		require.ErrorContains(t, verify(token), "its signature does not match")

		away = true
		time.Sleep(25 * time.Hour)
		require.ErrorIs(t, verify(token), aigateway.ErrKeysUnavailable, "nobody knows whether the token is valid")
	})
}

func TestTheCacheIsBounded(t *testing.T) {
	var c cache
	for n := range mostKnown + 10 {
		c.put(&aigateway.Key{Digest: aigateway.Digest{byte(n), byte(n >> 8), byte(n >> 16)}}, time.Now(), time.Now().Add(time.Hour))
	}
	assert.Len(t, c.keys, 10)
	key, now := &aigateway.Key{Digest: aigateway.Digest{9}}, time.Now()
	c.put(key, now, now.Add(time.Minute))
	assert.Same(t, key, c.get(key.Digest, now))
	assert.Nil(t, c.get(key.Digest, now.Add(time.Minute)), "it ends with its token")
}

func TestKeysOfAFile(t *testing.T) {
	i := newIssuer(t)
	path := filepath.Join(t.TempDir(), "jwks.json")
	text, err := json.Marshal(i.set())
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, text, 0o600))
	key, err := i.source(t, "jwks "+path).Verify(t.Context(), i.token(t, nil))
	require.NoError(t, err)
	assert.NotNil(t, key)
	assert.Zero(t, i.count())
}

// A client that leaves does not end the request for the keys, for which others wait.
func TestAClientThatLeavesEndsNothing(t *testing.T) {
	i := newIssuer(t)
	source := i.source(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := source.Verify(ctx, i.token(t, nil))
	if err != nil {
		require.ErrorIs(t, err, aigateway.ErrKeysUnavailable)
	}
	key, err := source.Verify(t.Context(), i.token(t, nil))
	require.NoError(t, err)
	assert.NotNil(t, key)
	assert.Equal(t, 1, i.count())
}

// Clients of MCP servers ask for tokens whose audience is the address of the server, beside those for models.
func TestATokenIsForOneOfSeveralAudiences(t *testing.T) {
	i := newIssuer(t)
	const server = "https://ai.example.com/mcp/tickets"
	text := "jwt {\nissuer " + i.URL + "\naudience llm-gateway " + server + "\ngroup *\n}"
	source := new(Tokens)
	require.NoError(t, source.UnmarshalCaddyfile(caddyfile.NewTestDispenser(text)))
	ctx, cancel := caddy.NewContext(caddy.Context{Context: t.Context()})
	defer cancel()
	require.NoError(t, source.Provision(ctx))
	for audience, want := range map[any]bool{"llm-gateway": true, server: true, server + "/": false, "calendar": false, "": false} {
		key, err := source.Verify(t.Context(), i.token(t, map[string]any{"aud": audience}))
		assert.Equal(t, want, err == nil && key != nil, audience)
	}
}

func TestCaddyfileRefuses(t *testing.T) {
	const rest = "\naudience a\ngroup *\n}"
	for text, want := range map[string]string{
		"jwt {\naudience a\ngroup *\n}":                                    errIssuer.Error(),
		"jwt {\nissuer http://login.example.com" + rest:                    errIssuer.Error(),
		"jwt {\nissuer https://user@login.example.com" + rest:              errIssuer.Error(),
		"jwt {\nissuer https://a.example\ngroup *\n}":                      errAudience.Error(),
		"jwt {\nissuer https://a.example\naudience a\n}":                   errGroups.Error(),
		"jwt {\nissuer https://a.example\ngroup a\ngroup a\naudience a\n}": errTwice.Error(),
		"jwt {\nissuer https://a.example\nissuer https://b.example" + rest: "issuer is set twice",
		"jwt {\naudience b" + rest:                                         "audience is set twice",
		"jwt {\nissuer https://a.example\naudience a \"\"\ngroup *\n}":     errAudience.Error(),
		"jwt {\nclaim email x" + rest:                                      "must be name, owner or groups",
		"jwt {\nsecret x" + rest:                                           "unknown word secret",
		"jwt {\ngroup a {\nkeys b\n}" + rest:                               "unknown word keys",
		"jwt {\ngroup a {\nlimit b\nlimit c\n}" + rest:                     "limit is set twice",
		"jwt x {\n}": "wrong argument count",
	} {
		assert.ErrorContains(t, new(Tokens).UnmarshalCaddyfile(caddyfile.NewTestDispenser(text)), want, text)
	}
	source := &Tokens{Issuer: "https://a.example", Audience: "a", Groups: []Group{{Name: "*", Models: []string{""}}}}
	ctx, cancel := caddy.NewContext(caddy.Context{Context: t.Context()})
	defer cancel()
	assert.ErrorContains(t, source.Provision(ctx), "group *: models")
	source = &Tokens{Issuer: "https://a.example", Audience: "a", Groups: []Group{{Name: "*"}}, JWKS: "http://a.example/keys"}
	assert.ErrorIs(t, source.Provision(ctx), errJWKS)
	assert.Len(t, slices.Collect(source.Rights()), 1)
}

func FuzzVerify(f *testing.F) {
	source := &Tokens{Issuer: "https://a.example", Audience: "a", Groups: []Group{{Name: "*"}}, rights: make([]aigateway.Key, 1)}
	source.remote = issuer.Remote{Issuer: source.Issuer, Logger: zap.NewNop()}
	issuer.Client.Transport = roundTrip(func(*http.Request) (*http.Response, error) { return nil, errors.New("nobody is there") })
	f.Add("a.b.c")
	f.Add("eyJhbGciOiJub25lIn0.eyJpc3MiOiJodHRwczovL2EuZXhhbXBsZSJ9.")
	f.Add("eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJodHRwczovL2EuZXhhbXBsZSJ9.AAAA")
	f.Fuzz(func(t *testing.T, credential string) {
		key, _ := source.Verify(t.Context(), credential)
		assert.Nil(t, key, "nobody has signed it")
	})
}
