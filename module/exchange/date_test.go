package exchange

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDatesAreReadInBothForms(t *testing.T) {
	for text, want := range map[string]time.Time{
		"2027-03-01":                time.Date(2027, 3, 1, 0, 0, 0, 0, time.UTC),
		"2027-03-01T12:00:00+02:00": time.Date(2027, 3, 1, 10, 0, 0, 0, time.UTC),
	} {
		got, err := ParseDate(text)
		require.NoError(t, err, text)
		assert.True(t, want.Equal(got), text)
	}
}

func TestWhatIsNoDateIsRefused(t *testing.T) {
	for _, text := range []string{"", "tomorrow", "2027-02-30", "2027-3-1", "2027-03-01T12:00:00", " 2027-03-01"} {
		_, err := ParseDate(text)
		assert.ErrorContains(t, err, "YYYY-MM-DD", text)
	}
}
