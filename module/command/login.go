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

	"github.com/spf13/cobra"

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
}

const (
	spare     = 5 * time.Minute // for which a printed token is valid at least, if the gateway answers
	loginTime = 30 * time.Second
	maxAnswer = 64 << 10
)

// openSignedIn returns the sign-in at an address, which must be https, except on this machine.
func openSignedIn(address string) (*signedIn, error) {
	u, err := url.Parse(strings.TrimSuffix(address, "/"))
	if err != nil || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return nil, errors.New("the address must be that of a gateway, such as https://ai.example.com")
	}
	local := u.Hostname() == "localhost" || u.Hostname() == "127.0.0.1" || u.Hostname() == "::1"
	if u.Scheme != "https" && (u.Scheme != "http" || !local) {
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

// post sends a form, and returns the answer. Only errors of OAuth are part of the answer.
func (s *signedIn) post(ctx context.Context, path string, form url.Values) (*oauthAnswer, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.base+path, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, fmt.Errorf("signing in: %w", err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("User-Agent", "caddy-ai-gateway")
	res, err := s.client.Do(r)
	if err != nil {
		return nil, fmt.Errorf("signing in: %w", err)
	}
	defer res.Body.Close()
	answer := new(oauthAnswer)
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err == nil {
		err = json.Unmarshal(body, answer)
	}
	if err != nil || res.StatusCode >= http.StatusBadRequest && answer.Error == "" {
		return nil, fmt.Errorf("signing in: %s answered with status %d: its accounts need the word agents", s.base, res.StatusCode)
	}
	return answer, nil
}

// signInHere runs the device authorization grant.
func signInHere(cmd *cobra.Command, s *signedIn) error {
	begun, err := s.post(cmd.Context(), "/oauth/device_authorization", nil)
	if err != nil {
		return err
	}
	if begun.Error != "" {
		return fmt.Errorf("signing in: %s", begun.Description)
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "Open %s and type this code: %s\n", begun.Page, begun.Code)
	pause := time.Duration(max(begun.Interval, 1)) * time.Second
	for {
		if err := s.wait(cmd.Context(), pause); err != nil {
			return err
		}
		got, err := s.post(cmd.Context(), "/oauth/token", url.Values{"grant_type": {"urn:ietf:params:oauth:grant-type:device_code"}, "device_code": {begun.Device}})
		switch {
		case err != nil:
			return err
		case got.Error == "authorization_pending":
		case got.Error == "slow_down":
			pause += 5 * time.Second
		case got.Error != "":
			return fmt.Errorf("signing in: %s", got.Description)
		default:
			fmt.Fprintf(cmd.ErrOrStderr(), "Signed in as %s.\n", got.Account)
			return s.store(got)
		}
	}
}

// store writes tokens to a file that only the user of this machine can read.
func (s *signedIn) store(got *oauthAnswer) error {
	content, err := json.Marshal(storedTokens{got.Access, got.Refresh, time.Now().Add(time.Duration(got.Lasts) * time.Second).UTC()})
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

// printToken prints an access token, and renews it first if it ends soon. Several programs may do so
// at once: the gateway gives all of them the same tokens.
func printToken(cmd *cobra.Command, s *signedIn) error {
	tokens, err := s.read()
	if err != nil {
		return err
	}
	left := time.Until(tokens.Expires)
	if left > spare {
		_, err = fmt.Fprintln(cmd.OutOrStdout(), tokens.Access)
		return err
	}
	got, err := s.post(cmd.Context(), "/oauth/token", url.Values{"grant_type": {"refresh_token"}, "refresh_token": {tokens.Refresh}})
	switch {
	case err == nil && got.Error == "invalid_grant":
		return fmt.Errorf("the sign-in has ended: %w", errNotSignedIn)
	case err == nil && got.Error != "":
		err = errors.New(got.Description)
	case err == nil:
		if err = s.store(got); err == nil {
			_, err = fmt.Fprintln(cmd.OutOrStdout(), got.Access)
		}
		return err
	}
	if left > 0 { // the gateway is away for a moment
		_, err = fmt.Fprintln(cmd.OutOrStdout(), tokens.Access)
	}
	return err
}

// signOutHere revokes the tokens, and deletes the file, also if the gateway does not answer.
func signOutHere(cmd *cobra.Command, s *signedIn) error {
	tokens, err := s.read()
	if err != nil {
		return err
	}
	_, err = s.post(cmd.Context(), "/oauth/revoke", url.Values{"token": {tokens.Refresh}, "token_type_hint": {"refresh_token"}})
	return errors.Join(err, os.Remove(s.path))
}
