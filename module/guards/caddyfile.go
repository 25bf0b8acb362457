package guards

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/dustin/go-humanize"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// Words returns the words of a Regex in the Caddyfile.
func (*Regex) Words() []string { return []string{"block", "mask", wordMaxSize, wordOnError, "pattern"} }

// Rules implements aigateway.DescribedGuard.
func (g *Regex) Rules() (rules []string) {
	for _, name := range slices.Sorted(maps.Keys(g.Patterns)) {
		rules = append(rules, fmt.Sprintf("pattern %s %q", name, g.Patterns[name]))
	}
	return slices.Concat(rules, line("block", g.Block), line("mask", g.Mask), []string{
		wordMaxSize + " " + strings.ReplaceAll(humanize.IBytes(uint64(g.MaxSize)), " ", ""), wordOnError + " " + cmp.Or(g.OnError, onErrorBlock),
	})
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
//	block    <rule...>
//	mask     <rule...>
//	pattern  <name> <regular expression>
//	max_size <size>
//	on_error block | pass
//
// A rule is card, iban, key, email, or the name of a pattern.
func (g *Regex) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	for d.Next() {
		word, args := d.Val(), d.RemainingArgs()
		switch {
		case word == "block" && len(args) > 0:
			g.Block = append(g.Block, aigateway.SplitList(args)...)
		case word == "mask" && len(args) > 0:
			g.Mask = append(g.Mask, aigateway.SplitList(args)...)
		case word == "pattern" && len(args) == 2:
			if g.Patterns == nil {
				g.Patterns = make(map[string]string)
			}
			if _, twice := g.Patterns[args[0]]; twice {
				return d.Errf("pattern '%s' is defined twice", args[0])
			}
			g.Patterns[args[0]] = args[1]
		case word == wordMaxSize && len(args) == 1:
			size, err := humanize.ParseBytes(args[0])
			if err != nil || size == 0 || size > math.MaxInt32 {
				return d.Errf("max_size needs a size such as 16MiB, not '%s'", args[0])
			}
			g.MaxSize = int64(size)
		case word == wordOnError && len(args) == 1:
			g.OnError = args[0]
		case slices.Contains(g.Words(), word):
			return d.Errf("%s needs %s", word, map[string]string{
				"pattern": "a name and a regular expression", wordMaxSize: "one size", wordOnError: "block or pass",
				"block": "at least one rule", "mask": "at least one rule",
			}[word])
		default:
			return d.Errf("a guard regex has no word '%s'", word)
		}
	}
	return nil
}
