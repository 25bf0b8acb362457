// Package quickstart starts a gateway without a configuration file, from the API keys in the environment.
//
// It promises a gateway that answers within a second, with or without an account at a provider. The
// configuration is a Caddyfile that an operator could have written: it is generated, and printed or run.
//
// It refuses to share an address with another program, to write the value of a variable anywhere, and to
// write a key that it has generated to a file.
package quickstart

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
)

// Options are the flags of the command.
type Options struct {
	Listen string        // host:port or :port; port 0 is any free one
	Pace   time.Duration // pause of the demo provider between pieces of a stream; 0: none
	Debug  bool          // logs have the level DEBUG, otherwise WARN
}

// Login is the state of accounts, for the banner.
type Login struct {
	Password string // password of the user root, if this start created it
	Exists   bool   // an earlier start created the user root
	Problem  string // why users cannot log in, "" if they can
}

// Start starts the gateway in the background, and writes the banner to w, which explains how to use it.
// The variables of the environment are those that getenv returns. After the start, login prepares the
// accounts. The error names the option or the variable that is invalid, or the address that is in use.
func Start(o Options, getenv func(string) string, login func() Login, w io.Writer) error {
	s, err := newSetup(o, getenv)
	if err != nil {
		return err
	}
	if s.address, err = s.address.choosePort(); err != nil {
		return err
	}
	config, err := Adapt(s.caddyfile())
	if err != nil {
		return err
	}
	if err := caddy.Run(config); err != nil {
		return fmt.Errorf("starting the gateway: %w", err)
	}
	s.login = login()
	_, err = io.WriteString(w, s.banner())
	return err
}

// Print writes the Caddyfile to w, as a start for an operator's own. If the key is new, the Caddyfile
// contains only its digest, and Print writes the key to messages.
func Print(o Options, getenv func(string) string, w, messages io.Writer) error {
	s, err := newSetup(o, getenv)
	if err != nil {
		return err
	}
	s.printed = true
	if s.newKey {
		if _, err := fmt.Fprintf(messages, "The key of this file, shown only now: %s\n", s.key); err != nil {
			return err
		}
	}
	_, err = io.WriteString(w, s.caddyfile())
	return err
}

// Adapt returns the configuration of a Caddyfile.
func Adapt(caddyfile string) (*caddy.Config, error) {
	adapter := caddyconfig.GetAdapter("caddyfile")
	if adapter == nil {
		return nil, fmt.Errorf("adapting the configuration: this build has no Caddyfile adapter")
	}
	raw, _, err := adapter.Adapt([]byte(caddyfile), map[string]any{"filename": "Caddyfile"})
	if err != nil {
		return nil, fmt.Errorf("adapting the configuration: %w", err)
	}
	config := new(caddy.Config)
	if err := json.Unmarshal(raw, config); err != nil {
		return nil, fmt.Errorf("reading the configuration: %w", err)
	}
	return config, nil
}
