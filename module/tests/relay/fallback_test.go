package relay_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// standing is a gateway whose model "m" has three targets: the first provider, an address
// that refuses connections, and the second provider.
type standing struct {
	*site.Site
	first, second *gatewaytest.Provider
}

func startStanding(t *testing.T, w site.Way, modelLines ...string) standing {
	first, second := gatewaytest.NewProvider(t), gatewaytest.NewProvider(t)
	s := site.Start(t, site.Steady,
		w.Provider("first", first, "models first-*"),
		w.ProviderAt("refused", gatewaytest.RefusedAddress(t), "models refused-*"),
		w.Provider("second", second, "models second-*"),
		"model m {\nto first/m1\nto refused\nto second/m2\n"+strings.Join(modelLines, "\n")+"\n}",
	)
	return standing{s, first, second}
}

func TestFallbackReachesTheThirdTarget(t *testing.T) {
	site.EachWay(t, func(t *testing.T, w site.Way) {
		s := startStanding(t, w)
		for _, path := range site.ClientPaths {
			for _, streaming := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s stream=%t", path, streaming), func(t *testing.T) {
					s.first.Script(gatewaytest.Status(http.StatusServiceUnavailable))
					answer := s.Ask(path, site.BodyFor(path, "m", "hello", streaming))
					assert.Equal(t, http.StatusOK, answer.Status, answer.Body)
					assert.Contains(t, answer.Body, "hello")
					if streaming {
						assert.True(t, answer.Read(t, path).Complete)
					}
					record := s.Record(answer.ID())
					assert.Equal(t, "answered", record["outcome"])
					assert.Equal(t, 3.0, record["attempts"])
					assert.Equal(t, "second", record["provider"])
					assert.Equal(t, "m2", record["upstream_model"])
				})
			}
		}
		assert.Equal(t, 2*len(site.ClientPaths), s.first.Count(), "each request asks the first provider once")
		assert.Equal(t, 2*len(site.ClientPaths), s.second.Count())
	})
}

// askSecond returns the statuses of the first provider after which the second is called.
func askSecond(t *testing.T, s standing, statuses ...int) map[int]bool {
	t.Helper()
	asked := make(map[int]bool)
	for _, status := range statuses {
		before := s.second.Count()
		s.first.Script(gatewaytest.Status(status))
		answer := s.Ask(site.MessagesPath, site.BodyFor(site.MessagesPath, "m", "hello", true))
		asked[status] = s.second.Count() > before
		assert.Equal(t, asked[status], answer.Status == http.StatusOK, "status %d: %s", status, answer.Body)
	}
	return asked
}

// Another model may have a longer context, or another policy, but the only way to fall back
// was by status, with every invalid request.
func TestFallbackOnTheCauseOfARefusal(t *testing.T) {
	refusals := map[string]bool{ // whether the next target is asked
		`{"error":{"message":"prompt is too long: 9 tokens > 8 maximum"}}`:   true,
		`{"error":{"message":"m","code":"context_length_exceeded"}}`:         true,
		`{"error":{"message":"m","code":"content_filter"}}`:                  true,
		`{"error":{"message":"messages: too odd","code":"invalid_value"}}`:   false,
		`{"error":{"message":"Please slow down","code":"rate_limit_error"}}`: false,
	}
	site.EachWay(t, func(t *testing.T, w site.Way) {
		s := startStanding(t, w, "fallback_on unreachable context_length content_policy")
		for body, another := range refusals {
			for name, step := range map[string]gatewaytest.Step{
				"body":   gatewaytest.Body(http.StatusBadRequest, "application/json", []byte(body)),
				"stream": gatewaytest.Chunks(gatewaytest.EventStream, "event: error\ndata: "+body+"\n\n"),
			} {
				s.first.Script(step)
				answer := s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", "hello", true))
				assert.Equal(t, another, answer.Status == http.StatusOK, "%s %s: %s", name, body, answer.Body)
			}
		}
	})
}

// Clients did not learn which of several targets had answered.
func TestTheHeaderOfTheTargetNamesWhatAnswered(t *testing.T) {
	site.EachWay(t, func(t *testing.T, w site.Way) {
		first, second := gatewaytest.NewProvider(t), gatewaytest.NewProvider(t)
		s := site.Start(t, site.Steady, "target_header on\ncors *",
			w.Provider("first", first, "models off"), w.Provider("second", second, "models off"),
			"model m {\nto first/vendor/m1\nto second/m2\n}")
		for _, path := range site.CallPaths { // the paths of others contain the name of the model, which has no slash then
			for _, streaming := range []bool{false, true} {
				body := site.BodyFor(path, "m", "hello", streaming)
				answer := s.Ask(path, body, "Origin", "https://chat.example.com")
				assert.Equal(t, "first/vendor/m1", answer.Header.Get("X-Gateway-Target"))
				assert.Equal(t, "*", answer.Header.Get("Access-Control-Expose-Headers"), "scripts may read it")
				first.Script(gatewaytest.Status(http.StatusServiceUnavailable))
				assert.Equal(t, "second/m2", s.Ask(path, body).Header.Get("X-Gateway-Target"))
			}
		}
	})
}

func TestDefaultFallbackLeavesOutWhatBlamesTheRequest(t *testing.T) {
	site.EachWay(t, func(t *testing.T, w site.Way) {
		s := startStanding(t, w)
		assert.Equal(t, map[int]bool{
			400: false, 405: false, 406: false, 409: false, 413: false, 415: false, 418: false, 422: false,
			301: true, 302: true, 307: true, 308: true, 401: true, 402: true, 403: true, 404: true, 408: true,
			429: true, 500: true, 501: true, 502: true, 503: true, 504: true, 529: true,
		}, askSecond(t, s, 400, 405, 406, 409, 413, 415, 418, 422, 301, 302, 307, 308, 401, 402, 403, 404, 408,
			429, 500, 501, 502, 503, 504, 529))
	})
}

func TestConfiguredFallbackReplacesTheDefault(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		s := startStanding(t, w, "fallback_on 400 429 unreachable")
		assert.Equal(t, map[int]bool{400: true, 429: true, 401: false, 404: false, 500: false, 503: false},
			askSecond(t, s, 400, 429, 401, 404, 500, 503))
	})
}

func TestFallbackOnTimeoutAndUnreachableAreWordsOfTheirOwn(t *testing.T) {
	site.EachWay(t, func(t *testing.T, w site.Way) {
		stalling, second := gatewaytest.NewProvider(t), gatewaytest.NewProvider(t)
		stalling.Always(gatewaytest.Stall(gatewaytest.NewGate(t), gatewaytest.Answer()))
		model := func(name, first, causes string) string {
			return fmt.Sprintf("model %s {\nto %s\nto second\nfallback_on %s\n}\n", name, first, causes)
		}
		s := site.Start(t,
			w.Provider("stalling", stalling, "models s-*", "response_header_timeout 50ms"),
			w.ProviderAt("refused", gatewaytest.RefusedAddress(t), "models r-*"),
			w.Provider("second", second, "models 2-*"),
			model("timeout-on-timeout", "stalling", "timeout"), model("timeout-on-unreachable", "stalling", "unreachable"),
			model("refused-on-timeout", "refused", "timeout"), model("refused-on-unreachable", "refused", "unreachable"),
		)
		wants := map[string]int{
			"timeout-on-timeout": 200, "timeout-on-unreachable": 504,
			"refused-on-timeout": 502, "refused-on-unreachable": 200,
		}
		answers := make(map[string]func() site.Reply)
		for name := range wants { // they wait at once
			answers[name] = s.Later(site.ChatPath, site.BodyFor(site.ChatPath, name, "hello", false))
		}
		for name, want := range wants {
			assert.Equal(t, want, answers[name]().Status, name)
		}
	})
}

// A number of attempts below the number of targets was once refused, so that attempts had
// no effect.
func TestAttemptsBoundHowManyTargetsAreAsked(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		failing, second := gatewaytest.NewProvider(t), gatewaytest.NewProvider(t)
		failing.Always(gatewaytest.Status(http.StatusServiceUnavailable))
		s := site.Start(t,
			w.Provider("failing", failing, "models f"), w.Provider("second", second, "models s"),
			"model once {\nto failing\nto second\nattempts 1\n}", "model twice {\nto failing\nto second\nattempts 2\n}")
		assert.Equal(t, 503, s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "once", "hello", false)).Status)
		assert.Zero(t, second.Count())
		assert.Equal(t, 200, s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "twice", "hello", false)).Status)
	})
}

func TestTheErrorOfTheLastProviderIsAnswered(t *testing.T) {
	site.EachWay(t, func(t *testing.T, w site.Way) {
		s := startStanding(t, w)
		for _, streaming := range []bool{false, true} {
			s.first.Script(gatewaytest.Status(http.StatusServiceUnavailable, "Retry-After", "99"))
			s.second.Script(gatewaytest.Body(http.StatusTooManyRequests, "application/json; charset=utf-8", []byte(site.VendorError),
				"Retry-After", "7", "Retry-After-Ms", "7000", "X-Should-Retry", "true", "Request-Id", "req_vendor",
				"Anthropic-Ratelimit-Requests-Remaining", "0", "Set-Cookie", "a=b", "Anthropic-Organization-Id", "org"))
			answer := s.Ask(site.MessagesPath, site.BodyFor(site.MessagesPath, "m", "hello", streaming))
			assert.Equal(t, http.StatusTooManyRequests, answer.Status)
			assert.Equal(t, site.VendorError, answer.Body, "byte for byte")
			assert.Equal(t, "application/json; charset=utf-8", answer.Header.Get("Content-Type"))
			assert.Equal(t, "7", answer.Header.Get("Retry-After"))
			assert.Equal(t, "7000", answer.Header.Get("Retry-After-Ms"))
			assert.Equal(t, "true", answer.Header.Get("X-Should-Retry"))
			assert.Equal(t, "req_vendor", answer.Header.Get("X-Upstream-Request-Id"))
			assert.Equal(t, answer.ID(), answer.Header.Get("Request-Id"), "the gateway's own id")
			for _, name := range []string{"Anthropic-Ratelimit-Requests-Remaining", "Set-Cookie", "Anthropic-Organization-Id"} {
				assert.Empty(t, answer.Header.Get(name), name)
			}
			record := s.Record(answer.ID())
			assert.Equal(t, "failed", record["outcome"])
			assert.Equal(t, 3.0, record["attempts"])
		}
	})
}

// The answer of one provider explains more to a client than the refused connection of
// another.
func TestAnErrorAnswerIsPreferredToARefusedConnection(t *testing.T) {
	site.EachWay(t, func(t *testing.T, w site.Way) {
		p := gatewaytest.NewProvider(t)
		s := site.Start(t,
			w.Provider("answering", p, "models a-*"),
			w.ProviderAt("refused", gatewaytest.RefusedAddress(t), "models r-*"),
			"model m {\nto answering\nto refused\n}",
			"model r {\nto refused\nto answering\n}",
		)
		for _, model := range []string{"m", "r"} {
			p.Script(gatewaytest.Body(http.StatusTooManyRequests, "application/json", []byte(site.VendorError)))
			answer := s.Ask(site.MessagesPath, site.BodyFor(site.MessagesPath, model, "hello", false))
			assert.Equal(t, http.StatusTooManyRequests, answer.Status)
			assert.Equal(t, site.VendorError, answer.Body)
		}
	})
}
