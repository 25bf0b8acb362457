package rows

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// An import waited without end for a source that nobody wrote, such as a named pipe.
func TestOnlyFilesAreSources(t *testing.T) {
	folder := t.TempDir()
	for _, path := range []string{folder, os.DevNull, filepath.Join(folder, "missing")} {
		_, err := File(t.Context(), path, "table")
		require.Error(t, err, path)
	}
	_, err := Open(os.DevNull)
	assert.ErrorContains(t, err, "is no regular file")
}
