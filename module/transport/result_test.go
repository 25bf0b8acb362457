package transport

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

func TestMergedResultIsThatOfTheFailedCallOrHasTheFirstHeaders(t *testing.T) {
	parts := []exchange.Part{{Share: 1}}
	whole := exchange.Result{State: exchange.Content, Sent: true, Parts: parts, Times: exchange.Times{Called: time.Unix(1, 0), Began: time.Unix(2, 0)}}
	first := exchange.Result{Status: 200, Head: exchange.Head{RequestID: "first"}}
	failed := exchange.Result{State: exchange.Broken, Status: 503, Fault: fault.Unusable(nil)}
	answered := whole
	answered.Status, answered.Head.RequestID = 200, "first"
	assert.Equal(t, answered, mergeResults(whole, &first, nil))
	cut := failed
	cut.Times.Called, cut.Times.Began, cut.Parts = whole.Times.Called, whole.Times.Began, parts // a stream that broke off counted as refused
	assert.Equal(t, cut, mergeResults(whole, &first, &failed))
}

// Seven files wrote texts of providers into results, and each of them had to redact.
func TestOneFileWritesTextsOfProviders(t *testing.T) {
	texts := []string{"Answer", "AnsweredBy", "Dropped", "Fault", "Header", "RequestID"}
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	for _, name := range files {
		if name == "result.go" || strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			if assign, ok := n.(*ast.AssignStmt); ok {
				for _, to := range assign.Lhs {
					field, ok := to.(*ast.SelectorExpr)
					if ok && selects(field.X, "result") {
						assert.NotContains(t, texts, field.Sel.Name, "%s writes a text of the provider", name)
					}
				}
			}
			return true
		})
	}
}

// selects reports whether an expression selects the field of this name.
func selects(x ast.Expr, field string) bool {
	selector, ok := x.(*ast.SelectorExpr)
	return ok && selector.Sel.Name == field
}
