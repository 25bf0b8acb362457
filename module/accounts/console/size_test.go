package console

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// licences are sent to nobody who does not ask for them.
func licence(name string) bool { return path.Ext(name) == ".txt" || path.Ext(name) == ".json" }

// The whole console is below 120 KB, and a page with all that it loads is below 60.
func TestC012SizeOfTheConsole(t *testing.T) {
	all := embedded()
	sent := func(f *file) int {
		if f.compressed != nil {
			return len(f.compressed)
		}
		return len(f.plain)
	}
	whole, frame, script, style := sent(all.index[0]), sent(all.index[0]), 0, 0
	pages := map[string]int{}
	for name, f := range all.files {
		if licence(name) {
			continue
		}
		whole += sent(f)
		switch {
		case strings.HasPrefix(name, "pages/"):
			pages[name] = sent(f)
		default: // a page may need all of it
			frame += sent(f)
		}
		if !strings.HasPrefix(name, "vendor/") && path.Ext(name) == ".js" {
			script += bytes.Count(f.plain, []byte("\n"))
		}
		if path.Ext(name) == ".css" {
			style += bytes.Count(f.plain, []byte("\n"))
		}
	}
	require.NotEmpty(t, pages)
	t.Logf("%d bytes in all, %d of them in the frame; %d lines of JavaScript, %d of CSS", whole, frame, script, style)
	assert.Less(t, whole, 120_000)
	for name, size := range pages {
		assert.Less(t, frame+size, 60_000, name)
	}
	assert.LessOrEqual(t, script, 7500)
	assert.LessOrEqual(t, style, 900)
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
