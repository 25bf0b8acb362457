package guards

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

func init() { caddy.RegisterModule(Regex{}) }

// Regex is the guard ai_gateway.guards.regex. It searches texts for rules, each of which
// blocks a text or masks its matches. Texts are searched in their Unicode normal form NFKC and
// without invisible characters, as they are and without up to three layers of escapes. The parts
// of a message are searched one by one, and as one text.
//
// Built-in rules are card (numbers of payment cards with the right check digit), iban (with the
// right check digits), key (the forms of API keys, and private keys) and email.
type Regex struct {
	// Patterns are further rules: regular expressions in the syntax RE2, by name. A name has 1
	// to 64 letters, digits and the characters -_. and is not that of a built-in rule.
	Patterns map[string]string `json:"patterns,omitempty"`
	// Block are the names of rules whose matches block a text.
	Block []string `json:"block,omitempty"`
	// Mask are the names of rules whose matches are replaced by the name of the rule in
	// brackets, such as [email]. In streams, the longest match must be bounded.
	Mask []string `json:"mask,omitempty"`
	// MaxSize bounds the texts that are searched at once, such as all new texts of a request, in
	// bytes of their normal form, and so the time and the memory of a search. Default: 16777216
	// (16 MiB).
	MaxSize int64 `json:"max_size,omitempty"`
	// OnError selects what becomes of texts beyond MaxSize, and of those with more than 100,000
	// matches of masks: "block" refuses them, "pass" lets them pass, with a warning in the log.
	// Default: "block".
	OnError string `json:"on_error,omitempty"`

	rules []rule
}

// rule is a rule in use.
type rule struct {
	kind
	name  string
	masks bool
	mask  string // what takes the place of a match
}

// CaddyModule returns the Caddy module information.
func (Regex) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "ai_gateway.guards.regex", New: func() caddy.Module { return new(Regex) }}
}

// The bounds of a Regex.
const (
	mostRules   = 100
	mostPattern = 4 << 10 // bytes
	mostMatch   = 4 << 10 // bytes of a mask in a stream
	mostEdits   = 100_000 // of a check

	defaultMaxSize = 16 << 20
)

// The words of a Regex beside its rules.
const (
	wordMaxSize = "max_size"
	wordOnError = "on_error"
)

// errSize is the error of texts that are not searched.
var errSize = errors.New("the texts are larger than max_size")

var nameShape = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)

// Provision compiles the patterns.
func (g *Regex) Provision(caddy.Context) error {
	known := maps.Clone(kinds)
	for name, text := range g.Patterns {
		if _, taken := kinds[name]; taken || !nameShape.MatchString(name) {
			return fmt.Errorf("pattern '%s': a name has 1 to 64 letters, digits and characters of -_. and is none of %s", name, kindNames())
		}
		pattern, err := regexp.Compile(text)
		if err != nil || len(text) > mostPattern {
			return fmt.Errorf("pattern '%s': %w", name, cmp.Or(err, errLongPattern))
		}
		bound := math.MaxInt
		if plain, _ := new(walker).normalize(text, &bound); plain != text {
			return fmt.Errorf("pattern '%s': texts are searched in a form in which it never matches: write %q", name, plain)
		}
		parsed, _ := syntax.Parse(text, syntax.Perl) // it compiles
		known[name] = kind{all(pattern), longestMatch(parsed)}
	}
	for _, name := range slices.Concat(g.Block, g.Mask) {
		k, ok := known[name]
		if !ok {
			return fmt.Errorf("there is no rule '%s': it is neither the name of a pattern nor one of %s", name, kindNames())
		}
		g.rules = append(g.rules, rule{k, name, len(g.rules) >= len(g.Block), "[" + name + "]"})
	}
	if g.MaxSize == 0 {
		g.MaxSize = defaultMaxSize
	}
	switch {
	case g.MaxSize < 0:
		return errors.New("max_size must be positive")
	case g.OnError != "" && g.OnError != onErrorBlock && g.OnError != onErrorPass:
		return errors.New("on_error must be block or pass: what becomes of texts beyond max_size")
	case len(g.rules) == 0:
		return errors.New("a guard regex needs a rule: block or mask names it")
	case len(g.rules) > mostRules:
		return fmt.Errorf("a guard regex has at most %d rules", mostRules)
	}
	return nil
}

var errLongPattern = fmt.Errorf("it has more than %d bytes", mostPattern)

func kindNames() string { return strings.Join(slices.Sorted(maps.Keys(kinds)), ", ") }

// Window implements aigateway.StreamGuard. A part of a text that no bounded rule can begin in
// is sent at once.
func (g *Regex) Window() (w aigateway.GuardWindow, err error) {
	w.Overlap = aigateway.DefaultGuardWindow.Overlap
	for _, r := range g.rules {
		switch {
		case r.masks && r.longest < 0:
			return w, fmt.Errorf("the pattern '%s' has no longest match, so that a part of it would be sent before it is masked in a stream: bound its repetitions as in {0,80}, block it, or write 'on request'", r.name)
		case r.masks && r.longest > mostMatch:
			return w, fmt.Errorf("the pattern '%s' can match more than %d bytes, which is too long for a mask in streams: bound its repetitions, block it, or write 'on request'", r.name, mostMatch)
		case r.longest <= mostMatch:
			w.Overlap = max(w.Overlap, r.longest)
		}
	}
	return w, nil
}

// longestMatch returns the length in bytes of the longest match of a pattern, -1 if there is
// none. In the original, it has no more characters: four are never composed to one.
func longestMatch(r *syntax.Regexp) int {
	const mostRune = 4 // bytes
	sum := 0
	switch r.Op {
	case syntax.OpLiteral:
		return mostRune * len(r.Rune)
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return mostRune
	case syntax.OpStar, syntax.OpPlus:
		return -1
	case syntax.OpRepeat:
		if r.Max < 0 {
			return -1
		}
		if sum = longestMatch(r.Sub[0]); sum >= 0 {
			sum *= r.Max
		}
		return sum
	}
	for _, sub := range r.Sub {
		n := longestMatch(sub)
		switch {
		case n < 0:
			return -1
		case r.Op == syntax.OpAlternate:
			sum = max(sum, n)
		default:
			sum += n
		}
	}
	return sum
}

// Check implements aigateway.Guard.
func (g *Regex) Check(_ context.Context, v *aigateway.GuardView) (verdict aigateway.GuardVerdict, _ error) {
	s := search{rules: g.rules, view: v, left: int(g.MaxSize), seams: int(g.MaxSize)}
	if v.Phase == aigateway.GuardStream {
		w, _ := g.Window() // its error was returned when the configuration was loaded
		s.overlap = w.Overlap
	}
	for first := 0; first < len(v.Texts); {
		end := first + 1
		for end < len(v.Texts) && v.Texts[end].Group == v.Texts[first].Group {
			end++
		}
		for i := first; i < end; i++ {
			s.one(i)
		}
		if end-first > 1 {
			s.joined(first, end)
		}
		if s.blocked != "" {
			return aigateway.GuardVerdict{Block: s.blocked}, nil
		}
		first = end
	}
	switch {
	case !s.exceeded:
	case v.Phase == aigateway.GuardLog:
		return verdict, errSize
	case g.OnError == onErrorPass:
		verdict.Unchecked = true
	default:
		return aigateway.GuardVerdict{Block: wordMaxSize}, nil
	}
	verdict.Edits = disjoint(s.edits)
	return verdict, nil
}

// disjoint returns edits in their order. Edits that overlap become one.
func disjoint(edits []aigateway.GuardEdit) []aigateway.GuardEdit {
	slices.SortStableFunc(edits, func(a, b aigateway.GuardEdit) int {
		return cmp.Or(cmp.Compare(a.Text, b.Text), cmp.Compare(a.Start, b.Start))
	})
	var merged []aigateway.GuardEdit
	for _, e := range edits {
		if n := len(merged) - 1; n >= 0 && merged[n].Text == e.Text && e.Start < merged[n].End {
			merged[n].End = max(merged[n].End, e.End)
			continue
		}
		merged = append(merged, e)
	}
	return merged
}

// Interface guards
var (
	_ caddy.Provisioner     = (*Regex)(nil)
	_ aigateway.StreamGuard = (*Regex)(nil)
)
