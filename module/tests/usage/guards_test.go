package usage_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// The record of a request that a guard let pass without a check was that of a checked one.
func TestX112ARecordNamesTheGuardThatCouldNotCheck(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	s := site.Start(t, withLedger(t, site.Direct.Provider("p", p),
		"guard away webhook {\nurl http://127.0.0.1:1\non_error pass\non request\n}")...)
	answer := s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", "hello you", false))
	require.Equal(t, http.StatusOK, answer.Status, answer.Body)
	var records []struct{ Unchecked []string }
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		require.NoError(c, json.Unmarshal([]byte(usageCommand(t, s, "--records --json")), &records))
		require.Len(c, records, 1)
	}, site.Patience, site.PollEvery)
	assert.Equal(t, []string{"away"}, records[0].Unchecked)
}
