//go:build linux || darwin

package secrets

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// A secret whose file became a pipe was not followed any more, in silence: opening it waited
// for a writer, for ever.
func TestAFileThatBecomesAPipeIsFollowed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "secret")
	write(t, path, "first")
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		f := follow(t, ctx, "{file."+path+"}")
		require.NoError(t, os.Remove(path))
		require.NoError(t, syscall.Mkfifo(path, 0o600))
		settle()
		assert.Len(t, f.logs.FilterMessageSnippet("cannot be read").All(), 1)
		require.NoError(t, os.Remove(path))
		write(t, path, "second")
		settle()
		assert.Equal(t, []aigateway.Secret{"first", "second"}, f.values)
	})
}
