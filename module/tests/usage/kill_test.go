package usage_test

import (
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// killsVariable is the environment variable with the number of kills.
const killsVariable = "GATEWAY_TEST_KILLS"

// kills returns the number of kills: that of the environment, else the standard one.
func kills(t *testing.T, standard int) int {
	text := os.Getenv(killsVariable)
	if text == "" {
		return standard
	}
	n, err := strconv.Atoi(text)
	require.NoError(t, err)
	return n
}

// L027: under 50 clients, a gateway is killed at random instants. Each answer that a
// client got whole is in the ledger; none is there that the provider did not give; and
// the tokens are those that the provider counted.
func TestL027TotalsOfAKilledGatewayAreThoseOfTheProvider(t *testing.T) {
	t.Parallel()
	const clients, limit = 50, 150
	dir := t.TempDir()
	p := gatewaytest.NewProvider(t)
	lines := []string{"store sqlite " + dir + "/gateway.db", site.Direct.Provider("p", p, priced)}
	var confirmed atomic.Int64
	for range kills(t, 10) {
		gateway := site.StartProcess(t, "", lines...)
		end := confirmed.Load() + rand.Int64N(limit)
		var all sync.WaitGroup
		for range clients {
			all.Go(func() {
				for askWhole(gateway.Address) {
					if confirmed.Add(1) == end+1 {
						gateway.Kill()
					}
				}
			})
		}
		all.Wait()
	}
	site.StartProcess(t, "", lines...)
	var answered, requests int64
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		answered, requests = 0, 0
		var input, output int64
		out := site.RunCommand(t, "ai-gateway usage --by outcome --config "+caddyfileOf(t, dir)+" --adapter caddyfile")
		for row := range strings.Lines(out) {
			fields := strings.Fields(row)
			n, err := strconv.ParseInt(fields[1], 10, 64)
			if err != nil {
				continue // the header
			}
			requests += n
			if fields[0] == "answered" {
				answered = n
				input, _ = strconv.ParseInt(fields[2], 10, 64)
				output, _ = strconv.ParseInt(fields[4], 10, 64)
			}
		}
		assert.GreaterOrEqual(c, answered, confirmed.Load(), "lost")
		assert.LessOrEqual(c, answered, int64(p.Count()), "doubled")
		assert.GreaterOrEqual(c, requests, int64(p.Count()), "what the provider was asked has a record")
		assert.Zero(c, input%max(1, answered), "%d tokens of %d answers", input, answered)
		assert.Zero(c, output%max(1, answered), "%d tokens of %d answers", output, answered)
	}, site.Patience, 200e6)
	t.Logf("%d answers that clients got, %d in the ledger, %d requests of the provider, %d exchanges", confirmed.Load(), answered, p.Count(), requests)
}

// askWhole sends a request, and reports whether the whole answer came.
func askWhole(address string) bool {
	request, _ := http.NewRequest(http.MethodPost, "http://"+address+site.ChatPath, strings.NewReader(site.BodyFor(site.ChatPath, "m", "hello", true)))
	request.Header.Set("Authorization", "Bearer "+site.ClientKey)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return err == nil && response.StatusCode == http.StatusOK && strings.Contains(string(body), "[DONE]")
}
