package failover

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/drain"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/catalog"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/failover/selection"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/health"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// A target that ended each stream at once without any content was the fastest of all, and got all requests.
//
// Streams are measured where the order needs it, from the call to the first content: a stream that had
// none, and an answer in one piece, show no latency.
func TestOnlyStreamsWithContentAreMeasured(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, test := range map[string]struct {
			order string
			began time.Duration // after the call; 0 for no content
			fault *fault.Fault
			want  time.Duration
			ended event.FinishReason // of a whole answer without text
		}{
			"a stream":                 {catalog.OrderByLatency, time.Second, nil, time.Second, 0},
			"a stream without content": {catalog.OrderByLatency, 0, nil, 0, 0},
			"a refusal":                {catalog.OrderByLatency, 0, &fault.Fault{Kind: fault.RateLimited}, 0, 0},
			"a timeout":                {catalog.OrderByLatency, 0, &fault.Fault{Kind: fault.Timeout}, 10 * time.Second, 0},
			"an empty answer":          {catalog.OrderByLatency, time.Second, nil, 0, event.FinishStop},
			"a tool call":              {catalog.OrderByLatency, time.Second, nil, time.Second, event.FinishTools},
			"cut off by the deadline":  {catalog.OrderByLatency, 0, fault.UpstreamTimeout(drain.ErrDeadline), 0, 0},
			"another order":            {catalog.OrderByCost, time.Second, nil, 0, 0},
			"no order":                 {"", time.Second, nil, 0, 0},
		} {
			called := time.Now()
			c := &exchange.Conduit{}
			result := &c.Result
			result.Times.Called, result.Fault, result.EndedBy = called, test.fault, test.ended
			if test.ended != 0 {
				result.Finish(token.Usage{})
			}
			if test.began > 0 {
				result.Times.Began = called.Add(test.began)
			}
			time.Sleep(10 * time.Second)
			target := &catalog.Target{Provider: &catalog.Provider{Service: name}, Model: "upstream"}
			ex := &exchange.Exchange{Request: exchange.Request{Format: formats.Of("chat")}, Start: called}
			c.Attempt.Exchange = ex
			x := &run{site: &Site{Deadline: time.Minute}, model: &catalog.Model{Order: catalog.Order{Criterion: test.order}}, ex: ex}
			x.noteLatency(&selection.Candidate{Target: target}, c)
			health.FirstContent.Note(target.Stream("", "messages"), called, called) // of other clients
			time.Sleep(time.Minute)
			median, ok := health.FirstContent.Median(target.Stream("", "chat"))
			assert.Equal(t, test.want > 0, ok, name)
			assert.InDelta(t, test.want, median, 0.5*float64(time.Second), name)
		}
	})
}
