package relay_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// Each test of this file covers a bug that a hostile provider or client could exploit.

// upstreamKey contains characters that some JSON encoders escape.
const upstreamKey = "sk-up/0123456789+abcdef"

// leaking is an answer of a provider that contains its key in an unusual place or form.
type leaking struct {
	name string
	step gatewaytest.Step
}

func leakingAnswers() []leaking {
	failed := func(message string) gatewaytest.Step {
		return gatewaytest.Body(http.StatusBadRequest, "application/json", []byte(`{"error":{"message":"`+message+`","type":"x"}}`))
	}
	plain := []byte(`{"error":{"message":"no","type":"x"}}`)
	head := func(lines string) gatewaytest.Step {
		return func(c *gatewaytest.Call) {
			conn, _, err := http.NewResponseController(c.ResponseWriter).Hijack()
			if err != nil {
				panic(err)
			}
			_, _ = fmt.Fprint(conn, lines+"\r\n\r\n")
			_ = conn.Close()
		}
	}
	return []leaking{
		// Error bodies were searched only for the literal key. A body with the
		// key in the form "sk-up\/..." was relayed.
		{"slash", failed("bad key " + strings.ReplaceAll(upstreamKey, "/", `\/`))},
		{"escape", failed("bad key " + strings.ReplaceAll(upstreamKey, "+", `\u002b`))},
		{"JSON in JSON", failed(`{\"m\":\"` + strings.ReplaceAll(upstreamKey, "/", `\\\/`) + `\"}`)},
		// A long message was truncated before the search, so that most of a
		// key at its end was shown.
		{"cut", failed(strings.Repeat("a", 2048-len(upstreamKey)+1) + upstreamKey)},
		// These headers were sent and logged without a search.
		{"retry-after", gatewaytest.Body(http.StatusTooManyRequests, "application/json", plain, "Retry-After", upstreamKey)},
		{"content type", gatewaytest.Body(http.StatusBadRequest, "application/json; key="+upstreamKey, plain)},
		{"request id", gatewaytest.Body(http.StatusBadRequest, "application/json", plain, "X-Request-Id", upstreamKey)},
		// net/http quotes the part of a head that it cannot parse, and the
		// quote was logged.
		{"status", head("HTTP/1.1 " + upstreamKey)},
		{"header line", head("HTTP/1.1 200 OK\r\nbad " + upstreamKey)},
		{"length", head("HTTP/1.1 200 OK\r\nContent-Length: " + upstreamKey)},
	}
}

func TestAProvidersKeyIsFoundInEveryPartOfItsErrors(t *testing.T) {
	t.Setenv("UPSTREAM_KEY", upstreamKey)
	site.EachWay(t, func(t *testing.T, w site.Way) {
		p := gatewaytest.NewProvider(t)
		s := site.Start(t, w.Provider("p", p, "api_key {env.UPSTREAM_KEY}"))
		const telling = "sk-up" // and its rest, however spelt
		for _, answer := range leakingAnswers() {
			for _, path := range site.ClientPaths {
				p.Always(answer.step)
				got := s.Ask(path, site.BodyFor(path, "m", "hi", false))
				assert.GreaterOrEqual(t, got.Status, 400, answer.name)
				assert.NotContains(t, got.Body, telling, answer.name)
				assert.NotContains(t, fmt.Sprint(got.Header), telling, answer.name)
				s.Record(got.ID())
			}
		}
		assert.NotContains(t, string(s.Logs.Bytes()), telling)
	})
}

// Clients once got the ids of the operator's team and key at a provider: unchanged in error
// bodies and events of the client's own format, and in the message in other formats.
func TestErrorsDoNotNameTheOperatorsAccount(t *testing.T) {
	const team = "0a1b2c3d-1111-4222-8333-944445555666"
	const private = `{"error":{"message":"Your team ` + team + ` has no access, see https://console.x.ai/team/` + team + `","type":"permission_error"}}`
	site.EachWay(t, func(t *testing.T, w site.Way) {
		p := gatewaytest.NewProvider(t)
		s := site.Start(t, w.Provider("p", p))
		for _, path := range site.ClientPaths {
			p.Always(gatewaytest.Body(http.StatusForbidden, "application/json", []byte(private)))
			got := s.Ask(path, site.BodyFor(path, "m", "hi", false))
			assert.Equal(t, http.StatusForbidden, got.Status)
			assert.Contains(t, got.Body, "Your team *** has no access", path)
			p.Always(gatewaytest.Body(http.StatusOK, "text/event-stream", []byte("event: error\ndata: "+private+"\n\n")))
			got = s.Ask(path, site.BodyFor(path, "m", "hi", true))
			assert.NotContains(t, got.Body, team, path)
			assert.Contains(t, got.Body, "Your team *** has no access", path)
		}
	})
}

// Bytes before the first content were once held back without a bound. A provider that sent
// only compressed comments could fill gigabytes of memory with one request.
func TestWhatComesBeforeTheContentIsBounded(t *testing.T) {
	site.EachWay(t, func(t *testing.T, w site.Way) {
		p := gatewaytest.NewProvider(t)
		p.Always(gatewaytest.Endless(": " + strings.Repeat("a", 4000) + "\n\n"))
		s := site.Start(t, w.Provider("p", p))
		for _, path := range site.ClientPaths {
			got := s.Ask(path, site.BodyFor(path, "m", "hi", true))
			require.NoError(t, got.Err)
			site.BadGateway.Assert(t, path, got)
		}
	})
}

// An address of a provider could once contain placeholders of the request, so that a client
// could choose the server that got the provider's key.
func TestNoAddressOfAProviderDependsOnTheRequest(t *testing.T) {
	t.Setenv("UPSTREAM_HOST", "127.0.0.1")
	s := site.Start(t, "provider p vllm {\nto {env.UPSTREAM_HOST}:9\n}")
	for _, line := range []string{
		"to {http.request.header.X-To}",
		"to {http.request.host}:80",
		"to {query.to}",
		"to 127.0.0.1:9 {http.ai_gateway.model}:80",
		"to {of_a_map}",
		"dynamic a {\nname {http.request.host}\nport 80\n}",
		"dynamic srv {http.request.header.X-To}",
	} {
		err := s.Reload(site.Block("", "provider p vllm {\n"+line+"\n}"))
		assert.ErrorContains(t, err, "must not depend on the request", line)
	}
}
