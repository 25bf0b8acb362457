package module_test

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
)

// fanRoutes are those whose requests may become several calls.
var fanRoutes = []translatedRoute{
	{completionsPath, "format chat", chatPath},
	{completionsPath, "format messages", messagesPath},
}

// eachFan runs a test over all of them, on both ways to a provider.
func eachFan(t *testing.T, test func(t *testing.T, s *site, p *gatewaytest.Provider, r translatedRoute)) {
	eachWay(t, func(t *testing.T, w way) {
		for _, r := range fanRoutes {
			t.Run(r.String(), func(t *testing.T) {
				p := gatewaytest.NewProvider(t)
				test(t, startSite(t, w.provider("p", p, r.format, "native_n off")), p, r)
			})
		}
	})
}

// asksFor is a completions request; prompts are raw JSON.
func asksFor(prompts string, members ...string) string {
	return `{"model":"m","prompt":` + prompts + strings.Join(append([]string{""}, members...), ",") + `}`
}

const (
	streaming    = `"stream":true`
	askingUsage  = `"stream":true,"stream_options":{"include_usage":true}`
	slowForEver  = "[[fault:slow-headers=1h]]"
	silentInside = "[[fault:stall]]"
)

// completion reads an answer, streamed or not.
func (r reply) completion(t *testing.T, streamed bool) *gatewaytest.Completion {
	t.Helper()
	require.Equal(t, http.StatusOK, r.status, r.body)
	read := func() (*gatewaytest.Completion, error) { return gatewaytest.ParseCompletion([]byte(r.body)) }
	if streamed {
		read = func() (*gatewaytest.Completion, error) {
			return gatewaytest.ReadCompletionStream(strings.NewReader(r.body))
		}
	}
	c, err := read()
	require.NoError(t, err, r.body)
	return c
}

func TestG043SeveralPromptsBecomeCallsWhoseAnswersKeepTheirOrder(t *testing.T) {
	eachFan(t, func(t *testing.T, s *site, p *gatewaytest.Provider, r translatedRoute) {
		for _, streamed := range []bool{false, true} {
			members := []string{`"max_tokens":50`}
			if streamed {
				members = append(members, askingUsage)
			}
			answer := s.ask(r.path, asksFor(`["first","second","third"]`, members...))
			got := answer.completion(t, streamed)
			require.Len(t, got.Choices, 3)
			for i, prompt := range []string{"first", "second", "third"} {
				assert.Equal(t, i, got.Choices[i].Index)
				assert.Contains(t, got.Choices[i].Text, prompt)
				assert.Equal(t, "stop", got.Choices[i].Finish)
			}
			record := s.record(answer.id())
			assert.Equal(t, "answered", record["outcome"])
			assert.Equal(t, 1.0, record["attempts"], "it is one request")
			assert.EqualValues(t, got.Usage.PromptTokens, record["usage.input_tokens"])
			assert.EqualValues(t, got.Usage.CompletionTokens, record["usage.output_tokens"])
		}
		assert.Equal(t, 6, p.Count())
		for _, request := range p.Requests() {
			assert.Equal(t, r.upstream, request.Path)
			assert.NotContains(t, string(request.Body), `"n"`)
			found := 0
			for _, prompt := range []string{"first", "second", "third"} {
				found += strings.Count(string(request.Body), prompt)
			}
			assert.Equal(t, 1, found, "prompts are never joined")
		}
	})
}

func TestG044TokensAreRefusedWhereTheyMeanNothing(t *testing.T) {
	eachFan(t, func(t *testing.T, s *site, p *gatewaytest.Provider, r translatedRoute) {
		for _, prompt := range []string{`[1,2,3]`, `[[1,2],[3]]`} {
			answer := s.ask(r.path, asksFor(prompt))
			assert.Equal(t, http.StatusBadRequest, answer.status)
			assert.Contains(t, answer.body, `"param":"prompt"`)
		}
		assert.Zero(t, p.Count())
	})
}

func TestG045TokensGoThroughToTheirOwnFormat(t *testing.T) {
	eachWay(t, func(t *testing.T, w way) {
		p := gatewaytest.NewProvider(t)
		s := startSite(t, w.provider("p", p, "native_n off"))
		body := asksFor(`[[1,2],[3]]`, `"n":2`)
		got := s.ask(completionsPath, body).completion(t, false)
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
	eachWay(t, func(t *testing.T, w way) {
		p := gatewaytest.NewProvider(t)
		s := startSite(t, w.provider("p", p, "native_n off"))
		p.Script(gatewaytest.Chunks(gatewaytest.EventStream, stream))
		answer := s.ask(chatPath, `{"model":"m","messages":[{"role":"user","content":"x"}],"n":2,"stream":true}`)
		assert.Equal(t, stream, answer.body)
		assert.Equal(t, "answered", s.record(answer.id())["outcome"])
	})
}

func TestG107PromptsAndSamplesAreCalledAtOnce(t *testing.T) {
	eachFan(t, func(t *testing.T, s *site, p *gatewaytest.Provider, r translatedRoute) {
		one := s.ask(r.path, asksFor(`"one"`)).completion(t, false).Usage
		two := s.ask(r.path, asksFor(`"two words"`)).completion(t, false).Usage
		for _, streamed := range []bool{false, true} {
			gate := gatewaytest.NewGate(t)
			p.Always(gatewaytest.Stall(gate, gatewaytest.Answer()))
			members := []string{`"n":2`}
			if streamed {
				members = append(members, askingUsage)
			}
			before := p.Count()
			answers := make(chan reply, 1)
			go func() { answers <- s.ask(r.path, asksFor(`["one","two words"]`, members...)) }()
			require.NoError(t, p.WaitRequests(waiting(t), before+4), "none waits for another")
			gate.Open()
			answer := <-answers
			got := answer.completion(t, streamed)
			require.Len(t, got.Choices, 4)
			for i, choice := range got.Choices {
				assert.Equal(t, i, choice.Index)
				assert.Contains(t, choice.Text, []string{"one", "two words"}[i/2])
				assert.Equal(t, "stop", choice.Finish)
			}
			assert.Equal(t, 2*(one.PromptTokens+two.PromptTokens), got.Usage.PromptTokens)
			assert.Equal(t, 2*(one.CompletionTokens+two.CompletionTokens), got.Usage.CompletionTokens)
			if streamed { // the reader above demands one id, one usage chunk and one end
				assert.Equal(t, 1, strings.Count(answer.body, `"total_tokens"`))
				assert.Equal(t, 4, strings.Count(answer.body, `"finish_reason":"stop"`))
				assert.True(t, strings.HasSuffix(answer.body, "data: [DONE]\n\n"))
				assert.Equal(t, 1, strings.Count(answer.body, "[DONE]"))
			}
		}
	})
}

func TestG108MoreCallsThanAllowedAreRefusedBeforeAnyIsMade(t *testing.T) {
	eachFan(t, func(t *testing.T, s *site, p *gatewaytest.Provider, r translatedRoute) {
		format := strings.TrimPrefix(r.format, "format ")
		for _, c := range []struct{ prompts, n, param, what string }{
			{`["1","2","3","4","5","6","7","8","9"]`, `"n":1`, "prompt", "9 prompts"},
			{`"1"`, `"n":9`, "n", "9"},
			{`["1","2","3"]`, `"n":3`, "n", "3 for 3 prompts"},
		} {
			answer := s.ask(r.path, asksFor(c.prompts, c.n))
			assert.Equal(t, http.StatusBadRequest, answer.status)
			assert.JSONEq(t, fmt.Sprintf(`{"error":{"message":"%s: %s cannot be translated for model 'm' (upstream format %s): more than 8 calls",
				"type":"invalid_request_error","param":"%s","code":"unsupported_for_upstream"}}`, c.param, c.what, format, c.param), answer.body)
			assert.Equal(t, "refused", s.record(answer.id())["outcome"])
		}
		assert.Zero(t, p.Count())
	})
}

func TestG109OneCallThatFailsBeforeContentIsTheAnswerToAll(t *testing.T) {
	eachFan(t, func(t *testing.T, s *site, p *gatewaytest.Provider, r translatedRoute) {
		for i, streamed := range []string{`"stream":false`, streaming} {
			gate := gatewaytest.NewGate(t)
			p.Always(toPrompts(map[string]gatewaytest.Step{
				"first":  gatewaytest.Stall(gatewaytest.NewGate(t), gatewaytest.Answer()),
				"second": gatewaytest.Stall(gate, gatewaytest.Status(500, "Retry-After", "7")),
			}))
			answers := make(chan reply, 1)
			go func() { answers <- s.ask(r.path, asksFor(`["first","second"]`, streamed)) }()
			require.NoError(t, p.WaitRequests(waiting(t), 2*(i+1)))
			gate.Open()
			require.NoError(t, p.WaitCancelledN(waiting(t), i+1), "the other call ends at once")
			answer := <-answers
			assert.Equal(t, http.StatusInternalServerError, answer.status)
			assert.Equal(t, "server_error", answer.failure(t).Type)
			assert.Equal(t, "7", answer.header.Get("Retry-After"))
			assert.NotContains(t, answer.body, "choices")
			record := s.record(answer.id())
			assert.Equal(t, "failed", record["outcome"])
			assert.Equal(t, 500.0, record["upstream_status"])
		}
	})
}

// toPrompts answers the calls whose bodies hold these words by these steps, and
// others by the engine.
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
	eachFan(t, func(t *testing.T, s *site, p *gatewaytest.Provider, r translatedRoute) {
		for i, step := range []gatewaytest.Step{gatewaytest.Status(500), gatewaytest.Reset(), gatewaytest.HeadersThenClose()} {
			gate := gatewaytest.NewGate(t)
			p.Always(toPrompts(map[string]gatewaytest.Step{"second": gatewaytest.Stall(gate, step)}))
			answer := s.open(r.path, asksFor(`["first `+silentInside+`","second"]`, streaming))
			answer.next()
			gate.Open()
			whole := answer.rest()
			require.NoError(t, whole.err, "the body ends in order")
			seen := whole.read(t, r.path)
			assert.False(t, seen.complete)
			assert.NotNil(t, seen.failure)
			assert.NotContains(t, whole.body, "[DONE]")
			assert.NotContains(t, whole.body, `"finish_reason":"`)
			require.NoError(t, p.WaitCancelledN(waiting(t), i+1), "the other call ends at once")
			assert.Equal(t, "cut", s.record(whole.id())["outcome"])
		}
	})
}

func TestG126SamplesAreAskedForInOneCallWhereTheProviderCan(t *testing.T) {
	eachWay(t, func(t *testing.T, w way) {
		for native, calls := range map[string]int{"on": 1, "off": 2} {
			t.Run("native_n "+native, func(t *testing.T) {
				p := gatewaytest.NewProvider(t)
				s := startSite(t, w.provider("p", p, "format chat", "native_n "+native))
				for _, members := range []string{`"n":2`, `"n":2,` + askingUsage} {
					before := p.Count()
					got := s.ask(completionsPath, asksFor(`"x"`, members)).completion(t, strings.Contains(members, "stream"))
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
	eachWay(t, func(t *testing.T, w way) {
		p := gatewaytest.NewProvider(t)
		s := startSite(t, w.provider("p", p, "format messages"))
		const body = `{"model":"m","messages":[{"role":"user","content":"hello"}],"max_tokens":50,"n":3`
		for _, streamed := range []bool{false, true} {
			before := p.Count()
			more := "}"
			if streamed {
				more = `,` + askingUsage + "}"
			}
			answer := s.ask(chatPath, body+more)
			got := answer.completion(t, streamed)
			require.Len(t, got.Choices, 3)
			for i, choice := range got.Choices {
				assert.Equal(t, i, choice.Index)
				assert.Contains(t, choice.Text, "hello")
				assert.Equal(t, "stop", choice.Finish)
			}
			requests := p.Requests()[before:]
			require.Len(t, requests, 3)
			assert.NotContains(t, string(requests[0].Body), `"n"`)
			assert.EqualValues(t, got.Usage.PromptTokens, s.record(answer.id())["usage.input_tokens"])
			assert.Zero(t, got.Usage.PromptTokens%3, "the sum of three alike")
		}
		before := p.Count()
		refused := s.ask(chatPath, strings.Replace(body, `"n":3`, `"n":9`, 1)+"}")
		assert.Equal(t, http.StatusBadRequest, refused.status)
		assert.Contains(t, refused.body, `"param":"n"`)
		assert.Equal(t, before, p.Count())
	})
}

func TestCallsThatFailLeaveTheWholeToTheNextTarget(t *testing.T) {
	eachWay(t, func(t *testing.T, w way) {
		s := startMixed(t, w)
		s.chat.Always(toPrompts(map[string]gatewaytest.Step{
			"first": gatewaytest.Stall(gatewaytest.NewGate(t), gatewaytest.Answer()), "second": gatewaytest.Status(503),
		}))
		for _, streamed := range []bool{false, true} {
			members := []string{`"max_tokens":40`}
			if streamed {
				members = append(members, askingUsage)
			}
			answer := s.ask(completionsPath, asksFor(`["first","second"]`, members...))
			got := answer.completion(t, streamed)
			require.Len(t, got.Choices, 2)
			for _, choice := range got.Choices {
				assert.Contains(t, choice.Text, "in the messages format")
			}
			record := s.record(answer.id())
			assert.Equal(t, "conversing", record["provider"])
			assert.Equal(t, 2.0, record["attempts"])
		}
	})
}

func TestAClientThatLeavesEndsEveryOneOfItsCalls(t *testing.T) {
	eachFan(t, func(t *testing.T, s *site, p *gatewaytest.Provider, r translatedRoute) {
		ctx, leave := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			response, err := s.post(ctx, r.path, asksFor(`["a `+slowForEver+`","b `+slowForEver+`"]`, streaming))
			if err == nil {
				_ = response.Body.Close()
			}
			done <- err
		}()
		require.NoError(t, p.WaitRequests(waiting(t), 2))
		leave()
		assert.ErrorIs(t, <-done, context.Canceled)
		require.NoError(t, p.WaitCancelledN(waiting(t), 2))

		answer := s.open(r.path, asksFor(`["a `+silentInside+`","b `+slowForEver+`"]`, streaming))
		answer.next()
		require.NoError(t, p.WaitRequests(waiting(t), 4))
		answer.cancel()
		require.NoError(t, p.WaitCancelledN(waiting(t), 4))
		record := s.record(answer.Header.Get("Request-Id"))
		assert.Equal(t, "client_closed", record["outcome"])
		assert.Nil(t, record["fault"])
		s.assertQuiet()
	})
}

// For reverse_proxy it is one call, of one provider.
func TestCallsThatFailTogetherCountAsOneFailure(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	s := startSite(t, proxied.provider("p", p, "format chat", "fail_duration 1m", "max_fails 2", "unhealthy_status 5xx"))
	failing := asksFor(`["a [[fault:503]]","b [[fault:503]]","c [[fault:503]]"]`)
	assert.Equal(t, http.StatusServiceUnavailable, s.ask(completionsPath, failing).status)
	assert.Equal(t, http.StatusOK, s.ask(completionsPath, asksFor(`"x"`)).status, "it is asked again after one")
	assert.Equal(t, http.StatusServiceUnavailable, s.ask(completionsPath, failing).status)
	assert.Equal(t, "upstream_unavailable", s.ask(completionsPath, asksFor(`"the last"`)).failure(t).Code)
	for _, request := range p.Requests() { // calls that were cancelled may come in even now
		assert.NotContains(t, string(request.Body), "the last", "two failures mark it down")
	}
}

// Every choice has the echo of its own prompt, and is cut at its own stop.
func TestEchoAndStopsAreThoseOfEachChoice(t *testing.T) {
	eachFan(t, func(t *testing.T, s *site, _ *gatewaytest.Provider, r translatedRoute) {
		for _, streamed := range []bool{false, true} {
			members := []string{`"echo":true`, `"stop":["  ","format"]`}
			if streamed {
				members = append(members, askingUsage)
			}
			got := s.ask(r.path, asksFor(`["first","second"]`, members...)).completion(t, streamed)
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
	eachWay(t, func(t *testing.T, w way) {
		const most = 256 << 20
		p := gatewaytest.NewProvider(t)
		s := startSite(t, w.provider("p", p, "format chat"))
		stuck := make(chan int, 2)
		p.Always(gatewaytest.InOrder(gatewaytest.Chunks(gatewaytest.EventStream, streams[chatPath][:2]...), flood(most, stuck)))
		answer := s.open(completionsPath, asksFor(`["a","b"]`, streaming))
		for range 2 {
			select {
			case written := <-stuck:
				assert.Less(t, written, most/4, "the gateway took in what the client did not read")
			case <-time.After(patience):
				assert.Fail(t, "the provider never came to a stop")
			}
		}
		answer.cancel()
	})
}
