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
)

// wideTypes are the types that may be wider, with the reason.
var wideTypes = map[string]string{
	"translate/event.Event":  "one value is written anew for every kind of event, so that a delta costs no allocation",
	"translate/trait.Traits": "the set of all traits, one field each, with one table of their names",
}

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
	methods, fields := map[string]int{}, map[string]int{}
	for _, s := range sources(t) {
		if strings.HasPrefix(s.pkg, "module/tests/") {
			continue
		}
		for _, decl := range s.syntax.Decls {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				if decl.Recv != nil {
					methods[s.pkg+"."+receiver(decl)]++
				}
			case *ast.GenDecl:
				for _, spec := range decl.Specs {
					if spec, ok := spec.(*ast.TypeSpec); ok {
						if kind, ok := spec.Type.(*ast.StructType); ok {
							fields[s.pkg+"."+spec.Name.Name] = countFields(kind)
						}
					}
				}
			}
		}
	}
	var tooWide []string
	for name := range maps.Keys(methods) {
		if methods[name] > maxMethods || fields[name] > maxFields && !slices.Contains(records, name) {
			tooWide = append(tooWide, name)
		}
	}
	for name := range maps.Keys(fields) {
		if fields[name] > maxFields && methods[name] == 0 && !slices.Contains(records, name) {
			tooWide = append(tooWide, name)
		}
	}
	allowed := slices.Collect(maps.Keys(wideTypes))
	assert.ElementsMatch(t, allowed, tooWide, "types with more than %d methods or %d fields, and exceptions that are none", maxMethods, maxFields)
	for _, name := range records {
		assert.Greater(t, fields[name], maxFields, "%s needs no exception", name)
	}
}

// receiver returns the name of the type that a method belongs to.
func receiver(method *ast.FuncDecl) string {
	kind := method.Recv.List[0].Type
	for {
		switch of := kind.(type) {
		case *ast.StarExpr:
			kind = of.X
		case *ast.IndexExpr:
			kind = of.X
		case *ast.Ident:
			return of.Name
		default:
			return ""
		}
	}
}

func countFields(kind *ast.StructType) (n int) {
	for _, field := range kind.Fields.List {
		n += max(1, len(field.Names)) // an embedded field has no name
	}
	return n
}
