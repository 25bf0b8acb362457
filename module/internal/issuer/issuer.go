// Package issuer reads what an issuer of tokens publishes: its discovery document (OpenID Connect
// Discovery 1.0), and the keys of its signatures.
//
// It promises that an issuer is asked when somebody needs it, and at most once a minute, whatever
// tokens arrive; that nobody waits for it who can do with what is known; and that what is known
// stays in effect for a day while the issuer cannot be reached.
//
// It refuses redirects, answers above a mebibyte, the document of another issuer, keys that are
// not at an https address, and keys that are symmetric or too short.
package issuer

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/go-jose/go-jose/v4"
	"go.uber.org/zap"
	"golang.org/x/sync/singleflight"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/filewatch"
)

const (
	refreshAfter = time.Hour       // the age at which the documents are read again
	retryAfter   = time.Minute     // between two readings because of unknown keys or failures
	retryWithout = 5 * time.Second // the same without any documents: the retry-after of the 503 that tokens get
	forgetAfter  = 24 * time.Hour  // the age at which documents that cannot be read again end
)

// Algorithms are the algorithms of signatures that are accepted.
var Algorithms = []jose.SignatureAlgorithm{jose.RS256, jose.PS256, jose.ES256, jose.ES384, jose.EdDSA}

// ErrSignature is the error of a token that no key of the issuer has signed.
var ErrSignature = errors.New("no key of the issuer has signed the token")

// Remote is an issuer whose documents are read when the first token arrives or the first person
// signs in.
type Remote struct {
	Issuer  string // its address, and the value of the claim "iss"
	JWKS    string // the address of its keys; "": the discovery document names it, and is read
	Changed func() // called when keys have been read; may be nil
	Logger  *zap.Logger

	isFile bool
	known  atomic.Pointer[Documents] // nil before the first success
	flight singleflight.Group        // of calls of refresh, which do not overlap; guards the fields below
	tried  time.Time                 // when the last reading ended
	err    error                     // of the last reading
}

// Follow takes the keys from a file in place of the issuer, and follows the changes of the file.
func (r *Remote) Follow(ctx caddy.Context, path string) error {
	r.isFile = true
	file := filewatch.File{Path: path, Name: "file of an issuer's keys", Parts: "keys", Logger: r.Logger, Accept: func(text []byte) error {
		keys, err := readKeys(text)
		if err == nil {
			r.set(&Documents{keys: keys})
		}
		return err
	}}
	return file.Start(ctx)
}

// Documents returns the documents of the issuer.
func (r *Remote) Documents(ctx context.Context) (*Documents, error) {
	return r.find(ctx, func(*Documents) bool { return true })
}

// VerifySignature implements oidc.KeySet. It returns ErrSignature for a token that no key of the
// issuer has signed. That includes the keys that the issuer may have in place of those that do not
// match: their ids may be the same.
func (r *Remote) VerifySignature(ctx context.Context, token string) (payload []byte, err error) {
	signed, err := jose.ParseSignedCompact(token, Algorithms)
	if err != nil {
		return nil, err
	}
	id := signed.Signatures[0].Header.KeyID
	_, err = r.find(ctx, func(d *Documents) bool {
		return slices.ContainsFunc(d.keys, func(key jose.JSONWebKey) (matches bool) {
			if id == "" || key.KeyID == id {
				payload, err = signed.Verify(key)
				matches = err == nil
			}
			return matches
		})
	})
	return payload, err
}

// find returns documents that suffice, or ErrSignature. It reads those of the issuer again if it
// has to, and waits for them only if those that are known do not suffice.
func (r *Remote) find(ctx context.Context, suffice func(*Documents) bool) (*Documents, error) {
	known := r.known.Load()
	if age := r.age(known); age < forgetAfter && suffice(known) {
		if age >= refreshAfter {
			r.flight.DoChan("", r.refresh)
		}
		return known, nil
	}
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case result := <-r.flight.DoChan("", r.refresh):
		latest, _ := result.Val.(*Documents)
		if result.Err == nil && (latest == known || !suffice(latest)) {
			return nil, ErrSignature
		}
		return latest, result.Err
	}
}

// age returns the age of documents. Those of a file do not age, and nil is too old for anything.
func (r *Remote) age(d *Documents) time.Duration {
	switch {
	case d == nil:
		return forgetAfter
	case r.isFile:
		return 0
	}
	return time.Since(d.read)
}

// refresh reads the documents of the issuer, unless the last reading is too recent. It returns the
// *Documents that are in effect then. It belongs to no request, since others wait for it, too.
func (r *Remote) refresh() (any, error) {
	pause := retryAfter
	if r.age(r.known.Load()) >= forgetAfter {
		pause = retryWithout
	}
	if !r.isFile && time.Since(r.tried) >= pause {
		read, err := r.read(context.Background())
		if r.tried, r.err = time.Now(), err; err != nil {
			r.Logger.Error("keys of the issuer cannot be read; those that are known stay valid for a day", zap.String("issuer", r.Issuer), zap.Error(err))
		} else {
			r.set(read)
		}
	}
	if known := r.known.Load(); r.age(known) < forgetAfter {
		return known, nil
	}
	return nil, r.err
}

// set replaces the documents.
func (r *Remote) set(d *Documents) {
	r.known.Store(d)
	if r.Changed != nil {
		r.Changed()
	}
}
