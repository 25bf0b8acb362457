package ledger

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/database"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/ledger/journal"
)

// elsewhere is the backend of another database that cannot be reached.
type elsewhere struct{ away }

func (elsewhere) Identity() string { return "elsewhere" }

func sharedLedger(t *testing.T, options accounting.LedgerOptions, usual string) *shared {
	t.Helper()
	l, err := Shared(options, usual, func() database.Backend { return away{} }, "test")
	require.NoError(t, err)
	return l.(*shared)
}

func release(t *testing.T, ledgers ...*shared) {
	t.Helper()
	for _, l := range ledgers {
		assert.NoError(t, l.Release())
	}
}

// A second process with the same data directory once failed to start.
func TestASecondProcessUsesAJournalOfItsOwn(t *testing.T) {
	usual := filepath.Join(t.TempDir(), "journal")
	other, err := Open(accounting.LedgerOptions{Journal: usual}, away{}, zap.NewNop)
	require.NoError(t, err)
	l := sharedLedger(t, accounting.LedgerOptions{}, usual)
	assert.Equal(t, usual+"-2", l.options.Load().Journal)
	release(t, l)
	require.NoError(t, other.Close())

	l = sharedLedger(t, accounting.LedgerOptions{}, usual)
	assert.Equal(t, usual, l.options.Load().Journal)
	release(t, l)
}

// A configured journal is never replaced by a sibling.
func TestL037AConfiguredJournalBelongsToOneProcess(t *testing.T) {
	dir := t.TempDir()
	other, err := Open(accounting.LedgerOptions{Journal: dir}, away{}, zap.NewNop)
	require.NoError(t, err)
	_, err = Shared(accounting.LedgerOptions{Journal: dir}, "unused", func() database.Backend { return away{} }, "test")
	assert.ErrorIs(t, err, journal.ErrInUse)
	require.NoError(t, other.Close())
}

// The records of a second process that was killed would have stayed in its journal until
// two processes ran again.
func TestJournalsThatNobodyUsesAreAdopted(t *testing.T) {
	usual := filepath.Join(t.TempDir(), "journal")
	killed, err := Open(accounting.LedgerOptions{Journal: usual + "-2"}, away{}, zap.NewNop)
	require.NoError(t, err)
	r := accounting.Record{Request: "killed"}
	require.NoError(t, killed.Begin(&r))
	require.NoError(t, killed.Close())

	release(t, sharedLedger(t, accounting.LedgerOptions{}, usual)) // ends the exchange in the journal, without the database
	_, crashed, err := journal.Open(journal.Options{Dir: usual + "-2"})
	require.NoError(t, err)
	assert.Empty(t, crashed)
}

// The options of the first configuration once applied until the process ended.
func TestAReloadChangesOptions(t *testing.T) {
	usual := filepath.Join(t.TempDir(), "journal")
	require.NoError(t, os.Mkdir(usual, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(usual, "0000000000000001.journal"), bytes.Repeat([]byte{1}, 1<<20+1), 0o600))
	first := sharedLedger(t, accounting.LedgerOptions{}, usual)
	require.NoError(t, first.Begin(new(accounting.Record)))
	first.End(new(accounting.Record))
	second := sharedLedger(t, accounting.LedgerOptions{Records: 7, JournalMax: 1 << 20, Sync: caddy.Duration(time.Minute)}, usual)
	assert.Same(t, first, second)
	assert.Equal(t, 7, first.options.Load().Records)
	assert.Equal(t, usual, first.options.Load().Journal)
	assert.ErrorIs(t, first.Begin(new(accounting.Record)), journal.ErrFull)
	_, err := Shared(accounting.LedgerOptions{Zone: "Mars/Olympus"}, usual, func() database.Backend { return away{} }, "test")
	assert.Error(t, err)
	_, err = Shared(accounting.LedgerOptions{}, usual, func() database.Backend { return elsewhere{} }, "test")
	assert.ErrorContains(t, err, "name another journal")
	first.End(new(accounting.Record))
	release(t, first, second)
}

// A ledger that was removed from the configuration and added again once failed to open
// while exchanges of the old configuration ran, because they kept the journal locked.
func TestALedgerIsUsedAgainWhileExchangesRun(t *testing.T) {
	usual := filepath.Join(t.TempDir(), "journal")
	l := sharedLedger(t, accounting.LedgerOptions{}, usual)
	running := accounting.Record{Request: "running"}
	require.NoError(t, l.Begin(&running))
	release(t, l)
	reopened := sharedLedger(t, accounting.LedgerOptions{Journal: usual}, "")
	assert.Same(t, l, reopened)
	l.End(&running)
	next := accounting.Record{Request: "next"}
	require.NoError(t, reopened.Begin(&next), "the ledger is still open")
	release(t, reopened)
	reopened.End(&next)
	require.Eventually(t, func() bool {
		open.Lock()
		defer open.Unlock()
		return open.ledgers[usual] == nil
	}, time.Minute, time.Millisecond)
	assert.ErrorIs(t, reopened.Begin(new(accounting.Record)), journal.ErrClosed)
}
