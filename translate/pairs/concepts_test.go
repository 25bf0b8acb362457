package pairs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
)

// stateless lists the concepts that no field of a format states, and why.
var stateless = map[translate.Format]map[string]string{
	translate.Messages: {
		"BrokenArguments": "arguments are objects",
		"NoMaxTokens":     "requests have a bound",
	},
	translate.Chat: {
		"TextBehindCall":    "calls are behind the text of their message",
		"ReasoningAdaptive": "an option that other formats have",
	},
	translate.Responses: {
		"EmptyStop":          "requests have no stops",
		"TextBehindCall":     "the reader moves calls behind the texts of their turn",
		"ReasoningAdaptive":  "an option that other formats have",
		"EncryptedReasoning": "what providers encrypt is of this format",
	},
	translate.Gemini: {
		"BrokenArguments":       "arguments are objects",
		"CachePartTTL":          "there are no breakpoints of the cache",
		"CachePartsBeyond":      "there are no breakpoints of the cache",
		"IdleReasoning":         "only the reasoning of calls is read",
		"Reasoning":             "the reasoning of a call is in its signature",
		"SystemBehindAssistant": "the system is in front",
		"SelfSignedReasoning":   "seals have no signatures of this gateway",
	},
	translate.Completions: {
		"Conversation": "the content is the prompt", "SystemText": "the content is the prompt", "TurnText": "the content is the prompt",
		"Schema": "an option that other formats have", "ReasoningAdaptive": "an option that other formats have",
		"FunctionTool": "there are no tools", "ToolChoiceWithoutTools": "there are no tools", "UnusedTools": "there are no tools",
		"BrokenArguments": "there are no calls", "ToolResult": "there are no calls", "TextBeforeResult": "there are no calls", "TextBehindCall": "there are no calls",
		"EmptyTurn": "the one turn has a text", "Prefill": "the one turn is the user's", "PrefillSpace": "the one turn is the user's", "SystemBehindAssistant": "the one turn is the user's",
		"Reasoning": "the one turn is the user's", "RedactedReasoning": "the one turn is the user's", "EncryptedReasoning": "the one turn is the user's",
		"SelfSignedReasoning": "the one turn is the user's", "IdleReasoning": "the one turn is the user's",
		"CachePartsBeyond": "there are no breakpoints of the cache", "CachePartTTL": "there are no breakpoints of the cache", "ImageAddress": "there are no media", "RareImage": "there are no media", "FileAddress": "there are no media",
		"TextDocument": "there are no media", "Image": "there are no media", "File": "there are no media",
	},
}

// A messages client marked five texts for the cache. The writer of Converse keeps four marks and
// reports the others, and the client's reader had no row for them: the request was refused
// without the name of a field. What a writer looks up has a row in every other format.
func TestConceptsOfWritersHaveRowsInEveryReader(t *testing.T) {
	concepts := conceptsByName(t)
	asked := askedByWriters(t)
	require.Greater(t, len(asked), 20)
	for name, writers := range asked {
		c, known := concepts[name]
		require.True(t, known, name)
		for from, exceptions := range stateless {
			if len(writers) == 1 && writers[string(from)] {
				continue // no request is translated to its own format
			}
			has := formats.Of(from).Requests.Source.Rows.Has(c)
			_, excepted := exceptions[name]
			assert.NotEqual(t, has, excepted, "%s of %s, which the writers %v ask for", name, from, writers)
		}
	}
	assert.Len(t, stateless, len(known))
}

// conceptsByName returns all concepts.
func conceptsByName(t *testing.T) map[string]core.Concept {
	t.Helper()
	tree, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", "core", "concept.go"), nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	all := make(map[string]core.Concept)
	ast.Inspect(tree, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok {
			all[spec.Names[0].Name] = core.Concept(len(all))
		}
		return true
	})
	require.Equal(t, core.Nothing, all["Nothing"])
	require.Equal(t, core.FunctionTool, all["FunctionTool"])
	return all
}

// askedByWriters returns the concepts whose rows writers look up, by name, and the formats of
// these writers, "core" and "parts" for what several have in common.
func askedByWriters(t *testing.T) map[string]map[string]bool {
	t.Helper()
	paths, err := filepath.Glob("../*/request/*.go")
	require.NoError(t, err)
	shared, err := filepath.Glob("../core/*.go")
	require.NoError(t, err)
	asked := make(map[string]map[string]bool)
	for _, path := range append(append(paths, shared...), "../internal/parts/tools.go") {
		if base := filepath.Base(path); strings.HasPrefix(base, "read") || strings.HasSuffix(base, "_test.go") {
			continue
		}
		tree, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		writer := strings.Split(filepath.ToSlash(path), "/")[1]
		ast.Inspect(tree, func(n ast.Node) bool {
			for _, name := range lookedUp(n) {
				if asked[name] == nil {
					asked[name] = make(map[string]bool)
				}
				asked[name][writer] = true
			}
			return true
		})
	}
	return asked
}

// lookedUp returns the concepts in the arguments of a call that looks up their rows.
func lookedUp(n ast.Node) (names []string) {
	call, isCall := n.(*ast.CallExpr)
	if !isCall {
		return nil
	}
	called := ""
	switch fun := call.Fun.(type) {
	case *ast.Ident:
		called = fun.Name
	case *ast.SelectorExpr:
		called = fun.Sel.Name
		if pkg, ok := fun.X.(*ast.Ident); ok && pkg.Name == "core" && called == "Keep" {
			return nil // an outcome
		}
	}
	if !slices.Contains([]string{"Keep", "KeepAt", "Report", "PathOf"}, called) {
		return nil
	}
	for _, arg := range call.Args {
		name := ""
		switch arg := arg.(type) {
		case *ast.SelectorExpr:
			name = arg.Sel.Name
		case *ast.Ident:
			name = arg.Name
		}
		if ast.IsExported(name) && !slices.Contains([]string{"Hinted", "Shaped", "At"}, name) {
			names = append(names, name)
		}
	}
	return names
}
