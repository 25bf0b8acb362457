package translate_test

import (
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	// citation is the number of a rule, or of a trap of Caddy, in a comment.
	citation = regexp.MustCompile(`\b[A-H](?:\.\d+)+\b|wire format 0(?:\.\d+)+\b|\bT\d+\b`)

	numberedHeading = regexp.MustCompile(`^#+ ([0A-H](?:\.\d+)+) `)
	numberedItem    = regexp.MustCompile(`^(\d+)\. `)
	trapRow         = regexp.MustCompile(`^\| (T\d+) \| `)
)

// Comments once cited a specification that only its authors had.
func TestNoCommentCitesARuleThatIsNotThere(t *testing.T) {
	known := slices.Concat(rules(t), traps(t))
	for file, text := range filesOfTree(t, func(file string) bool { return path.Ext(file) == ".go" }) {
		for _, number := range citations(t, file, text) {
			assert.True(t, slices.Contains(known, number), "%s cites %s", file, number)
		}
	}
}

func TestEveryRuleHasANumberOfItsOwn(t *testing.T) {
	numbers := slices.Sorted(slices.Values(rules(t)))
	assert.Equal(t, slices.Compact(slices.Clone(numbers)), numbers)
}

// rules returns the numbers of the headings of the rules, and of the items of
// the lists below them.
func rules(t *testing.T) (numbers []string) {
	t.Helper()
	for _, text := range filesOfTree(t, func(file string) bool { return path.Dir(file) == "translate/rules" }) {
		heading := ""
		for line := range strings.Lines(text) {
			if match := numberedHeading.FindStringSubmatch(line); match != nil {
				heading = match[1]
				numbers = append(numbers, heading)
			} else if match := numberedItem.FindStringSubmatch(line); match != nil {
				numbers = append(numbers, heading+"."+match[1])
			}
		}
	}
	require.NotEmpty(t, numbers)
	return numbers
}

func traps(t *testing.T) (numbers []string) {
	t.Helper()
	text := filesOfTree(t, func(file string) bool { return file == "module/README.md" })["module/README.md"]
	for line := range strings.Lines(text) {
		if match := trapRow.FindStringSubmatch(line); match != nil {
			numbers = append(numbers, match[1])
		}
	}
	require.NotEmpty(t, numbers)
	return numbers
}

// citations returns the numbers that the comments of a Go file cite.
func citations(t *testing.T, file, text string) (numbers []string) {
	t.Helper()
	syntax, err := parser.ParseFile(token.NewFileSet(), file, text, parser.ParseComments|parser.SkipObjectResolution)
	require.NoError(t, err)
	for _, comment := range syntax.Comments {
		words := strings.Join(strings.Fields(comment.Text()), " ") // a citation may be broken over lines
		for _, number := range citation.FindAllString(words, -1) {
			numbers = append(numbers, strings.TrimPrefix(number, "wire format "))
		}
	}
	return numbers
}
