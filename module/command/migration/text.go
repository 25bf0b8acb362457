package migration

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Reference is a secret that the gateway resolves, such as {env.NAME}; "" for none. It is the
// only text of a gateway that is more than text.
type Reference string

var (
	outsideVariables = regexp.MustCompile(`[^A-Za-z0-9_]+`)
	variable         = regexp.MustCompile(`\{env\.(\w+)\}`)
	plainPath        = regexp.MustCompile(`^/[A-Za-z0-9._/-]+$`)
)

// Env returns the reference to a variable of the environment, "" without a name. Characters
// that variables do not have become "_".
func Env(name string) Reference {
	if name == "" {
		return ""
	}
	return Reference("{env." + outsideVariables.ReplaceAllString(name, "_") + "}")
}

// Variables returns the names of the variables of the environment that a Caddyfile of an
// import reads, sorted.
func Variables(caddyfile string) (names []string) {
	for _, found := range variable.FindAllStringSubmatch(caddyfile, -1) {
		names = append(names, found[1])
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// File returns the reference to a file, "" if the path is not absolute, or has characters
// that a reference cannot have.
func File(path string) Reference {
	if !plainPath.MatchString(path) {
		return ""
	}
	return Reference("{file." + path + "}")
}

// Writable reports whether a text stays the same text in a Caddyfile. Braces do not, because
// Caddy replaces {$NAME} even within quotes and comments, and the gateway {env.NAME}; nor do
// characters that end a line or a token.
func Writable(text string) bool {
	hidden := func(r rune) bool { return !unicode.IsPrint(r) || r == '{' || r == '}' }
	return utf8.ValidString(text) && !strings.ContainsFunc(text, hidden) &&
		!(strings.Contains(text, "`") && strings.ContainsAny(text, `"\`))
}

// quoted returns a text as one token of a Caddyfile. It changes a text that is not writable,
// which Clean leaves out before.
func quoted(text string) string {
	if !Writable(text) {
		text = strings.ReplaceAll(OneLine(text), "`", "?")
	}
	switch {
	case strings.ContainsAny(text, `"\`):
		return "`" + text + "`" // the only quotes in which a backslash is nothing but itself
	case text == "" || strings.ContainsAny(text, " `") || strings.HasPrefix(text, "#") || strings.HasPrefix(text, "<<"):
		return `"` + text + `"`
	}
	return text
}

// OneLine returns a text for a comment or a line of a report: other characters than those
// that are writable become "?".
func OneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return ' '
		}
		if r == utf8.RuneError || !unicode.IsPrint(r) || r == '{' || r == '}' {
			return '?'
		}
		return r
	}, text)
}
