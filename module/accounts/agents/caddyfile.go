package agents

import (
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/suggest"
)

// UnmarshalCaddyfile reads the word agents with its block. Syntax:
//
//	agents {
//		access   <duration>
//		session  <duration>
//		settings <file> [<group…>]
//	}
func (a *Agents) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	if d.NextArg() {
		return d.Errf("agents has a block or nothing, not %s", d.Val())
	}
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		word, values := d.Val(), d.RemainingArgs()
		var field *caddy.Duration
		switch word {
		case "access":
			field = &a.Access
		case "session":
			field = &a.Session
		case "settings":
			if len(values) == 0 {
				return d.Err("settings needs a file")
			}
			a.Settings = append(a.Settings, &Settings{File: values[0], Groups: values[1:]})
			continue
		default:
			return d.Err(suggest.Unrecognized("agents", word, []string{"access", "session", "settings"}))
		}
		if *field != 0 {
			return d.Errf("%s is given twice", word)
		}
		if len(values) != 1 {
			return d.Errf("%s needs one value", word)
		}
		duration, err := caddy.ParseDuration(values[0])
		if err != nil || duration < time.Minute {
			return d.Errf("%s must be a duration of at least one minute, such as 1h, not '%s'", word, values[0])
		}
		*field = caddy.Duration(duration)
	}
	return nil
}

// Interface guard
var _ caddyfile.Unmarshaler = (*Agents)(nil)
