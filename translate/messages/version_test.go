package messages

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestAVersionIsADateSinceTheOldest(t *testing.T) {
	refusals := map[string]string{
		"":                       "anthropic-version: this header is required",
		"latest":                 "anthropic-version: 'latest' is not a date of the form YYYY-MM-DD",
		"2023-6-1":               "anthropic-version: '2023-6-1' is not a date of the form YYYY-MM-DD",
		"2023-02-30":             "anthropic-version: '2023-02-30' is not a date of the form YYYY-MM-DD",
		"2023-06-01T00Z":         "anthropic-version: '2023-06-01T00Z' is not a date of the form YYYY-MM-DD",
		"2023-06-01, x":          "anthropic-version: '2023-06-01, x' is not a date of the form YYYY-MM-DD",
		"2022-12-31":             "anthropic-version: '2022-12-31' must be 2023-01-01 or later",
		"0000-01-01":             "anthropic-version: '0000-01-01' must be 2023-01-01 or later",
		"2023-06-01\x7f":         "anthropic-version: is not a date of the form YYYY-MM-DD",
		string(make([]byte, 65)): "anthropic-version: is not a date of the form YYYY-MM-DD",
	}
	for value, want := range refusals {
		fault := checkVersion([]string{value})
		if assert.NotNil(t, fault, value) {
			assert.Equal(t, want, fault.Message)
		}
	}
	for _, value := range []string{"2023-01-01", "2023-06-01", "2023-06-02", "2026-10-21", "2024-02-29", "9999-12-31"} {
		assert.Nil(t, checkVersion([]string{value}), value)
	}
	assert.NotNil(t, checkVersion(nil))
	twice := checkVersion([]string{"2023-06-01", "2023-06-01"})
	if assert.NotNil(t, twice) {
		assert.Equal(t, "anthropic-version: must be sent once, with one value", twice.Message)
	}
}
