package caddyfile

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	cf "github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/written"
)

// readLines returns the lines of a segment, which d is before. It reads tokens, because reverse_proxy
// and guest modules have no words for their configurations but those that they were written with.
func readLines(d cf.Dispenser) (lines []written.Line) {
	for depth := 0; d.Next(); {
		place, tokens := fmt.Sprintf("%s:%d", d.File(), d.Line()), []string{d.Val()}
		for d.NextArg() {
			tokens = append(tokens, d.Val())
		}
		if next := d; next.Next() && next.Val() == "{" { // NextArg ends in front of it
			tokens, d = append(tokens, "{"), next
		}
		if tokens[0] == "}" {
			depth = max(depth-1, 0) // an argument in quotes can be a brace, too
		}
		opens := tokens[len(tokens)-1] == "{"
		lines = append(lines, written.Line{Place: place, Text: strings.Repeat("\t", depth) + lineOf(tokens, depth)})
		if opens {
			depth++
		}
	}
	return lines
}

// lineOf returns the tokens of a line, without what only those may see who can read the file. The
// segment has no definition of a named matcher, so that a line with one could not be pasted.
func lineOf(tokens []string, depth int) string {
	comment := ""
	if depth == 0 && len(tokens) > 1 && strings.HasPrefix(tokens[1], "@") {
		comment = " # for requests that match " + tokens[1]
		tokens = slices.Delete(tokens, 1, 2)
	}
	if hide(tokens) {
		comment = " # this value is hidden"
	}
	for i, token := range tokens {
		tokens[i] = quote(token)
	}
	return strings.Join(tokens, " ") + comment
}

var (
	credentialName = regexp.MustCompile(`(?i)auth|code|cookie|credential|key|pass|secret|session|signature|token`)
	headerName     = regexp.MustCompile(`[A-Z-]`) // the words of a configuration have no such character
	placeholder    = regexp.MustCompile(`\{[^{}\s]+\}`)
	noVariable     = regexp.MustCompile(`[^A-Z0-9]+`)
)

// hide replaces the values of a line that may be secrets by environment variables, and reports
// whether there are any: the address of a webhook, whose path may be one, and headers with names such
// as X-Team-Token in any letters, also in a block of headers.
func hide(tokens []string) (hidden bool) {
	values := len(tokens)
	switch {
	case tokens[0] == "url" || headerName.MatchString(tokens[0]) && credentialName.MatchString(tokens[0]):
		values = 1
	case tokens[0] == "header_up" && len(tokens) > 2 && credentialName.MatchString(tokens[1]):
		values = 2
	}
	for i := values; i < len(tokens); i++ {
		if !placeholder.MatchString(tokens[i]) {
			hidden = true
			tokens[i] = "{$HIDDEN_" + noVariable.ReplaceAllString(strings.ToUpper(tokens[values-1]), "_") + "}"
		}
	}
	return hidden
}

// quote returns a token as a Caddyfile has it.
func quote(token string) string {
	switch {
	case token != "" && !strings.ContainsAny(token, " \t\r\n") && !strings.ContainsAny(token[:1], "\"`#<"):
		return token
	case strings.ContainsAny(token, `"\`) && !strings.Contains(token, "`"):
		return "`" + token + "`"
	}
	return `"` + strings.ReplaceAll(token, `"`, `\"`) + `"`
}
