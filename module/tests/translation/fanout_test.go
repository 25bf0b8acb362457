package translation_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// fanRoutes are those whose requests may become several calls.
var fanRoutes = []site.Lane{
	site.NewLane(translate.Completions, translate.Chat),
	site.NewLane(translate.Completions, translate.Messages),
}

// eachFan runs a test over all of them, on both ways to a provider.
func eachFan(t *testing.T, test func(t *testing.T, s *site.Site, p *gatewaytest.Provider, r site.Lane)) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		for _, r := range fanRoutes {
			t.Run(r.String(), func(t *testing.T) {
				p := gatewaytest.NewProvider(t)
				test(t, site.Start(t, w.Provider("p", p, r.Format, "native_n off")), p, r)
			})
		}
	})
}

// asksFor returns a completions request. prompts are raw JSON.
func asksFor(prompts string, members ...string) string {
	return `{"model":"m","prompt":` + prompts + strings.Join(append([]string{""}, members...), ",") + `}`
}

const (
	askingUsage  = `"stream":true,"stream_options":{"include_usage":true}`
	slowForEver  = "[[fault:slow-headers=1h]]"
	silentInside = "[[fault:stall]]"
)

func TestG043SeveralPromptsBecomeCallsWhoseAnswersKeepTheirOrder(t *testing.T) {
	eachFan(t, func(t *testing.T, s *site.Site, p *gatewaytest.Provider, r site.Lane) {
		for _, streamed := range []bool{false, true} {
			members := []string{`"max_tokens":50`}
			if streamed {
				members = append(members, askingUsage)
			}
			answer := s.Ask(r.Path, asksFor(`["first","second","third"]`, members...))
			got := readCompletion(t, answer, streamed)
			require.Len(t, got.Choices, 3)
			for i, prompt := range []string{"first", "second", "third"} {
				assert.Equal(t, i, got.Choices[i].Index)
				assert.Contains(t, got.Choices[i].Text, prompt)
				assert.Equal(t, "stop", got.Choices[i].Finish)
			}
			record := s.Record(answer.ID())
			assert.Equal(t, "answered", record["outcome"])
			assert.Equal(t, 1.0, record["attempts"], "it is one request")
			assert.EqualValues(t, got.Usage.PromptTokens, record["usage.input_tokens"])
			assert.EqualValues(t, got.Usage.CompletionTokens, record["usage.output_tokens"])
		}
		assert.Equal(t, 6, p.Count())
		for _, request := range p.Requests() {
			assert.Equal(t, r.Upstream, request.Path)
			assert.NotContains(t, string(request.Body), `"n"`)
			count := 0
			for _, prompt := range []string{"first", "second", "third"} {
				count += strings.Count(string(request.Body), prompt)
			}
			assert.Equal(t, 1, count, "prompts are never joined")
		}
	})
}

// Streams with another content type were unusable, although the SDKs read them.
func TestStreamsUnderAnotherTypeAreMerged(t *testing.T) {
	eachFan(t, func(t *testing.T, s *site.Site, p *gatewaytest.Provider, r site.Lane) {
		p.Always(gatewaytest.WithContentType("text/plain"))
		got := readCompletion(t, s.Ask(r.Path, asksFor(`["first","second"]`, `"max_tokens":50`, askingUsage)), true)
		require.Len(t, got.Choices, 2)
		assert.Contains(t, got.Choices[0].Text, "first")
		assert.Contains(t, got.Choices[1].Text, "second")
	})
}

func TestG044TokensAreRefusedWhereTheyMeanNothing(t *testing.T) {
	eachFan(t, func(t *testing.T, s *site.Site, p *gatewaytest.Provider, r site.Lane) {
		for _, prompt := range []string{`[1,2,3]`, `[[1,2],[3]]`} {
			answer := s.Ask(r.Path, asksFor(prompt))
			assert.Equal(t, http.StatusBadRequest, answer.Status)
			assert.Contains(t, answer.Body, `"param":"prompt"`)
		}
		assert.Zero(t, p.Count())
	})
}

func TestG045TokensGoThroughToTheirOwnFormat(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		p := gatewaytest.NewProvider(t)
		s := site.Start(t, w.Provider("p", p, "native_n off"))
		body := asksFor(`[[1,2],[3]]`, `"n":2`)
		got := readCompletion(t, s.Ask(site.CompletionsPath, body), false)
		assert.Len(t, got.Choices, 4)
		require.Equal(t, 1, p.Count(), "the client's own format is one call, whatever it holds")
		assert.Equal(t, body, string(p.Requests()[0].Body))
	})
}

func TestG104SeveralChoicesOfAProviderAreRelayed(t *testing.T) {
	const head = `data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"x","choices":[`
	stream := head + `{"index":0,"delta":{"role":"assistant","content":"a"},"finish_reason":null}]}` + "\n\n" +
		head + `{"index":1,"delta":{"role":"assistant","content":"b"},"finish_reason":null}]}` + "\n\n" +
		head + `{"index":1,"delta":{},"finish_reason":"stop"}]}` + "\n\n" +
		head + `{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		p := gatewaytest.NewProvider(t)
		s := site.Start(t, w.Provider("p", p, "native_n off"))
		p.Script(gatewaytest.Chunks(gatewaytest.EventStream, stream))
		answer := s.Ask(site.ChatPath, `{"model":"m","messages":[{"role":"user","content":"x"}],"n":2,"stream":true}`)
		assert.Equal(t, stream, answer.Body)
		assert.Equal(t, "answered", s.Record(answer.ID())["outcome"])
	})
}

func TestG107PromptsAndSamplesAreCalledAtOnce(t *testing.T) {
	eachFan(t, func(t *testing.T, s *site.Site, p *gatewaytest.Provider, r site.Lane) {
		one := readCompletion(t, s.Ask(r.Path, asksFor(`"one"`)), false).Usage
		two := readCompletion(t, s.Ask(r.Path, asksFor(`"two words"`)), false).Usage
		for _, streamed := range []bool{false, true} {
			gate := gatewaytest.NewGate(t)
			p.Always(gatewaytest.Stall(gate, gatewaytest.Answer()))
			members := []string{`"n":2`}
			if streamed {
				members = append(members, askingUsage)
			}
			before := p.Count()
			answers := make(chan site.Reply, 1)
			go func() { answers <- s.Ask(r.Path, asksFor(`["one","two words"]`, members...)) }()
			require.NoError(t, p.WaitRequests(site.Waiting(t), before+4), "none waits for another")
			gate.Open()
			answer := <-answers
			got := readCompletion(t, answer, streamed)
			require.Len(t, got.Choices, 4)
			for i, choice := range got.Choices {
				assert.Equal(t, i, choice.Index)
				assert.Contains(t, choice.Text, []string{"one", "two words"}[i/2])
				assert.Equal(t, "stop", choice.Finish)
			}
			assert.Equal(t, 2*(one.PromptTokens+two.PromptTokens), got.Usage.PromptTokens)
			assert.Equal(t, 2*(one.CompletionTokens+two.CompletionTokens), got.Usage.CompletionTokens)
			if streamed { // the reader above demands one id, one usage chunk and one end
				assert.Equal(t, 1, strings.Count(answer.Body, `"total_tokens"`))
				assert.Equal(t, 4, strings.Count(answer.Body, `"finish_reason":"stop"`))
				assert.True(t, strings.HasSuffix(answer.Body, "data: [DONE]\n\n"))
				assert.Equal(t, 1, strings.Count(answer.Body, "[DONE]"))
			}
		}
	})
}

func TestG108MoreCallsThanAllowedAreRefusedBeforeAnyIsMade(t *testing.T) {
	eachFan(t, func(t *testing.T, s *site.Site, p *gatewaytest.Provider, r site.Lane) {
		format := strings.TrimPrefix(r.Format, "format ")
		for _, c := range []struct{ prompts, n, param, what string }{
			{`["1","2","3","4","5","6","7","8","9"]`, `"n":1`, "prompt", "9 prompts"},
			{`"1"`, `"n":9`, "n", "9"},
			{`["1","2","3"]`, `"n":3`, "n", "3 for 3 prompts"},
		} {
			answer := s.Ask(r.Path, asksFor(c.prompts, c.n))
			assert.Equal(t, http.StatusBadRequest, answer.Status)
			assert.JSONEq(t, fmt.Sprintf(`{"error":{"message":"%s: %s cannot be translated for model 'm' (upstream format %s): more than 8 calls",
				"type":"invalid_request_error","param":"%s","code":"unsupported_for_upstream"}}`, c.param, c.what, format, c.param), answer.Body)
			assert.Equal(t, "refused", s.Record(answer.ID())["outcome"])
		}
		assert.Zero(t, p.Count())
	})
}

func TestG109OneCallThatFailsBeforeContentIsTheAnswerToAll(t *testing.T) {
	eachFan(t, func(t *testing.T, s *site.Site, p *gatewaytest.Provider, r site.Lane) {
		for i, streamed := range []string{`"stream":false`, streaming} {
			gate := gatewaytest.NewGate(t)
			p.Always(toPrompts(map[string]gatewaytest.Step{
				"first":  gatewaytest.Stall(gatewaytest.NewGate(t), gatewaytest.Answer()),
				"second": gatewaytest.Stall(gate, gatewaytest.Status(500, "Retry-After", "7")),
			}))
			answers := make(chan site.Reply, 1)
			go func() { answers <- s.Ask(r.Path, asksFor(`["first","second"]`, streamed)) }()
			require.NoError(t, p.WaitRequests(site.Waiting(t), 2*(i+1)))
			gate.Open()
			require.NoError(t, p.WaitCancelledN(site.Waiting(t), i+1), "the other call ends at once")
			answer := <-answers
			assert.Equal(t, http.StatusInternalServerError, answer.Status)
			assert.Equal(t, "server_error", answer.Failure(t).Type)
			assert.Equal(t, "7", answer.Header.Get("Retry-After"))
			assert.NotContains(t, answer.Body, "choices")
			record := s.Record(answer.ID())
			assert.Equal(t, "failed", record["outcome"])
			assert.Equal(t, 500.0, record["upstream_status"])
		}
	})
}

// toPrompts answers calls whose bodies contain a word with the step of the word, and other
// calls with the engine.
func toPrompts(steps map[string]gatewaytest.Step) gatewaytest.Step {
	return func(c *gatewaytest.Call) {
		body, _ := io.ReadAll(c.Request.Body) // it was received whole
		c.Request.Body = io.NopCloser(bytes.NewReader(body))
		for word, step := range steps {
			if bytes.Contains(body, []byte(word)) {
				step(c)
				return
			}
		}
		gatewaytest.Answer()(c)
	}
}

func TestG109OneCallThatFailsBehindContentCutsTheAnswerOff(t *testing.T) {
	eachFan(t, func(t *testing.T, s *site.Site, p *gatewaytest.Provider, r site.Lane) {
		for i, step := range []gatewaytest.Step{gatewaytest.Status(500), gatewaytest.Reset(), gatewaytest.HeadersThenClose()} {
			gate := gatewaytest.NewGate(t)
			p.Always(toPrompts(map[string]gatewaytest.Step{"second": gatewaytest.Stall(gate, step)}))
			answer := s.Open(r.Path, asksFor(`["first `+silentInside+`","second"]`, streaming))
			answer.Next()
			gate.Open()
			whole := answer.Rest()
			require.NoError(t, whole.Err, "the body ends in order")
			seen := whole.Read(t, r.Path)
			assert.False(t, seen.Complete)
			assert.NotNil(t, seen.Failure)
			assert.NotContains(t, whole.Body, "[DONE]")
			assert.NotContains(t, whole.Body, `"finish_reason":"`)
			require.NoError(t, p.WaitCancelledN(site.Waiting(t), i+1), "the other call ends at once")
			assert.Equal(t, "cut", s.Record(whole.ID())["outcome"])
		}
	})
}

func TestG126SamplesAreAskedForInOneCallWhereTheProviderCan(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		for native, calls := range map[string]int{"on": 1, "off": 2} {
			t.Run("native_n "+native, func(t *testing.T) {
				p := gatewaytest.NewProvider(t)
				s := site.Start(t, w.Provider("p", p, "format chat", "native_n "+native))
				for _, members := range []string{`"n":2`, `"n":2,` + askingUsage} {
					before := p.Count()
					got := readCompletion(t, s.Ask(site.CompletionsPath, asksFor(`"x"`, members)), strings.Contains(members, "stream"))
					assert.Len(t, got.Choices, 2)
					requests := p.Requests()[before:]
					require.Len(t, requests, calls)
					for _, request := range requests {
						assert.Equal(t, native == "on", strings.Contains(string(request.Body), `"n":2`))
					}
				}
			})
		}
	})
}

// For chat clients it is the same: a provider of messages gives one answer a call.
func TestSamplesOfAChatClientBecomeCallsOfAMessagesProvider(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		p := gatewaytest.NewProvider(t)
		s := site.Start(t, w.Provider("p", p, "format messages"))
		const body = `{"model":"m","messages":[{"role":"user","content":"hello"}],"max_tokens":50,"n":3`
		for _, streamed := range []bool{false, true} {
			before := p.Count()
			more := "}"
			if streamed {
				more = `,` + askingUsage + "}"
			}
			answer := s.Ask(site.ChatPath, body+more)
			got := readCompletion(t, answer, streamed)
			require.Len(t, got.Choices, 3)
			for i, choice := range got.Choices {
				assert.Equal(t, i, choice.Index)
				assert.Contains(t, choice.Text, "hello")
				assert.Equal(t, "stop", choice.Finish)
			}
			requests := p.Requests()[before:]
			require.Len(t, requests, 3)
			assert.NotContains(t, string(requests[0].Body), `"n"`)
			assert.EqualValues(t, got.Usage.PromptTokens, s.Record(answer.ID())["usage.input_tokens"])
			assert.Zero(t, got.Usage.PromptTokens%3, "the sum of three alike")
		}
		before := p.Count()
		refused := s.Ask(site.ChatPath, strings.Replace(body, `"n":3`, `"n":9`, 1)+"}")
		assert.Equal(t, http.StatusBadRequest, refused.Status)
		assert.Contains(t, refused.Body, `"param":"n"`)
		assert.Equal(t, before, p.Count())
	})
}

func TestCallsThatFailLeaveTheWholeToTheNextTarget(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		s := startMixed(t, w)
		s.chat.Always(toPrompts(map[string]gatewaytest.Step{
			"first": gatewaytest.Stall(gatewaytest.NewGate(t), gatewaytest.Answer()), "second": gatewaytest.Status(503),
		}))
		for _, streamed := range []bool{false, true} {
			members := []string{`"max_tokens":40`}
			if streamed {
				members = append(members, askingUsage)
			}
			answer := s.Ask(site.CompletionsPath, asksFor(`["first","second"]`, members...))
			got := readCompletion(t, answer, streamed)
			require.Len(t, got.Choices, 2)
			for _, choice := range got.Choices {
				assert.Contains(t, choice.Text, "in the messages format")
			}
			record := s.Record(answer.ID())
			assert.Equal(t, "conversing", record["provider"])
			assert.Equal(t, 2.0, record["attempts"])
		}
	})
}

func TestAClientThatLeavesEndsEveryOneOfItsCalls(t *testing.T) {
	eachFan(t, func(t *testing.T, s *site.Site, p *gatewaytest.Provider, r site.Lane) {
		ctx, leave := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			response, err := s.Send(ctx, r.Path, asksFor(`["a `+slowForEver+`","b `+slowForEver+`"]`, streaming))
			if err == nil {
				_ = response.Body.Close()
			}
			done <- err
		}()
		require.NoError(t, p.WaitRequests(site.Waiting(t), 2))
		leave()
		assert.ErrorIs(t, <-done, context.Canceled)
		require.NoError(t, p.WaitCancelledN(site.Waiting(t), 2))

		answer := s.Open(r.Path, asksFor(`["a `+silentInside+`","b `+slowForEver+`"]`, streaming))
		answer.Next()
		require.NoError(t, p.WaitRequests(site.Waiting(t), 4))
		answer.Cancel()
		require.NoError(t, p.WaitCancelledN(site.Waiting(t), 4))
		record := s.Record(answer.Header.Get("Request-Id"))
		assert.Equal(t, "client_closed", record["outcome"])
		assert.Nil(t, record["fault"])
		s.AssertQuiet()
	})
}

// For reverse_proxy, the calls are one request to one provider.
func TestCallsThatFailTogetherCountAsOneFailure(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	s := site.Start(t, site.Proxied.Provider("p", p, "format chat", "fail_duration 1m", "max_fails 2", "unhealthy_status 5xx"))
	failing := asksFor(`["a [[fault:503]]","b [[fault:503]]","c [[fault:503]]"]`)
	assert.Equal(t, http.StatusServiceUnavailable, s.Ask(site.CompletionsPath, failing).Status)
	assert.Equal(t, http.StatusOK, s.Ask(site.CompletionsPath, asksFor(`"x"`)).Status, "it is asked again after one")
	assert.Equal(t, http.StatusServiceUnavailable, s.Ask(site.CompletionsPath, failing).Status)
	assert.Equal(t, "upstream_unavailable", s.Ask(site.CompletionsPath, asksFor(`"the last"`)).Failure(t).Code)
	for _, request := range p.Requests() { // calls that were cancelled may come in even now
		assert.NotContains(t, string(request.Body), "the last", "two failures mark it down")
	}
}

// Every choice has the echo of its own prompt, and is cut at its own stop.
func TestEchoAndStopsAreThoseOfEachChoice(t *testing.T) {
	eachFan(t, func(t *testing.T, s *site.Site, _ *gatewaytest.Provider, r site.Lane) {
		for _, streamed := range []bool{false, true} {
			members := []string{`"echo":true`, `"stop":["  ","format"]`}
			if streamed {
				members = append(members, askingUsage)
			}
			got := readCompletion(t, s.Ask(r.Path, asksFor(`["first","second"]`, members...)), streamed)
			require.Len(t, got.Choices, 2)
			for i, prompt := range []string{"first", "second"} {
				assert.True(t, strings.HasPrefix(got.Choices[i].Text, prompt+"This"), got.Choices[i].Text)
				assert.NotContains(t, got.Choices[i].Text, "format")
				assert.Equal(t, "stop", got.Choices[i].Finish)
			}
		}
	})
}

func TestASlowClientSlowsEveryCallDown(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		const limit = 256 << 20
		p := gatewaytest.NewProvider(t)
		s := site.Start(t, w.Provider("p", p, "format chat"))
		stuck := make(chan int, 2)
		p.Always(gatewaytest.InOrder(gatewaytest.Chunks(gatewaytest.EventStream, site.Streams[site.ChatPath][:2]...), gatewaytest.FloodUntilStuck(limit, stuck)))
		answer := s.Open(site.CompletionsPath, asksFor(`["a","b"]`, streaming))
		for range 2 {
			select {
			case written := <-stuck:
				assert.Less(t, written, limit/4, "the gateway took in what the client did not read")
			case <-time.After(site.Patience):
				assert.Fail(t, "the provider never came to a stop")
			}
		}
		answer.Cancel()
	})
}
