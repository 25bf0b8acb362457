package keys

import (
	"maps"
	"slices"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/suggest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/filewatch"
)

// UnmarshalCaddyfile adds the keys of one or more segments to c. It may be called
// several times. Syntax:
//
//	key <name> {env.NAME} | {file./absolute/path} | sha256:<digest> {
//		models   <pattern...>
//		mcp      <server | server/pattern...>
//		from     <address | network in CIDR notation...>
//		expires  <YYYY-MM-DD | RFC 3339 time>
//		owner    <name>
//		limit    <name>
//		tags     <name=value...>
//		disabled
//	}
//
// The digest is that of the key without a newline, in hexadecimal:
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

// UnmarshalCaddyfile reads the path of the file. Syntax:
//
//	keys_file <absolute path>
//
// The file contains keys in the syntax of ConfigKeys, and comments.
func (f *FileKeys) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // keys_file
	args := d.RemainingArgs()
	if len(args) != 1 || args[0] == "" || d.NextBlock(0) {
		return d.Err("keys_file needs exactly one path")
	}
	f.Path = args[0]
	if err := filewatch.CheckPath(f.Path); err != nil {
		return d.Errf("keys_file: %w", err)
	}
	return nil
}

func readEntry(d *caddyfile.Dispenser) (Entry, error) {
	var entry Entry
	args := d.RemainingArgs()
	if len(args) != 2 {
		return entry, d.Err("a key needs a name, and then {env.NAME}, {file./absolute/path} or sha256:<digest>")
	}
	entry.Name, entry.Key = args[0], args[1]
	if err := entry.check(); err != nil {
		return entry, d.WrapErr(err)
	}
	nesting := d.Nesting()
	for d.NextBlock(nesting) {
		if err := readRestriction(d, &entry); err != nil {
			return entry, err
		}
	}
	if d.Nesting() > nesting {
		return entry, d.Errf("the block of key %s is not closed", entry.Name)
	}
	return entry, nil
}

// readRestriction reads one line of a key's block.
func readRestriction(d *caddyfile.Dispenser, entry *Entry) error {
	word, args := d.Val(), d.RemainingArgs()
	read, known := restrictions[word]
	if !known {
		return d.Err(suggest.Unrecognized("key "+entry.Name, word, slices.Sorted(maps.Keys(restrictions))))
	}
	if problem := read(entry, args); problem != "" {
		return d.Err(word + " " + problem)
	}
	if err := entry.check(); err != nil {
		return d.WrapErr(err)
	}
	return nil
}

// restrictions are the words of a key's block. Each function sets its field, or
// returns the rest of an error that begins with the word.
var restrictions = map[string]func(e *Entry, args []string) string{
	"models": list("pattern", func(e *Entry) *[]string { return &e.Models }),
	"mcp":    list("server", func(e *Entry) *[]string { return &e.MCP }),
	"tags":   list("tag", func(e *Entry) *[]string { return &e.Tags }),
	"from":   list("address", func(e *Entry) *[]string { return &e.Networks }),

	"expires": once("date", func(e *Entry) *string { return &e.Expires }),
	"owner":   once("name", func(e *Entry) *string { return &e.Owner }),
	"limit":   once("name", func(e *Entry) *string { return &e.Limit }),
	"disabled": func(e *Entry, args []string) string {
		if len(args) > 0 || e.Disabled {
			return "must occur once, without a value"
		}
		e.Disabled = true
		return ""
	},
}

func list(what string, field func(*Entry) *[]string) func(*Entry, []string) string {
	return func(e *Entry, args []string) string {
		if len(args) == 0 {
			return "needs at least one " + what
		}
		*field(e) = append(*field(e), aigateway.SplitList(args)...)
		return ""
	}
}

func once(what string, field func(*Entry) *string) func(*Entry, []string) string {
	return func(e *Entry, args []string) string {
		if len(args) != 1 || args[0] == "" || *field(e) != "" {
			return "must occur once, with one " + what
		}
		*field(e) = args[0]
		return ""
	}
}
