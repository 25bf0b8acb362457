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

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/filewatch"
)

const header = "provider,models,input,output\n"

// L016 and L017: a file with a mistake must not remove the prices of a running gateway.
func TestL016PricesOfAFileFollowItsChanges(t *testing.T) {
	path := filepath.Join(t.TempDir(), "prices.csv")
	write := func(rows string) { require.NoError(t, os.WriteFile(path, []byte(header+rows), 0o600)) }
	write("p,m,1,2")
	core, logs := observer.New(zap.InfoLevel)
	synctest.Test(t, func(t *testing.T) {
		f, err := Open(t.Context(), path, zap.New(core))
		require.NoError(t, err)
		cost := func() int64 { return int64(f.Find("p", "m", time.Now()).Base.Fresh) }
		settle := func() { time.Sleep(2*filewatch.Interval + 1); synctest.Wait() } // by the fake clock of synctest
		assert.EqualValues(t, 1e6, cost())
		write("p,m,3,3\np,m,4,4")
		settle()
		settle()
		assert.EqualValues(t, 1e6, cost(), "L017: the previous prices stay valid")
		assert.Equal(t, 1, logs.FilterMessage("prices file is invalid; keeping its previous prices").Len())
		write("p,m,5,5")
		settle()
		assert.EqualValues(t, 5e6, cost())
	})
}

// A file that was removed, and came back unchanged, once left no entry about its return, so
// that nobody could see since when its changes took effect again.
func TestTheLogShowsWhenAFileDisappearsAndWhenItComesBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "prices.csv")
	write := func(rows string) { require.NoError(t, os.WriteFile(path, []byte(header+rows), 0o600)) }
	write("p,m,1,2")
	core, logs := observer.New(zap.InfoLevel)
	synctest.Test(t, func(t *testing.T) {
		f, err := Open(t.Context(), path, zap.New(core))
		require.NoError(t, err)
		require.NoError(t, os.Remove(path))
		settle := func() { time.Sleep(2*filewatch.Interval + 1); synctest.Wait() } // by the fake clock of synctest
		settle()
		settle()
		gone := logs.FilterMessage("prices file cannot be read; keeping its previous prices").All()
		require.Len(t, gone, 1, "once")
		assert.Contains(t, gone[0].ContextMap()["error"], path)
		assert.NotNil(t, f.Find("p", "m", time.Now()))
		write("p,m,1,2")
		settle()
		settle()
		assert.Equal(t, 1, logs.FilterMessage("prices file can be read again").Len())
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

// A price for a thousand tokens instead of a million was once accepted, and wrong costs were
// recorded until somebody noticed.
func TestAJumpOfAPriceIsRefusedUnlessItIsConfirmed(t *testing.T) {
	const columns = "provider,models,from,until,input,output,currency,confirmed\n"
	path := filepath.Join(t.TempDir(), "prices.csv")
	for name, tt := range map[string]struct{ rows, refused string }{
		"a thousandth of the table":     {"openai,gpt-4o,,,0.0025,0.01,,", "openai gpt-4o: input costs 0.0025 for a million tokens, and 2.5 before"},
		"a thousandfold of the table":   {"openai,gpt-4o,,,3,10000,,", "openai gpt-4o: output costs 10000 for a million tokens, and 10 before"},
		"confirmed":                     {"openai,gpt-4o,,,0.0025,0.01,,yes", ""},
		"confirmed with another word":   {"openai,gpt-4o,,,0.0025,0.01,,maybe", "line 2: confirmed: "},
		"twenty times":                  {"openai,gpt-4o,,,50,200,,", ""},
		"another currency":              {"openai,gpt-4o,,,250,1000,JPY,", ""},
		"free":                          {"openai,gpt-4o,,,0,0,,", ""},
		"a model without another price": {"local,m,,,5000,5000,,", ""},
		"later in the file":             {"local,m,,2027-01-01,1,1,,\nlocal,m,2027-01-01,,30,30,,", "local m: input costs 30 for a million tokens, and 1 before"},
		"step by step":                  {"local,m,,2027-01-01,1,1,,\nlocal,m,2027-01-01,2027-02-01,15,15,,\nlocal,m,2027-02-01,,30,30,,", ""},
	} {
		require.NoError(t, os.WriteFile(path, []byte(columns+tt.rows), 0o600))
		_, err := Open(t.Context(), path, zap.NewNop())
		if tt.refused == "" {
			assert.NoError(t, err, name)
			continue
		}
		assert.ErrorContains(t, err, tt.refused, name)
	}
}

func TestAJumpOfAnEditIsRefused(t *testing.T) {
	var f File
	require.NoError(t, f.accept([]byte(header+"local,m,1,2")))
	assert.ErrorContains(t, f.accept([]byte(header+"local,m,1000,2000")), "set confirmed to yes")
	assert.EqualValues(t, 1e6, f.Find("local", "m", time.Now()).Base.Fresh, "the previous price stays valid")
}

// A price of the next month may be an ordinary step from one that begins before it, and a
// jump from the one of today.
func TestAFuturePriceIsComparedWithThatOfItsFirstDay(t *testing.T) {
	const columns = "provider,models,from,until,input,output,confirmed\n"
	now := time.Now()
	inDays := func(n int) string { return now.AddDate(0, 0, n).Format(time.DateOnly) }
	today := "local,m," + inDays(-5) + "," + inDays(10) + ",1,1,\n"
	begun := columns + today + "local,m," + inDays(10) + ",,30,30,yes"
	for name, tt := range map[string]struct{ rows, refused string }{
		"a step from the first day":   {"local,m," + inDays(20) + ",,60,60,", ""},
		"a jump from the first day":   {"local,m," + inDays(20) + ",,1,1,", "local m: input costs 1 for a million tokens, and 30 before"},
		"a step before it":            {"local,m," + inDays(5) + ",,2,2,", ""},
		"valid now":                   {"local,m,,,2,2,", ""},
		"a jump that is valid now":    {"local,m,,,30,30,", "local m: input costs 30 for a million tokens, and 1 before"},
		"a jump that is valid longer": {"local,m," + inDays(-30) + ",,30,30,", "local m: input costs 30 for a million tokens, and 1 before"},
	} {
		var f File
		require.NoError(t, f.accept([]byte(begun)), name)
		err := f.accept([]byte(columns + tt.rows))
		if tt.refused == "" {
			assert.NoError(t, err, name)
			continue
		}
		assert.ErrorContains(t, err, tt.refused, name)
	}
}

func TestNoFileHasNoPrices(t *testing.T) {
	assert.Nil(t, (*File)(nil).Find("p", "m", time.Now()))
}
