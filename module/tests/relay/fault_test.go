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

func TestFaultsBeforeContentAreAnsweredWithAStatus(t *testing.T) {
	html := []byte("<!DOCTYPE html><html><body>nginx on 10.1.2.3</body></html>")
	body := func(status int, body string) gatewaytest.Step {
		return gatewaytest.Body(status, "application/json", []byte(body))
	}
	cases := []struct {
		name string
		step gatewaytest.Step
		want site.ErrorAnswer
	}{
		{"401", body(401, site.VendorError), site.BadCredential},
		{"402", body(402, site.VendorError), site.Exhausted},
		{"429 without credit", body(429, `{"error":{"message":"secret plan","type":"insufficient_quota","code":"insufficient_quota"}}`), site.Exhausted},
		{"HTML", gatewaytest.Body(502, "text/html", html), site.Unreadable(502, site.ErrorAnswer{Status: 502, Kind: "server_error", MessagesKind: "api_error"})},
		{"HTML called JSON", gatewaytest.Body(503, "application/json", html), site.Unreadable(503, site.ErrorAnswer{
			Status: 503, Kind: "server_error", MessagesKind: "overloaded_error", Code: "overloaded",
		})},
		{"empty", gatewaytest.Body(500, "application/json", nil), site.Unreadable(500, site.ErrorAnswer{Status: 500, Kind: "server_error", MessagesKind: "api_error"})},
		{"redirect", gatewaytest.InOrder(
			gatewaytest.SetHeader("Location", "http://127.0.0.1:1/elsewhere"), body(302, `{"error":{"message":"moved"}}`),
		), site.Unreadable(302, site.ErrorAnswer{Status: 502, Kind: "server_error", MessagesKind: "api_error"})},
		{"200 with HTML", gatewaytest.Body(200, "text/html", html), site.BadGateway},
		{"200 without a body", gatewaytest.Body(200, "application/json", nil), site.BadGateway},
		{"200 with something else", body(200, `{"hello":"world"}`), site.BadGateway},
		{"200 with half an answer", body(200, `{"id":"x","choices":[{"index":0`), site.BadGateway},
		{"201", body(201, `{}`), site.Unreadable(201, site.ErrorAnswer{Status: 502, Kind: "server_error", MessagesKind: "api_error"})},
		{"reset before the headers", gatewaytest.Reset(), site.Unreachable},
	}
	site.EachWay(t, func(t *testing.T, w site.Way) {
		p := gatewaytest.NewProvider(t)
		s := site.Start(t, w.Provider("p", p))
		for _, c := range cases {
			for _, path := range site.ClientPaths {
				for _, streaming := range []bool{false, true} {
					t.Run(fmt.Sprintf("%s %s stream=%t", c.name, path, streaming), func(t *testing.T) {
						p.Always(c.step)
						answer := s.Ask(path, site.BodyFor(path, "m", "hello", streaming))
						c.want.Assert(t, path, answer)
						assert.Equal(t, "failed", s.Record(answer.ID())["outcome"])
					})
				}
			}
		}
		assert.NotContains(t, s.Logs.String(), `"msg":"panic"`)
	})
}

// A responses provider's error had the status 500 where that of other formats had 502, so that
// the same failure was retried and counted differently.
func TestA200ThatHoldsAnErrorIsAnError(t *testing.T) {
	cases := []struct {
		name, body string
		want       site.ErrorAnswer
	}{
		{"with a status", `{"error":{"message":"slow down","type":"x","code":429}}`, site.ErrorAnswer{
			Status: 429, Kind: "rate_limit_error", MessagesKind: "rate_limit_error", Code: "rate_limit_exceeded", Message: "slow down",
		}},
		{"with a known code", `{"error":{"message":"slow down","code":"rate_limit_exceeded"}}`, site.ErrorAnswer{
			Status: 429, Kind: "rate_limit_error", MessagesKind: "rate_limit_error", Code: "rate_limit_exceeded", Message: "slow down",
		}},
		{"without one", `{"error":{"message":"it broke"}}`, site.ErrorAnswer{
			Status: 502, Kind: "server_error", MessagesKind: "api_error", Code: "upstream_invalid_response", Message: "it broke",
		}},
		{"in a shape of one service", `{"choices":null,"base_resp":{"status_code":1008,"status_msg":"insufficient balance"}}`, site.Exhausted},
		{"in a shape of another one", `{"code":500,"msg":"no such model","success":false}`, site.ErrorAnswer{
			Status: 500, Kind: "server_error", MessagesKind: "api_error", Message: "no such model",
		}},
		{"in an envelope", `{"Response":{"Error":{"Code":"RequestLimitExceeded","Message":"slow down"},"RequestId":"r"}}`, site.ErrorAnswer{
			Status: 429, Kind: "rate_limit_error", MessagesKind: "rate_limit_error", Code: "rate_limit_exceeded", Message: "slow down",
		}},
		{"in an envelope with a code", `{"status":{"code":51,"message":"no worker"},"data":null}`, site.ErrorAnswer{
			Status: 502, Kind: "server_error", MessagesKind: "api_error", Code: "upstream_invalid_response", Message: "no worker",
		}},
		{"a message alone", `{"id":"x","message":"no worker"}`, site.ErrorAnswer{
			Status: 502, Kind: "server_error", MessagesKind: "api_error", Code: "upstream_invalid_response", Message: "no worker",
		}},
	}
	site.EachWay(t, func(t *testing.T, w site.Way) {
		p := gatewaytest.NewProvider(t)
		s := site.Start(t, w.Provider("p", p))
		for _, c := range cases {
			for _, path := range site.ClientPaths {
				for _, streaming := range []bool{false, true} {
					t.Run(fmt.Sprintf("%s %s stream=%t", c.name, path, streaming), func(t *testing.T) {
						p.Script(gatewaytest.Body(200, "application/json", []byte(c.body)))
						c.want.Assert(t, path, s.Ask(path, site.BodyFor(path, "m", "hello", streaming)))
					})
				}
			}
		}
	})
}

// A service sent half an answer, an error in a shape of its own and [DONE]: the client read the half as
// the whole answer, and the record had a whole answer too.
func TestAnUnknownErrorInAStreamWithoutAFinishIsAFailure(t *testing.T) {
	half := `data: {"model":"m","choices":[{"index":0,"text":"half","delta":{"content":"half"}}]}` + "\n\n"
	for name, event := range map[string]string{"with a message": `{"info":1,"Message":"no worker"}`, "without one": `{"phase":"aborted"}`} {
		site.EachWay(t, func(t *testing.T, w site.Way) {
			p := gatewaytest.NewProvider(t)
			s := site.Start(t, w.Provider("p", p))
			for _, path := range []string{site.ChatPath, site.CompletionsPath} {
				t.Run(name+" "+path, func(t *testing.T) {
					p.Script(gatewaytest.Chunks(gatewaytest.EventStream, half, "data: "+event+"\n\n", "data: [DONE]\n\n"))
					answer := s.Ask(path, site.BodyFor(path, "m", "hello", true))
					assert.Contains(t, answer.Body, `data: {"error":`)
					assert.NotContains(t, answer.Body, "[DONE]")
					assert.Equal(t, "cut", s.Record(answer.ID())["outcome"])
				})
			}
		})
	}
}

func TestAnAnswerOfTheOtherKindIsUnusable(t *testing.T) {
	site.EachWay(t, func(t *testing.T, w site.Way) {
		p := gatewaytest.NewProvider(t)
		s := site.Start(t, w.Provider("p", p))
		for _, path := range site.ClientPaths {
			t.Run("an event stream for JSON "+path, func(t *testing.T) {
				p.Script(gatewaytest.Chunks(gatewaytest.EventStream, "data: {\"choices\":[]}\n\n", "data: [DONE]\n\n"))
				site.BadGateway.Assert(t, path, s.Ask(path, site.BodyFor(path, "m", "hello", false)))
			})
			t.Run("a page for an event stream "+path, func(t *testing.T) {
				p.Script(gatewaytest.Body(200, "text/html", []byte("<html>")))
				answer := s.Ask(path, site.BodyFor(path, "m", "hello", true))
				site.BadGateway.Assert(t, path, answer)
				assert.Contains(t, s.FailedAttempt(answer.ID())["cause"], `content type "text/html"`)
			})
		}
	})
}

// A JSON answer to a streaming request was once refused if the provider had the client's
// format, although such an answer needs no translation.
func TestG106AJSONAnswerOfTheSameFormatIsReplayedAsAStream(t *testing.T) {
	site.EachWay(t, func(t *testing.T, w site.Way) {
		p := gatewaytest.NewProvider(t)
		s := site.Start(t, w.Provider("p", p))
		for _, path := range site.ClientPaths {
			t.Run(path, func(t *testing.T) {
				answer := s.Ask(path, site.BodyFor(path, "m", "hello [[fault:json]]", true))
				require.Equal(t, http.StatusOK, answer.Status, answer.Body)
				assert.Equal(t, "text/event-stream; charset=utf-8", answer.Header.Get("Content-Type"))
				assert.Empty(t, answer.Header.Get("Content-Length"))
				seen := answer.Read(t, path)
				assert.True(t, seen.Complete, answer.Body)
				assert.Contains(t, seen.Text(), "hello")
				record := s.Record(answer.ID())
				assert.Equal(t, "answered", record["outcome"])
				assert.Contains(t, record, "usage.output_tokens")
			})
		}
	})
}

func TestG063ErrorsOfTheSameFormatAreRelayedByteForByte(t *testing.T) {
	site.EachWay(t, func(t *testing.T, w site.Way) {
		p := gatewaytest.NewProvider(t)
		s := site.Start(t, w.Provider("p", p))
		for _, status := range []int{400, 403, 404, 405, 409, 413, 418, 422, 429, 500, 503, 529, 599} {
			p.Script(gatewaytest.Body(status, "application/problem+json", []byte(site.VendorError)))
			answer := s.Ask(site.MessagesPath, site.BodyFor(site.MessagesPath, "m", "hello", status%2 == 0))
			assert.Equal(t, status, answer.Status)
			assert.Equal(t, site.VendorError, answer.Body)
			assert.Equal(t, "application/problem+json", answer.Header.Get("Content-Type"))
		}
		// Errors that are not JSON have no bytes that a client could read.
		for _, path := range site.ClientPaths {
			for status, body := range map[int]string{400: "plain words\n", 503: "oops", 422: "<html>", 413: ""} {
				p.Script(gatewaytest.Body(status, "text/plain", []byte(body)))
				answer := s.Ask(path, site.BodyFor(path, "m", "hello", false))
				assert.Equal(t, status, answer.Status, "not that of the table of translations")
				assert.Equal(t, "application/json", answer.Header.Get("Content-Type"))
				assert.NotEmpty(t, answer.Failure(t).Type)
			}
		}
	})
}

// A timeout while connecting once counted as a refused connection: the dial errors of
// reverse_proxy have no Unwrap (T26), so that errors.As does not find the timeout in them.
func TestRefusedConnectionsAndTimeouts(t *testing.T) {
	site.EachWay(t, func(t *testing.T, w site.Way) {
		stalling := gatewaytest.NewProvider(t)
		stalling.Always(gatewaytest.Stall(gatewaytest.NewGate(t), gatewaytest.Answer()))
		silent := gatewaytest.NewProvider(t)
		silent.Always(gatewaytest.StallAfter(0, gatewaytest.NewGate(t)))
		s := site.Start(t,
			w.ProviderAt("refused", gatewaytest.RefusedAddress(t), "models refused"),
			w.ProviderAt("hanging", deafAddress(t), "models hanging", "connect_timeout 20ms"),
			w.Provider("stalling", stalling, "models stalling", "response_header_timeout 20ms"),
			w.Provider("silent", silent, "models silent", "first_event_timeout 20ms"),
		)
		wants := map[string]site.ErrorAnswer{
			"refused": site.Unreachable, "hanging": site.TimedOut, "stalling": site.TimedOut, "silent": site.TimedOut,
		}
		answers := make(map[string]func() site.Reply)
		for model := range wants {
			for _, path := range site.ClientPaths { // they wait at once
				answers[model+path] = s.Later(path, site.BodyFor(path, model, "hello", true))
			}
		}
		for model, want := range wants {
			for _, path := range site.ClientPaths {
				t.Run(model+" "+path, func(t *testing.T) {
					answer := answers[model+path]()
					want.Assert(t, path, answer)
					assert.NotContains(t, answer.Body, "127.0.0.1")
				})
			}
		}
		// Of the calls that have arrived: this test waited for three of four, and failed where the time of
		// more than one was over before it had begun.
		require.NoError(t, stalling.WaitCancelledN(site.Waiting(t), stalling.Count()), "a call that timed out is cancelled")
		require.NoError(t, silent.WaitCancelledN(site.Waiting(t), silent.Count()))
	})
}

// A JSON answer that falls silent, or breaks off, in its middle was not sent to
// the client in part.
func TestHalfAJSONAnswerIsAnError(t *testing.T) {
	site.EachWay(t, func(t *testing.T, w site.Way) {
		silent, cutting := gatewaytest.NewProvider(t), gatewaytest.NewProvider(t)
		s := site.Start(t, w.Provider("silent", silent, "models silent", "idle_timeout 50ms"), w.Provider("cutting", cutting, "models cutting"))
		silent.Always(gatewaytest.StallAt(20, gatewaytest.NewGate(t)))
		timedOut := make(map[string]func() site.Reply)
		for _, path := range site.ClientPaths { // they wait at once
			timedOut[path] = s.Later(path, site.BodyFor(path, "silent", "hello", false))
		}
		for _, path := range site.ClientPaths {
			site.TimedOut.Assert(t, path, timedOut[path]())
			cutting.Script(gatewaytest.CutAt(20))
			site.Unreachable.Assert(t, path, s.Ask(path, site.BodyFor(path, "cutting", "hello", false)))
		}
	})
}

func TestCompressedAnswersAreRead(t *testing.T) {
	site.EachWay(t, func(t *testing.T, w site.Way) {
		p := gatewaytest.NewProvider(t)
		s := site.Start(t, w.Provider("p", p))
		for _, path := range site.ClientPaths {
			for _, streaming := range []bool{false, true} {
				p.Script(gatewaytest.Gzip())
				answer := s.Ask(path, site.BodyFor(path, "m", "hello", streaming))
				assert.Equal(t, http.StatusOK, answer.Status, answer.Body)
				assert.Empty(t, answer.Header.Get("Content-Encoding"))
				assert.Contains(t, answer.Body, "hello")
				if streaming {
					assert.True(t, answer.Read(t, path).Complete)
				}
			}
		}
		for _, r := range p.Requests() {
			assert.Equal(t, "identity", r.Header.Get("Accept-Encoding"))
		}
		p.Script(gatewaytest.InOrder(gatewaytest.SetHeader("Content-Encoding", "gzip"),
			gatewaytest.Body(200, "application/json", []byte(strings.Repeat("not gzip", 10)))))
		assert.Equal(t, http.StatusBadGateway, s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", "hello", false)).Status)
	})
}

// A server that stops counting a prompt states no size of it. The gateway estimates it, since
// an agent computes from that number for how many tokens it asks again.
func TestAnAgentThatAsksForTooManyTokensGetsTheNumbers(t *testing.T) {
	site.EachWay(t, func(t *testing.T, w site.Way) {
		p := gatewaytest.NewProvider(t)
		s := site.Start(t, w.Provider("p", p, "format chat"))
		refusal := func(message string) gatewaytest.Step {
			return gatewaytest.Body(400, "application/json", []byte(`{"object":"error","message":"`+message+`","type":"BadRequestError","code":400}`))
		}
		body := `{"model":"m","max_tokens":32000,"stream":true,"messages":[{"role":"user","content":"` + strings.Repeat("four", 10_000) + `"}]}`

		p.Script(refusal("'max_tokens' or 'max_completion_tokens' is too large: 32000. This model's maximum context length is 32768 tokens and your request has 10459 input tokens (32000 > 32768 - 10459)."))
		answer := s.Ask("/v1/messages", body)
		assert.Equal(t, http.StatusBadRequest, answer.Status)
		assert.Contains(t, answer.Body, "\"input length and `max_tokens` exceed context limit: 10459 + 32000 > 32768, decrease")

		p.Script(refusal("This model's maximum context length is 32768 tokens. However, you requested 32000 output tokens and your prompt contains at least 769 input tokens, for a total of at least 32769 tokens."))
		var input int
		_, numbers, _ := strings.Cut(s.Ask("/v1/messages", body).Body, "exceed context limit: ")
		_, err := fmt.Sscanf(numbers, "%d + 32000 > 32768", &input)
		require.NoError(t, err, numbers)
		assert.Greater(t, input, 10_000)
		assert.Less(t, input, 15_000)
	})
}
