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

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/ledger"
)

// ChildPath is an environment variable: the path of the database, with the journal beside
// it. It makes the test binary a child process, which writes records until it is killed.
const ChildPath = "GATEWAY_TEST_LEDGER_PATH"

// clients is the number of goroutines of a child that write concurrently.
const clients = 20

// WriteForever writes records, and prints the request of each record after its end.
func WriteForever(d Database) error {
	l, err := ledger.Open(accounting.LedgerOptions{Journal: os.Getenv(ChildPath) + ".journal"}, d(), zap.NewNop)
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

// OutliveKill9 kills child processes after different numbers of records. It demands that
// each printed record is in the database, and that no record is there twice.
func OutliveKill9(t *testing.T, d Database, path string) {
	const kills = 20
	confirmed := make(map[string]bool)
	for kill := range kills {
		killChild(t, path, 50+31*kill, confirmed)
	}
	l := opened(t, d, path+".journal")
	// The records of crashed exchanges are written after the confirmed ones. On a slow
	// machine, sums that were read later than the records had more requests.
	var records []accounting.Record
	require.Eventually(t, func() bool {
		page, err := l.Records(context.Background(), accounting.RecordQuery{Limit: 1 << 20})
		records = page.Records
		sums := usage(t, l)
		return err == nil && covers(records, confirmed) && len(sums) == 1 && sums[0].Requests == int64(len(records))
	}, patience, tick)
	seen := make(map[string]int)
	crashed := 0
	for _, r := range records {
		seen[r.Request]++
		if r.Outcome == accounting.OutcomeCrashed {
			crashed++
			assert.False(t, confirmed[r.Request], "a confirmed exchange has crashed")
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

// covers reports whether all confirmed requests are among the records.
func covers(records []accounting.Record, confirmed map[string]bool) bool {
	n := 0
	for _, r := range records {
		if confirmed[r.Request] {
			n++
		}
	}
	return n >= len(confirmed)
}

// killChild starts a child, kills it after some lines of its output, and adds the lines to
// confirmed.
func killChild(t *testing.T, path string, lines int, confirmed map[string]bool) {
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), ChildPath+"="+path)
	child.Stderr = os.Stderr
	output, err := child.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	scanner := bufio.NewScanner(output)
	for n := 1; scanner.Scan(); n++ {
		confirmed[scanner.Text()] = true
		if n == lines {
			require.NoError(t, child.Process.Kill())
		}
	}
	require.Error(t, child.Wait(), "the child was killed")
}
