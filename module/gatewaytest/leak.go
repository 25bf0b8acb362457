package gatewaytest

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest/memory"
)

// leakTimeout is how long goroutines may take to end after the last test.
const leakTimeout = time.Minute

// Main runs the tests of a package, and then fails unless every goroutine has ended:
// `func TestMain(m *testing.M) { gatewaytest.Main(m) }`. ignore contains parts of the
// stacks of goroutines that may last. Temporary files are created in memory if possible.
func Main(m *testing.M, ignore ...string) {
	memory.Use()
	code := m.Run()
	if code == 0 {
		if leaked := Leaked(ignore...); len(leaked) > 0 {
			fmt.Fprintf(os.Stderr, "%d goroutines leaked:\n\n%s\n", len(leaked), strings.Join(leaked, "\n\n"))
			code = 1
		}
	}
	os.Exit(code)
}

// lasting are parts of the stacks of goroutines that are started once and run as long as
// the process.
var lasting = []string{
	"testing.Main(", "testing.(*M).Run(", "testing.tRunner(", "testing.runFuzz",
	"os/signal.signal_recv", "os/signal.loop", "runtime.ReadTrace", "runtime.ensureSigM",
	"created by runtime.", "gatewaytest.stacks(",
	// This goroutine checks only every five seconds whether its lock was released.
	"certmagic.keepLockfileFresh(",
}

// Leaked waits, for at most a minute, until only the goroutines of the test remain. It
// returns the stacks of all others.
func Leaked(ignore ...string) []string {
	deadline := time.NewTimer(leakTimeout)
	defer deadline.Stop()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		left := unknownStacks(append(ignore, lasting...))
		if len(left) == 0 {
			return nil
		}
		select {
		case <-tick.C:
		case <-deadline.C:
			return left
		}
	}
}

// unknownStacks returns the stacks that contain none of the known parts.
func unknownStacks(known []string) (left []string) {
	for _, stack := range stacks() {
		if !containsAny(stack, known) {
			left = append(left, stack)
		}
	}
	return left
}

func containsAny(text string, parts []string) bool {
	for _, part := range parts {
		if strings.Contains(text, part) {
			return true
		}
	}
	return false
}

// stacks returns the stacks of all goroutines.
func stacks() []string {
	buffer := make([]byte, 1<<16)
	for {
		n := runtime.Stack(buffer, true)
		if n < len(buffer) {
			return strings.Split(string(buffer[:n]), "\n\n")
		}
		buffer = make([]byte, 2*len(buffer))
	}
}
