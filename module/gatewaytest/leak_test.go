package gatewaytest

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestALeakedGoroutineIsSeen(t *testing.T) {
	stop := make(chan struct{})
	started := make(chan struct{})
	go func() { // ends when stop is closed, at the end of this test
		close(started)
		leakOnPurpose(stop)
	}()
	<-started
	seen := func() (failed bool) {
		for _, stack := range unknownStacks(lasting) {
			failed = failed || containsAny(stack, []string{"leakOnPurpose"})
		}
		return failed
	}
	assert.True(t, seen())
	close(stop)
	assert.Empty(t, Leaked())
}

//go:noinline
func leakOnPurpose(stop chan struct{}) { <-stop }
