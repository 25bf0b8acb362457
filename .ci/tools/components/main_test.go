package main

import (
	"bytes"
	"encoding/json"
	"os"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// read returns the names and versions of a written document, that of the program first.
func read(t *testing.T, program string) (names []string) {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, write(&out, program))
	var document struct {
		Metadata struct {
			Component struct{ Name, Version string }
		}
		Components []struct{ Name, Version, Purl string }
	}
	require.NoError(t, json.Unmarshal(out.Bytes(), &document))
	names = append(names, document.Metadata.Component.Name)
	for _, part := range document.Components {
		assert.Equal(t, "pkg:golang/"+part.Name+"@"+part.Version, part.Purl)
		names = append(names, part.Name)
	}
	return names
}

// The program that is read is that of the test, so its modules are known.
func TestADocumentListsTheModulesOfAProgram(t *testing.T) {
	program, err := os.Executable()
	require.NoError(t, err)
	names := read(t, program)
	build, ok := debug.ReadBuildInfo()
	require.True(t, ok)
	assert.Equal(t, build.Main.Path, names[0])
	assert.Equal(t, "std", names[1])
	assert.Len(t, names, 2+len(build.Deps))
	assert.Equal(t, names, read(t, program), "the same program has the same document")
}

func TestAReplacedModuleIsTheOneThatWasCompiled(t *testing.T) {
	bom := document(&debug.BuildInfo{GoVersion: "go1.26.8", Deps: []*debug.Module{
		{Path: "example.com/a", Version: "v1.0.0", Replace: &debug.Module{Path: "example.com/fork", Version: "v1.0.1"}},
	}})
	assert.Equal(t, "example.com/fork", (*bom.Components)[1].Name)
}

func TestAFileWithoutBuildInformationIsAnError(t *testing.T) {
	var out bytes.Buffer
	assert.ErrorContains(t, write(&out, "main.go"), "reading build information")
	assert.Empty(t, out.String())
}
