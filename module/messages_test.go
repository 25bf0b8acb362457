package module_test

import (
	"go/ast"
	"go/token"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// faultFiles are the files whose texts are the messages to clients, by their packages.
var faultFiles = map[string][]string{
	"translate/fault": {"refusals.go", "failures.go", "limits.go", "guards.go", "mcp.go", "sockets.go"},
	"translate/core":  {"request.go"},
}

// verb is a place in a format that a value takes.
var verb = regexp.MustCompile(`%[.\d]*[a-zA-Z]`)

// phrases returns the parts of a text without its values that have at least two words.
func phrases(text string) (parts []string) {
	for _, part := range verb.Split(text, -1) {
		part = strings.Trim(part, " ,:;'()\"<>")
		if len(strings.Fields(part)) >= 2 {
			parts = append(parts, part)
		}
	}
	return parts
}

// textsIn returns the texts of a node.
func textsIn(node ast.Node) (all []string) {
	ast.Inspect(node, func(node ast.Node) bool {
		if literal, ok := node.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			if text, err := strconv.Unquote(literal.Value); err == nil {
				all = append(all, text)
			}
		}
		return true
	})
	return all
}

// firstText returns the first text among the arguments of a call.
func firstText(call *ast.CallExpr) string {
	for _, argument := range call.Args {
		if texts := textsIn(argument); len(texts) > 0 {
			return texts[0]
		}
	}
	return ""
}

// nameOf returns the name of the function of a call, "" for that of a field of an entry of the log.
func nameOf(call *ast.CallExpr) string {
	switch function := call.Fun.(type) {
	case *ast.Ident:
		return function.Name
	case *ast.SelectorExpr:
		if of, ok := function.X.(*ast.Ident); !ok || of.Name != "zap" {
			return function.Sel.Name
		}
	}
	return ""
}

// refusals are the functions whose texts are those of a refused request, by the beginning of the
// packages that call them.
var refusals = map[string][]string{
	"module/accounts":       {"Refuse", "Later", "Invalid"},
	"module/providers/demo": {"InvalidField"},
	"translate/":            {"Invalid", "InvalidAt", "InvalidOption", "InvalidField", "Refuse"},
}

// refused returns the texts of a node that refuses a request. One row of the page covers all fields of
// requests for models that must be something.
func refused(s source, node ast.Node) (all []string) {
	for pkg, names := range refusals {
		if !strings.HasPrefix(s.pkg, pkg) {
			continue
		}
		switch node := node.(type) {
		case *ast.CallExpr:
			if slices.Contains(names, nameOf(node)) && pkg == "module/accounts" {
				all = append(all, firstText(node))
			} else if slices.Contains(names, nameOf(node)) {
				all = append(all, textsIn(node)...)
			}
		case *ast.KeyValueExpr:
			if key, ok := node.Key.(*ast.Ident); ok && key.Name == "Message" && pkg != "module/accounts" {
				all = append(all, textsIn(node.Value)...)
			}
		}
	}
	isField := func(text string) bool { return strings.HasPrefix(strings.TrimLeft(text, ": "), "must ") }
	if strings.HasPrefix(s.pkg, "module/accounts") {
		return all
	}
	return slices.DeleteFunc(all, isField)
}

// messages returns the messages of a file: of faults, of refusals, and of logs.
func messages(s source) (all []string) {
	if slices.Contains(faultFiles[s.pkg], path.Base(s.name)) {
		for _, declared := range s.syntax.Decls {
			if function, ok := declared.(*ast.FuncDecl); ok && function.Name.Name != "explained" {
				all = append(all, textsIn(function.Body)...)
			}
		}
	}
	ast.Inspect(s.syntax, func(node ast.Node) bool {
		if node == nil {
			return false
		}
		all = append(all, refused(s, node)...)
		if call, ok := node.(*ast.CallExpr); ok && len(call.Args) > 0 && strings.HasPrefix(s.pkg, "module/") {
			if name := nameOf(call); name == "Warn" || name == "Error" {
				all = append(all, firstText(call))
			}
		}
		return true
	})
	return all
}

// A message that the page lacks sends its reader to the source: the page has each message to clients,
// of the API and of the log.
func TestTroubleshootingHasEveryMessage(t *testing.T) {
	text, err := os.ReadFile("../caddyfile/docs/troubleshooting.md")
	require.NoError(t, err)
	page := strings.NewReplacer("\\<", "<", "`", "").Replace(string(text))
	found := 0
	for _, s := range sources(t) {
		if matchesAny(onlyForTests, s.pkg) {
			continue
		}
		for _, message := range messages(s) {
			for _, phrase := range phrases(message) {
				found++
				assert.True(t, strings.Contains(page, phrase), "%s: caddyfile/docs/troubleshooting.md lacks %q", s.name, phrase)
			}
		}
	}
	assert.Greater(t, found, 150)
	assert.Equal(t, []string{"the budget of", "is used up"}, phrases("the budget of %s is used up: %d"))
}
