package gatewaytest

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// leakTimeout is how long goroutines may take to end after the last test.
const leakTimeout = time.Minute

// Main runs the tests of a package and then demands that every goroutine has
// ended: `func TestMain(m *testing.M) { gatewaytest.Main(m) }`. Functions in
// ignore name goroutines that are known to last, by a part of their stack.
// Temporary files are made in memory where that is offered.
func Main(m *testing.M, ignore ...string) {
	useMemory()
	code := m.Run()
	if code == 0 {
		if leaked := Leaked(ignore...); len(leaked) > 0 {
			fmt.Fprintf(os.Stderr, "%d goroutines leaked:\n\n%s\n", len(leaked), strings.Join(leaked, "\n\n"))
			code = 1
		}
	}
	os.Exit(code)
}

// lasting are parts of the stacks of goroutines that live as long as the
// process, each started once.
var lasting = []string{
	"testing.Main(", "testing.(*M).Run(", "testing.tRunner(", "testing.runFuzz",
	"os/signal.signal_recv", "os/signal.loop", "runtime.ReadTrace", "runtime.ensureSigM",
	"created by runtime.", "gatewaytest.stacks(",
	// Looks every five seconds whether its lock, long released, is still there.
	"certmagic.keepLockfileFresh(",
}

// Leaked waits until no goroutine is left but the test's own, at most a
// minute, and gives the stacks of those that stayed.
func Leaked(ignore ...string) []string {
	deadline := time.NewTimer(leakTimeout)
	defer deadline.Stop()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		left := strangers(append(ignore, lasting...))
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

// strangers are the stacks that hold none of the known parts.
func strangers(known []string) (left []string) {
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

// stacks lists the stacks of all goroutines.
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
