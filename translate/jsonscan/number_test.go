package jsonscan_test

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

func TestIntegralNumbersAreExactInAnyNotation(t *testing.T) {
	for raw, want := range map[string]int64{
		"0": 0, "-0": 0, "0.0": 0, "0e5": 0, "-0.00e-99999999999999999999": 0, "0E99999999999999999999": 0,
		"16": 16, "16.0": 16, "1.6e1": 16, "1.6E+1": 16, "160e-1": 16, "0.16e2": 16, "1600000e-5": 16, "-16.000": -16,
		"0.00000000000000000000000016e26":         16,
		"1600000000000000000000000000e-26":        16,
		"9007199254740993":                        9007199254740993,
		"999999999999999999":                      999999999999999999,
		"9223372036854775807":                     math.MaxInt64,
		"9223372036854775807.000":                 math.MaxInt64,
		"922337203685477580.7e1":                  math.MaxInt64,
		"-9223372036854775808":                    math.MinInt64,
		"-9223372036854775808e0":                  math.MinInt64,
		"1e18":                                    1e18,
		"9e18":                                    9e18,
		"1" + strings.Repeat("0", 400) + "e-400":  1,
		"0." + strings.Repeat("0", 400) + "1e401": 1,
	} {
		n, exact := jsonscan.ParseInt([]byte(raw))
		assert.True(t, exact, raw)
		assert.Equal(t, want, n, raw)
	}
}

func TestOtherNumbersAreNotExactIntegers(t *testing.T) {
	for _, raw := range []string{
		"16.5", "0.1", "1e-1", "16e-2", "1.00000000000000000000000001", "-0.5",
		"9223372036854775808", "-9223372036854775809", "9999999999999999999", "10000000000000000000",
		"18446744073709551616", "1e19", "1e99999999999999999999", "-1e99999999999999999999",
		"1e-99999999999999999999", "123456789012345678901234567890", "", "-",
	} {
		n, exact := jsonscan.ParseInt([]byte(raw))
		assert.False(t, exact, raw)
		assert.Zero(t, n, raw)
	}
}

func TestNumbersKeepTheirText(t *testing.T) {
	for _, raw := range []string{"12345678901234567890", "1.10", "-0", "1E+05", "0.1e-7"} {
		c := jsonscan.New([]byte(" " + raw + " "))
		number, ok := c.Number()
		assert.True(t, ok, raw)
		assert.Equal(t, raw, string(number))
		assert.NoError(t, c.Finish(), raw)
	}
}

func TestInexactIntegersAreConsumed(t *testing.T) {
	c := jsonscan.New([]byte(`[16.5,1e99]`))
	for c.EnterArray(); c.Element(); {
		_, exact, ok := c.Int()
		assert.True(t, ok)
		assert.False(t, exact)
	}
	assert.NoError(t, c.Finish())
}

func TestFloatsBeyondTheRangeAreInfinite(t *testing.T) {
	for raw, want := range map[string]float64{
		"1e999": math.Inf(1), "-1e999": math.Inf(-1), "1e-999": 0, "0.1": 0.1, "1": 1,
	} {
		assert.Equal(t, want, jsonscan.ParseFloat([]byte(raw)), raw)
	}
}
