// Package models_test shows that the names of models suffice: whatever a client asks for, in any
// format, the most used models of the services accept the request that arrives, the client gets an
// answer, and everything that did not arrive is reported.
package models_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/models/service"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

func TestModelsAcceptWhatClientsAskFor(t *testing.T) {
	fakes := service.Start(t)
	lines, all := configuration(t, fakes)
	s := site.Start(t, lines...)
	for _, n := range all {
		for _, c := range clients {
			for _, forced := range []bool{false, true} {
				members, is := c.request(t, n, forced)
				if !is {
					continue
				}
				cell := strings.Join([]string{n.name, n.model, c.format}, "|")
				if forced {
					cell += "|forced"
				}
				assert.Empty(t, ask(t, s, fakes, c, n, members, forced), cell)
			}
		}
	}
}

// Clients that state no effort get the default of the model. Models that think then refused their
// temperature, since only the efforts of requests were looked at.
func TestModelsAcceptSamplingWithoutAnEffort(t *testing.T) {
	fakes := service.Start(t)
	lines, all := configuration(t, fakes)
	s := site.Start(t, lines...)
	for _, n := range all {
		for _, c := range clients {
			members, is := c.request(t, n, false)
			require.True(t, is)
			change(members, silent)
			assert.Empty(t, ask(t, s, fakes, c, n, members, false), strings.Join([]string{n.name, n.model, c.format}, "|"))
		}
	}
}

// ask sends a request, and returns what is wrong with what arrived, with the answer or with the report.
func ask(t *testing.T, s *site.Site, fakes *service.Server, c client, n named, members map[string]any, forced bool) string {
	raw, err := json.Marshal(members)
	require.NoError(t, err)
	reply := s.Ask(c.path, string(raw))
	arrived, rule := fakes.Last()
	switch {
	case rule != nil:
		return rule.ID + ": " + rule.Sentence(arrived)
	case reply.Status != http.StatusOK:
		return reply.Body
	case arrived == nil:
		return "no request arrived"
	case arrived.Model != n.model:
		return "the model is " + arrived.Model
	}
	reports := reply.Header.Get("X-Gateway-Dropped")
	wrong := misreported(members, forced, arrived, reports)
	if n.owns(c.format) {
		wrong = misreportedOwn(members, arrived, reports)
	}
	if text := reply.Text(t, c.path); text != spoken(n, c, arrived) {
		wrong = append(wrong, "the answer is "+text)
	}
	return strings.Join(wrong, ", ")
}

// spoken returns the answer that the client gets. The gateway itself enforces stops that a service
// does not take, unless the service gets the request of the client as it is.
func spoken(n named, c client, arrived *service.Request) string {
	if !strings.Contains(c.body, stops) || n.owns(c.format) && !hasStops(arrived) {
		return service.Words
	}
	return cut
}
