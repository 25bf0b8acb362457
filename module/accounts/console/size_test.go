package console

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// licences are sent to nobody who does not ask for them.
func licence(name string) bool { return path.Ext(name) == ".txt" || path.Ext(name) == ".json" }

// imported are the addresses of modules in an import that runs before the module that has it.
var imported = regexp.MustCompile(`(?m)(?:from|^import) '(\.[^']+)'`)

// loaded adds a module and all that it imports to the files of a page.
func loaded(all *files, name string, of map[string]bool) {
	if of[name] || all.files[name] == nil {
		return
	}
	of[name] = true
	for _, match := range imported.FindAllSubmatch(all.files[name].plain, -1) {
		loaded(all, path.Join(path.Dir(name), string(match[1])), of)
	}
}

// The whole console is below 107 KB, and a page with all that it loads is below 50, or 140 before the
// compression. The test once took all libraries for those of each page.
func TestC012SizeOfTheConsole(t *testing.T) {
	all := embedded()
	sent := func(f *file) int {
		if f.compressed != nil {
			return len(f.compressed)
		}
		return len(f.plain)
	}
	whole, script, style := sent(all.index[0]), 0, 0
	for name, f := range all.files {
		if licence(name) {
			continue
		}
		whole += sent(f)
		if !strings.HasPrefix(name, "vendor/") && path.Ext(name) == ".js" {
			source, err := fs.ReadFile(folder, "files/"+name)
			require.NoError(t, err)
			script += bytes.Count(source, []byte("\n"))
		}
		if path.Ext(name) == ".css" {
			style += bytes.Count(f.plain, []byte("\n"))
		}
	}
	t.Logf("%d bytes in all; %d lines of JavaScript, %d of CSS", whole, script, style)
	assert.Less(t, whole, 107_000)
	// 350 lines are the ranges, charts, filters and columns of exchanges and usage, 190 the page of a model, and
	// 120 that of MCP servers.
	assert.LessOrEqual(t, script, 8510)
	assert.LessOrEqual(t, style, 900)
	pages := 0
	for name := range all.files {
		if !strings.HasPrefix(name, "pages/") {
			continue
		}
		pages++
		of := map[string]bool{"app.css": true}
		loaded(all, "app.js", of)
		loaded(all, name, of)
		compressed, plain := sent(all.index[0]), len(all.index[0].plain)
		for each := range of {
			compressed += sent(all.files[each])
			plain += len(all.files[each].plain)
		}
		assert.True(t, of["lib/ui.js"] && of["vendor/preact.js"], "%s: the imports are not found", name)
		assert.Less(t, compressed, 50_000, name)
		assert.Less(t, plain, 140_000, name)
	}
	assert.Greater(t, pages, 10)
}

// Comments and indentation were a quarter of what browsers read.
func TestScriptsAreSentWithoutCommentsAndIndentation(t *testing.T) {
	const script = "// Head.\nimport './a.js';\n\n/** @type {number} */ (a); // kept\n\t/**\n\t * Doc * of\n\t * f. */\n\tf('// text', `/* text */`);\n\t\t// Why.\n\t\tg();\n"
	assert.Equal(t, "import './a.js';\n\n/** @type {number} */ (a); // kept\nf('// text', `/* text */`);\ng();\n", string(stripped([]byte(script))))
}

// The libraries are what their packages contain, apart from the names of imports, and have
// licences.
func TestLibrariesAreThoseOfTheList(t *testing.T) {
	all := embedded()
	var list []struct {
		File, Package, Version, License, SHA256 string
	}
	require.NoError(t, json.Unmarshal(all.files["vendor/vendor.json"].plain, &list))
	listed := map[string]bool{}
	for _, each := range list {
		sum := sha256.Sum256(all.files["vendor/"+each.File].plain)
		assert.Equal(t, each.SHA256, hex.EncodeToString(sum[:]), each.File)
		assert.NotEmpty(t, each.Version, each.File)
		assert.NotEmpty(t, each.License, each.File)
		licence := "vendor/LICENSE." + strings.ReplaceAll(strings.TrimPrefix(each.Package, "@"), "/", "-") + ".txt"
		assert.Contains(t, all.files, licence, each.File)
		listed["vendor/"+each.File] = true
	}
	for name := range all.files {
		if strings.HasPrefix(name, "vendor/") && path.Ext(name) == ".js" {
			assert.True(t, listed[name], name)
		}
	}
}
