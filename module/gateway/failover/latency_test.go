package failover

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/catalog"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/failover/selection"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/health"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
)

// Streams are measured where the order needs it, from the call to the first content: a stream that had
// none, and an answer in one piece, show no latency.
func TestOnlyStreamsWithContentAreMeasured(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, test := range map[string]struct {
			order string
			began time.Duration // after the call; 0 for no content
			fault *fault.Fault
			want  time.Duration
		}{
			"a stream":                 {catalog.OrderByLatency, time.Second, nil, time.Second},
			"a stream without content": {catalog.OrderByLatency, 0, nil, 0},
			"a refusal":                {catalog.OrderByLatency, 0, &fault.Fault{Kind: fault.RateLimited}, 0},
			"a timeout":                {catalog.OrderByLatency, 0, &fault.Fault{Kind: fault.Timeout}, 10 * time.Second},
			"another order":            {catalog.OrderByCost, time.Second, nil, 0},
			"no order":                 {"", time.Second, nil, 0},
		} {
			called := time.Now()
			result := &exchange.Result{}
			result.Called, result.Fault = called, test.fault
			if test.began > 0 {
				result.Began = called.Add(test.began)
			}
			time.Sleep(10 * time.Second)
			target := &catalog.Target{Provider: &catalog.Provider{Service: name}, Model: "upstream"}
			ex := &exchange.Exchange{Request: exchange.Request{Format: formats.Of("chat")}}
			x := &run{model: &catalog.Model{Order: catalog.Order{By: test.order}}, ex: ex}
			x.noteLatency(&selection.Candidate{Target: target}, result)
			health.FirstContent.Note(target.Stream("", "messages"), called, called) // of other clients
			time.Sleep(time.Minute)
			median, ok := health.FirstContent.Median(target.Stream("", "chat"))
			assert.Equal(t, test.want > 0, ok, name)
			assert.InDelta(t, test.want, median, 0.5*float64(time.Second), name)
		}
	})
}
