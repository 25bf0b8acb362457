package accounts

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/signin"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

func TestIDTokensAreVerified(t *testing.T) {
	other, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	now := time.Now()
	for name, c := range map[string]struct {
		token func(aigateway.Claims)
		sign  func(i *issuer, claims aigateway.Claims) any
		valid bool
	}{
		"another audience":         {token: func(c aigateway.Claims) { c["aud"] = "wiki" }},
		"audiences without ours":   {token: func(c aigateway.Claims) { c["aud"] = []string{"wiki", "gateway2"} }},
		"no audience":              {token: func(c aigateway.Claims) { delete(c, "aud") }},
		"issued to another client": {token: func(c aigateway.Claims) { c["aud"], c["azp"] = []string{"wiki", clientID}, "wiki" }},
		"several audiences":        {token: func(c aigateway.Claims) { c["aud"], c["azp"] = []string{"wiki", clientID}, clientID }, valid: true},
		"another issuer":           {token: func(c aigateway.Claims) { c["iss"] = "https://other.example" }},
		"no nonce":                 {token: func(c aigateway.Claims) { delete(c, "nonce") }},
		"another nonce":            {token: func(c aigateway.Claims) { c["nonce"] = "x" }},
		"expired":                  {token: func(c aigateway.Claims) { c["exp"] = now.Add(-90 * time.Second).Unix() }},
		"no expiry":                {token: func(c aigateway.Claims) { delete(c, "exp") }},
		"a clock that is ahead":    {token: func(c aigateway.Claims) { c["exp"] = now.Add(-30 * time.Second).Unix() }, valid: true},
		"a clock that is behind": {token: func(c aigateway.Claims) {
			c["nbf"], c["iat"] = now.Add(time.Minute).Unix(), now.Add(time.Minute).Unix()
		}, valid: true},
		"of the future":             {token: func(c aigateway.Claims) { c["nbf"] = now.Add(time.Hour).Unix() }},
		"another key":               {sign: func(i *issuer, c aigateway.Claims) any { return i.signed(other, i.keyID, c) }},
		"no token":                  {sign: func(*issuer, aigateway.Claims) any { return nil }},
		"no text":                   {sign: func(*issuer, aigateway.Claims) any { return 7 }},
		"no signature":              {sign: func(i *issuer, c aigateway.Claims) any { return unsigned(t, "none", c) }},
		"no signature, in capitals": {sign: func(i *issuer, c aigateway.Claims) any { return unsigned(t, "NONE", c) }},
		"the secret as a key": {sign: func(i *issuer, c aigateway.Claims) any {
			return i.jws(jose.HS256, []byte(clientSecret+strings.Repeat("!", 32)), c)
		}},
		"the public key as a secret": {sign: func(i *issuer, c aigateway.Claims) any {
			public, err := x509.MarshalPKIXPublicKey(i.key.Public())
			require.NoError(t, err)
			return i.jws(jose.HS256, public, c)
		}},
		"an encrypted token": {sign: func(i *issuer, c aigateway.Claims) any { return "a.b.c.d.e" }},
	} {
		t.Run(name, func(t *testing.T) {
			s, i := signInSite(t, creating)
			if c.token != nil {
				i.token = c.token
			}
			if c.sign != nil {
				i.sign = func(claims aigateway.Claims) any { return c.sign(i, claims) }
			}
			b, want := s.browser(), failedWith("invalid")
			if c.valid {
				want = home
			}
			assert.Equal(t, want, b.signIn(i, person("alice")))
			assert.Equal(t, c.valid, b.self() != nil)
		})
	}
}

// unsigned returns a token whose header names an algorithm without a signature.
func unsigned(t *testing.T, algorithm string, claims aigateway.Claims) string {
	payload, err := json.Marshal(claims)
	require.NoError(t, err)
	encode := base64.RawURLEncoding.EncodeToString
	return encode([]byte(`{"alg":"`+algorithm+`"}`)) + "." + encode(payload) + "."
}

// That newer keys are read is shown by the tests of the package issuer.
func TestKeysOfTheIssuerAreReadOnce(t *testing.T) {
	s, i := signInSite(t, creating)
	require.Equal(t, home, s.browser().signIn(i, person("alice")))
	require.Equal(t, home, s.browser().signIn(i, person("alice")))
	i.change(func() { i.rotate("second") })
	assert.Equal(t, failedWith("invalid"), s.browser().signIn(i, person("alice")), "they were read within the minute")
	assert.Equal(t, 1, i.calls["/.well-known/openid-configuration"])
	assert.Equal(t, 1, i.calls["/keys"])
}

// An answer counts once, and only in the browser that began the sign-in.
func TestAnswersOfOtherSignInsDoNotCount(t *testing.T) {
	s, i := signInSite(t, creating)
	const callback = "/api/v1/signin/company/callback?"
	victim, attacker := s.browser(), s.browser()
	theirs := i.authorize(attacker.begin("company"), person("attacker"))
	at := func(b *browser, query url.Values) string {
		return b.get(callback + query.Encode()).header.Get("Location")
	}
	assert.Equal(t, failedWith("expired"), at(victim, theirs), "a browser without a ticket")
	victim.begin("company")
	assert.Equal(t, failedWith("expired"), at(victim, theirs), "the answer of another browser")
	assert.Nil(t, victim.self())

	own := i.authorize(victim.begin("company"), person("victim"))
	mixed := url.Values{"code": theirs["code"], "state": own["state"]}
	assert.Equal(t, failedWith("expired"), at(victim, mixed), "the code belongs to another verifier")

	own = i.authorize(victim.begin("company"), person("victim"))
	ticket := victim.cookies["signin-company"]
	require.Equal(t, home, at(victim, own))
	assert.Equal(t, failedWith("expired"), at(victim, own), "a second time, without the ticket")
	victim.cookies["signin-company"] = ticket
	assert.Equal(t, failedWith("expired"), at(victim, own), "a second time, with the ticket: the issuer refuses the code")
	require.NotNil(t, victim.self(), "the session stays")

	for name, spoil := range map[string]func(url.Values){
		"no state":      func(q url.Values) { q.Del("state") },
		"another state": func(q url.Values) { q.Set("state", strings.Repeat("x", 43)) },
		"no code":       func(q url.Values) { q.Del("code") },
	} {
		b := s.browser()
		query := i.authorize(b.begin("company"), person("victim"))
		spoil(query)
		assert.Equal(t, failedWith("expired"), at(b, query), name)
	}
	b := s.browser()
	query := i.authorize(b.begin("company"), person("victim"))
	b.cookies["signin-company"] += "; signin-company=planted"
	assert.Equal(t, failedWith("expired"), at(b, query), "two tickets")
}

// The browser kept one ticket, so that of two tabs which a restarted browser had opened at once, the first
// failed, and an answer that belonged to neither ended both.
func TestEachTabCanSignIn(t *testing.T) {
	s, i := signInSite(t, creating)
	b := s.browser()
	at := func(query url.Values) string {
		return b.get("/api/v1/signin/company/callback?" + query.Encode()).header.Get("Location")
	}
	var tabs []url.Values
	for range 6 {
		tabs = append(tabs, i.authorize(b.begin("company"), person("alice")))
	}
	assert.NotEqual(t, tabs[1].Get("state"), tabs[2].Get("state"))
	assert.Equal(t, failedWith("expired"), at(tabs[0]), "the sixth is one too many")
	assert.Equal(t, failedWith("expired"), at(url.Values{"code": {"c"}, "state": {"s"}}), "of another browser")
	for n, tab := range []int{3, 1, 5, 2, 4} {
		assert.Equal(t, home, at(tabs[tab]), tab)
		assert.Equal(t, failedWith("expired"), at(tabs[tab]), "a second time")
		assert.Equal(t, n < 4, b.cookies["signin-company"] != "", "the tickets of the others stay")
	}
	assert.NotNil(t, b.self())
}

// An attacker who controls one issuer must not get or inject the answers of another.
func TestIssuersAreNotMixedUp(t *testing.T) {
	good, evil := newIssuer(t), newIssuer(t)
	s := newSite(t, func(a *Accounts) {
		a.Issuers = []*signin.Issuer{good.settings(creating), evil.settings(func(c *signin.Issuer) { c.Name, c.Create = "evil", "user" })}
	})
	b := s.browser()
	query := good.authorize(b.begin("company"), person("alice"))
	b.begin("evil")
	at := func(path string, query url.Values) string {
		return b.get(path + "?" + query.Encode()).header.Get("Location")
	}
	assert.Equal(t, failedWith("expired"), at("/api/v1/signin/evil/callback", query), "the code never reaches the other issuer")
	assert.Zero(t, evil.calls["/token"])
	query.Set("iss", evil.URL)
	assert.Equal(t, failedWith("invalid"), at("/api/v1/signin/company/callback", query))
	assert.Zero(t, good.calls["/token"])
	query = good.authorize(b.begin("company"), person("alice"))
	query.Set("iss", good.URL)
	assert.Equal(t, home, at("/api/v1/signin/company/callback", query))

	same := person("alice")
	same["preferred_username"] = "alice2"
	b2 := s.browser()
	query = evil.authorize(b2.begin("evil"), same)
	assert.Equal(t, home, b2.get("/api/v1/signin/evil/callback?"+query.Encode()).header.Get("Location"))
	assert.NotEqual(t, b.self()["id"], b2.self()["id"], "the same subject at another issuer is another person")
}

func TestAnIssuerThatAnnouncesItsNameMustSendIt(t *testing.T) {
	s, i := signInSite(t, creating)
	i.document["authorization_response_iss_parameter_supported"] = true
	assert.Equal(t, failedWith("invalid"), s.browser().signIn(i, person("alice")))
}

// That nobody tries again at once is shown by the tests of the package issuer.
func TestAnIssuerThatIsAwayIsTriedAgain(t *testing.T) {
	s, i := signInSite(t, creating)
	away := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }
	i.answer = away
	assert.Equal(t, failedWith("away"), s.browser().begin("company"))
	i.change(func() { i.answer = nil })

	again := newSite(t, func(a *Accounts) { a.Issuers = []*signin.Issuer{i.settings(creating)} })
	b := again.browser()
	query := i.authorize(b.begin("company"), person("alice"))
	i.change(func() { i.answer = away })
	assert.Equal(t, failedWith("away"), b.get("/api/v1/signin/company/callback?"+query.Encode()).header.Get("Location"))
	i.change(func() { i.answer = nil })
	assert.Equal(t, home, b.signIn(i, person("alice")))
	assert.NotContains(t, fmt.Sprint(s.logs.All(), again.logs.All()), clientSecret)
}

// Answers of an issuer that cannot be used name the reason in the log, without its texts.
func TestAnswersThatCannotBeUsed(t *testing.T) {
	for name, c := range map[string]struct {
		change func(i *issuer)
		want   string
	}{
		"of another issuer":  {func(i *issuer) { i.document["issuer"] = i.URL + "/" }, "invalid"},
		"an address of http": {func(i *issuer) { i.document["token_endpoint"] = "http://token.example" }, "invalid"},
		"no keys":            {func(i *issuer) { i.document["jwks_uri"] = "" }, "invalid"},
		"no document": {func(i *issuer) {
			i.answer = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) }
		}, "away"},
		"a page": {func(i *issuer) { i.answer = func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") } }, "away"},
		"a redirection": {func(i *issuer) {
			i.answer = func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, "https://evil.example", http.StatusFound)
			}
		}, "away"},
		"more than a mebibyte": {func(i *issuer) { i.document["x"] = strings.Repeat("x", 1<<20) }, "away"},
	} {
		s, i := signInSite(t, creating)
		c.change(i)
		assert.Equal(t, failedWith(c.want), s.browser().begin("company"), name)
	}
	s, i := signInSite(t, func(c *signin.Issuer) { c.ClientSecret = "" })
	assert.Equal(t, failedWith("invalid"), s.browser().signIn(i, person("alice")), "the issuer refuses the client")
	logs := fmt.Sprint(s.logs.FilterMessage("sign-in failed").All()[0].ContextMap())
	assert.Contains(t, logs, "invalid_client")
	assert.NotContains(t, logs, "secret text")
	b := s.browser()
	refused := url.Values{"error": {"access_denied"}, "state": i.authorize(b.begin("company"), nil)["state"]}
	assert.Equal(t, failedWith("refused"), b.get("/api/v1/signin/company/callback?"+refused.Encode()).header.Get("Location"))
}
