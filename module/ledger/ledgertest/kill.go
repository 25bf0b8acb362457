package ledgertest

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/ledger"
)

// ChildPath is set for a process of a test that writes records until it is killed:
// the path of the database, beside which the journal is.
const ChildPath = "GATEWAY_TEST_LEDGER_PATH"

// clients is how many goroutines of a child write at once.
const clients = 20

// WriteForever prints the request of each record behind its end.
func WriteForever(d Database) error {
	l, err := ledger.Open(aigateway.LedgerOptions{Journal: os.Getenv(ChildPath) + ".journal"}, d(), zap.NewNop)
	if err != nil {
		return err
	}
	var n atomic.Int64
	for range clients {
		go func() {
			for {
				r := Example()
				r.Request = fmt.Sprintf("req_%d_%d", os.Getpid(), n.Add(1))
				if l.Begin(&r) == nil {
					l.End(&r)
					_, _ = fmt.Fprintln(os.Stdout, r.Request) // one write: lines are whole
				}
			}
		}()
	}
	select {}
}

// OutliveKill9 kills processes of this test at many instants, and demands that each
// record that they printed is in the database once, and nothing is there twice.
func OutliveKill9(t *testing.T, d Database, path string) {
	const kills = 20
	confirmed := make(map[string]bool)
	for kill := range kills {
		killChild(t, path, 50+31*kill, confirmed)
	}
	l := opened(t, d, path+".journal")
	// The records of crashed exchanges follow those of confirmed ones: sums that were read
	// later than the records had more requests on a slow machine.
	var records []aigateway.Record
	require.Eventually(t, func() bool {
		found, err := l.Records(context.Background(), aigateway.RecordQuery{Limit: 1 << 20})
		records = found
		return err == nil && covers(found, confirmed) && total(t, l).Requests == int64(len(found))
	}, patience, tick)
	seen := make(map[string]int)
	crashed := 0
	for _, r := range records {
		seen[r.Request]++
		if r.Outcome == aigateway.OutcomeCrashed {
			crashed++
			assert.False(t, confirmed[r.Request], "it had ended")
		}
	}
	for request, times := range seen {
		assert.Equal(t, 1, times, request)
	}
	assert.LessOrEqual(t, crashed, kills*clients)
	sum := total(t, l)
	assert.EqualValues(t, len(records), sum.Requests)
	assert.EqualValues(t, 1234*len(records), sum.Cost.Nanos)
}

func covers(records []aigateway.Record, confirmed map[string]bool) bool {
	n := 0
	for _, r := range records {
		if confirmed[r.Request] {
			n++
		}
	}
	return n >= len(confirmed)
}

// killChild kills a child after some lines of its output, and collects the lines.
func killChild(t *testing.T, path string, lines int, confirmed map[string]bool) {
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), ChildPath+"="+path)
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	scanner := bufio.NewScanner(out)
	for n := 1; scanner.Scan(); n++ {
		confirmed[scanner.Text()] = true
		if n == lines {
			require.NoError(t, child.Process.Kill())
		}
	}
	require.Error(t, child.Wait(), "it was killed")
}
