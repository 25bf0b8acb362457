package aigateway

import (
	"errors"
	"strings"
)

// Pattern matches model names. "*" matches any number of any characters; every
// other character matches itself, in the same letter case.
type Pattern string

// ErrPattern is the error for a pattern that is empty, is longer than 256 bytes, or
// contains control characters, spaces or commas.
var ErrPattern = errors.New("a model pattern is 1 to 256 printable characters without spaces and commas")

// ParsePattern returns s as a pattern, or ErrPattern.
func ParsePattern(s string) (Pattern, error) {
	unprintable := func(r rune) bool { return r <= ' ' || r == ',' || r == 0x7f }
	if s == "" || len(s) > 256 || strings.ContainsFunc(s, unprintable) {
		return "", ErrPattern
	}
	return Pattern(s), nil
}

// SplitList returns the values in texts, which spaces, commas or both separate: lists are read
// alike in the Caddyfile, by commands and by the API. A text without a value stays as it is, so
// that it is no list of nothing, which would be all models.
func SplitList(texts []string) (values []string) {
	for _, text := range texts {
		parts := strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' })
		if len(parts) == 0 {
			parts = []string{text}
		}
		values = append(values, parts...)
	}
	return values
}

// Exact reports whether p has no "*", so that it matches one name only.
func (p Pattern) Exact() bool { return !strings.Contains(string(p), "*") }

// Prefix returns the literal text before the first "*".
func (p Pattern) Prefix() string {
	prefix, _, _ := strings.Cut(string(p), "*")
	return prefix
}

// Match reports whether p matches name. In the worst case, its running time is
// proportional to the product of the two lengths.
func (p Pattern) Match(name string) bool {
	i, j, star, mark := 0, 0, -1, 0
	for j < len(name) {
		switch {
		case i < len(p) && p[i] == '*':
			star, mark = i, j
			i++
		case i < len(p) && p[i] == name[j]:
			i++
			j++
		case star >= 0: // let the last star match one more byte
			mark++
			i, j = star+1, mark
		default:
			return false
		}
	}
	return strings.Trim(string(p[i:]), "*") == ""
}

// MatchAnyCase reports whether p matches name in any letter case, without spaces around it: services do
// not distinguish them. It is for what belongs to a model, such as its targets, traits and prices.
func (p Pattern) MatchAnyCase(name string) bool {
	return p.Match(name) || p.small().Match(small(name))
}

func (p Pattern) small() Pattern { return Pattern(strings.ToLower(string(p))) }

// small returns a name in small letters, without spaces around it.
func small(name string) string { return strings.ToLower(strings.TrimSpace(name)) }

// Covers reports whether p matches name, or what services take for the same name: in another letter
// case, without spaces around it, or without the resource name in front of it, such as "models/". It
// is for rules that restrict requests, such as limits and guards: another spelling is no way around
// them. Rules that permit something use Match.
func (p Pattern) Covers(name string) bool {
	if p.MatchAnyCase(name) {
		return true
	}
	plain := small(name)
	index := strings.LastIndex("/"+plain, "/models/")
	return index >= 0 && p.small().Match(plain[index+len("models/"):])
}

// Overlaps reports whether p and q can match the same name.
func (p Pattern) Overlaps(q Pattern) bool {
	// reach[j]: p[:i] and q[:j] can match a common text.
	reach := make([]bool, len(q)+1)
	for i := 0; i <= len(p); i++ {
		diagonal := false // reach of (i-1, j-1)
		for j := 0; j <= len(q); j++ {
			upper := i > 0 && reach[j]
			left := j > 0 && reach[j-1]
			ok := i == 0 && j == 0
			switch {
			case i > 0 && p[i-1] == '*' && (upper || left):
				ok = true
			case j > 0 && q[j-1] == '*' && (upper || left):
				ok = true
			case i > 0 && j > 0 && p[i-1] == q[j-1] && diagonal:
				ok = true
			}
			diagonal, reach[j] = upper, ok
		}
	}
	return reach[len(q)]
}
