package module_test

import (
	"go/ast"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A type has at most this many methods and fields. A wider type is a state that
// any of its methods may change: it is divided into values that a function
// returns, even if that makes some functions longer.
const (
	maxMethods = 30
	maxFields  = 12

	// Those that the type has from the types of this module that it embeds count here, too.
	maxPromotedMethods = 40
	maxPromotedFields  = 16
)

// wideTypes are the types that may be wider, with the reason.
var wideTypes = map[string]string{
	"translate/event.Event":  "one value is written anew for every kind of event, so that a delta costs no allocation",
	"translate/trait.Traits": "the set of all traits, one field each, with one table of their names",
}

// wideByEmbedding are the types that may be wider by what they embed, with the reason.
var wideByEmbedding = map[string]string{
	"module/internal/api.Call":      answerOfAPI,
	"module/internal/api.Choice":    answerOfAPI,
	"module/internal/api.Key":       answerOfAPI,
	"module/internal/api.Usage":     answerOfAPI,
	"module/accounts/reports.party": answerOfAPI,
	"module/gateway/state.Price":    answerOfAPI,
	"module/gateway/state.Provider": answerOfAPI,

	"module/gateway.App":                            "the options of the Config, and what Provision makes of them",
	"module/gateway.Handler":                        "the options of the Config, and what Provision makes of them",
	"module/accounts.Accounts":                      "options, some of which are those of the sign-in",
	"module/gateway.Config":                         "options, some of which are those of other packages",
	"module/gateway/routing/catalog.ProviderConfig": "options, some of which are those that guests have as well",

	"module/aigateway/accounting.Record":      "columns of the database, of which stores of guests know the names",
	"module/aigateway/accounting.RecordQuery": "a field for each property by which records are found",

	"module/accounts/store/sqlite.SQLite":     "a module of Caddy is one value, and has the methods of all interfaces of a store",
	"module/accounts/store/postgres.Postgres": "a module of Caddy is one value, and has the methods of all interfaces of a store",
}

const answerOfAPI = "an answer of the API, whose members encoding/json takes from the groups that it embeds"

// records are types that may have more fields, because each field is a member
// of a document, a column or an option that exists outside the program.
var records = []string{
	"module/internal/api.Call", // members of answers, as of the next four
	"module/accounts/compat.keyView",
	"module/internal/api.Key",
	"module/internal/api.Record",
	"module/internal/api.Usage",
	"module/aigateway/accounting.Record", // columns of the database, as of the next two
	"module/aigateway/accounting.Call",
	"module/aigateway/accounting.Usage",
	"module/gateway.Config", // options of the configuration, as of the next two
	"module/gateway/mcp.Config",
	"module/keys/jwt.Tokens",

	"module/providers/demo/reply.schema", // keywords of JSON Schema
}

func TestNoTypeIsWide(t *testing.T) {
	var tooWide []string
	types := declaredTypes(t)
	for name, kind := range types {
		if len(kind.methods) > maxMethods || kind.fields > maxFields && !slices.Contains(records, name) {
			tooWide = append(tooWide, name)
		}
	}
	allowed := slices.Collect(maps.Keys(wideTypes))
	assert.ElementsMatch(t, allowed, tooWide, "types with more than %d methods or %d fields, and exceptions that are none", maxMethods, maxFields)
	for _, name := range records {
		assert.Greater(t, types[name].fields, maxFields, "%s needs no exception", name)
	}
}

func TestNoTypeIsWideByWhatItEmbeds(t *testing.T) {
	var tooWide []string
	types := declaredTypes(t)
	for name, kind := range types {
		fields, methods := kind.fields, maps.Clone(kind.methods)
		types.promote(kind, map[string]bool{name: true}, &fields, methods)
		if len(kind.embedded) > 0 && (len(methods) > maxPromotedMethods || fields > maxPromotedFields) {
			tooWide = append(tooWide, name)
			t.Logf("%s: %d fields, %d methods, embeds %s", name, fields, len(methods), strings.Join(kind.embedded, ", "))
		}
	}
	allowed := slices.Collect(maps.Keys(wideByEmbedding))
	assert.ElementsMatch(t, allowed, tooWide, "types with more than %d methods or %d fields with those that they embed, and exceptions that are none",
		maxPromotedMethods, maxPromotedFields)
}

// A declared is what one package declares of one type.
type declared struct {
	methods  map[string]bool // also those of an interface
	fields   int             // embedded ones as one
	embedded []string        // types of this module, as in productTypes
}

type productTypes map[string]*declared // by package and name, as in "module/gateway.App"

// declaredTypes returns the types of the product.
func declaredTypes(t *testing.T) productTypes {
	t.Helper()
	all := productTypes{}
	for _, s := range sources(t) {
		if strings.HasPrefix(s.pkg, "module/tests/") {
			continue
		}
		for _, decl := range s.syntax.Decls {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				if decl.Recv != nil {
					all.named(s.pkg + "." + receiver(decl)).methods[decl.Name.Name] = true
				}
			case *ast.GenDecl:
				for _, spec := range decl.Specs {
					if spec, ok := spec.(*ast.TypeSpec); ok {
						all.named(s.pkg+"."+spec.Name.Name).add(s, spec.Type)
					}
				}
			}
		}
	}
	return all
}

func (all productTypes) named(name string) *declared {
	if all[name] == nil {
		all[name] = &declared{methods: map[string]bool{}}
	}
	return all[name]
}

// promote adds what a type has from the types that it embeds, and those from what they embed.
func (all productTypes) promote(kind *declared, seen map[string]bool, fields *int, methods map[string]bool) {
	for _, name := range kind.embedded {
		if embedded := all[name]; embedded != nil && !seen[name] {
			seen[name] = true
			*fields += embedded.fields
			maps.Copy(methods, embedded.methods)
			all.promote(embedded, seen, fields, methods)
		}
	}
}

// add counts the fields of a struct, or the methods of an interface.
func (kind *declared) add(s source, syntax ast.Expr) {
	switch syntax := syntax.(type) {
	case *ast.StructType:
		for _, field := range syntax.Fields.List {
			kind.fields += max(1, len(field.Names)) // an embedded field has no name
			kind.embed(s, field)
		}
	case *ast.InterfaceType:
		for _, method := range syntax.Methods.List {
			for _, name := range method.Names {
				kind.methods[name.Name] = true
			}
			kind.embed(s, method)
		}
	}
}

// embed notes a type of this module that is embedded.
func (kind *declared) embed(s source, field *ast.Field) {
	if len(field.Names) > 0 {
		return
	}
	switch syntax := bare(field.Type).(type) {
	case *ast.Ident:
		kind.embedded = append(kind.embedded, s.pkg+"."+syntax.Name)
	case *ast.SelectorExpr:
		for _, path := range s.imports {
			pkg, own := strings.CutPrefix(path, modulePath+"/")
			if own && strings.HasSuffix(path, "/"+syntax.X.(*ast.Ident).Name) {
				kind.embedded = append(kind.embedded, pkg+"."+syntax.Sel.Name)
			}
		}
	}
}

// receiver returns the name of the type that a method belongs to.
func receiver(method *ast.FuncDecl) string {
	if name, ok := bare(method.Recv.List[0].Type).(*ast.Ident); ok {
		return name.Name
	}
	return ""
}

// bare returns a type without the star of a pointer and arguments of types.
func bare(kind ast.Expr) ast.Expr {
	switch outer := kind.(type) {
	case *ast.StarExpr:
		return bare(outer.X)
	case *ast.IndexExpr:
		return bare(outer.X)
	case *ast.IndexListExpr:
		return bare(outer.X)
	}
	return kind
}
