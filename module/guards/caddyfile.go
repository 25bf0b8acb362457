package guards

import (
	"fmt"
	"maps"
	"slices"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
)

// Words returns the words of a Regex in the Caddyfile.
func (*Regex) Words() []string { return []string{"block", "mask", "pattern"} }

// Rules implements aigateway.DescribedGuard.
func (g *Regex) Rules() (rules []string) {
	for _, name := range slices.Sorted(maps.Keys(g.Patterns)) {
		rules = append(rules, fmt.Sprintf("pattern %s %q", name, g.Patterns[name]))
	}
	return slices.Concat(rules, line("block", g.Block), line("mask", g.Mask))
}

// line returns a word and its names as a line of the Caddyfile; none without names.
func line[T ~string](word string, names []T) []string {
	if len(names) == 0 {
		return nil
	}
	for _, name := range names {
		word += " " + string(name)
	}
	return []string{word}
}

// UnmarshalCaddyfile reads the words of a guard. Syntax:
//
//	block   <rule...>
//	mask    <rule...>
//	pattern <name> <regular expression>
//
// A rule is card, iban, key, email, or the name of a pattern.
func (g *Regex) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	for d.Next() {
		word, args := d.Val(), d.RemainingArgs()
		switch {
		case word == "block" && len(args) > 0:
			g.Block = append(g.Block, args...)
		case word == "mask" && len(args) > 0:
			g.Mask = append(g.Mask, args...)
		case word == "pattern" && len(args) == 2:
			if g.Patterns == nil {
				g.Patterns = make(map[string]string)
			}
			if _, twice := g.Patterns[args[0]]; twice {
				return d.Errf("pattern '%s' is defined twice", args[0])
			}
			g.Patterns[args[0]] = args[1]
		case slices.Contains(g.Words(), word):
			return d.Errf("%s needs %s", word, map[bool]string{true: "a name and a regular expression", false: "at least one rule"}[word == "pattern"])
		default:
			return d.Errf("a guard regex has no word '%s'", word)
		}
	}
	return nil
}
