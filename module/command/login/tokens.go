package login

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/caddyserver/certmagic"
)

// storedTokens are what the file has.
type storedTokens struct {
	Access  string    `json:"access_token"`
	Refresh string    `json:"refresh_token"`
	Expires time.Time `json:"expires"`
	Lasts   int64     `json:"expires_in"` // seconds from the issue of Access
}

// longestSpare is the most that spare returns.
const longestSpare = 5 * time.Minute

// spare returns for how long a printed token is valid at least, if the gateway answers: a quarter of its
// time, so that tokens of a few minutes are not renewed with each call.
func (t *storedTokens) spare() time.Duration {
	return min(longestSpare, time.Duration(t.Lasts)*time.Second/4)
}

// lock keeps other processes of this machine from changing the tokens, until unlock is called. A lock
// that a process has left behind ends by itself.
func (s *signedIn) lock(ctx context.Context) (unlock func(), err error) {
	files, name := &certmagic.FileStorage{Path: filepath.Dir(s.path)}, filepath.Base(s.path)
	if err := files.Lock(ctx, name); err != nil {
		return nil, fmt.Errorf("locking tokens: %w", err)
	}
	return func() { _ = files.Unlock(context.WithoutCancel(ctx), name) }, nil // it also ends by itself
}

// store writes tokens to a file that only the user of this machine can read.
func (s *signedIn) store(got *oauthAnswer) error {
	content, err := json.Marshal(storedTokens{got.Access, got.Refresh, time.Now().Add(time.Duration(got.Lasts) * time.Second).UTC(), got.Lasts})
	if err != nil {
		return fmt.Errorf("writing tokens: %w", err)
	}
	folder := filepath.Dir(s.path)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("writing tokens: %w", err)
	}
	file, err := os.CreateTemp(folder, ".tokens-*") // with the mode 0600
	if err != nil {
		return fmt.Errorf("writing tokens: %w", err)
	}
	_, err = file.Write(content)
	err = errors.Join(err, file.Close())
	if err == nil {
		err = os.Rename(file.Name(), s.path)
	}
	if err != nil {
		return fmt.Errorf("writing tokens: %w", errors.Join(err, os.Remove(file.Name())))
	}
	return nil
}

var errNotSignedIn = errors.New("this machine is not signed in at the gateway: caddy ai-gateway login <address>")

func (s *signedIn) read() (*storedTokens, error) {
	content, err := os.ReadFile(s.path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, errNotSignedIn
	}
	tokens := new(storedTokens)
	if err == nil {
		err = json.Unmarshal(content, tokens)
	}
	if err != nil {
		return nil, fmt.Errorf("reading tokens: %w", err)
	}
	return tokens, nil
}

// renew replaces tokens, unless another process has done so. Several programs ask for a token at
// once, each in a process of its own.
func (s *signedIn) renew(ctx context.Context, old *storedTokens) (*storedTokens, error) {
	unlock, err := s.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	tokens, err := s.read()
	if err != nil || tokens.Access != old.Access {
		return tokens, err
	}
	got, err := s.post(ctx, "/oauth/token", url.Values{"grant_type": {"refresh_token"}, "refresh_token": {tokens.Refresh}})
	switch {
	case err != nil:
		return nil, fmt.Errorf("renewing the token: %w", err)
	case got.Error == "invalid_grant":
		if again, err := s.read(); err == nil && again.Refresh != tokens.Refresh { // of a process that took the lock for one left behind
			return again, nil
		}
		return nil, fmt.Errorf("the sign-in has ended: %w", errNotSignedIn)
	case got.Error != "":
		return nil, fmt.Errorf("renewing the token: %s", got.Description)
	}
	if err := s.store(got); err != nil {
		return nil, err
	}
	return s.read()
}
