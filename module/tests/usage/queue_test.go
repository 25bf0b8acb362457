package usage_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// ended is what a record has of the end of an exchange.
type ended struct {
	Outcome, Reason string
	Status          int
}

// endsOf returns the ends of all exchanges but answered ones, when there are so many.
func endsOf(t *testing.T, s *site.Site, exchanges int) (ends []ended) {
	t.Helper()
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		var records []ended
		require.NoError(c, json.Unmarshal([]byte(usageCommand(t, s, "--records --json")), &records))
		ends = nil
		for _, r := range records {
			if r.Outcome != "answered" {
				ends = append(ends, r)
			}
		}
		assert.Len(c, ends, exchanges)
	}, site.Patience, site.PollEvery)
	return ends
}

// A client that left the queue of a provider, and one whose deadline was over in it, had the record of a provider
// that was busy: refused, with 503.
func TestARecordShowsHowAWaitForAProviderEnded(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	gate := gatewaytest.NewGate(t)
	global := append(withLedger(t), site.Direct.Provider("p", p, "max_running 1", "queue 1 10m"))
	s := site.StartCaddyfile(t, "{\nai_gateway {\n"+strings.Join(global, "\n")+"\n}\n}\n"+site.Block("")+site.BlockAt("hasty", "", "deadline 300ms"))
	p.Script(gatewaytest.Stall(gate, gatewaytest.Answer()))
	body := site.BodyFor(site.ChatPath, "m", "hello", false)
	running := s.Later(site.ChatPath, body)
	require.NoError(t, p.WaitRequests(site.Waiting(t), 1))

	assert.Equal(t, http.StatusGatewayTimeout, s.At(t, "hasty").Ask(site.ChatPath, body).Status)
	assert.Equal(t, []ended{{"refused", "the upstream did not answer in time", http.StatusGatewayTimeout}}, endsOf(t, s, 1))

	ctx, leave := context.WithCancel(t.Context())
	errs := make(chan error)
	for range 2 { // of which one finds no place
		go func() {
			response, err := s.Send(ctx, site.ChatPath, body)
			if err == nil {
				assert.Equal(t, http.StatusTooManyRequests, response.StatusCode)
				_ = response.Body.Close()
			}
			errs <- err
		}()
	}
	require.NoError(t, <-errs)
	leave()
	require.ErrorIs(t, <-errs, context.Canceled)
	assert.Contains(t, endsOf(t, s, 3), ended{Outcome: "client_closed"})
	gate.Open()
	assert.Equal(t, http.StatusOK, running().Status)
	assert.Equal(t, 1, p.Count())
}

// A client that left while a guard checked its request had the record of a guard that cannot be reached.
func TestARecordShowsThatAClientLeftDuringACheck(t *testing.T) {
	asked := make(chan struct{}, 1)
	service := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // behind which the server notices the end of the call
		asked <- struct{}{}
		<-r.Context().Done()
	}))
	defer service.Close()
	p := gatewaytest.NewProvider(t)
	s := site.Start(t, withLedger(t, site.Direct.Provider("p", p), "guard slow webhook {\nurl "+service.URL+"\non request\non_error block\ntimeout 1m\n}")...)
	ctx, leave := context.WithCancel(t.Context())
	errs := make(chan error)
	go func() {
		_, err := s.Send(ctx, site.ChatPath, site.BodyFor(site.ChatPath, "m", "hello", false))
		errs <- err
	}()
	<-asked
	leave()
	require.ErrorIs(t, <-errs, context.Canceled)
	assert.Equal(t, []ended{{Outcome: "client_closed"}}, endsOf(t, s, 1))
	assert.Zero(t, p.Count())
}
