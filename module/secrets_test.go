package module_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
)

// hostile is one exchange of the mixture: what the client sends and what the
// provider does.
type hostile struct {
	name    string
	step    gatewaytest.Step
	body    string // "" for an ordinary one
	headers []string
	quoting bool // the client gets its own words back
}

// mixture makes successes, refusals and faults, with secrets wherever one may
// stand.
func mixture(c *gatewaytest.Canaries, path string, streaming bool) []hostile {
	prompt := c.Secret("prompt")
	body := bodyFor(path, "m", prompt, streaming)
	odd := func(member string) string { return strings.TrimSuffix(body, "}") + "," + member + "}" }
	status := func(status int, text string) gatewaytest.Step {
		raw, _ := json.Marshal(map[string]any{"error": map[string]any{"message": text, "type": "x", "code": nil}})
		return gatewaytest.Body(status, "application/json", raw)
	}
	upstream := "Incorrect API key provided: " + c.Secret("upstream-key")
	list := []hostile{
		{name: "success"},
		{name: "wrong bearer", headers: []string{"Authorization", "Bearer " + c.Secret("wrong-key")}},
		{name: "wrong x-api-key", headers: []string{"X-Api-Key", c.Secret("wrong-key"), "Authorization", ""}},
		{name: "basic", headers: []string{"Authorization", "Basic " + c.Secret("wrong-key")}},
		{name: "two keys", headers: []string{"X-Api-Key", c.Secret("other-key")}},
		{name: "not JSON", body: body[:len(body)-1] + prompt},
		{name: "odd role", body: strings.Replace(body, `"user"`, `"`+prompt+prompt+`"`, 1)},
		{name: "odd content", body: strings.Replace(body, `"`+prompt+`"`, `[{"type":"`+prompt+`"}]`, 1)},
		{name: "odd number", body: odd(`"temperature":"` + prompt + `"`)},
		{name: "odd tools", body: odd(`"tools":[{"type":"` + prompt + `","name":7}]`)},
		{name: "unknown member", body: odd(`"` + prompt + `":1`), step: gatewaytest.Status(http.StatusBadRequest)},
		{name: "provider names its key", step: status(401, upstream)},
		{name: "provider names its key in a 400", step: status(400, upstream)},
		{name: "provider names its key in a 503", step: status(503, upstream)},
		{name: "provider names its key in plain text", step: gatewaytest.Body(500, "text/plain", []byte(upstream))},
		{name: "200 with an error", step: status(200, upstream)},
		{name: "provider quotes the request", step: status(400, "cannot read: "+prompt), quoting: true},
		{name: "provider quotes the request in plain text", step: gatewaytest.Body(422, "text/plain", []byte("cannot read: "+prompt)), quoting: true},
		{name: "200 with an error that quotes the request", step: status(200, "cannot read: "+prompt), quoting: true},
		{name: "late fault that quotes the request", step: slowly(append(append([]string{}, streams[path][:len(streams[path])-2]...),
			strings.NewReplacer("Overloaded", prompt, "The server had an error", prompt).Replace(errorEvents[path]))), quoting: true},
		{name: "HTML", step: gatewaytest.Body(502, "text/html", []byte("<html>"+upstream))},
		{name: "reset", step: gatewaytest.Reset()},
		{name: "empty", step: gatewaytest.Body(200, "application/json", nil)},
		{name: "cut", step: gatewaytest.CutAt(30)},
		{name: "late fault", step: gatewaytest.Chunks(gatewaytest.EventStream, append(append([]string{}, streams[path][:4]...), errorEvents[path])...)},
		{name: "late fault that names the key", step: slowly(append(append([]string{}, streams[path][:len(streams[path])-2]...),
			strings.NewReplacer("Overloaded", upstream, "The server had an error", upstream).Replace(errorEvents[path])))},
		{name: "late fault with the key in a comment", step: slowly(append(append([]string{}, streams[path][:len(streams[path])-2]...),
			": "+upstream+"\nid: "+upstream+"\n"+errorEvents[path]))},
		{name: "a number that is no status", step: status(700, upstream)},
		{name: "cut event", step: gatewaytest.Chunks(gatewaytest.EventStream, append(append([]string{}, streams[path][:4]...), "data: {"+prompt)...)},
	}
	return list
}

// slowly lets the client have each piece before the next one comes.
func slowly(pieces []string) gatewaytest.Step {
	return func(c *gatewaytest.Call) {
		if strings.Contains(c.Request.Header.Get("Accept"), "json") {
			gatewaytest.Answer()(c)
			return
		}
		paced(pieces)(c)
	}
}

const shippedFilter = "log {\nformat filter {\nrequest>headers>X-Api-Key delete\n}\n}\n"

// No log, error, admin view or file holds a key or a prompt, whatever happens.
// Shown on purpose and not in the mixture is a short value of a closed set (role,
// type), which a refusal names. What a provider says of a request, its client
// reads; the log once repeated it, prompts included.
func TestNoSecretLeaves(t *testing.T) {
	canaries := gatewaytest.NewCanaries()
	t.Setenv("CLIENT_KEY", canaries.Secret("client-key"))
	t.Setenv("UPSTREAM_KEY", canaries.Secret("upstream-key"))
	var logs strings.Builder
	for _, name := range placeholderNames {
		fmt.Fprintf(&logs, "log_append p_%s {http.ai_gateway.%s}\n", name, name)
	}
	eachWay(t, func(t *testing.T, w way) {
		p := gatewaytest.NewProvider(t)
		c := gatewaytest.StartCaddy(t, siteBlock(shippedFilter+logs.String(),
			w.provider("p", p, "api_key {env.UPSTREAM_KEY}", "models m"),
			w.providerAt("refused", gatewaytest.RefusedAddress(t), "api_key {env.UPSTREAM_KEY}", "models r"),
			"model * {\nto refused\nto p\n}"))
		s := &site{c, t}
		answered, last := 0, ""
		for _, path := range callPaths {
			for _, streaming := range []bool{false, true} {
				for _, h := range mixture(canaries, path, streaming) {
					p.Always(h.step)
					if h.body == "" {
						h.body = bodyFor(path, "m", canaries.Secret("prompt"), streaming)
					}
					headers := append([]string{"Authorization", "Bearer " + canaries.Secret("client-key")}, h.headers...)
					answer := s.ask(path, h.body, headers...)
					name := fmt.Sprintf("%s %s stream=%t", h.name, path, streaming)
					switch {
					case h.quoting:
						canaries.AssertAbsent(t, name, answer.body, "prompt")
					case answer.status == http.StatusOK:
						answered++
						canaries.AssertAbsent(t, name, answer.body, "prompt") // its own words, repeated by the provider
					default:
						canaries.AssertAbsent(t, name, answer.body)
					}
					canaries.AssertAbsent(t, name+" headers", fmt.Sprint(answer.header))
					last = answer.id()
				}
			}
		}
		assert.GreaterOrEqual(t, answered, 6, "successes are in the mixture")
		s.access(last) // all is logged
		canaries.AssertPresent(t, "what the provider received", fmt.Sprint(p.Requests()[0].Header), "upstream-key")
		canaries.AssertPresent(t, "what the provider received", p.Requests()[0].Body, "prompt")
		for _, r := range p.Requests() {
			canaries.AssertAbsent(t, "what the provider received", fmt.Sprint(r.Header), "upstream-key")
		}
		canaries.AssertAbsent(t, "the log", s.Logs.Bytes())
		for _, view := range []string{"/config/", "/metrics", "/reverse_proxy/upstreams", "/debug/vars"} {
			response := c.Get(c.AdminURL(view))
			canaries.AssertAbsent(t, view, io.Reader(response.Body))
			_ = response.Body.Close()
		}
		saved, err := os.ReadFile(c.Autosave())
		require.NoError(t, err)
		require.Contains(t, string(saved), "UPSTREAM_KEY", "the reference is saved, not what it refers to")
		canaries.AssertAbsent(t, "autosave", saved)
	})
}
