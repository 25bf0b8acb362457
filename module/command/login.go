package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/caddyserver/certmagic"
	"github.com/spf13/cobra"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/outbound"
)

// loginCommands returns the commands with which a person signs this machine in at a gateway, and
// gets tokens for programs that cannot sign in themselves.
func loginCommands() []*cobra.Command {
	command := func(use, short string, run func(*cobra.Command, *signedIn) error) *cobra.Command {
		return &cobra.Command{Use: use + " <address>", Short: short, Args: cobra.ExactArgs(1), RunE: func(cmd *cobra.Command, args []string) error {
			s, err := openSignedIn(args[0])
			if err != nil {
				return err
			}
			return run(cmd, s)
		}}
	}
	return []*cobra.Command{
		command("login", "Signs this machine in at a gateway, after you have confirmed a code in a browser", signInHere),
		command("token", "Prints an access token of the gateway, for programs that run a command to get a key", printToken),
		command("logout", "Ends the sign-in of this machine", signOutHere),
	}
}

// signedIn are the tokens of this machine at a gateway, and the file that has them.
type signedIn struct {
	base, path string
	client     *http.Client
	wait       func(context.Context, time.Duration) error
}

// storedTokens are what the file has.
type storedTokens struct {
	Access  string    `json:"access_token"`
	Refresh string    `json:"refresh_token"`
	Expires time.Time `json:"expires"`
	Lasts   int64     `json:"expires_in"` // seconds from the issue of Access
}

const (
	longestSpare = 5 * time.Minute
	loginTime    = 30 * time.Second
	maxAnswer    = 64 << 10
)

// spare returns for how long a printed token is valid at least, if the gateway answers: a quarter of its
// time, so that tokens of a few minutes are not renewed with each call.
func (t *storedTokens) spare() time.Duration {
	return min(longestSpare, time.Duration(t.Lasts)*time.Second/4)
}

// openSignedIn returns the sign-in at an address, which must be https, except on this machine.
func openSignedIn(address string) (*signedIn, error) {
	u, err := url.Parse(strings.TrimSuffix(address, "/"))
	if err != nil || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return nil, errors.New("the address must be that of a gateway, such as https://ai.example.com")
	}
	if !aigateway.IsProtectedAddress(u.String()) {
		return nil, errors.New("the address must begin with https://, except on this machine: others could read the tokens")
	}
	folder, err := os.UserConfigDir()
	if err != nil {
		return nil, fmt.Errorf("finding the folder for tokens: %w", err)
	}
	name := strings.Map(func(r rune) rune {
		if r == '/' || r == ':' || r == '\\' {
			return '_'
		}
		return r
	}, u.Host+u.Path)
	s := &signedIn{base: u.String(), path: filepath.Join(folder, "ai-gateway", name+".json"), client: outbound.Client(loginTime, http.DefaultTransport)}
	s.wait = func(ctx context.Context, d time.Duration) error {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-timer.C:
			return nil
		}
	}
	return s, nil
}

// oauthAnswer is any answer of the sign-in.
type oauthAnswer struct {
	Device      string `json:"device_code"`
	Code        string `json:"user_code"`
	Page        string `json:"verification_uri"`
	Interval    int    `json:"interval"`
	Lasts       int64  `json:"expires_in"`
	Access      string `json:"access_token"`
	Refresh     string `json:"refresh_token"`
	Account     string `json:"email"`
	Error       string `json:"error"`
	Description string `json:"error_description"`
}

// errAway is the reason of failures that may pass.
var errAway = errors.New("the gateway does not answer at the moment")

// post sends a form, and returns the answer. Only errors of OAuth that last are part of the answer.
func (s *signedIn) post(ctx context.Context, path string, form url.Values) (*oauthAnswer, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.base+path, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("User-Agent", "caddy-ai-gateway")
	res, err := s.client.Do(r)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errAway, err)
	}
	defer res.Body.Close()
	if res.StatusCode >= http.StatusInternalServerError {
		return nil, fmt.Errorf("%w: %s answered with status %d", errAway, s.base, res.StatusCode)
	}
	answer := new(oauthAnswer)
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err == nil {
		err = json.Unmarshal(body, answer)
	}
	if err != nil || res.StatusCode >= http.StatusBadRequest && answer.Error == "" {
		return nil, fmt.Errorf("%s answered with status %d: its accounts need the word agents", s.base, res.StatusCode)
	}
	return answer, nil
}

// signInHere runs the device authorization grant. A gateway that is away for a moment ends nothing, since
// the person may be typing the code.
func signInHere(cmd *cobra.Command, s *signedIn) error {
	begun, err := s.post(cmd.Context(), "/oauth/device_authorization", nil)
	if err == nil && begun.Error != "" {
		err = errors.New(begun.Description)
	}
	if err != nil {
		return fmt.Errorf("signing in: %w", err)
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "Open %s and type this code: %s\n", begun.Page, begun.Code)
	ctx, cancel := context.WithTimeout(cmd.Context(), time.Duration(begun.Lasts)*time.Second)
	defer cancel()
	got, err := s.poll(ctx, begun)
	if err != nil {
		return fmt.Errorf("signing in: %w", err)
	}
	unlock, err := s.lock(cmd.Context())
	if err != nil {
		return err
	}
	defer unlock()
	fmt.Fprintf(cmd.ErrOrStderr(), "Signed in as %s.\n", got.Account)
	return s.store(got)
}

// poll asks for tokens until there are some, or the context ends, as the code does.
func (s *signedIn) poll(ctx context.Context, begun *oauthAnswer) (*oauthAnswer, error) {
	pause := time.Duration(max(begun.Interval, 1)) * time.Second
	var last error // nil while the gateway answers
	for {
		if err := s.wait(ctx, pause); errors.Is(err, context.DeadlineExceeded) {
			return nil, errors.Join(errors.New("nobody has confirmed the code in time"), last)
		} else if err != nil {
			return nil, err
		}
		got, err := s.post(ctx, "/oauth/token", url.Values{"grant_type": {"urn:ietf:params:oauth:grant-type:device_code"}, "device_code": {begun.Device}})
		last = err
		switch {
		case errors.Is(err, errAway) || err == nil && got.Error == "slow_down":
			pause += 5 * time.Second
		case err != nil:
			return nil, err
		case got.Error == "":
			return got, nil
		case got.Error != "authorization_pending":
			return nil, errors.New(got.Description)
		}
	}
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

// printToken prints an access token, and renews it first if it ends soon.
func printToken(cmd *cobra.Command, s *signedIn) error {
	tokens, err := s.read()
	if err != nil {
		return err
	}
	if time.Until(tokens.Expires) <= tokens.spare() {
		renewed, err := s.renew(cmd.Context())
		switch {
		case err == nil:
			tokens = renewed
		case errors.Is(err, errNotSignedIn) || time.Until(tokens.Expires) <= 0:
			return err
		} // else the gateway is away for a moment
	}
	_, err = fmt.Fprintln(cmd.OutOrStdout(), tokens.Access)
	return err
}

// renew replaces the tokens, unless another process has done so. Several programs ask for a token at
// once, each in a process of its own.
func (s *signedIn) renew(ctx context.Context) (*storedTokens, error) {
	unlock, err := s.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	tokens, err := s.read()
	if err != nil || time.Until(tokens.Expires) > tokens.spare() {
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

// signOutHere revokes the tokens, and deletes the file. The file remains if the gateway may not have
// revoked them, so that the command can be repeated.
func signOutHere(cmd *cobra.Command, s *signedIn) error {
	unlock, err := s.lock(cmd.Context())
	if err != nil {
		return err
	}
	defer unlock()
	tokens, err := s.read()
	if err != nil {
		return err
	}
	got, err := s.post(cmd.Context(), "/oauth/revoke", url.Values{"token": {tokens.Refresh}, "token_type_hint": {"refresh_token"}})
	if err == nil && got.Error != "" {
		err = errors.New(got.Description)
	}
	if err != nil {
		return fmt.Errorf("signing out: %w: the tokens are still valid, and remain in %s", err, s.path)
	}
	return os.Remove(s.path)
}
