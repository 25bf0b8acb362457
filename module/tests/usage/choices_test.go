package usage_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// Each request shows why its target was asked: in the log, the header and the record. Once,
// operators saw which targets had not been asked, and had to guess why one of the others was.
func TestARequestShowsWhyItsTargetWasAsked(t *testing.T) {
	inSession := []string{"X-Session-Affinity", "s1"}
	down, limited := gatewaytest.Status(http.StatusServiceUnavailable), gatewaytest.Status(http.StatusTooManyRequests, "Retry-After", "60")
	later := gatewaytest.Status(http.StatusTooManyRequests, "Retry-After-Ms", "5")
	for _, test := range []struct {
		name, model string
		fails       []gatewaytest.Step // of the first target
		headers     []string
		want        []string // of requests, one after the other
	}{
		{name: "the only one", model: "to a", want: []string{""}},
		{name: "first", model: "to a\nto b", want: []string{""}},
		{name: "weight", model: "to a weight 1\nto b weight 1", want: []string{"weight"}},
		{name: "session", model: "to a weight 1\nto b weight 1", headers: inSession, want: []string{"session"}},
		{name: "split", model: "to a weight 1\nto b weight 1\nsplit_by key", want: []string{"split"}},
		{name: "cost", model: "to b\nto a\norder cost", want: []string{"cost"}},
		{name: "latency", model: "to a\nto b\norder latency", want: []string{"trial"}},
		{name: "condition", model: "to a {\nif \"{request.tools} > 0\"\n}\nto b", want: []string{"condition"}},
		{name: "met condition", model: "to a {\nif \"{request.tools} == 0\"\n}\nto b", want: []string{"condition"}},
		{name: "limit", model: "to a {\nlimit {\nrequests 1/24h\n}\n}\nto b", want: []string{"", "limited"}},
		{name: "failure and rest", model: "to a\nto b", fails: []gatewaytest.Step{down, limited}, want: []string{"fallback", "fallback", "rests"}},
		{name: "rest within a step", model: "to a weight 1000000\nto b weight 1", fails: []gatewaytest.Step{limited}, want: []string{"fallback", "rests"}},
		{name: "repeated", model: "to a", fails: []gatewaytest.Step{later}, want: []string{"repeated"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			a, b := gatewaytest.NewProvider(t), gatewaytest.NewProvider(t)
			a.Always(twenty)
			b.Always(twenty)
			a.Script(test.fails...)
			s := site.Start(t, withLedger(t, "target_header on",
				site.Direct.Provider("a", a, "models off", "format chat", "price m input 1 output 1"),
				site.Direct.Provider("b", b, "models off", "format chat", "price m input 2 output 2"),
				"model m {\n"+test.model+"\n}")...)
			var last site.Reply
			for _, want := range test.want {
				last = s.Ask(site.ChatPath, asking(5), test.headers...)
				require.Equal(t, http.StatusOK, last.Status, last.Body)
				assert.Equal(t, want, last.Header.Get("X-Gateway-Choice"))
				logged, _ := s.Record(last.ID())["choice"].(string)
				assert.Equal(t, want, logged)
			}
			attempts(t, s, last.ID()) // waits for the record
			var page struct{ Items []struct{ Choice string } }
			get(t, s.AdminURL("/api/v1/records?request="+last.ID()), &page)
			require.Len(t, page.Items, 1)
			assert.Equal(t, test.want[len(test.want)-1], page.Items[0].Choice)
		})
	}
}
