package sqlite

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/store"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/store/storetest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/ledger/ledgertest"
)

// childPath is an environment variable with the path of a database. A process of this test
// that has it creates keys in the database until it is killed.
const childPath = "GATEWAY_TEST_CHILD_PATH"

func TestMain(m *testing.M) {
	if path := os.Getenv(childPath); path != "" {
		fmt.Fprintln(os.Stderr, makeKeys(path))
		os.Exit(1)
	}
	if path := os.Getenv(ledgertest.ChildPath); path != "" {
		fmt.Fprintln(os.Stderr, ledgertest.WriteForever(recordsAt(path)))
		os.Exit(1)
	}
	storetest.Main(m)
}

// makeKeys creates keys, and prints the ID and the name of each. It ignores timeouts,
// which occur on a busy machine.
func makeKeys(path string) error {
	s := store.New(&file{schema: accounts, path: path}, zap.NewNop)
	s.Open()
	for {
		key := &aigateway.StoredKey{UserID: 1, Name: exchange.NewID(""), Bounds: aigateway.KeyBounds{Models: []string{"claude-*"}}}
		key.Digest = sha256.Sum256([]byte(key.Name))
		err := s.CreateKey(context.Background(), key, 1<<20)
		if err == nil {
			fmt.Println(key.ID, key.Name)
		} else if !errors.Is(err, aigateway.ErrUnavailable) {
			return err
		}
	}
}

func TestKeysThatWereMadeOutliveKill9(t *testing.T) {
	t.Parallel()
	const kills = 50
	path, _ := filled(t)
	made := make(map[string]bool)
	for range kills {
		for name := range killedAfter(t, path, 1+len(made)%5) {
			made[name] = true
		}
	}
	s := databaseAt(path).Open(t)
	storetest.Current(t, s)
	keys, _, err := s.Keys(t.Context(), aigateway.AnyUser, aigateway.Page{Limit: 1 << 20})
	require.NoError(t, err)
	kept := make(map[string]bool)
	for _, key := range keys {
		kept[key.Name] = true
		if key.Name != "laptop" {
			assert.Equal(t, sha256.Sum256([]byte(key.Name)), key.Digest)
			assert.Equal(t, []string{"claude-*"}, key.Bounds.Models)
		}
		assert.NotNil(t, s.Lookup(key.Digest))
	}
	for name := range made {
		assert.True(t, kept[name], name)
	}
	assert.GreaterOrEqual(t, len(made), kills)
	assert.Equal(t, "ok", integrity(t, path))
}

// killedAfter runs a child process, kills it when it has printed n keys, and returns all
// keys that it has printed.
func killedAfter(t *testing.T, path string, n int) map[string]bool {
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), childPath+"="+path)
	out, err := child.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	said := make(map[string]bool)
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadString('\n')
		if errors.Is(err, io.EOF) { // an incomplete line does not count
			break
		}
		require.NoError(t, err)
		var id int64
		var name string
		_, err = fmt.Sscan(line, &id, &name)
		require.NoError(t, err, line)
		said[name] = true
		if len(said) == n {
			require.NoError(t, child.Process.Kill())
		}
	}
	require.Error(t, child.Wait(), "the child was killed")
	require.GreaterOrEqual(t, len(said), n)
	return said
}

func integrity(t *testing.T, path string) (verdict string) {
	db, err := (&file{schema: accounts, path: path}).Connect(t.Context())
	require.NoError(t, err)
	defer db.Close()
	require.NoError(t, db.QueryRowContext(t.Context(), `PRAGMA integrity_check`).Scan(&verdict))
	files, err := filepath.Glob(path + "*.bak")
	require.NoError(t, err)
	assert.Empty(t, files)
	return verdict
}
