package module_test

import (
	"go/ast"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
)

// nameFormats are the files that may name a format, with the reason. The package
// of a format may name it as well. All others ask the descriptor of the format.
var nameFormats = map[string]string{
	"translate/chat/answer/batches.go":    "the results of a batch are answers of several endpoints, by what they state to be",
	"module/providers/presets.go":         "a preset says which formats a service speaks",
	"module/providers/azure/azure.go":     "the same",
	"module/providers/vertex/vertex.go":   "the same",
	"module/providers/bedrock/bedrock.go": "the same",
}

// Code that asks which format it has is wrong for the next format: most of it
// once read "if messages, else".
func TestFewFilesNameAFormat(t *testing.T) {
	constants := make(map[string]string) // with the package of the format
	for _, f := range formats.All() {
		name := f.String()
		constants[strings.ToUpper(name[:1])+name[1:]] = "translate/" + name
	}
	named := make(map[string]bool)
	for _, file := range sources(t) {
		if matchesAny(onlyForTests, file.pkg) {
			continue
		}
		ast.Inspect(file.syntax, func(n ast.Node) bool {
			own, isFormat := constants[selected(n, "translate")]
			if !isFormat || matches(own+"/...", file.pkg) {
				return true
			}
			named[file.name] = true
			assert.Contains(t, nameFormats, file.name, "names %s", own)
			return true
		})
	}
	for file := range nameFormats {
		assert.True(t, named[file], "%s names no format", file)
	}
}

// selected returns what n selects of a package, "" if it is no such selector.
func selected(n ast.Node, pkg string) string {
	selector, ok := n.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	if from, ok := selector.X.(*ast.Ident); !ok || from.Name != pkg {
		return ""
	}
	return selector.Sel.Name
}
