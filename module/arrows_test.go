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

	{"module/internal/coding", nil},
	{"module/aigateway/suggest", nil},
	{"module/internal/version", nil},
	{"module/internal/rendezvous", nil},
	{"module/internal/outbound", nil},
	{"module/internal/modeltable", []string{"module/aigateway/suggest"}},
	{"module/ledger/prices", []string{"module/internal/modeltable", "translate/token"}},
	{"module/providers/models", []string{"module/internal/modeltable", "translate/trait"}},
	{"module/telemetry/metrics", []string{"translate/token"}},
	{"module/telemetry/events", nil},
	{"module/internal/filewatch", nil},
	{"module/telemetry/alerts", []string{"module/telemetry/events"}},
	{"module/telemetry/alerts/delivery", []string{"module/aigateway", "module/aigateway/suggest", "module/telemetry/alerts", "module/telemetry/events", "module/internal/outbound", "module/internal/secrets", "module/internal/webhook"}},
	{"module/telemetry/alerts/spend", []string{"module/telemetry/alerts", "module/telemetry/events", "module/aigateway", "module/aigateway/accounting"}},
	{"module/gateway/routing/catalog/tables", []string{"module/aigateway", "module/ledger/prices", "module/providers/models", "module/telemetry/metrics", "module/internal/filewatch", "module/internal/modeltable"}},
	{"module/telemetry/tracing", []string{"module/aigateway", "module/exchange", "translate/..."}},
	{"module/aigateway", []string{"translate/..."}},
	{"module/aigateway/accounting", []string{"module/aigateway", "translate/token"}},
	{"module/internal/api", []string{"module/aigateway", "translate"}},
	{"module/internal/database", []string{"module/aigateway"}},
	{"module/internal/secrets", []string{"module/aigateway", "module/internal/filewatch"}},
	{"module/internal/issuer", []string{"module/aigateway", "module/internal/filewatch", "module/internal/outbound"}},
	{"module/exchange", []string{"module/aigateway", "translate/..."}},
	{"module/gateway", []string{"module/telemetry/observe", "module/internal/api", "module/gateway/...", "module/internal/sealkeys", "module/internal/problem", "module/telemetry/capture", "module/telemetry/metrics", "module/telemetry/events", "module/telemetry/alerts/spend", "module/telemetry/tracing", "module/aigateway", "module/aigateway/accounting", "module/exchange", "module/internal/version", "translate/..."}},
	{"module/gateway/sockets/clientsecret", []string{"module/aigateway", "module/exchange", "translate/fault", "translate/jsonscan", "translate/realtime", "translate/seal"}},
	{"module/gateway/cache", []string{"module/aigateway", "module/exchange", "translate", "translate/core", "translate/passthrough", "translate/seal"}},
	{"module/gateway/mcp", []string{"module/aigateway", "module/internal/outbound", "module/internal/secrets", "module/telemetry/events", "translate/jsonscan", "translate/mcp"}},
	{"module/gateway/mcp/endpoint", []string{"module/aigateway", "module/exchange", "module/gateway/drain", "module/gateway/guardrails", "module/gateway/mcp", "module/gateway/reply", "module/gateway/reply/sink", "module/gateway/request", "module/gateway/request/cors", "module/gateway/request/keyring", "module/gateway/request/labels", "module/gateway/request/routes", "module/telemetry/tracing", "translate/..."}},
	{"module/gateway/pass", []string{"module/exchange", "module/telemetry/observe", "module/gateway/request", "translate/..."}},
	{"module/gateway/routing/conditions", []string{"module/gateway/request/marks", "module/gateway/routing/catalog", "module/gateway/meter", "module/aigateway/suggest", "module/exchange", "translate/core", "translate/fault", "translate/passthrough"}},
	{"module/gateway/sockets", []string{"module/exchange", "module/internal/coding", "translate/fault", "translate/jsonscan", "translate/sse"}},
	{"module/gateway/drain", []string{"module/exchange"}},
	{"module/gateway/request/routes", []string{"module/gateway/backends", "module/gateway/request/keyring", "module/aigateway", "module/aigateway/suggest", "module/exchange", "translate/..."}},
	{"module/gateway/request", []string{"module/exchange", "module/internal/coding", "translate/..."}},
	{"module/transport/balance", []string{"module/internal/rendezvous", "module/exchange"}},
	{"module/gateway/routing/failover/selection", []string{"module/exchange", "module/gateway/routing/catalog", "module/gateway/routing/health", "module/internal/rendezvous"}},
	{"module/gateway/state", []string{"module/gateway/mcp", "module/gateway/routing/queue", "module/internal/rendezvous", "module/internal/api", "module/telemetry/alerts", "module/internal/version", "module/providers/models", "module/gateway/routing/catalog", "module/gateway/routing/catalog/tables", "module/gateway/routing/conditions", "module/gateway/drain", "module/gateway/routing/failover/selection", "module/gateway/routing/failover/renegotiation", "module/gateway/guardrails", "module/gateway/routing/health", "module/gateway/limits", "module/gateway/request/keyring", "module/gateway/request/labels", "module/gateway/written", "module/ledger/prices", "module/telemetry/metrics", "module/aigateway", "module/aigateway/accounting", "module/exchange", "translate", "translate/format", "translate/formats", "translate/pairs"}},
	{"module/gateway/request/affinity", []string{"module/internal/rendezvous", "translate/jsonscan"}},
	{"module/gateway/cache/redis", []string{"module/aigateway", "module/internal/redisclient"}},
	{"module/gateway/routing/catalog", []string{"translate/texts", "module/gateway/cache", "module/gateway/routing/queue", "module/internal/filewatch", "module/internal/rendezvous", "module/gateway/routing/health", "module/telemetry/metrics", "module/gateway/routing/catalog/modellist", "module/ledger/prices", "module/gateway/routing/catalog/tables", "module/providers/models", "module/aigateway", "module/exchange", "module/aigateway/suggest", "translate/..."}},
	{"module/gateway/request/promptfile", []string{"module/exchange", "module/gateway/meter", "module/gateway/request", "translate", "translate/fault", "translate/format", "translate/formats"}},
	{"module/gateway/routing/queue", nil},
	{"module/gateway/routing/failover", []string{"module/aigateway/accounting", "module/gateway/routing/queue", "module/telemetry/metrics", "module/gateway/request/affinity", "module/gateway/routing/catalog", "module/gateway/routing/failover/selection", "module/gateway/routing/failover/renegotiation", "module/gateway/drain", "module/gateway/guardrails", "module/gateway/routing/health", "module/gateway/meter", "module/telemetry/observe", "module/gateway/reply", "module/gateway/reply/sink", "module/telemetry/events", "module/telemetry/tracing", "module/aigateway", "module/exchange", "translate", "translate/passthrough", "translate/fault", "translate/formats", "translate/seal", "translate/token"}},
	{"module/gateway/routing/mirror", []string{"module/gateway/backends", "module/gateway/routing/catalog", "module/gateway/drain", "module/gateway/routing/failover", "module/gateway/limits", "module/gateway/meter", "module/gateway/reply", "module/gateway/reply/sink", "module/telemetry/metrics", "module/aigateway", "module/aigateway/accounting", "module/exchange", "translate"}},
	{"module/gateway/limits/deferred", []string{"module/gateway/backends", "module/gateway/routing/catalog", "module/gateway/limits", "module/gateway/meter", "module/gateway/request/keyring", "module/aigateway", "module/aigateway/accounting", "module/exchange", "translate", "translate/fault", "translate/format", "translate/formats", "translate/seal"}},
	{"module/gateway/guardrails", []string{"module/gateway/reply", "module/telemetry/metrics", "module/telemetry/tracing", "module/aigateway", "module/exchange", "translate/..."}},
	{"module/gateway/routing/failover/renegotiation", []string{"module/gateway/routing/catalog", "module/gateway/routing/catalog/modellist", "module/exchange", "translate", "translate/format", "translate/trait"}},
	{"module/gateway/request/keyring", []string{"module/aigateway", "translate/fault"}},
	{"module/gateway/request/labels", []string{"module/gateway/request/affinity", "module/gateway/request/marks", "module/aigateway", "module/exchange", "translate/fault"}},
	{"module/gateway/request/marks", []string{"module/gateway/request/affinity", "module/exchange", "translate/passthrough"}},
	{"module/gateway/limits", []string{"module/gateway/routing/queue", "module/gateway/routing/catalog", "module/gateway/meter", "module/gateway/reply", "module/gateway/backends", "module/ledger/prices", "module/telemetry/events", "module/telemetry/metrics", "module/aigateway", "module/aigateway/accounting", "module/exchange", "module/aigateway/suggest", "translate/..."}},
	{"module/gateway/backends", []string{"module/gateway/meter", "module/telemetry/events", "module/telemetry/metrics", "module/aigateway", "module/aigateway/accounting", "module/exchange", "translate/fault"}},
	{"module/internal/sealkeys", []string{"module/aigateway", "module/internal/secrets", "translate/seal"}},
	{"module/gateway/request/cors", []string{"module/aigateway"}},
	{"module/gateway/routing/upstream", []string{"module/aigateway", "module/exchange", "translate/fault"}},
	{"module/gateway/routing/catalog/modellist", []string{"module/exchange", "translate", "translate/format", "translate/modelcard", "translate/trait"}},
	{"module/telemetry/observe", []string{"module/providers/models", "module/telemetry/...", "module/aigateway", "module/aigateway/accounting", "module/exchange", "translate/..."}},
	{"module/gateway/reply", []string{"module/gateway/meter", "module/gateway/reply/sink", "module/aigateway", "module/aigateway/accounting", "module/exchange", "translate/fault"}},
	{"module/gateway/reply/sink", []string{"module/aigateway", "module/exchange", "translate/..."}},
	{"module/gateway/...", []string{"module/ledger/prices", "module/telemetry/metrics", "module/telemetry/events", "module/aigateway", "module/aigateway/accounting", "module/exchange", "translate/..."}},
	{"module/transport/watch", nil},
	{"module/transport/socket", nil},
	{"module/transport/http1", []string{"module/transport/socket"}},
	{"module/transport/connection", []string{"module/transport/http1", "module/transport/socket"}},
	{"module/transport/duplex", []string{"module/exchange", "module/internal/coding", "translate/jsonscan"}},
	{"module/transport/payload", []string{"module/exchange", "translate/edit"}},
	{"module/transport", []string{"module/internal/version", "module/internal/outbound", "module/transport/...", "module/telemetry/metrics", "module/telemetry/tracing", "module/aigateway", "module/internal/secrets", "module/exchange", "module/internal/coding", "translate/..."}},

	{"module/internal/webhook", []string{"module/aigateway"}},
	{"module/internal/problem", nil},

	// Guests import the public API, and no other guest.
	{"module/keys/jwt", []string{"module/aigateway", "module/internal/issuer"}},
	{"module/keys", []string{"module/internal/filewatch", "module/aigateway", "module/internal/secrets", "module/aigateway/suggest", "translate"}},
	{"module/guards", []string{"module/aigateway", "module/internal/outbound", "module/internal/secrets", "module/internal/webhook", "translate/jsonscan"}},
	{"module/counters", []string{"module/aigateway", "module/counters/restore"}},
	{"module/counters/restore", []string{"module/aigateway", "module/aigateway/accounting"}},
	{"module/counters/counterstest", []string{"module/aigateway", "module/gatewaytest"}},
	{"module/internal/redisclient", []string{"module/aigateway", "module/aigateway/suggest"}},
	{"module/counters/redis", []string{"module/aigateway", "module/counters/restore", "module/internal/redisclient", "module/telemetry/metrics"}},
	{"module/ledger/journal", nil},
	{"module/ledger/ledgertest", []string{"module/aigateway", "module/aigateway/accounting", "module/ledger", "module/internal/database", "translate/token"}},
	{"module/ledger", []string{"module/telemetry/metrics", "module/telemetry/events", "module/aigateway", "module/aigateway/accounting", "module/ledger/journal", "module/internal/database", "translate/token"}},
	{"module/accounts/store/storetest", []string{"module/aigateway", "module/aigateway/accounting", "module/accounts/store", "module/internal/database", "module/gatewaytest"}},
	{"module/accounts/store/...", []string{"module/aigateway", "module/aigateway/accounting", "module/internal/database", "module/ledger", "module/ledger/journal", "module/accounts/store/..."}},
	{"module/accounts/throttle", nil},
	{"module/accounts/signin", []string{"module/aigateway", "module/internal/issuer", "module/internal/secrets", "module/aigateway/suggest"}},
	{"caddyfile/docs", nil},
	{"module/docsite", []string{"caddyfile/docs", "module/internal/version"}},
	{"module/accounts/console", []string{"module/docsite"}},
	{"module/telemetry/capture", nil},
	{"module/accounts/answer", []string{"module/aigateway", "module/internal/problem"}},
	{"module/accounts/call", []string{"module/internal/api", "module/accounts/answer", "module/accounts/signin", "module/aigateway", "module/aigateway/suggest", "translate/jsonscan"}},
	{"module/accounts/people", []string{"module/accounts/answer", "module/accounts/call", "module/accounts/throttle", "module/aigateway"}},
	{"module/accounts/agents", []string{"module/accounts/answer", "module/accounts/call", "module/accounts/people", "module/accounts/throttle", "module/aigateway", "module/aigateway/accounting", "module/aigateway/suggest", "translate/jsonscan"}},
	{"module/accounts/compat/billing", []string{"module/aigateway", "module/aigateway/accounting", "translate/fault"}},
	{"module/accounts/compat", []string{"module/accounts/compat/billing", "module/accounts/answer", "module/accounts/call", "module/accounts/people", "module/aigateway"}},
	{"module/accounts/reports", []string{"module/internal/api", "translate", "translate/token", "module/accounts/answer", "module/accounts/call", "module/accounts/throttle", "module/telemetry/capture", "module/aigateway", "module/aigateway/accounting"}},
	{"module/accounts", []string{"module/accounts/...", "module/internal/api", "module/aigateway", "module/aigateway/suggest"}},
	{"module/providers", []string{"module/aigateway", "module/providers/claude", "module/providers/demo", "module/providers/mistral", "translate", "translate/formats"}},
	{"module/providers/tokens", nil},
	{"module/providers/presetwords", []string{"module/aigateway"}},
	{"module/providers/claude", []string{"module/aigateway", "translate"}},
	{"module/providers/mistral", []string{"module/aigateway"}},
	{"module/providers/azure", []string{"module/aigateway", "module/providers/claude", "module/providers/mistral", "module/providers/tokens", "module/providers/presetwords", "translate"}},
	{"module/providers/bedrock", []string{"module/aigateway", "module/internal/outbound", "module/providers/claude", "module/providers/tokens", "module/providers/presetwords", "translate", "translate/edit", "translate/jsonscan"}},
	{"module/providers/vertex", []string{"module/aigateway", "module/providers/claude", "module/providers/mistral", "module/providers/tokens", "module/providers/presetwords", "translate"}},
	{"module/providers/demo", []string{"module/providers/demo/reply", "translate/..."}},
	{"module/providers/demo/reply", []string{"translate/..."}},
	{"module/command/doctor", []string{"module/internal/outbound"}},
	{"module/command/catalogfile", []string{"module/aigateway", "module/gateway/routing/catalog/tables", "module/internal/modeltable", "module/ledger/prices", "module/providers/models"}},
	{"module/command/migration", []string{"module/aigateway", "module/ledger/prices"}},
	{"module/command/migration/rows", nil},
	{"module/command/migration/litellm", []string{"module/aigateway", "module/command/migration", "module/command/migration/rows", "module/ledger/prices"}},
	{"module/command/migration/newapi", []string{"module/aigateway", "module/command/migration", "module/command/migration/rows", "module/ledger/prices"}},
	{"module/command/login", []string{"module/aigateway", "module/internal/outbound"}},
	{"module/command/quickstart", []string{"module/aigateway"}},
	{"module/command", []string{"module/internal/api", "module/aigateway", "module/aigateway/accounting", "module/aigateway/suggest", "module/command/catalogfile", "module/command/doctor", "module/command/login", "module/command/migration", "module/command/migration/...", "module/command/quickstart", "module/docsite", "module/internal/outbound", "translate/formats"}},

	{"module/gatewaytest/memory", nil},
	{"module/gatewaytest/openapi", nil},
	{"module/gatewaytest", []string{"module/...", "translate/..."}},
	{"module/tests/site", []string{"module", "module/gatewaytest", "module/aigateway", "module/exchange", "translate", "translate/formats", "translate/pairs", "translate/translatetest/client"}},
	{"module/tests/models/service", nil},
	{"module/tests/...", []string{
		"module/counters/counterstest", "module/tests/models/service", "module/tests/site", "module/gatewaytest", "module/gatewaytest/openapi", "module/accounts/store/storetest",
		"module/aigateway", "module/command/doctor", "module/exchange", "module/providers/demo", "translate", "translate/formats", "translate/pairs", "translate/trait", "translate/translatetest", "translate/translatetest/client",
	}},

	{"caddyfile", []string{"module/gateway/cache", "module/gateway/routing/queue", "module/gateway", "module/gateway/written", "module/gateway/request/affinity", "module/gateway/routing/catalog", "module/gateway/routing/conditions", "module/gateway/limits", "module/gateway/backends", "module/gateway/request/cors", "module/gateway/guardrails", "module/gateway/mcp", "module/gateway/pass", "module/aigateway", "module/aigateway/accounting", "module/aigateway/suggest", "translate", "translate/formats", "translate/trait"}},
	{"module", []string{"caddyfile", "module/..."}},
	{"cmd/caddy", []string{"module"}},
	{"cmd/dev", []string{"module/gateway/routing/catalog/tables", "module/ledger/prices", "module/providers/models", "translate/..."}},
	{"cmd/...", []string{"module"}},
}

// onlyForTests may be imported by no package of the product.
var onlyForTests = []string{"module/gatewaytest/...", "module/tests/...", "module/counters/counterstest", "module/accounts/store/storetest", "module/ledger/ledgertest", "translate/translatetest/..."}

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
