package command

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/api"
)

func TestTheStatusIsALineForEachPart(t *testing.T) {
	now := time.Date(2026, 11, 23, 12, 0, 5, 0, time.UTC)
	for answer, want := range map[string]string{
		`{"version":"1.2.3","caddy":"v2.11.0","started":"2026-11-23T10:00:00Z","ready":true,"running":3,"ended":120,"catalog":{"as_of":"2026-08-20","old":true},
			"providers":[{"name":"a","available":true},{"name":"b","available":false}],"ledger_behind_seconds":0}`: `version    1.2.3, Caddy v2.11.0
started    2026-11-23T10:00:00Z, 2h0m5s ago
ready      yes
requests   3 running, 120 in the last minute
catalog    of 2026-08-20, older than 60 days
ledger     up to date
providers  a: available
           b: rests
`,
		`{"version":"","revision":"abc-dirty","caddy":"v2.11.0","started":"2026-11-23T12:00:00Z","ready":false,"reason":"the store is not available",
			"running":0,"alerts":[{"time":"2026-11-23T11:00:00Z","event":"ai_gateway_key_expires","text":"The key ci expires.","over":null},
				{"time":"2026-11-23T10:00:00Z","event":"ai_gateway_degraded","text":"The counters do not work.","over":"2026-11-23T10:30:00Z"}],
			"providers":[],"ledger_behind_seconds":70}`: `version    checkout abc-dirty, Caddy v2.11.0
started    2026-11-23T12:00:00Z, 5s ago
ready      no: the store is not available
attention  since 2026-11-23T11:00:00Z: The key ci expires.
requests   0 running, 0 in the last minute
ledger     70 seconds behind
`,
		`{"caddy":"v2.11.0","started":"2026-11-23T12:00:00Z","ready":true,"ledger_behind_seconds":null}`: `version    checkout, Caddy v2.11.0
started    2026-11-23T12:00:00Z, 5s ago
ready      yes
requests   0 running, 0 in the last minute
ledger     none, or its state is unknown
`,
	} {
		var s api.Status
		require.NoError(t, json.Unmarshal([]byte(answer), &s))
		var out bytes.Buffer
		printStatus(&out, &s, now)
		assert.Equal(t, want, out.String())
	}
}

// A container whose gateway was not ready counted as healthy.
func TestTheStatusOfAGatewayThatIsNotReadyIsAnError(t *testing.T) {
	for answer, want := range map[string]string{
		`{"ready":true}`: "",
		`{"ready":false,"reason":"the gateway is shutting down"}`: "the gateway is not ready: the gateway is shutting down",
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			assert.Equal(t, statusPath, r.URL.Path)
			_, _ = io.WriteString(w, answer)
		}))
		cmd := statusCommand()
		cmd.SetOut(io.Discard)
		cmd.SetErr(io.Discard)
		cmd.SetArgs([]string{"--address", server.Listener.Addr().String()})
		err := cmd.Execute()
		server.Close()
		if want == "" {
			assert.NoError(t, err)
		} else {
			assert.EqualError(t, err, want)
		}
	}
}
