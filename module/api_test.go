package module_test

import (
	"bytes"
	"flag"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the golden files")

// Guests of other repositories compile against module/aigateway and its accounting. A change of a
// declaration there, or of a type that one names, shows in the golden file: who breaks
// guests does so on purpose, and writes it into the changelog.
func TestTheAPIOfGuestsChangesOnPurpose(t *testing.T) {
	for _, folder := range []string{"aigateway", "aigateway/accounting"} {
		golden := "../testdata/api/" + filepath.Base(folder) + ".txt"
		got := declarations(t, folder)
		if *update {
			require.NoError(t, os.WriteFile(golden, []byte(got), 0o644))
		}
		want, err := os.ReadFile(golden)
		require.NoError(t, err)
		assert.Equal(t, string(want), got)
	}
}

// declarations returns the exported declarations of the package in a folder, without
// comments and bodies, in the order of their text.
func declarations(t *testing.T, folder string) string {
	files := token.NewFileSet()
	var all []string
	paths, err := filepath.Glob(filepath.Join(folder, "*.go"))
	require.NoError(t, err)
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		syntax, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.FileExports(syntax)
		for _, decl := range syntax.Decls {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				decl.Body = nil
			case *ast.GenDecl:
				if decl.Tok == token.IMPORT {
					continue
				}
			}
			var text bytes.Buffer
			require.NoError(t, format.Node(&text, files, decl))
			all = append(all, text.String()+"\n")
		}
	}
	slices.Sort(all)
	return strings.Join(all, "")
}
