package aigateway

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

// The zero time was accepted, and meant a key that never expires. Times in the year 10000
// of UTC were accepted, too, and could not be encoded again.
func TestDatesThatCannotBeKeptAreRefused(t *testing.T) {
	for text, right := range map[string]bool{
		"0001-01-01": false, "0001-01-01T00:00:00Z": false, "0000-12-31": false, "1970-01-01": false, "1970-01-02": true,
		"9999-12-31": true, "9999-12-31T23:59:59.9Z": true, "9999-12-31T23:59:59-14:00": false, "9999-12-31T00:00:00-00:01": true,
	} {
		_, err := ParseDate(text)
		assert.Equal(t, right, err == nil, text)
	}
}

func TestWhatIsNoDateIsRefused(t *testing.T) {
	for _, text := range []string{"", "tomorrow", "2027-02-30", "2027-3-1", "2027-03-01T12:00:00", " 2027-03-01"} {
		_, err := ParseDate(text)
		assert.ErrorContains(t, err, "YYYY-MM-DD", text)
	}
}

// In Havana, clocks are set forward at midnight: the day began in the last hour of the day
// before.
func TestDaysBeginAtTheirFirstMoment(t *testing.T) {
	havana, err := time.LoadLocation("America/Havana")
	require.NoError(t, err)
	for text, want := range map[string]string{"2026-03-07": "2026-03-07T00:00:00-05:00", "2026-03-08": "2026-03-08T01:00:00-04:00", "2026-11-01": "2026-11-01T00:00:00-04:00"} {
		begin, err := ParseDay(text, havana)
		require.NoError(t, err)
		assert.Equal(t, want, begin.Format(time.RFC3339))
	}
	_, err = ParseDay("2026-3-7", havana)
	assert.Error(t, err)
}
