//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package journal

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A journal that was closed while its process started a program could not be opened for a moment:
// the child had a copy of the descriptor, and with it the lock.
func TestACopyOfTheDescriptorKeepsNoLock(t *testing.T) {
	dir := t.TempDir()
	j, _ := opened(t, Options{Dir: dir})
	child, err := syscall.Dup(int(j.lock.(locked).Fd()))
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, syscall.Close(child)) })
	require.NoError(t, j.Close())
	opened(t, Options{Dir: dir})
}
