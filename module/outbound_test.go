package module_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// senders are the libraries that send HTTP requests, and the only packages that may import each:
// they give the library a client of outbound, check its answers by outbound.Final, or let it send
// nothing.
var senders = map[string][]string{
	"cloud.google.com/go/auth":             {"module/providers/vertex"},
	"cloud.google.com/go/auth/credentials": {"module/providers/vertex"},
	"github.com/aws/aws-sdk-go-v2/config":  {"module/providers/bedrock"},
	"github.com/coder/websocket":           {"module/gateway/sockets", "module/transport", "module/transport/duplex"},
	"github.com/coreos/go-oidc/v3/oidc":    {"module/accounts/signin", "module/internal/issuer"},
	"golang.org/x/oauth2":                  {"module/accounts/signin"},
}

// carriers are the round trips whose answer another one makes final.
var carriers = []string{
	"module/gateway/routing/upstream.direct", // its transport checks answers
	"module/providers.Demo",                  // answers in this process
}

// A provider, a token server and an issuer of sign-ins that answered 101 held their callers
// without end, because each of them had a client of its own. A request that the package outbound
// does not know of is found here.
func TestEveryCallHasAFinalAnswer(t *testing.T) {
	for _, file := range sources(t) {
		if file.pkg == "module/internal/outbound" || strings.HasPrefix(file.pkg, "cmd/") || matchesAny(onlyForTests, file.pkg) {
			continue
		}
		for _, imported := range file.imports {
			if only, known := senders[imported]; known {
				assert.Contains(t, only, file.pkg, "%s imports %s", file.name, imported)
			}
		}
		for _, decl := range file.syntax.Decls {
			of := file.pkg + "."
			if method, ok := decl.(*ast.FuncDecl); ok && method.Recv != nil {
				of += receiver(method)
			}
			for _, call := range unfinal(decl) {
				assert.Contains(t, carriers, of, "%s: %s is used without the package outbound", file.name, call)
			}
		}
	}
}

// unfinal returns the words of a declaration that send requests, but those whose answers
// outbound.Final checks.
func unfinal(decl ast.Decl) (found []string) {
	checked := make(map[ast.Expr]bool) // calls whose answer is final, and types of pointers to clients
	ast.Inspect(decl, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if isOf(n.Fun, "outbound", "Final") {
				if call, ok := n.Args[0].(*ast.CallExpr); ok {
					checked[call.Fun] = true
				}
			}
			if s, ok := n.Fun.(*ast.SelectorExpr); ok && !checked[s] && (s.Sel.Name == "RoundTrip" || s.Sel.Name == "AdminAPIRequest") {
				found = append(found, s.Sel.Name)
			}
		case *ast.StarExpr:
			checked[n.X] = true
		case *ast.SelectorExpr:
			if !checked[n] && isOf(n, "http", "Client", "DefaultClient", "Get", "Head", "Post", "PostForm") {
				found = append(found, "http."+n.Sel.Name)
			}
		}
		return true
	})
	return found
}

// A client that was made by new, or declared without a value, was not found.
func TestRequestsThatAreNotFinalAreFound(t *testing.T) {
	for text, want := range map[string]string{
		`var c = &http.Client{}`:                                          "http.Client",
		`var c = new(http.Client)`:                                        "http.Client",
		`var c http.Client`:                                               "http.Client",
		`type t struct { client http.Client }`:                            "http.Client",
		`var c = http.DefaultClient`:                                      "http.DefaultClient",
		`func f() { http.Get("https://a.example") }`:                      "http.Get",
		`var post = http.PostForm`:                                        "http.PostForm",
		`func f(c http.RoundTripper, r *http.Request) { c.RoundTrip(r) }`: "RoundTrip",
		`func f(r *http.Request) { cmd.AdminAPIRequest(r) }`:              "AdminAPIRequest",

		`type t struct { client *http.Client }`:                      "",
		`var c = outbound.Client(time.Minute, nil)`:                  "",
		`func f(r *http.Request) { outbound.Final(c.RoundTrip(r)) }`: "",
		`func f(r *http.Request) { outbound.Other(c.RoundTrip(r)) }`: "RoundTrip",
		`func f(c *http.Client, r *http.Request) { c.Do(r) }`:        "",
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "", "package p\n"+text, parser.SkipObjectResolution)
		require.NoError(t, err, text)
		assert.Equal(t, want, strings.Join(unfinal(file.Decls[0]), " "), text)
	}
}

// isOf reports whether an expression is one of some names of a package.
func isOf(e ast.Expr, pkg string, names ...string) bool {
	s, ok := e.(*ast.SelectorExpr)
	if !ok || !slices.Contains(names, s.Sel.Name) {
		return false
	}
	of, ok := s.X.(*ast.Ident)
	return ok && of.Name == pkg
}
