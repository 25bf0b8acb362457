package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The page of the speed and the README show files that the program wrote: they belong to the
// results beside them.
func TestThePageShowsItsResults(t *testing.T) {
	for folder, picture := range map[string]func([]summary) []byte{"": bars, "linear": curves} {
		files := map[string][]byte{}
		for _, name := range []string{"results.json", "table.md", "chart.svg"} {
			content, err := os.ReadFile(filepath.Join("../../caddyfile/docs/speed", folder, name))
			require.NoError(t, err)
			files[name] = content
		}
		var results []result
		require.NoError(t, json.Unmarshal(files["results.json"], &results))
		all := summarize(results)
		assert.Contains(t, string(files["table.md"]), table(all))
		assert.Equal(t, string(picture(all)), string(files["chart.svg"]))
	}
}
