package access_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// hostile is one exchange of the mixture: the request of the client, and the step of the
// provider.
type hostile struct {
	name    string
	step    gatewaytest.Step
	body    string // "" for an ordinary one
	headers []string
	quoting bool // the client gets its own words back
}

// mixture returns successes, refusals and faults, with secrets in all possible places.
func mixture(c *gatewaytest.Canaries, r site.Lane, streaming bool) []hostile {
	prompt := c.Secret("prompt")
	body := site.BodyFor(r.Path, modelOf(r), prompt, streaming)
	path := r.Upstream
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
		{name: "odd role", body: strings.Replace(body, `"user"`, `"`+prompt+`"`, 1), quoting: true},
		{name: "long role", body: strings.Replace(body, `"user"`, `"`+prompt+prompt+`"`, 1)},
		{name: "odd content", body: strings.Replace(body, `"`+prompt+`"`, `[{"type":"`+prompt+`"}]`, 1), quoting: true},
		{name: "odd number", body: odd(`"temperature":"` + prompt + `"`)},
		{name: "odd tools", body: odd(`"tools":[{"type":"` + prompt + `","name":7}]`), quoting: true},
		{name: "odd choice", body: odd(`"tools":[{"type":"x","name":"y"}],"tool_choice":{"type":"` + prompt + `"}`), quoting: true},
		{name: "unknown member", body: odd(`"` + prompt + `":1`), quoting: true},
		{name: "unknown member that is refused", body: odd(`"` + prompt + `":1`), step: gatewaytest.Status(http.StatusBadRequest)},
		{name: "member twice", body: odd(`"` + prompt + `":1,"` + prompt + `":2`), quoting: true},
		{name: "member twice inside", body: odd(`"metadata":{"` + prompt + `":1,"` + prompt + `":2}`), quoting: true},
		{name: "provider names its key", step: status(401, upstream)},
		{name: "provider names its key in a 400", step: status(400, upstream)},
		{name: "provider names its key in a 503", step: status(503, upstream)},
		{name: "provider names its key in plain text", step: gatewaytest.Body(500, "text/plain", []byte(upstream))},
		{name: "200 with an error", step: status(200, upstream)},
		{name: "provider quotes the request", step: status(400, "cannot read: "+prompt), quoting: true},
		{name: "provider quotes the request in plain text", step: gatewaytest.Body(422, "text/plain", []byte("cannot read: "+prompt)), quoting: true},
		{name: "200 with an error that quotes the request", step: status(200, "cannot read: "+prompt), quoting: true},
		{name: "late fault that quotes the request", step: slowly(append(append([]string{}, site.Streams[path][:len(site.Streams[path])-2]...),
			strings.NewReplacer("Overloaded", prompt, "The server had an error", prompt).Replace(site.ErrorEvents[path]))), quoting: true},
		{name: "provider names its key as a type", step: coded(400, c.Secret("upstream-key"))},
		{name: "provider quotes the request as a type", step: coded(400, prompt), quoting: true},
		{name: "malformed head", step: gatewaytest.Raw("HTTP/1.1 200 OK\r\n{\"text\":\"" + prompt + " " + upstream + "\"}\r\n\r\n")},
		{name: "malformed status", step: gatewaytest.Raw("HTTP/1.1 " + c.Secret("upstream-key") + " OK\r\n\r\n")},
		{name: "malformed trailer", step: gatewaytest.Raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X\r\n\r\n0\r\n" + c.Secret("upstream-key") + prompt + "\r\n\r\n")},
		{name: "more than was announced", step: gatewaytest.Raw("HTTP/1.1 400 No\r\nContent-Length: 2\r\n\r\n{}" + prompt + " " + upstream)},
		{name: "HTML", step: gatewaytest.Body(502, "text/html", []byte("<html>"+upstream))},
		{name: "reset", step: gatewaytest.Reset()},
		{name: "empty", step: gatewaytest.Body(200, "application/json", nil)},
		{name: "cut", step: gatewaytest.CutAt(30)},
		{name: "late fault", step: gatewaytest.Chunks(gatewaytest.EventStream, append(append([]string{}, site.Streams[path][:4]...), site.ErrorEvents[path])...)},
		{name: "late fault that names the key", step: slowly(append(append([]string{}, site.Streams[path][:len(site.Streams[path])-2]...),
			strings.NewReplacer("Overloaded", upstream, "The server had an error", upstream).Replace(site.ErrorEvents[path])))},
		{name: "late fault with the key in a comment", step: slowly(append(append([]string{}, site.Streams[path][:len(site.Streams[path])-2]...),
			": "+upstream+"\nid: "+upstream+"\n"+site.ErrorEvents[path]))},
		{name: "a number that is no status", step: status(700, upstream)},
		{name: "cut event", step: gatewaytest.Chunks(gatewaytest.EventStream, append(append([]string{}, site.Streams[path][:4]...), "data: {"+prompt)...)},
	}
	return list
}

// modelOf returns the name of the model, and of the provider, to which a lane leads.
func modelOf(r site.Lane) string { return fmt.Sprint("lane", slices.Index(site.ClientLanes, r)) }

// slowly sends each piece after the client has got the previous one.
func slowly(pieces []string) gatewaytest.Step {
	return func(c *gatewaytest.Call) {
		if strings.Contains(c.Request.Header.Get("Accept"), "json") {
			gatewaytest.Answer()(c)
			return
		}
		gatewaytest.Paced(gatewaytest.EventStream, pieces...)(c)
	}
}

const shippedFilter = "log {\nformat filter {\nrequest>headers>X-Api-Key delete\nrequest>headers>X-Goog-Api-Key delete\n}\n}\n"

// coded answers with an error whose type and code are this text.
func coded(status int, text string) gatewaytest.Step {
	raw, _ := json.Marshal(map[string]any{"error": map[string]any{"message": "no", "type": text, "code": text}})
	return gatewaytest.Body(status, "application/json", raw)
}

// No log, error, admin view or file contains a key or a prompt. Only the client gets the
// provider's error about its request, and short values of closed sets (role, type) in
// refusals. The log once contained all of these. net/http also logged, with the standard
// logger, the bytes that a provider sends after its answer. net/http calls every other
// provider of the test, and the package http1 the rest.
func TestNoSecretLeaves(t *testing.T) {
	canaries := gatewaytest.NewCanaries()
	t.Setenv("CLIENT_KEY", canaries.Secret("client-key"))
	t.Setenv("UPSTREAM_KEY", canaries.Secret("upstream-key"))
	var logs strings.Builder
	for _, name := range placeholderNames {
		fmt.Fprintf(&logs, "log_append p_%s {http.ai_gateway.%s}\n", name, name)
	}
	site.EachWay(t, func(t *testing.T, w site.Way) {
		lines := []string{site.Steady, w.ProviderAt("refused", gatewaytest.RefusedAddress(t), "api_key {env.UPSTREAM_KEY}", "models r")}
		providers := make(map[site.Lane]*gatewaytest.Provider)
		for i, r := range site.ClientLanes {
			providers[r] = gatewaytest.NewProvider(t)
			name, client := modelOf(r), ""
			if i%2 == 0 {
				client = "transport http {\nread_timeout 1m\n}" // so that net/http calls it
			}
			lines = append(lines, w.Provider(name, providers[r], "api_key {env.UPSTREAM_KEY}", r.Format, "models off", client), "model "+name+" {\nto refused/m\nto "+name+"/m\n}")
		}
		c := gatewaytest.StartCaddy(t, site.Block(shippedFilter+logs.String(), lines...))
		s := &site.Site{Caddy: c, T: t}
		t.Run("lanes", func(t *testing.T) {
			for _, r := range site.ClientLanes {
				t.Run(r.String(), func(t *testing.T) {
					t.Parallel() // clients of gemini wait behind errors
					askMixture(t, s.At(t, "site"), providers[r], canaries, r)
				})
			}
		})
		require.NoError(t, s.Logs.Wait(site.Waiting(t), "Unsolicited response received"), "the standard logger as well")
		for _, p := range providers {
			canaries.AssertPresent(t, "what the provider received", fmt.Sprint(p.Requests()[0].Header), "upstream-key")
			canaries.AssertPresent(t, "what the provider received", p.Requests()[0].Body, "prompt")
			for _, r := range p.Requests() {
				canaries.AssertAbsent(t, "what the provider received", fmt.Sprint(r.Header), "upstream-key")
			}
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

// askMixture sends the mixture of a lane, and examines the answers. It returns when all is logged.
func askMixture(t *testing.T, s *site.Site, p *gatewaytest.Provider, canaries *gatewaytest.Canaries, r site.Lane) {
	answered, last := 0, ""
	for _, streaming := range []bool{false, true} {
		for _, h := range mixture(canaries, r, streaming) {
			p.Always(h.step)
			if h.body == "" {
				h.body = site.BodyFor(r.Path, modelOf(r), canaries.Secret("prompt"), streaming)
			}
			headers := append([]string{"Authorization", "Bearer " + canaries.Secret("client-key")}, h.headers...)
			answer := s.Ask(r.Path, h.body, headers...)
			name := fmt.Sprintf("%s stream=%t", h.name, streaming)
			var own []string // its own words, repeated by the provider or the gateway
			if h.quoting || answer.Status == http.StatusOK {
				own = []string{"prompt"}
			}
			if answer.Status == http.StatusOK {
				answered++
			}
			canaries.AssertAbsent(t, name, answer.Body, own...)
			canaries.AssertAbsent(t, name+" headers", fmt.Sprint(answer.Header))
			last = answer.ID()
		}
	}
	assert.GreaterOrEqual(t, answered, 2, "successes are in the mixture")
	s.AccessEntry(last)
}

// Access logs contain the address of a request, its query included, and so does what
// reverse_proxy logs at level DEBUG. Only the parameter key of the paths of the Gemini API was once
// hidden, and only from access logs.
func TestY004KeysInTheQueryReachNoLog(t *testing.T) {
	canaries := gatewaytest.NewCanaries()
	t.Setenv("CLIENT_KEY", canaries.Secret("client-key"))
	p := gatewaytest.NewProvider(t)
	c := gatewaytest.StartCaddy(t, site.Block("log\n", site.Steady, "provider demo {\npace off\n}", "provider pool vllm {\nto "+p.Address()+" 127.0.0.1:9\nmodels pooled\nlb_policy first\n}", "accounts off"))
	s := &site.Site{Caddy: c, T: t}
	ask := func(target string, lines ...string) site.Reply {
		return s.Raw(`{"contents":[{"parts":[{"text":"hello"}]}]}`, append([]string{"POST /v1beta/models/demo:generateContent" + target + " HTTP/1.1", "Content-Type: application/json"}, lines...)...)
	}
	require.Equal(t, http.StatusOK, ask("?key="+canaries.Secret("client-key")).Status)
	require.Equal(t, http.StatusUnauthorized, ask("?key="+canaries.Secret("client-key")+"x").Status)
	for _, query := range []string{"?key=%s;a=b", "?key=%%zz%s", "?Key=%s", "?alt=sse&%%6bey=%s"} {
		for _, path := range []string{"/v1beta/models/demo:generateContent", "/v1/chat/completions", "/v1/no/path", "/chat/completions", "/upload/v1beta/files"} {
			s.Raw("{}", "POST "+path+fmt.Sprintf(query, canaries.Secret("client-key"))+" HTTP/1.1", "Content-Type: application/json")
		}
	}
	s.Raw(`{"contents":[{"parts":[{"text":"hello"}]}]}`, "POST /v1beta/models/pooled:generateContent?key="+canaries.Secret("client-key")+" HTTP/1.1", "Content-Type: application/json")
	require.Contains(t, s.Logs.String(), "upstream roundtrip")
	last := ask("", "Authorization: Bearer "+canaries.Secret("client-key"))
	require.Equal(t, http.StatusOK, last.Status)
	s.AccessEntry(last.ID())
	canaries.AssertAbsent(t, "the log", s.Logs.Bytes())
}
