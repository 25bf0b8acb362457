package issuer

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/outbound"
)

var _ oidc.KeySet = (*Remote)(nil)

// publisher is an issuer that answers calls of Client. Its keys are by key id.
type publisher struct {
	keys      map[string]crypto.Signer
	discovery string                               // in place of its own discovery document
	answer    func(r *http.Request) *http.Response // in place of all answers, nil without one
	slow      time.Duration

	mu    sync.Mutex
	calls map[string]int // by path
}

const address = "https://issuer.example"

// publish starts an issuer with the key "1", and returns the remote that reads its documents.
func publish(t *testing.T) (*publisher, *Remote) {
	p := &publisher{keys: map[string]crypto.Signer{"1": newKey(t)}, calls: make(map[string]int)}
	before := Client.Transport
	Client.Transport = p
	t.Cleanup(func() { Client.Transport = before })
	return p, &Remote{Issuer: address, Logger: zap.NewNop()}
}

func newKey(t *testing.T) crypto.Signer {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	return key
}

// RoundTrip implements http.RoundTripper.
func (p *publisher) RoundTrip(r *http.Request) (*http.Response, error) {
	p.mu.Lock()
	p.calls[r.URL.Path]++
	p.mu.Unlock()
	select {
	case <-time.After(p.slow):
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	w := httptest.NewRecorder()
	switch {
	case p.answer != nil:
		if res := p.answer(r); res != nil {
			return res, nil
		}
		return nil, errors.New("nobody is there")
	case r.URL.Path == "/keys":
		_, _ = w.Write(p.set())
	case p.discovery != "":
		_, _ = io.WriteString(w, p.discovery)
	default:
		_ = json.NewEncoder(w).Encode(map[string]string{"issuer": address, "jwks_uri": address + "/keys"})
	}
	return w.Result(), nil
}

func (p *publisher) set() []byte {
	var set jose.JSONWebKeySet
	for id, key := range p.keys {
		set.Keys = append(set.Keys, jose.JSONWebKey{Key: key.Public(), KeyID: id, Use: "sig"})
	}
	text, _ := json.Marshal(set)
	return text
}

// asked returns how often the keys were read.
func (p *publisher) asked() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.calls["/keys"]
}

// sign returns a token that a key has signed, with the key id "" for none.
func sign(t *testing.T, algorithm jose.SignatureAlgorithm, key any, id string) string {
	t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: algorithm, Key: jose.JSONWebKey{Key: key, KeyID: id}}, nil)
	require.NoError(t, err)
	signed, err := signer.Sign([]byte(`{"sub":"alice"}`))
	require.NoError(t, err)
	text, err := signed.CompactSerialize()
	require.NoError(t, err)
	return text
}

// verifier returns a function that verifies a token of a key.
func verifier(t *testing.T, r *Remote) func(key crypto.Signer, id string) error {
	return func(key crypto.Signer, id string) error {
		t.Helper()
		payload, err := r.VerifySignature(t.Context(), sign(t, jose.ES256, key, id))
		if err == nil {
			assert.JSONEq(t, `{"sub":"alice"}`, string(payload))
		}
		return err
	}
}

// TestX127UnknownKeysAreAskedForOnceAMinute: anybody can send tokens with new key ids, and
// would make the gateway ask the issuer for each.
func TestX127UnknownKeysAreAskedForOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, r := publish(t)
		verify := verifier(t, r)
		known, next := p.keys["1"], newKey(t)
		require.NoError(t, verify(known, "1"))
		require.NoError(t, verify(known, ""), "a token without a key id")
		for range 50 {
			require.ErrorIs(t, verify(next, "2"), ErrSignature)
		}
		assert.Equal(t, 1, p.asked())
		time.Sleep(retryAfter)
		var all sync.WaitGroup
		for n := range 2000 {
			all.Go(func() { assert.ErrorIs(t, verify(next, fmt.Sprint("unknown-", n)), ErrSignature) })
		}
		all.Wait()
		assert.Equal(t, 2, p.asked())

		p.keys["2"] = next
		require.ErrorIs(t, verify(next, "2"), ErrSignature, "not within the minute")
		time.Sleep(retryAfter)
		require.NoError(t, verify(next, "2"))
		assert.Equal(t, 3, p.asked())
		require.NoError(t, verify(known, "1"))
	})
}

// An issuer that replaced a key under its id was believed to have the old one for an hour.
func TestAKeyIsReplacedUnderItsID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, r := publish(t)
		verify, old := verifier(t, r), p.keys["1"]
		require.NoError(t, verify(old, "1"))
		p.keys["1"] = newKey(t)
		time.Sleep(retryAfter)
		require.NoError(t, verify(old, "1"), "nothing makes the gateway ask")
		require.NoError(t, verify(p.keys["1"], "1"))
		require.ErrorIs(t, verify(old, "1"), ErrSignature)
		assert.Equal(t, 2, p.asked())
	})
}

// A gateway that asked once at its start did not start while its issuer was away, or needed a
// restart afterwards. One that had forgotten the keys when they could not be read again refused
// everybody.
func TestDocumentsOutliveTheAbsenceOfTheirIssuer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, r := publish(t)
		away := func(*http.Request) *http.Response { return nil }
		get := func(after time.Duration) error {
			time.Sleep(after)
			_, err := r.Documents(t.Context())
			synctest.Wait() // for a reading that nobody has waited for
			return err
		}
		calls := func() int { return p.calls["/.well-known/openid-configuration"] }
		p.answer = away
		require.ErrorContains(t, get(0), "reading discovery document: ")
		require.Error(t, get(time.Second))
		assert.Equal(t, 1, calls(), "who follows within some seconds gets the answer at once")
		p.answer = nil
		require.NoError(t, get(retryWithout))
		require.NoError(t, get(refreshAfter-time.Second))
		assert.Equal(t, 2, calls())
		p.answer = away
		require.NoError(t, get(time.Second))
		require.NoError(t, get(time.Second))
		assert.Equal(t, 3, calls())
		require.NoError(t, get(retryAfter))
		assert.Equal(t, 4, calls())
		require.NoError(t, get(22*time.Hour), "documents that were read stay valid")
		require.ErrorContains(t, get(2*time.Hour), "nobody is there", "but not for ever")
		p.answer = nil
		require.NoError(t, get(retryWithout))
	})
}

// An issuer that was away for the first token was asked again a minute later, while the 503 that
// tokens got had retry-after: 5.
func TestWithoutKeysTheIssuerIsAskedAgainWhenClientsRepeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, r := publish(t)
		r.JWKS = address + "/keys"
		verify := verifier(t, r)
		for n, bad := range []string{"", "<html>", `{"keys":[]}`, `{"keys":[{"kty":"oct","k":"c2VjcmV0"}]}`} {
			p.answer = func(*http.Request) *http.Response {
				return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(bad))}
			}
			for range 10 {
				err := verify(p.keys["1"], "1")
				require.Error(t, err)
				require.NotErrorIs(t, err, ErrSignature, "nobody knows")
			}
			assert.Equal(t, n+1, p.asked(), "once in five seconds")
			time.Sleep(retryWithout)
		}
		p.answer = nil
		require.NoError(t, verify(p.keys["1"], "1"))
		assert.Zero(t, p.calls["/.well-known/openid-configuration"], "the address of the keys is known")
	})
}

// Whoever can do with what is known does not wait for an issuer that answers slowly.
func TestASlowIssuerDelaysNobodyWhoNeedsNothingNew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, r := publish(t)
		verify := verifier(t, r)
		require.NoError(t, verify(p.keys["1"], "1"))
		time.Sleep(refreshAfter)
		p.slow = time.Hour
		begun := time.Now()
		require.NoError(t, verify(p.keys["1"], "1"))
		assert.Zero(t, time.Since(begun))
		require.ErrorIs(t, verify(newKey(t), "2"), ErrSignature, "a new key is waited for")
		assert.Equal(t, callTimeout, time.Since(begun))

		_, fresh := publish(t)
		Client.Transport.(*publisher).slow = time.Hour
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begun = time.Now()
		_, err := fresh.Documents(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, time.Second, time.Since(begun))
		_, err = fresh.Documents(t.Context())
		require.Error(t, err)
		assert.Equal(t, callTimeout, time.Since(begun), "the second waited for the reading that the first began")
		assert.Equal(t, 1, Client.Transport.(*publisher).calls["/.well-known/openid-configuration"])
	})
}

// The answers of an issuer that would make the gateway trust others.
func TestDocumentsThatMustNotBeUsed(t *testing.T) {
	short, err := rsa.GenerateKey(rand.Reader, 1024)
	require.NoError(t, err)
	for name, change := range map[string]func(p *publisher){
		"another issuer": func(p *publisher) {
			p.discovery = `{"issuer":"https://evil.example","jwks_uri":"https://issuer.example/keys"}`
		},
		"an issuer with a slash": func(p *publisher) {
			p.discovery = `{"issuer":"https://issuer.example/","jwks_uri":"https://issuer.example/keys"}`
		},
		"no issuer": func(p *publisher) { p.discovery = `{"jwks_uri":"https://issuer.example/keys"}` },
		"http after https": func(p *publisher) {
			p.discovery = `{"issuer":"https://issuer.example","jwks_uri":"http://issuer.example/keys"}`
		},
		"keys of a file": func(p *publisher) {
			p.discovery = `{"issuer":"https://issuer.example","jwks_uri":"file:///etc/passwd"}`
		},
		"no keys":              func(p *publisher) { p.discovery = `{"issuer":"https://issuer.example"}` },
		"keys in the document": func(p *publisher) { p.discovery = `{"issuer":"https://issuer.example",` + string(p.set()[1:]) },
		"a short key":          func(p *publisher) { p.keys["1"] = short },
		"no key":               func(p *publisher) { p.keys = nil },
	} {
		t.Run(name, func(t *testing.T) {
			p, r := publish(t)
			change(p)
			_, err := r.Documents(t.Context())
			unusable := DocumentError("")
			require.ErrorAs(t, err, &unusable)
		})
	}
}

// Weak keys were accepted in sign-ins. A key of an unknown kind made all others unusable.
func TestOnlyKeysForSignaturesCount(t *testing.T) {
	short, err := rsa.GenerateKey(rand.Reader, 1024)
	require.NoError(t, err)
	long, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	_, edwards, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	p384, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	require.NoError(t, err)
	var set struct {
		Keys []any `json:"keys"`
	}
	for id, key := range map[string]crypto.Signer{"short": short, "long": long, "edwards": edwards, "p384": p384} {
		set.Keys = append(set.Keys, jose.JSONWebKey{Key: key.Public(), KeyID: id})
	}
	set.Keys = append(set.Keys, jose.JSONWebKey{Key: long.Public(), KeyID: "enc", Use: "enc"}, jose.JSONWebKey{Key: []byte("secret"), KeyID: "oct"},
		map[string]any{"kty": "OKP", "crv": "Ed448", "x": "AAAA"}, map[string]any{"kty": "new"}, map[string]any{"kty": 7}, nil, "text")
	for range mostKeys {
		set.Keys = append(set.Keys, jose.JSONWebKey{Key: long.Public(), KeyID: "many"})
	}
	text, err := json.Marshal(set)
	require.NoError(t, err)
	p, r := publish(t)
	r.JWKS = address + "/keys"
	p.answer = func(*http.Request) *http.Response {
		return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(bytes.NewReader(text))}
	}
	d, err := r.Documents(t.Context())
	require.NoError(t, err)
	assert.Len(t, d.keys, mostKeys)
	for _, c := range []struct {
		algorithm jose.SignatureAlgorithm
		key       any
		id        string
		want      string
	}{
		{jose.RS256, long, "long", ""}, {jose.PS256, long, "long", ""}, {jose.ES384, p384, "p384", ""}, {jose.EdDSA, edwards, "edwards", ""},
		{jose.RS256, short, "short", ErrSignature.Error()}, {jose.RS256, long, "enc", ErrSignature.Error()},
		{jose.RS512, long, "long", "unexpected signature algorithm"}, {jose.HS256, []byte(strings.Repeat("secret", 9)), "oct", "unexpected signature algorithm"},
	} {
		_, err := r.VerifySignature(t.Context(), sign(t, c.algorithm, c.key, c.id))
		if c.want == "" {
			assert.NoError(t, err, c)
		} else {
			assert.ErrorContains(t, err, c.want, c)
		}
	}
}

// Answers of servers that are no issuers, or hostile ones.
func TestAnswersAreBounded(t *testing.T) {
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"too much": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, strings.Repeat(" ", maxAnswer+1))
		}, "answered with more than 1048576 bytes"},
		"a redirect": {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/keys", http.StatusFound) }, "answered with status 302"},
		"an error":   {func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "secret", http.StatusBadGateway) }, "answered with status 502"},
		"no JSON":    {func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") }, "invalid character '<'"},
		"101":        {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusSwitchingProtocols) }, outbound.ErrInformational.Error()},
		"a broken body": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "9")
			w.WriteHeader(http.StatusOK)
		}, "unexpected EOF"},
	} {
		for _, path := range []string{"/keys", "/.well-known/openid-configuration"} {
			t.Run(name+" at "+path, func(t *testing.T) {
				mux := http.NewServeMux()
				server := httptest.NewServer(mux)
				t.Cleanup(server.Close)
				mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
					fmt.Fprintf(w, `{"issuer":"%s","jwks_uri":"%[1]s/keys"}`, server.URL)
				})
				whole := http.NewServeMux()
				whole.Handle("/", mux)
				whole.HandleFunc(path, c.answer)
				server.Config.Handler = whole
				r := &Remote{Issuer: server.URL, Logger: zap.NewNop()}
				_, err := r.Documents(t.Context())
				require.ErrorContains(t, err, c.want)
				assert.NotContains(t, err.Error(), "secret")
				assert.False(t, errors.As(err, new(DocumentError)), "it may pass")
			})
		}
	}
}

// The keys of a file neither age nor make the gateway ask anybody.
func TestKeysOfAFile(t *testing.T) {
	p, r := publish(t)
	path := filepath.Join(t.TempDir(), "jwks.json")
	require.NoError(t, os.WriteFile(path, p.set(), 0o600))
	ctx, cancel := caddy.NewContext(caddy.Context{Context: t.Context()})
	t.Cleanup(cancel)
	require.NoError(t, r.Follow(ctx, path))
	verify := verifier(t, r)
	require.NoError(t, verify(p.keys["1"], "1"))
	require.ErrorIs(t, verify(newKey(t), "2"), ErrSignature)
	r.known.Load().read = time.Now().Add(-2 * forgetAfter)
	require.NoError(t, verify(p.keys["1"], "1"))
	assert.Empty(t, p.calls)
	require.NoError(t, os.WriteFile(path, []byte(`{"keys":[]}`), 0o600))
	require.ErrorIs(t, (&Remote{Logger: zap.NewNop()}).Follow(ctx, path), errNoKeys)
}
