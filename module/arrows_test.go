package module_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const modulePath = "github.com/caddy-ai-gateway/caddy-ai-gateway"

type arrow struct {
	pkg     string
	imports []string
}

// arrows are the packages of this module that a package may import, its own
// tests aside; the packages below module/tests consist of tests.
// "x/..." means x and all below it. Packages are matched in this order.
var arrows = []arrow{
	{"translate/translatetest/client", nil},
	{"translate/...", []string{"translate/..."}},

	{"module/coding", nil},
	{"module/suggest", nil},
	{"module/version", nil},
	{"module/rendezvous", nil},
	{"module/outbound", nil},
	{"module/prices", []string{"module/suggest", "translate/token"}},
	{"module/metrics", []string{"translate/token"}},
	{"module/events", nil},
	{"module/filewatch", nil},
	{"module/alerts", []string{"module/aigateway", "module/events", "module/outbound", "module/secrets", "module/webhook"}},
	{"module/prices/pricefile", []string{"module/prices", "module/metrics", "module/filewatch"}},
	{"module/tracing", []string{"module/exchange", "translate/..."}},
	{"module/aigateway", []string{"translate/..."}},
	{"module/aigateway/accounting", []string{"module/aigateway", "translate/token"}},
	{"module/database", []string{"module/aigateway"}},
	{"module/secrets", []string{"module/aigateway", "module/filewatch"}},
	{"module/exchange", []string{"module/aigateway", "module/capture", "translate/..."}},
	{"module/gateway", []string{"module/gateway/...", "module/internal/problem", "module/capture", "module/metrics", "module/events", "module/tracing", "module/aigateway", "module/aigateway/accounting", "module/exchange", "module/suggest", "module/version", "translate/..."}},
	{"module/gateway/drain", []string{"module/exchange"}},
	{"module/gateway/intake", []string{"module/exchange", "module/coding", "translate/..."}},
	{"module/balance", []string{"module/rendezvous", "module/exchange"}},
	{"module/gateway/choice", []string{"module/gateway/catalog", "module/gateway/health", "module/rendezvous"}},
	{"module/gateway/explain", []string{"module/gateway/catalog", "module/gateway/choice", "module/gateway/detour", "module/gateway/health", "translate", "translate/format", "translate/pairs"}},
	{"module/gateway/shown", []string{"module/gateway/catalog", "module/gateway/choice", "module/gateway/guarding", "module/gateway/labels", "module/gateway/limiting", "module/prices", "module/aigateway", "translate"}},
	{"module/gateway/affinity", []string{"module/rendezvous", "translate/jsonscan"}},
	{"module/gateway/catalog", []string{"module/gateway/health", "module/metrics", "module/gateway/modellist", "module/prices", "module/prices/pricefile", "module/aigateway", "module/exchange", "module/suggest", "translate/..."}},
	{"module/gateway/failover", []string{"module/gateway/affinity", "module/gateway/catalog", "module/gateway/choice", "module/gateway/detour", "module/gateway/drain", "module/gateway/guarding", "module/gateway/health", "module/gateway/meter", "module/gateway/observe", "module/gateway/reply", "module/gateway/sink", "module/events", "module/tracing", "module/aigateway", "module/exchange", "translate", "translate/beside", "translate/fault", "translate/formats", "translate/seal", "translate/token"}},
	{"module/gateway/guarding", []string{"module/gateway/reply", "module/metrics", "module/aigateway", "module/exchange", "translate/..."}},
	{"module/gateway/detour", []string{"module/gateway/catalog", "module/gateway/modellist", "module/exchange", "translate", "translate/format", "translate/trait"}},
	{"module/gateway/keyring", []string{"module/aigateway", "translate/fault"}},
	{"module/gateway/labels", []string{"module/gateway/affinity", "module/aigateway", "module/exchange", "translate/beside", "translate/fault"}},
	{"module/gateway/limiting", []string{"module/gateway/catalog", "module/gateway/meter", "module/gateway/reply", "module/gateway/userbase", "module/prices", "module/events", "module/metrics", "module/aigateway", "module/aigateway/accounting", "module/exchange", "module/suggest", "translate/..."}},
	{"module/gateway/userbase", []string{"module/gateway/meter", "module/events", "module/metrics", "module/aigateway", "module/aigateway/accounting", "module/exchange", "translate/fault"}},
	{"module/gateway/sealkeys", []string{"module/aigateway", "module/secrets", "translate/seal"}},
	{"module/gateway/cors", []string{"module/aigateway"}},
	{"module/gateway/upstream", []string{"module/aigateway", "module/exchange"}},
	{"module/gateway/modellist", []string{"module/exchange", "translate", "translate/format", "translate/modelcard", "translate/trait"}},
	{"module/gateway/reply", []string{"module/gateway/meter", "module/gateway/sink", "module/aigateway", "module/aigateway/accounting", "module/exchange", "translate/fault"}},
	{"module/gateway/sink", []string{"module/aigateway", "module/exchange", "translate/..."}},
	{"module/gateway/...", []string{"module/prices", "module/metrics", "module/events", "module/aigateway", "module/aigateway/accounting", "module/exchange", "translate/..."}},
	{"module/transport/watch", nil},
	{"module/transport/socket", nil},
	{"module/transport/http1", []string{"module/transport/socket"}},
	{"module/transport/payload", []string{"module/exchange", "translate/edit"}},
	{"module/transport", []string{"module/version", "module/capture", "module/outbound", "module/transport/...", "module/metrics", "module/tracing", "module/aigateway", "module/secrets", "module/exchange", "module/coding", "translate/..."}},

	{"module/webhook", []string{"module/aigateway"}},
	{"module/internal/problem", nil},

	// Guests import the public API, and no other guest.
	{"module/keys/jwt", []string{"module/filewatch", "module/aigateway", "module/outbound"}},
	{"module/keys", []string{"module/filewatch", "module/aigateway", "module/secrets", "module/suggest", "translate"}},
	{"module/guards", []string{"module/aigateway", "module/outbound", "module/secrets", "module/webhook", "translate/jsonscan"}},
	{"module/limits", []string{"module/aigateway", "module/limits/restore"}},
	{"module/limits/restore", []string{"module/aigateway", "module/aigateway/accounting"}},
	{"module/limits/limitstest", []string{"module/aigateway", "module/gatewaytest"}},
	{"module/limits/redis", []string{"module/aigateway", "module/limits/restore", "module/metrics", "module/suggest"}},
	{"module/ledger/journal", nil},
	{"module/ledger/ledgertest", []string{"module/aigateway", "module/aigateway/accounting", "module/ledger", "module/database", "translate/token"}},
	{"module/ledger", []string{"module/metrics", "module/events", "module/aigateway", "module/aigateway/accounting", "module/ledger/journal", "module/database", "translate/token"}},
	{"module/store/storetest", []string{"module/aigateway", "module/aigateway/accounting", "module/store", "module/database", "module/gatewaytest"}},
	{"module/store/...", []string{"module/aigateway", "module/aigateway/accounting", "module/database", "module/ledger", "module/ledger/journal", "module/store/..."}},
	{"module/accounts/throttle", nil},
	{"module/accounts/signin", []string{"module/aigateway", "module/outbound", "module/secrets", "module/suggest"}},
	{"module/console", nil},
	{"module/capture", nil},
	{"module/accounts/answer", []string{"module/aigateway", "module/internal/problem"}},
	{"module/accounts/call", []string{"module/accounts/answer", "module/accounts/signin", "module/aigateway", "module/suggest", "translate/jsonscan"}},
	{"module/accounts/people", []string{"module/accounts/answer", "module/accounts/call", "module/accounts/throttle", "module/aigateway"}},
	{"module/accounts/compat/billing", []string{"module/aigateway", "module/aigateway/accounting", "translate/fault"}},
	{"module/accounts/compat", []string{"module/accounts/compat/billing", "module/accounts/answer", "module/accounts/call", "module/accounts/people", "module/aigateway"}},
	{"module/accounts/reports", []string{"module/accounts/answer", "module/accounts/call", "module/accounts/throttle", "module/capture", "module/aigateway", "module/aigateway/accounting"}},
	{"module/accounts", []string{"module/accounts/...", "module/console", "module/aigateway", "module/suggest"}},
	{"module/providers", []string{"module/aigateway", "module/providers/claude", "module/providers/demo", "module/providers/mistral", "translate", "translate/formats"}},
	{"module/providers/tokens", nil},
	{"module/providers/words", nil},
	{"module/providers/claude", []string{"module/aigateway", "translate"}},
	{"module/providers/mistral", []string{"module/aigateway"}},
	{"module/providers/azure", []string{"module/aigateway", "module/providers/claude", "module/providers/mistral", "module/providers/tokens", "module/providers/words", "translate"}},
	{"module/providers/bedrock", []string{"module/aigateway", "module/outbound", "module/providers/claude", "module/providers/tokens", "module/providers/words", "translate", "translate/edit", "translate/jsonscan"}},
	{"module/providers/vertex", []string{"module/aigateway", "module/providers/claude", "module/providers/mistral", "module/providers/tokens", "module/providers/words", "translate"}},
	{"module/providers/demo", []string{"module/providers/demo/reply", "translate/..."}},
	{"module/providers/demo/reply", []string{"translate/..."}},
	{"module/doctor", []string{"module/outbound"}},
	{"module/migration", []string{"module/aigateway", "module/prices"}},
	{"module/migration/rows", nil},
	{"module/migration/litellm", []string{"module/aigateway", "module/migration", "module/migration/rows", "module/prices"}},
	{"module/migration/newapi", []string{"module/aigateway", "module/migration", "module/migration/rows", "module/prices"}},
	{"module/command", []string{"module/accounts/reports", "module/aigateway", "module/aigateway/accounting", "module/doctor", "module/migration", "module/migration/...", "module/outbound", "translate/formats"}},

	{"module/gatewaytest/memory", nil},
	{"module/gatewaytest/openapi", nil},
	{"module/gatewaytest", []string{"module/...", "translate/..."}},
	{"module/tests/site", []string{"module", "module/gatewaytest", "module/aigateway", "module/exchange", "translate", "translate/formats", "translate/pairs", "translate/translatetest/client"}},
	{"module/tests/...", []string{
		"module/limits/limitstest", "module/tests/site", "module/gatewaytest", "module/gatewaytest/openapi", "module/store/storetest",
		"module/aigateway", "module/doctor", "module/exchange", "module/providers/demo", "translate", "translate/formats", "translate/pairs", "translate/trait", "translate/translatetest", "translate/translatetest/client",
	}},

	{"caddyfile", []string{"module/gateway", "module/gateway/affinity", "module/gateway/catalog", "module/gateway/limiting", "module/gateway/userbase", "module/gateway/cors", "module/gateway/guarding", "module/filewatch", "module/aigateway", "module/aigateway/accounting", "module/suggest", "translate", "translate/formats", "translate/trait"}},
	{"module", []string{"caddyfile", "module/..."}},
	{"cmd/caddy", []string{"module", "module/version"}},
	{"cmd/dev", []string{"translate/..."}},
	{"cmd/...", []string{"module"}},
}

// onlyForTests may be imported by no package of the product.
var onlyForTests = []string{"module/gatewaytest/...", "module/tests/...", "module/limits/limitstest", "module/store/storetest", "module/ledger/ledgertest", "translate/translatetest/..."}

// pure are the packages that take bytes and give bytes: they import nothing
// but the standard library.
var pure = []string{"translate/...", "module/providers/demo/..."}

// impure is what the packages below translate may not even take from the
// standard library: no network, no file, no log.
var impure = []string{"net", "net/http", "os", "log", "log/slog", "syscall"}

// clock is what reads or waits for the time; formatting a time does neither.
var clock = []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTicker", "NewTimer"}

func matches(pattern, pkg string) bool {
	parent, below := strings.CutSuffix(pattern, "/...")
	return pkg == parent || below && strings.HasPrefix(pkg, parent+"/")
}

func matchesAny(patterns []string, pkg string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return matches(p, pkg) })
}

// source is a parsed file of the product.
type source struct {
	pkg     string // directory below the root of the module
	name    string
	imports []string
	syntax  *ast.File
}

// sources parses every file of the product and of the integration tests, unit
// tests aside.
func sources(t *testing.T) []source {
	t.Helper()
	var all []source
	err := filepath.WalkDir("..", func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (entry.Name() == "testdata" || entry.Name() == "node_modules" || strings.HasPrefix(entry.Name(), ".") && file != "..") {
			return filepath.SkipDir
		}
		if entry.IsDir() || !strings.HasSuffix(file, ".go") || isUnitTest(file) {
			return nil
		}
		syntax, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		name := strings.TrimPrefix(filepath.ToSlash(file), "../")
		all = append(all, source{path.Dir(name), name, importsOf(syntax), syntax})
		return nil
	})
	require.NoError(t, err)
	require.NotEmpty(t, all)
	return all
}

func isUnitTest(file string) bool {
	return strings.HasSuffix(file, "_test.go") && !strings.Contains(filepath.ToSlash(file), "/module/tests/")
}

func importsOf(file *ast.File) []string {
	var imports []string
	for _, spec := range file.Imports {
		name, _ := strconv.Unquote(spec.Path.Value) // it has been parsed
		imports = append(imports, name)
	}
	return imports
}

func TestPackagesImportOnlyWhatTheyMay(t *testing.T) {
	for _, file := range sources(t) {
		i := slices.IndexFunc(arrows, func(a arrow) bool { return matches(a.pkg, file.pkg) })
		if !assert.GreaterOrEqual(t, i, 0, "%s: the package has no place in the table of arrows", file.name) {
			continue
		}
		for _, imported := range file.imports {
			target, own := strings.CutPrefix(imported, modulePath+"/")
			if !own {
				continue
			}
			assert.True(t, matchesAny(arrows[i].imports, target), "%s imports %s", file.name, target)
			if !matchesAny(onlyForTests, file.pkg) {
				assert.False(t, matchesAny(onlyForTests, target), "%s imports %s", file.name, target)
			}
		}
	}
}

// TestGuestsOfOtherModulesNeedOnlyThePublicAPI ensures that a guest can be written
// without the packages of which nothing is promised.
func TestGuestsOfOtherModulesNeedOnlyThePublicAPI(t *testing.T) {
	syntax, err := parser.ParseFile(token.NewFileSet(), "../testdata/guests/guests.go", nil, parser.ImportsOnly)
	require.NoError(t, err)
	for _, imported := range importsOf(syntax) {
		if target, own := strings.CutPrefix(imported, modulePath+"/"); own {
			assert.Contains(t, []string{"module/aigateway", "translate"}, target)
		}
	}
}

func TestPurePackagesImportOnlyTheStandardLibrary(t *testing.T) {
	for _, file := range sources(t) {
		if !matchesAny(pure, file.pkg) || matchesAny(onlyForTests, file.pkg) {
			continue
		}
		for _, imported := range file.imports {
			host, _, _ := strings.Cut(imported, "/")
			own := strings.HasPrefix(imported, modulePath+"/")
			assert.True(t, own || !strings.Contains(host, "."), "%s imports %s", file.name, imported)
		}
	}
}

// What a request and its answer share is a package of its own: a reader of requests that needs
// a type of the answers would lengthen the longest chain of imports by all of theirs.
func TestRequestsAndAnswersOfFormatsDoNotImportEachOther(t *testing.T) {
	for _, file := range sources(t) {
		folder, side := path.Split(file.pkg)
		other := map[string]string{"request": "answer", "answer": "request"}[side]
		if other == "" || path.Dir(path.Clean(folder)) != "translate" || folder == "translate/gemini/" { // requests bring back the signatures of its answers
			continue
		}
		for _, imported := range file.imports {
			assert.False(t, strings.HasPrefix(imported, modulePath+"/translate/") && path.Base(imported) == other, "%s imports %s", file.name, imported)
		}
	}
}

func TestTranslateHasNoNetworkNoClockAndNoGoroutine(t *testing.T) {
	for _, file := range sources(t) {
		if !matches("translate/...", file.pkg) || matchesAny(onlyForTests, file.pkg) {
			continue
		}
		for _, imported := range file.imports {
			assert.NotContains(t, impure, imported, file.name)
		}
		ast.Inspect(file.syntax, func(n ast.Node) bool {
			assert.False(t, startsGoroutine(n), "%s starts a goroutine", file.name)
			assert.False(t, usesClock(n), "%s uses the clock", file.name)
			return true
		})
	}
}

func startsGoroutine(n ast.Node) bool {
	_, ok := n.(*ast.GoStmt)
	return ok
}

func usesClock(n ast.Node) bool {
	selector, ok := n.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	pkg, ok := selector.X.(*ast.Ident)
	return ok && pkg.Name == "time" && slices.Contains(clock, selector.Sel.Name)
}
