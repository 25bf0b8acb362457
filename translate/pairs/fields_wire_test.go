package pairs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/pairs"
)

// vocabulary is the words of the rows about a client's format: members and values.
func vocabulary(source translate.Format) map[string]bool {
	all := make(map[string]bool)
	for _, to := range spoken {
		for _, row := range pairs.Fields(source, to) {
			for _, word := range wordsOf(row.Name) {
				all[word] = true
			}
		}
	}
	return all
}

func wordsOf(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return strings.ContainsRune(".=[],+ ", r) })
}

// inspected returns the members and the types that the strict pass of a format
// distinguishes: all strings in its files that look like names.
func inspected(t *testing.T, format translate.Format) (names []string) {
	t.Helper()
	var paths []string
	for _, file := range []string{"inspect.go", "turns.go", "prompt.go", "inspect_parts.go"} {
		files, _ := filepath.Glob(filepath.Join("..", string(format), "request", file))
		paths = append(paths, files...)
	}
	for _, path := range paths {
		tree, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.Inspect(tree, func(n ast.Node) bool {
			if _, isImport := n.(*ast.ImportSpec); isImport {
				return false
			}
			if text, ok := n.(*ast.BasicLit); ok && text.Kind == token.STRING {
				value, _ := strconv.Unquote(text.Value)
				names = append(names, namesIn(value)...)
			}
			return true
		})
	}
	require.NotEmpty(t, names, format)
	return names
}

// namesIn returns the names in a text that is nothing but names.
func namesIn(text string) []string {
	if !regexp.MustCompile(`^[a-z0-9_]+( [a-z0-9_]+)* ?$`).MatchString(text) || strings.HasPrefix(text, "must ") {
		return nil
	}
	return strings.Fields(text)
}

// ofOneRow are members and values inside of fields that have one row as a whole. The strict
// pass reads them for what the request may cost.
var ofOneRow = map[string]bool{
	"max_uses": true, "edits": true, "compact_": true, "function": true,
}

// inCamelCase returns the first spelling of a name that a format has in two.
func inCamelCase(name string) string {
	return regexp.MustCompile(`_[a-z]`).ReplaceAllStringFunc(name, func(s string) string { return strings.ToUpper(s[1:]) })
}

func TestEveryMemberThatIsInspectedHasARow(t *testing.T) {
	for _, w := range requestWays {
		table := vocabulary(w.source)
		for _, name := range inspected(t, w.source) {
			assert.True(t, table[name] || table[inCamelCase(name)] || ofOneRow[name], "%s: %s", w.name(), name)
		}
	}
}

func TestRowsAndSamplesBelongTogether(t *testing.T) {
	used := make(map[string]bool)
	for _, w := range requestWays {
		names := make(map[string]bool)
		for _, row := range pairs.Fields(w.source, w.target) {
			assert.False(t, names[row.Name], "%s: %s has two rows", w.name(), row.Name)
			names[row.Name] = true
			used[string(w.source)+row.Name] = true
		}
	}
	for format, s := range sampled {
		require.NotEmpty(t, s.samples)
		for name := range s.samples {
			assert.True(t, used[string(format)+name], "no table has %s", name)
		}
	}
}

func TestCapabilitiesFollowTheTraits(t *testing.T) {
	caps := func(traits string) pairs.Capabilities {
		return pairs.CapabilitiesOf(translate.Messages, translate.Chat, traitsOf(t, traits))
	}
	c := caps("")
	assert.Contains(t, c.Kept, "temperature")
	assert.Contains(t, c.Reported, "top_k")
	assert.Contains(t, c.Reported, "speed")
	assert.Contains(t, c.Refused, "thread")
	assert.Len(t, pairs.Fields(translate.Messages, translate.Chat), len(c.Kept)+len(c.Reported)+len(c.Refused))

	c = caps("on_loss reject; extensions top_k min_p; files true")
	assert.Contains(t, c.Kept, "top_k")
	assert.Contains(t, c.Kept, "min_p", "what the provider takes beyond the formats")
	assert.Contains(t, c.Kept, "messages.*.content.*.type=document+source.type=base64")
	assert.Contains(t, c.Reported, "speed", "a hint shapes nothing")
	assert.Contains(t, c.Refused, "output_config.effort=high", "in strict mode")
}

// vocabularies are the words of each client's format.
var vocabularies = func() map[translate.Format]map[string]bool {
	all := make(map[translate.Format]map[string]bool)
	for _, source := range spoken {
		all[source] = vocabulary(source)
	}
	return all
}()

// requireBoundedName ensures that names that a client has chosen are no names for metrics, of
// which there must be a bounded number: a loss without the mark is a field of the client's format.
func requireBoundedName(t *testing.T, source translate.Format, loss translate.Loss) {
	t.Helper()
	if loss.Foreign {
		require.True(t, strings.HasSuffix(loss.Name(), "?"), loss.Path)
	}
	for _, word := range wordsOf(strings.TrimRight(loss.Name(), `?"`)) {
		require.True(t, vocabularies[source][word], "%s is in no format", loss.Path)
	}
}
