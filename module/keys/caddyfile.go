package keys

import (
	"slices"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
)

// UnmarshalCaddyfile adds the keys of one or more segments to c; it may be
// called repeatedly. Syntax:
//
//	key <name> {env.NAME} | {file./absolute/path} | sha256:<digest> {
//		models  <pattern...>
//		expires <YYYY-MM-DD | RFC 3339 time>
//	}
//
// The digest is that of the key without a line end, in hexadecimal:
// printf %s "$KEY" | sha256sum.
func (c *ConfigKeys) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	for d.Next() {
		entry, err := readEntry(d)
		if err != nil {
			return err
		}
		sameName := func(other Entry) bool { return other.Name == entry.Name }
		if slices.ContainsFunc(c.Keys, sameName) {
			return d.Errf("key %s is defined twice", entry.Name)
		}
		c.Keys = append(c.Keys, entry)
	}
	return nil
}

func readEntry(d *caddyfile.Dispenser) (Entry, error) {
	var entry Entry
	args := d.RemainingArgs()
	if len(args) != 2 {
		return entry, d.Err("a key needs a name and then {env.NAME}, {file./absolute/path} or sha256:<digest>")
	}
	entry.Name, entry.Key = args[0], args[1]
	if err := entry.check(); err != nil {
		return entry, d.WrapErr(err)
	}
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		if err := readRestriction(d, &entry); err != nil {
			return entry, err
		}
	}
	return entry, nil
}

// readRestriction reads one line of a key's block.
func readRestriction(d *caddyfile.Dispenser, entry *Entry) error {
	switch word := d.Val(); word {
	case "models":
		models := d.RemainingArgs()
		if len(models) == 0 {
			return d.Err("models needs at least one pattern")
		}
		entry.Models = append(entry.Models, models...)
	case "expires":
		args := d.RemainingArgs()
		if len(args) != 1 || entry.Expires != "" {
			return d.Err("expires is given once, with one date")
		}
		entry.Expires = args[0]
	default:
		return d.Errf("unrecognized word in key %s: %s; known are: expires, models", entry.Name, word)
	}
	if err := entry.check(); err != nil {
		return d.WrapErr(err)
	}
	return nil
}
