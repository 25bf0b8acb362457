package pricefile

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/filewatch"
)

const header = "provider,models,input,output\n"

// L016 and L017: an edit with a mistake once left a gateway without prices, or kept it
// from starting a day later.
func TestL016PricesOfAFileFollowItsChanges(t *testing.T) {
	path := filepath.Join(t.TempDir(), "prices.csv")
	write := func(rows string) { require.NoError(t, os.WriteFile(path, []byte(header+rows), 0o600)) }
	write("p,m,1,2")
	core, logs := observer.New(zap.InfoLevel)
	synctest.Test(t, func(t *testing.T) {
		f, err := Open(t.Context(), path, zap.New(core))
		require.NoError(t, err)
		cost := func() int64 { return int64(f.Find("p", "m", time.Now()).Base.Fresh) }
		settle := func() { time.Sleep(2*filewatch.Interval + 1); synctest.Wait() } // of the clock of the bubble
		assert.EqualValues(t, 1e6, cost())
		write("p,m,3,3\np,m,4,4")
		settle()
		settle()
		assert.EqualValues(t, 1e6, cost(), "L017: the table before stays")
		assert.Equal(t, 1, logs.FilterMessage("prices file is invalid; its previous prices stay valid").Len())
		write("p,m,5,5")
		settle()
		assert.EqualValues(t, 5e6, cost())
	})
}

func TestAWrongFileIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "prices.csv")
	_, err := Open(t.Context(), path, zap.NewNop())
	assert.ErrorContains(t, err, "prices file: ")
	require.NoError(t, os.WriteFile(path, []byte(header+"p,m,8,1"), 0o600))
	_, err = Open(t.Context(), path, zap.NewNop())
	assert.ErrorContains(t, err, "line 2: p m: the output costs less")
}

func TestNoFileHasNoPrices(t *testing.T) {
	assert.Nil(t, (*File)(nil).Find("p", "m", time.Now()))
}
