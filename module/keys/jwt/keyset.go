package jwt

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/go-jose/go-jose/v4"
	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/filewatch"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/outbound"
)

const (
	maxDocument  = 1 << 20         // bytes of a document of the issuer
	fetchTimeout = 5 * time.Second // of a request to the issuer
	refreshAfter = time.Hour       // the age at which the keys are read again
	retryAfter   = time.Minute     // between two requests because of unknown keys or failures
	retryWithout = 5 * time.Second // the same without any keys: the retry-after of the 503 that tokens get
	forgetAfter  = 24 * time.Hour  // the age at which keys that cannot be read again end
	shortestRSA  = 2048            // bits
	mostKeys     = 100
)

// keySet contains the keys of an issuer. They are read when the first token arrives.
type keySet struct {
	issuer, address string // an address, or "" for that of the discovery document
	isFile          bool
	changed         func() // called when the keys have changed
	logger          *zap.Logger
	client          *http.Client

	mu      sync.Mutex // guards the fields below
	keys    []jose.JSONWebKey
	read    time.Time     // when the keys were read
	tried   time.Time     // when the last request began
	running chan struct{} // closed when the running request has ended; nil without one
}

// provision prepares the set. jwks is an address, the path of a file, or "".
func (s *keySet) provision(ctx caddy.Context, issuer, jwks string) error {
	s.issuer, s.address, s.logger = issuer, jwks, ctx.Logger()
	s.client = outbound.Client(fetchTimeout, nil)
	s.isFile = strings.HasPrefix(jwks, "/")
	if !s.isFile {
		if jwks != "" && !aigateway.IsProtectedAddress(jwks) {
			return errJWKS
		}
		return nil
	}
	file := filewatch.File{Path: jwks, Name: "file of an issuer's keys", Parts: "keys", Logger: s.logger, Accept: func(text []byte) error {
		keys, err := readKeys(text)
		if err == nil {
			s.set(keys, time.Now())
		}
		return err
	}}
	if err := file.Start(ctx); err != nil {
		return fmt.Errorf("jwks: %w", err)
	}
	return nil
}

var (
	errJWKS    = errors.New("jwks: must be an https address or an absolute path; an http address is accepted only on this machine")
	errNoKeys  = errors.New("there are no keys with which tokens can be verified")
	errAnother = errors.New("the discovery document is that of another issuer")
	errAddress = errors.New("the discovery document has no https address of keys")
)

// find returns the keys that may have signed a token with a key id, "" for none. It reads the
// keys of the issuer if it has to, and waits for them only if there are none.
func (s *keySet) find(ctx context.Context, id string, now time.Time) ([]jose.JSONWebKey, error) {
	keys, age := s.state(now)
	found := matching(keys, id)
	if s.isFile || len(found) > 0 && age < refreshAfter {
		return found, nil
	}
	ended := s.refresh(now)
	if len(found) > 0 && age < forgetAfter {
		return found, nil
	}
	if ended != nil {
		select {
		case <-ended:
		case <-ctx.Done():
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.isEmpty(time.Now()) {
		return nil, aigateway.ErrKeysUnavailable
	}
	return matching(s.keys, id), nil
}

func (s *keySet) state(now time.Time) (keys []jose.JSONWebKey, age time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.keys, now.Sub(s.read)
}

// isEmpty reports whether there are no keys, or only forgotten ones. The caller holds the lock.
func (s *keySet) isEmpty(now time.Time) bool {
	return len(s.keys) == 0 || now.Sub(s.read) >= forgetAfter
}

// matching returns the keys with an id; all keys for a token without an id.
func matching(keys []jose.JSONWebKey, id string) (found []jose.JSONWebKey) {
	for _, key := range keys {
		if id == "" || key.KeyID == id {
			found = append(found, key)
		}
	}
	return found
}

// refresh begins a request for the keys, unless one is running, or the last one is too recent.
// It returns a channel that is closed when the request has ended; nil without one.
func (s *keySet) refresh(now time.Time) (ended <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running != nil {
		return s.running
	}
	pause := retryAfter
	if s.isEmpty(now) {
		pause = retryWithout
	}
	if !s.tried.IsZero() && now.Sub(s.tried) < pause {
		return nil
	}
	s.tried, s.running = now, make(chan struct{})
	go s.run(s.running)
	return s.running
}

// run reads the keys of the issuer. It belongs to no request, since others wait for it, too.
func (s *keySet) run(ended chan struct{}) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*fetchTimeout)
	defer cancel()
	keys, err := s.fetch(ctx)
	if err != nil {
		s.logger.Error("keys of the issuer cannot be read; those that are known stay valid for a day", zap.String("issuer", s.issuer), zap.Error(err))
	} else {
		s.set(keys, time.Now())
	}
	s.mu.Lock()
	s.running = nil
	s.mu.Unlock()
	close(ended)
}

// set replaces the keys.
func (s *keySet) set(keys []jose.JSONWebKey, now time.Time) {
	s.mu.Lock()
	s.keys, s.read = keys, now
	s.mu.Unlock()
	s.changed()
}

func (s *keySet) fetch(ctx context.Context) ([]jose.JSONWebKey, error) {
	address := s.address
	if address == "" {
		text, err := s.get(ctx, strings.TrimSuffix(s.issuer, "/")+"/.well-known/openid-configuration")
		if err != nil {
			return nil, fmt.Errorf("reading discovery document: %w", err)
		}
		var document struct {
			Issuer string `json:"issuer"`
			JWKS   string `json:"jwks_uri"`
		}
		if err := json.Unmarshal(text, &document); err != nil {
			return nil, fmt.Errorf("reading discovery document: %w", err)
		}
		if document.Issuer != s.issuer {
			return nil, errAnother
		}
		if address = document.JWKS; !aigateway.IsProtectedAddress(address) {
			return nil, errAddress
		}
	}
	text, err := s.get(ctx, address)
	if err != nil {
		return nil, fmt.Errorf("reading keys: %w", err)
	}
	return readKeys(text)
}

// get returns the document at an address.
func (s *keySet) get(ctx context.Context, address string) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	res, err := s.client.Do(r)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answered with status %d", address, res.StatusCode)
	}
	text, err := io.ReadAll(io.LimitReader(res.Body, maxDocument+1))
	if err == nil && len(text) > maxDocument {
		err = fmt.Errorf("%s answered with more than %d bytes", address, maxDocument)
	}
	return text, err
}

// readKeys reads a set of keys, and leaves out those that are not for signatures. Keys of
// unknown kinds do not spoil the others.
func readKeys(text []byte) (keys []jose.JSONWebKey, err error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(text, &set); err != nil {
		return nil, fmt.Errorf("reading keys: %w", err)
	}
	for _, raw := range set.Keys {
		var key jose.JSONWebKey
		if json.Unmarshal(raw, &key) == nil && isForSignatures(&key) && len(keys) < mostKeys {
			keys = append(keys, key.Public())
		}
	}
	if len(keys) == 0 {
		return nil, errNoKeys
	}
	return keys, nil
}

func isForSignatures(key *jose.JSONWebKey) bool {
	if key.Use != "" && key.Use != "sig" || !key.Valid() {
		return false
	}
	public := key.Public()
	switch k := public.Key.(type) {
	case *rsa.PublicKey:
		return k.N.BitLen() >= shortestRSA
	case *ecdsa.PublicKey, ed25519.PublicKey:
		return true
	}
	return false
}
