// Package agents signs in coding agents and other programs that have no browser: by the device
// authorization grant of OAuth 2.0 (RFC 8628), and by the protocol of gateways of Claude Code,
// which consists of it and of some paths beside it.
//
// It promises that a program gets nothing before a person who is logged in has typed its code and
// confirmed it; that what the program gets is a key of this person, with the same limits, which is
// listed and deleted like any other; that a token is stored as a digest alone; and that a refresh
// token which is used twice, by two programs, ends the sign-in of both.
//
// It refuses to show a code in a link, since a link can be sent to somebody else, and to know what
// the person is at an issuer: package signin does.
package agents

import (
	"errors"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/people"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// Agents configures the sign-in of coding agents, and of other programs that have no browser.
type Agents struct {
	// Access is how long an access token is valid, from one minute to one day. The program
	// renews it without the person. Default: 1h.
	Access caddy.Duration `json:"access,omitempty"`

	// Session is how long a sign-in is valid, at least Access and at most 90 days. Then the
	// person confirms a code again. Default: 168h, which is 7 days.
	Session caddy.Duration `json:"session,omitempty"`

	// Settings are the settings that Claude Code gets from the gateway. The first one with a
	// group of the person counts. Default: none.
	Settings []*Settings `json:"settings,omitempty"`

	people *people.People
	clock  func() time.Time
	prices func(allowed func(model string) bool) []aigateway.ModelPrice // nil for none
}

// The bounds of Agents.
const (
	usualAccess    = time.Hour
	shortestAccess = time.Minute
	longestAccess  = 24 * time.Hour
	usualSession   = 7 * 24 * time.Hour
	longestSession = 90 * 24 * time.Hour
)

// Provision sets the defaults, and reads the files of settings.
func (a *Agents) Provision(users *people.People) error {
	a.people, a.clock = users, time.Now
	if a.Access == 0 {
		a.Access = caddy.Duration(usualAccess)
	}
	if a.Session == 0 {
		a.Session = caddy.Duration(max(usualSession, time.Duration(a.Access)))
	}
	for _, s := range a.Settings {
		if err := s.provision(); err != nil {
			return err
		}
	}
	return nil
}

// UsePrices sets the prices that Claude Code gets; see aigateway.State.
func (a *Agents) UsePrices(prices func(allowed func(model string) bool) []aigateway.ModelPrice) {
	a.prices = prices
}

// Validate checks the settings.
func (a *Agents) Validate() error {
	switch access, session := time.Duration(a.Access), time.Duration(a.Session); {
	case access < shortestAccess || access > longestAccess:
		return errors.New("agents: access must be 1m to 24h")
	case session < access || session > longestSession:
		return errors.New("agents: session must be at least access, and at most 90d")
	}
	return nil
}

var errNoDevices = errors.New("the store keeps no sign-ins of agents")

// store returns the devices of the store.
func (a *Agents) store() (aigateway.Devices, error) {
	store, ok := a.people.Store.(aigateway.DeviceStore)
	if !ok {
		return nil, errNoDevices
	}
	return store.Devices(), nil
}
