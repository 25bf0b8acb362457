package tables

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/filewatch"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/models"
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
		cost := func() int64 { return int64(f.Price(Place{Service: "p"}, "m", time.Now()).Base.Fresh) }
		settle := func() { time.Sleep(2*filewatch.Interval + 1); synctest.Wait() } // by the fake clock of synctest
		assert.EqualValues(t, 1e6, cost())
		write("p,m,3,3\np,m,4,4")
		settle()
		settle()
		assert.EqualValues(t, 1e6, cost(), "L017: the previous prices stay valid")
		assert.Equal(t, 1, logs.FilterMessage("catalog file is invalid; keeping its previous rows").Len())
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
		gone := logs.FilterMessage("catalog file cannot be read; keeping its previous rows").All()
		require.Len(t, gone, 1, "once")
		assert.Contains(t, gone[0].ContextMap()["error"], path)
		assert.NotNil(t, f.Price(Place{Service: "p"}, "m", time.Now()))
		write("p,m,1,2")
		settle()
		settle()
		assert.Equal(t, 1, logs.FilterMessage("catalog file can be read again").Len())
	})
}

func TestAWrongFileIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "prices.csv")
	_, err := Open(t.Context(), path, zap.NewNop())
	assert.ErrorContains(t, err, "catalog file: ")
	require.NoError(t, os.WriteFile(path, []byte(header+"p,m,8,1"), 0o600))
	_, err = Open(t.Context(), path, zap.NewNop())
	assert.ErrorContains(t, err, "line 2, column 7: output: p m: the output costs less")
}

// A price for a thousand tokens instead of a million was once accepted, and wrong costs were
// recorded until somebody noticed. So was 0 for a model that costs something, which no budget bounds.
func TestAJumpOfAPriceIsRefusedUnlessItIsConfirmed(t *testing.T) {
	const columns = "provider,models,from,until,input,output,currency,confirmed\n"
	path := filepath.Join(t.TempDir(), "prices.csv")
	for name, tt := range map[string]struct{ rows, refused string }{
		"a thousandth of the table":     {"openai,gpt-4o,,,0.0025,0.01,,", "openai gpt-4o: input costs 0.0025 for a million tokens, and 2.5 before"},
		"a thousandfold of the table":   {"openai,gpt-4o,,,3,10000,,", "openai gpt-4o: output costs 10000 for a million tokens, and 10 before"},
		"confirmed":                     {"openai,gpt-4o,,,0.0025,0.01,,yes", ""},
		"confirmed with another word":   {"openai,gpt-4o,,,0.0025,0.01,,maybe", "line 2, column 30: confirmed: "},
		"twenty times":                  {"openai,gpt-4o,,,50,200,,", ""},
		"another currency":              {"openai,gpt-4o,,,250,1000,JPY,", ""},
		"free":                          {"openai,gpt-4o,,,0,0,,yes", ""},
		"zero of the table":             {"openai,gpt-4o,,,0,0,,", "openai gpt-4o: input costs 0 for a million tokens, and 2.5 before"},
		"output is zero":                {"openai,gpt-4o,,,2.5,0,,", "openai gpt-4o: output costs 0 for a million tokens, and 10 before"},
		"no longer free":                {"local,m,,2027-01-01,0,0,,\nlocal,m,2027-01-01,,30,30,,", ""},
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
	var f Tables
	require.NoError(t, f.accept([]byte(header+"local,m,1,2")))
	assert.ErrorContains(t, f.accept([]byte(header+"local,m,1000,2000")), "set confirmed to yes")
	assert.EqualValues(t, 1e6, f.Price(Place{Service: "local"}, "m", time.Now()).Base.Fresh, "the previous price stays valid")
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
		var f Tables
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
	assert.Nil(t, (*Tables)(nil).Price(Place{Service: "p"}, "m", time.Now()))
}

// A row may have facts, prices or both. A file had prices only, and the models that a service added
// were asked as those that nobody knew.
func TestAFileHasFactsAndPrices(t *testing.T) {
	content, err := Read(strings.NewReader("provider,models,input,output,longest,sampling,like\n" +
		"openai,gpt-9,1,2,5000,none,\nopenai,gpt-9-mini,,,,,openai/gpt-9\nopenai,gpt-9-nano,1,1,,,\n"))
	require.NoError(t, err)
	assert.NotNil(t, content.Prices.Find("openai", "gpt-9", time.Now()))
	assert.Nil(t, content.Prices.Find("openai", "gpt-9-mini", time.Now()))
	assert.EqualValues(t, 5000, content.Models.Find("openai", "gpt-9-mini").Longest())
	assert.Nil(t, content.Models.Find("openai", "gpt-9-nano"))
	_, err = Read(strings.NewReader("provider,models,input,output,longest\nopenai,a,x,2,y\nopenai,b,,,\nopenai,,1,1,\n"))
	assert.ErrorContains(t, err, "line 2, column 10: input: ")
	assert.ErrorContains(t, err, "line 2, column 14: longest: ")
	assert.ErrorContains(t, err, "line 3: the row has neither a price nor a fact")
	assert.ErrorContains(t, err, "line 4, column 8: models: is required")
}

func TestFactsOfAFileComeFirst(t *testing.T) {
	var own Tables
	require.NoError(t, own.accept([]byte("provider,models,longest\nanthropic,claude-opus-4-7,1000\n")))
	facts := own.Facts(Place{Service: "anthropic"}, "claude-opus-4-7")
	assert.EqualValues(t, 1000, facts.Longest())
	assert.Equal(t, "none", facts.Value("sampling"), "empty cells are those of the table")
	assert.EqualValues(t, 128000, own.Facts(Place{Service: "anthropic"}, "claude-opus-4-7-20260420").Longest(), "another name")
	assert.Nil(t, (*Tables)(nil).Facts(Place{Service: "anthropic"}, "unheard-of"))
}

func TestTablesOfSixtyDaysAreOld(t *testing.T) {
	newest, old := (*Tables)(nil).AsOf(models.Builtin().Newest())
	assert.False(t, newest.IsZero())
	assert.False(t, old)
	_, old = (*Tables)(nil).AsOf(newest.AddDate(0, 0, 61))
	assert.True(t, old)
	var own Tables
	require.NoError(t, own.accept([]byte("provider,models,longest,as_of\np,m,5,2027-03-01\n")))
	newest, old = own.AsOf(time.Date(2027, 3, 20, 0, 0, 0, 0, time.UTC))
	assert.Equal(t, "2027-03-01", newest.Format(time.DateOnly))
	assert.False(t, old, "a file makes them newer")
}
