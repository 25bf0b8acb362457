package observability_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// observed has every event.
const observed = `{
	events {
		on * noting
	}
}
`

// Operators see names, references and numbers: no log at any level, event, metric, span
// or view of the admin API holds an API key, a key of a client, a prompt, the words of a
// provider, or the name of an end user.
func TestNoSecretIsInWhatOperatorsSee(t *testing.T) {
	spans.Reset()
	c := gatewaytest.NewCanaries()
	t.Setenv("OTEL_TRACES_EXPORTER", "memory")
	t.Setenv("FIRST_KEY", c.Secret("first-key"))
	t.Setenv("SECOND_KEY", c.Secret("second-key"))
	t.Setenv("TEAM_KEY", c.Secret("client-key"))
	first, second := gatewaytest.NewProvider(t), gatewaytest.NewProvider(t)
	s := site.StartCaddyfile(t, observed+site.Block("log\ntracing {\nspan site\n}",
		"key team {env.TEAM_KEY} {\nlimit small\n}", "limit small {\nrequests 1000/1m\n}",
		site.Direct.Provider("first", first, "models first", "api_key {env.FIRST_KEY} {env.SECOND_KEY}"),
		site.Direct.Provider("second", second, "models second"), "model m {\nto first\nto second\n}"))
	seen := collectEvents()
	for _, path := range site.ClientPaths {
		for i, step := range leaking(c) {
			first.Always(step)
			headers := []string{"Authorization", "Bearer " + c.Secret("client-key"), "X-Claude-Code-Session-Id", c.Secret("session")}
			answer := s.Ask(path, bodyWith(c, path), headers...)
			assert.Equal(t, 200, answer.Status, "%s %d: %s", path, i, answer.Body)
			s.Record(answer.ID())
		}
	}
	sinks := map[string]string{}
	for _, view := range []string{"/metrics", "/config/", "/api/v1/targets", "/api/v1/explain?model=m&format=chat&key=team"} {
		sinks[view] = site.ReadReply(s.Get(s.AdminURL(view))).Body
	}
	require.NoError(t, s.Reload(site.Block("", site.DemoProvider))) // exports the spans, and ends the events
	sinks["events"] = seen()
	for _, span := range spans.GetSpans() {
		sinks["spans"] += fmt.Sprintln(span.Name, span.Attributes, span.Events, span.Status)
	}
	sinks["the log"] = s.Logs.String()
	c.AssertPresent(t, "what the provider received", fmt.Sprint(first.Requests()[0].Header, string(first.Requests()[0].Body)), "prompt")
	for name, text := range sinks {
		assert.Contains(t, text, "first", name)
		c.AssertAbsent(t, name, text, inAccessLog...)
	}
}

// inAccessLog are what Caddy's access log has of the headers of a client.
var inAccessLog = []string{"session"}

// collectEvents collects what the handler "noting" sees, until the returned function is
// called.
func collectEvents() (end func() string) {
	text, stop := make(chan string), make(chan struct{})
	go func() {
		var all strings.Builder
		for {
			select {
			case e := <-noted:
				fmt.Fprintln(&all, e.Name(), e.Data)
			case <-stop:
				text <- all.String()
				return
			}
		}
	}()
	return func() string { close(stop); return <-text }
}

// leaking are failures of a provider that repeat what the gateway sent.
func leaking(c *gatewaytest.Canaries) []gatewaytest.Step {
	message := []byte(`{"error":{"type":"x","message":"` + c.Secret("first-key") + c.Secret("second-key") + c.Secret("prompt") + c.Secret("provider-text") + `"}}`)
	return []gatewaytest.Step{
		gatewaytest.Body(401, "application/json", message),
		gatewaytest.Body(402, "application/json", message),
		gatewaytest.Body(429, "application/json", message, "Retry-After", "1", "X-Request-Id", c.Secret("provider-id")),
		gatewaytest.Body(500, "application/json", message),
		gatewaytest.Body(529, "text/plain", message),
		gatewaytest.Reset(),
	}
}

// bodyWith returns a request with secrets in the prompt, and where it names its session
// and its end user.
func bodyWith(c *gatewaytest.Canaries, path string) string {
	more := `,"user":"` + c.Secret("end-user") + `"`
	switch path {
	case site.MessagesPath:
		more = `,"metadata":{"user_id":"` + c.Secret("end-user") + `"}`
	case site.GeminiPath:
		more = `,"labels":{"user":"` + c.Secret("end-user") + `"}`
	}
	if path == site.ResponsesPath || path == site.ChatPath {
		more += `,"prompt_cache_key":"` + c.Secret("cache-key") + `"`
	}
	body := site.BodyFor(path, "m", c.Secret("prompt"), false)
	return body[:len(body)-1] + more + "}"
}
