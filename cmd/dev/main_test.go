package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A package whose goldens nobody writes anew has goldens that a change leaves behind.
func TestEveryGoldenFileHasACommand(t *testing.T) {
	found := 0
	require.NoError(t, filepath.WalkDir("../..", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(file, "_test.go") {
			return err
		}
		text, err := os.ReadFile(file)
		if folder := filepath.ToSlash(filepath.Dir(file)); strings.Contains(string(text), "flag.Bool(\""+"update\"") {
			found++
			assert.Contains(t, strings.Join(goldens, "\n")+"\n", " ./"+strings.TrimPrefix(folder, "../../")+" ")
		}
		return err
	}))
	assert.Len(t, goldens, found)
}

func TestCommandsAreChosenByAWord(t *testing.T) {
	assert.ErrorContains(t, runAll([]string{"false a", "true b"}, []string{"a"}), "running false a")
	assert.NoError(t, runAll([]string{"false a", "true b"}, []string{"b"}))
	assert.Error(t, runAll([]string{"false a", "true b"}, nil))
}
