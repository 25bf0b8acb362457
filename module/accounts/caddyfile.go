package accounts

import (
	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
)

// UnmarshalCaddyfile sets up the accounts. Syntax:
//
//	accounts {
//		session      <duration>
//		login_status strict | compat
//		registration on | off
//		limit        <name>
//		throttle     on | off
//	}
func (a *Accounts) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // the word accounts
	if d.NextArg() {
		return d.Errf("accounts takes off, or a block of settings, not %s", d.Val())
	}
	seen := make(map[string]bool)
	for d.NextBlock(0) {
		word := d.Val()
		if seen[word] {
			return d.Errf("%s is given twice", word)
		}
		seen[word] = true
		args := d.RemainingArgs()
		if len(args) != 1 {
			return d.Errf("%s needs one value", word)
		}
		if err := a.set(d, word, args[0]); err != nil {
			return err
		}
	}
	return nil
}

// set reads one line of the block.
func (a *Accounts) set(d *caddyfile.Dispenser, word, value string) (err error) {
	switch word {
	case "session":
		return a.setSession(d, value)
	case "login_status":
		if value != strict && value != compat {
			return d.Errf("login_status is strict or compat, not %s", value)
		}
		a.LoginStatus = value
	case "registration":
		a.Registration, err = onOff(d, word, value)
	case "limit":
		if err := exchange.CheckLimitName(value); err != nil {
			return d.WrapErr(err)
		}
		a.KeyLimit = value
	case "throttle":
		var on bool
		on, err = onOff(d, word, value)
		a.ThrottleOff = !on
	default:
		return d.Errf("unrecognized word in accounts: %s; known are: limit, login_status, registration, session, throttle", word)
	}
	return err
}

func (a *Accounts) setSession(d *caddyfile.Dispenser, value string) error {
	duration, err := caddy.ParseDuration(value)
	if err != nil {
		return d.Errf("session is a duration such as 24h or 7d, not %s", value)
	}
	a.Session = caddy.Duration(duration)
	if duration == 0 { // would mean the default
		return d.Err("session must be at least one minute")
	}
	return nil
}

func onOff(d *caddyfile.Dispenser, word, value string) (bool, error) {
	if value != "on" && value != "off" {
		return false, d.Errf("%s is on or off, not %s", word, value)
	}
	return value == "on", nil
}

// Interface guard
var _ caddyfile.Unmarshaler = (*Accounts)(nil)
