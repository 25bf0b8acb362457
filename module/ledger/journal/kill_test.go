package journal

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest/memory"
)

// childDir is an environment variable. It makes this test binary a child process, which
// writes to the journal in that directory until it is killed.
const childDir = "GATEWAY_TEST_JOURNAL_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		fmt.Fprintln(os.Stderr, writeForever(dir))
		os.Exit(1)
	}
	memory.Use()
	os.Exit(m.Run())
}

// writeForever prints each ID after Begin has returned, and again after End has.
func writeForever(dir string) error {
	j, unended, err := Open(Options{Dir: dir, SegmentSize: 4096})
	if err != nil {
		return err
	}
	for _, e := range unended {
		if err := j.End(e.ID, nil); err != nil {
			return err
		}
	}
	var out sync.Mutex
	say := func(word string, id ID) {
		out.Lock()
		defer out.Unlock()
		fmt.Println(word, uint64(id))
	}
	for range 8 {
		go func() {
			for {
				id, _ := j.Begin([]byte("begun"))
				say("begun", id)
				_ = j.End(id, []byte("ended"))
				say("ended", id)
			}
		}()
	}
	select {}
}

// L027, for the journal: entries whose Begin or End has returned survive kill -9.
func TestL027ConfirmedEntriesOutliveKill9(t *testing.T) {
	const kills = 20
	dir := t.TempDir()
	printed := map[string]map[ID]bool{"begun": {}, "ended": {}}
	for kill := range kills {
		runChild(t, dir, 20+37*kill, printed)
	}
	j, unended := opened(t, Options{Dir: dir})
	begun, ended := make(map[ID]bool), make(map[ID]int)
	for start := (Position{}); ; {
		end, err := j.Read(start, func(e Entry) {
			begun[e.ID] = true
			if e.Kind == Ended {
				ended[e.ID]++
			}
		})
		require.NoError(t, err)
		if end == start {
			break
		}
		start = end
	}
	for id := range printed["begun"] {
		assert.True(t, begun[id])
	}
	for id := range printed["ended"] {
		assert.Equal(t, 1, ended[id])
	}
	for _, e := range unended {
		assert.Zero(t, ended[e.ID])
		assert.False(t, printed["ended"][e.ID])
	}
	assert.GreaterOrEqual(t, len(printed["ended"]), kills)
}

// runChild starts a child, kills it after some lines of its output, and adds the IDs of
// these lines to printed.
func runChild(t *testing.T, dir string, lines int, printed map[string]map[ID]bool) {
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), childDir+"="+dir)
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	scanner := bufio.NewScanner(out)
	for n := 0; scanner.Scan(); n++ {
		var word string
		var id uint64
		if _, err := fmt.Sscan(scanner.Text(), &word, &id); err == nil && (word == "begun" || word == "ended") {
			printed[word][ID(id)] = true
		}
		if n == lines {
			require.NoError(t, child.Process.Kill())
		}
	}
	require.Error(t, child.Wait(), "the child was killed")
}
