package accounts

import (
	"maps"
	"slices"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/agents"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/signin"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/suggest"
)

// UnmarshalCaddyfile reads the block of accounts. Syntax:
//
//	accounts {
//		session      <duration>
//		login_status strict | compat
//		registration on | off
//		limit        <name>
//		throttle     on | off
//		console      on | off
//		capture      on | off
//		audit        must | try
//		audit_keep   <duration>
//		password     on | off
//		oidc  <issuer>      { … } // see signin.Issuer
//		proxy <placeholder> { … } // see signin.Proxy
//		agents              { … } // see agents.Agents
//	}
func (a *Accounts) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // the word accounts
	if d.NextArg() {
		return d.Errf("accounts is either off or has a block, not %s", d.Val())
	}
	seen := make(map[string]bool)
	for d.NextBlock(0) {
		word := d.Val()
		if seen[word] && word != "oidc" {
			return d.Errf("%s is given twice", word)
		}
		seen[word] = true
		if err := set(a, d, word); err != nil {
			return err
		}
	}
	return nil
}

// set reads a word of the block with its values.
func set(a *Accounts, d *caddyfile.Dispenser, word string) error {
	switch word {
	case "oidc":
		a.Issuers = append(a.Issuers, new(signin.Issuer))
		return a.Issuers[len(a.Issuers)-1].UnmarshalCaddyfile(d)
	case "proxy":
		a.Proxy = new(signin.Proxy)
		return a.Proxy.UnmarshalCaddyfile(d)
	case "agents":
		a.Agents = new(agents.Agents)
		return a.Agents.UnmarshalCaddyfile(d)
	}
	read, known := settings[word]
	values := d.RemainingArgs()
	switch {
	case !known:
		words := append(slices.Collect(maps.Keys(settings)), "oidc", "proxy", "agents")
		slices.Sort(words)
		return d.Err(suggest.Unrecognized("accounts", word, words))
	case len(values) != 1:
		return d.Errf("%s needs one value", word)
	}
	return read(a, d, values[0])
}

// settings are the words of the block, with functions that read their values.
var settings = map[string]func(a *Accounts, d *caddyfile.Dispenser, value string) error{
	"session":      setSession,
	"login_status": setLoginStatus,
	"registration": func(a *Accounts, d *caddyfile.Dispenser, value string) (err error) {
		a.Registration, err = onOff(d, "registration", value)
		return err
	},
	"limit": func(a *Accounts, d *caddyfile.Dispenser, value string) error {
		if err := aigateway.CheckLimitName(value); err != nil {
			return d.WrapErr(err)
		}
		a.KeyLimit = value
		return nil
	},
	"console": func(a *Accounts, d *caddyfile.Dispenser, value string) error {
		enabled, err := onOff(d, "console", value)
		a.ConsoleOff = !enabled
		return err
	},
	"capture": func(a *Accounts, d *caddyfile.Dispenser, value string) error {
		enabled, err := onOff(d, "capture", value)
		a.CaptureOff = !enabled
		return err
	},
	"audit": func(a *Accounts, d *caddyfile.Dispenser, value string) error {
		if value != "must" && value != "try" {
			return d.Errf("audit must be must or try, not '%s'", value)
		}
		a.AuditTry = value == "try"
		return nil
	},
	"audit_keep": func(a *Accounts, d *caddyfile.Dispenser, value string) error {
		keep, err := caddy.ParseDuration(value)
		if err != nil || keep < 24*time.Hour {
			return d.Errf("audit_keep must be a duration of at least one day, such as 400d, not '%s'", value)
		}
		a.AuditKeep = caddy.Duration(keep)
		return nil
	},
	"password": func(a *Accounts, d *caddyfile.Dispenser, value string) error {
		enabled, err := onOff(d, "password", value)
		a.PasswordOff = !enabled
		return err
	},
	"throttle": func(a *Accounts, d *caddyfile.Dispenser, value string) error {
		enabled, err := onOff(d, "throttle", value)
		a.ThrottleOff = !enabled
		return err
	},
}

func setLoginStatus(a *Accounts, d *caddyfile.Dispenser, value string) error {
	if value != strict && value != compat {
		return d.Errf("login_status must be strict or compat, not '%s'", value)
	}
	a.LoginStatus = value
	return nil
}

func setSession(a *Accounts, d *caddyfile.Dispenser, value string) error {
	duration, err := caddy.ParseDuration(value)
	if err != nil {
		return d.Errf("session must be a duration such as 24h or 7d, not '%s'", value)
	}
	a.Session = caddy.Duration(duration)
	if duration == 0 { // zero selects the default
		return d.Err("session must be at least one minute")
	}
	return nil
}

func onOff(d *caddyfile.Dispenser, word, value string) (bool, error) {
	if value != "on" && value != "off" {
		return false, d.Errf("%s must be on or off, not '%s'", word, value)
	}
	return value == "on", nil
}

// Interface guard
var _ caddyfile.Unmarshaler = (*Accounts)(nil)
