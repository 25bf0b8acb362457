// Package login contains the commands with which a person signs a machine in at a gateway: by the device
// authorization grant of OAuth (RFC 8628), for programs that cannot sign in themselves.
//
// It promises tokens that only the user of the machine can read, and that programs which ask for one at
// once, each in a process of its own, renew once.
//
// It refuses addresses that are not https, except on this machine.
package login

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/outbound"
)

// Commands returns the commands with which a person signs this machine in at a gateway, and
// gets tokens for programs that cannot sign in themselves.
func Commands() []*cobra.Command {
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

// printToken prints an access token, and renews it first if it ends soon, or if the gateway refuses it: a
// program runs the command again after a 401.
func printToken(cmd *cobra.Command, s *signedIn) error {
	tokens, err := s.read()
	if err != nil {
		return err
	}
	if time.Until(tokens.Expires) <= tokens.spare() || s.isRefused(cmd.Context(), tokens.Access) {
		renewed, err := s.renew(cmd.Context(), tokens)
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
