package state

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/models"
)

// The end of a model was seen when its requests failed.
func TestWarningsOfTheEndOfAModel(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	for row, want := range map[string]string{
		",,": "", "2026-12-01,,x": "", ",2027-02-01,": "", // announced for later
		",2027-01-29,":           "The service ends the model on 2027-01-29.",
		",2026-12-01,next":       "The service ends the model on 2026-12-01; the successor is next.",
		",2026-11-30,":           "The service announced the end of the model for 2026-11-30, which has passed.",
		"2026-11-30,,next":       "The service has deprecated the model on 2026-11-30; the successor is next.",
		"2026-10-01,2027-06-01,": "The service has deprecated the model on 2026-10-01.",
	} {
		table, err := models.Read(strings.NewReader("provider,models,deprecated,shutdown,successor\np,m,"+row+"\n"), nil)
		require.NoError(t, err)
		assert.Equal(t, want, endOf(table.Rows[0].End(), table.Rows[0], now), row)
	}
}
