package aigateway

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParsePatternRefusesWhatCannotBeMeant(t *testing.T) {
	for _, s := range []string{"", " ", "a b", "a\tb", "a\nb", "a\x00", "a\x7f", strings.Repeat("a", 257)} {
		_, err := ParsePattern(s)
		assert.ErrorIs(t, err, ErrPattern, "%q", s)
	}
	for _, s := range []string{"*", "a", "gpt-*", "*/*", "vendor/model:free", "модель", strings.Repeat("a", 256)} {
		p, err := ParsePattern(s)
		assert.NoError(t, err, s)
		assert.Equal(t, Pattern(s), p)
	}
}

func TestMatchTakesTheStarForAnythingAndAllElseForItself(t *testing.T) {
	for _, test := range []struct {
		pattern   Pattern
		matches   []string
		doesNot   []string
		exact     bool
		hasPrefix string
	}{
		{"gpt-5", []string{"gpt-5"}, []string{"", "gpt-", "gpt-5.1", "GPT-5", " gpt-5"}, true, "gpt-5"},
		{"gpt-*", []string{"gpt-", "gpt-5", "gpt-*", "gpt-é"}, []string{"gpt", "xgpt-5"}, false, "gpt-"},
		{"*", []string{"", "a", "*", "a/b"}, nil, false, ""},
		{"**", []string{"", "a"}, nil, false, ""},
		{"*-mini", []string{"-mini", "gpt-5-mini", "-mini-mini"}, []string{"-mini-", "mini"}, false, ""},
		{"a*b*c", []string{"abc", "aXbYc", "abbcc", "abcbc"}, []string{"ab", "ac", "acb", "abcd"}, false, "a"},
		{"a.c", []string{"a.c"}, []string{"abc"}, true, "a.c"},
		{"[a]?", []string{"[a]?"}, []string{"a", "ab"}, true, "[a]?"},
	} {
		for _, name := range test.matches {
			assert.True(t, test.pattern.Match(name), "%s, %s", test.pattern, name)
		}
		for _, name := range test.doesNot {
			assert.False(t, test.pattern.Match(name), "%s, %s", test.pattern, name)
		}
		assert.Equal(t, test.exact, test.pattern.Exact())
		assert.Equal(t, test.hasPrefix, test.pattern.Prefix())
	}
}

func TestOtherSpellingsAreCovered(t *testing.T) {
	for _, name := range []string{"Gpt-5", "gPT-5.1", "GPT-5", " gpt-5", "gpt-5 ", "models/gpt-5", "publishers/x/models/GPT-5", "MODELS/gpt-5"} {
		assert.True(t, Pattern("Gpt-5*").Covers(name), "%q", name)
	}
	for _, name := range []string{"", "gpt-4", "xgpt-5", "vendor/gpt-5", "mymodels/gpt-5", "models/", "gpt-5/models/gpt-4"} {
		assert.False(t, Pattern("gpt-5").Covers(name), "%q", name)
	}
	assert.True(t, Pattern("models/gpt-5").Covers("models/GPT-5"))
	for name, want := range map[string]bool{"gpt-5": true, "Gpt-5.1": true, " GPT-5": true, "models/gpt-5": false, "gpt-4": false, "": false} {
		assert.Equal(t, want, Pattern("GPT-5*").MatchAnyCase(name), "%q", name)
	}
}

// texts returns all texts over an alphabet up to a length.
func texts(alphabet string, longest int) []string {
	all, last := []string{""}, []string{""}
	for range longest {
		var longer []string
		for _, text := range last {
			for _, c := range alphabet {
				longer = append(longer, text+string(c))
			}
		}
		all, last = append(all, longer...), longer
	}
	return all
}

// TestOverlapsFindsACommonNameIfThereIsOne compares Overlaps with Match for every pair of
// short patterns, and every text that could be their shortest common name.
func TestOverlapsFindsACommonNameIfThereIsOne(t *testing.T) {
	patterns, names := texts("ab*", 4), texts("ab", 8)
	matched := make([][]bool, len(patterns))
	for i, p := range patterns {
		matched[i] = make([]bool, len(names))
		for j, name := range names {
			matched[i][j] = Pattern(p).Match(name)
			if matched[i][j] != plainMatch(p, name) {
				require.Fail(t, "Match disagrees", "%s, %s", p, name)
			}
		}
	}
	for i, p := range patterns {
		for j, q := range patterns {
			if Pattern(p).Overlaps(Pattern(q)) != anyBoth(matched[i], matched[j]) {
				require.Fail(t, "Overlaps is wrong", "%s, %s", p, q)
			}
		}
	}
}

func anyBoth(a, b []bool) bool {
	for i := range a {
		if a[i] && b[i] {
			return true
		}
	}
	return false
}

// With an exponential running time, this test would not end.
func TestMatchOfAHostileNameIsNotExponential(t *testing.T) {
	pattern := Pattern(strings.Repeat("*a", 128))
	assert.False(t, pattern.Match(strings.Repeat("a", 4096)+"b"))
	assert.True(t, pattern.Match(strings.Repeat("a", 4096)))
	assert.True(t, pattern.Overlaps(pattern))
}

func FuzzPatterns(f *testing.F) {
	for _, seed := range [][3]string{{"gpt-*", "*-mini", "gpt-5-mini"}, {"**", "a*b", "ab"}, {"", "*", ""}, {"é*", "*\xa9", "é"}} {
		f.Add(seed[0], seed[1], seed[2])
	}
	f.Fuzz(func(t *testing.T, a, b, name string) {
		p, q := Pattern(a), Pattern(b)
		if len(a)+len(b)+len(name) > 512 {
			return
		}
		inP, inQ := p.Match(name), q.Match(name)
		assert.Equal(t, plainMatch(a, name), inP)
		overlap := p.Overlaps(q)
		assert.Equal(t, overlap, q.Overlaps(p))
		assert.True(t, overlap || !inP || !inQ, "%q matches %q and %q", name, a, b)
		assert.True(t, p.Overlaps(p))
		assert.True(t, p.Overlaps("*"))
		if p.Exact() {
			assert.Equal(t, q.Match(a), overlap)
		}
	})
}

// plainMatch is a simple implementation of Match.
func plainMatch(p, name string) bool {
	switch {
	case p == "":
		return name == ""
	case p[0] == '*':
		parts := strings.SplitN(strings.TrimLeft(p, "*"), "*", 2)
		if p = strings.TrimLeft(p, "*"); len(parts) == 1 {
			return strings.HasSuffix(name, p)
		}
		_, rest, found := strings.Cut(name, parts[0])
		return found && plainMatch("*"+parts[1], rest)
	case name == "" || name[0] != p[0]:
		return false
	default:
		return plainMatch(p[1:], name[1:])
	}
}

// TestListsOfModelsAreReadAlike: `models demo, gpt-*` made a key that could use nothing, because the
// Caddyfile separates by spaces, the commands by commas, and neither said so.
func TestListsOfModelsAreReadAlike(t *testing.T) {
	for _, texts := range [][]string{{"demo,", "gpt-*"}, {"demo gpt-*"}, {"demo,gpt-*"}, {"demo"}, {" demo , gpt-* ,"}, {"demo", ",gpt-*"}} {
		got := SplitList(texts)
		assert.Equal(t, "demo", got[0], texts)
		assert.True(t, len(got) == 1 || got[1] == "gpt-*" && len(got) == 2, "%q %q", texts, got)
	}
	for _, nothing := range []string{",", " ", ", ,"} {
		_, err := ParsePattern(SplitList([]string{nothing})[0])
		assert.ErrorIs(t, err, ErrPattern, "a list of nothing would be all models: %q", nothing)
	}
	assert.Empty(t, SplitList(nil))
	_, err := ParsePattern("demo,gpt-*")
	assert.ErrorIs(t, err, ErrPattern)
}
