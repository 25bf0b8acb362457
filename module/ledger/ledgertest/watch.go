package ledgertest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/ledger"
)

// A watch gets the records that a page of records has, with the same ids.
func recordsAreWatched(t *testing.T, d Database) {
	l := opened(t, d, journalOf(t))
	reader := ledger.NewReader(d(), zap.NewNop)
	t.Cleanup(func() { assert.NoError(t, reader.Close()) })
	records, stop, err := reader.Watch()
	require.NoError(t, err)
	write(t, l, Example())
	require.NoError(t, l.Settled(t.Context()))
	batch := <-records
	assert.Equal(t, all(t, l, 1), batch)
	stop()
	stop() // as after a drop
	_, open := <-records
	assert.False(t, open)
}

// A client that does not read must not keep records in memory, or hold up the ledger.
func slowWatchesAreDropped(t *testing.T, d Database) {
	l := opened(t, d, journalOf(t))
	reader := ledger.NewReader(d(), zap.NewNop)
	t.Cleanup(func() { assert.NoError(t, reader.Close()) })
	records, stop, err := reader.Watch()
	require.NoError(t, err)
	defer stop()
	const batches = 20 // more than may wait
	for range batches {
		write(t, l, Example())
		require.NoError(t, l.Settled(t.Context()))
	}
	got := 0
	for batch := range records { // ends, because the watch was dropped
		got += len(batch)
	}
	assert.Less(t, got, batches)
	assert.Len(t, all(t, l, batches), batches)
}

// Each watch costs memory, and a client may open any number of pages.
func watchesAreBounded(t *testing.T, d Database) {
	reader := ledger.NewReader(d(), zap.NewNop)
	t.Cleanup(func() { assert.NoError(t, reader.Close()) })
	for {
		_, stop, err := reader.Watch()
		if err != nil {
			assert.ErrorIs(t, err, accounting.ErrManyWatches)
			return
		}
		defer stop()
	}
}
