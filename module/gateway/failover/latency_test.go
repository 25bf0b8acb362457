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
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
)

// Streams are measured where the order needs it, from the call to the first content: a stream that had
// none, and an answer in one piece, show no latency.
func TestOnlyStreamsWithContentAreMeasured(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		called := time.Now()
		for name, test := range map[string]struct {
			order string
			times exchange.Times
			want  time.Duration
		}{
			"a stream":                 {catalog.OrderByLatency, exchange.Times{Called: called, Began: called.Add(time.Second)}, time.Second},
			"a stream without content": {catalog.OrderByLatency, exchange.Times{Called: called}, 0},
			"another order":            {catalog.OrderByCost, exchange.Times{Called: called, Began: called.Add(time.Second)}, 0},
			"no order":                 {"", exchange.Times{Called: called, Began: called.Add(time.Second)}, 0},
		} {
			target := &catalog.Target{Provider: &catalog.Provider{Service: name}, Model: "upstream"}
			ex := &exchange.Exchange{Request: exchange.Request{Format: formats.Of("chat")}}
			x := &run{model: &catalog.Model{Order: catalog.Order{By: test.order}}, ex: ex}
			x.noteLatency(&selection.Candidate{Target: target}, &exchange.Result{Times: test.times})
			health.FirstContent.Note(target.Stream("", "messages"), called, called) // of other clients
			time.Sleep(time.Minute)
			median, ok := health.FirstContent.Median(target.Stream("", "chat"))
			assert.Equal(t, test.want > 0, ok, name)
			assert.InDelta(t, test.want, median, 0.1*float64(time.Second), name)
		}
	})
}
