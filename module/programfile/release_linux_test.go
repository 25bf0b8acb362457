package programfile

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// resident returns how much of the code of the program is resident, in KB.
func resident(t *testing.T) (kb int) {
	t.Helper()
	program, err := os.Readlink("/proc/self/exe")
	require.NoError(t, err)
	smaps, err := os.ReadFile("/proc/self/smaps")
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(smaps), " r-xp ")
	require.True(t, found)
	head, rest, _ := strings.Cut(rest, "\n")
	require.True(t, strings.HasSuffix(head, program), head)
	_, rest, _ = strings.Cut(rest, "\nRss:")
	_, err = fmt.Sscan(rest, &kb)
	require.NoError(t, err)
	return kb
}

// After its start, a gateway had 61 MB of its file resident, of which requests use 40.
func TestReleasedPagesAreNotResident(t *testing.T) {
	before := resident(t)
	require.NoError(t, Release())
	assert.Less(t, resident(t), before)
	assert.Positive(t, resident(t), "what runs is mapped again")
}

func TestPagesBesideAMappingAreKept(t *testing.T) {
	page := os.Getpagesize()
	memory, err := syscall.Mmap(-1, 0, 4*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	require.NoError(t, err)
	t.Cleanup(func() { _ = syscall.Munmap(memory) })
	for i := range memory {
		memory[i] = 1
	}
	start := uintptr(unsafe.Pointer(&memory[page]))
	require.NoError(t, mapping{start, start + 2*uintptr(page)}.release())
	ones, zeros := slices.Repeat([]byte{1}, page), make([]byte, 2*page)
	assert.True(t, slices.Equal(memory, slices.Concat(ones, zeros, ones)))
}
