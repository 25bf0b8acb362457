package module_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
)

// more goes on with an answer that has begun.
func more(chunks ...string) gatewaytest.Step {
	return func(c *gatewaytest.Call) {
		for _, chunk := range chunks {
			_, _ = c.Write([]byte(chunk)) // a caller that left needs nothing more
			_ = http.NewResponseController(c.ResponseWriter).Flush()
		}
	}
}

// afterContent scripts an answer that begins with these bytes and goes on with
// the step once the client has read "Hi". It returns what the client read.
func (s *site) afterContent(p *gatewaytest.Provider, path, begin string, then gatewaytest.Step) reply {
	s.t.Helper()
	gate := gatewaytest.NewGate(s.t)
	p.Script(gatewaytest.InOrder(gatewaytest.Chunks(gatewaytest.EventStream, begin), gatewaytest.Stall(gate, then)))
	answer := s.open(path, bodyFor(path, "m", "hello", true))
	require.Equal(s.t, http.StatusOK, answer.StatusCode)
	for !strings.Contains(answer.next(), "Hi") {
	}
	gate.Open()
	return answer.rest()
}

// keepAlives is what the gateway sends while there is nothing to say.
var keepAlives = map[string]string{
	messagesPath:    "event: ping\ndata: {\"type\": \"ping\"}\n",
	chatPath:        ": keep-alive\n",
	completionsPath: ": keep-alive\n",
}

// isKeepAlive reports whether an event says nothing.
func isKeepAlive(path, event string) bool { return event == keepAlives[path] }

// nextContent skips keep-alives.
func (s *stream) nextContent(path string) string {
	for {
		if event := s.next(); !isKeepAlive(path, event) {
			return event
		}
	}
}

// withoutKeepAlives is a stream as it would have been without them.
func withoutKeepAlives(path, body string) string {
	return strings.ReplaceAll(body, keepAlives[path]+"\n", "")
}

// stalling starts a gateway that commits at once and whose model "m" leads to a
// provider that stalls at a gate, and then to another one.
type stalling struct {
	*site
	first, second *gatewaytest.Provider
	gate          *gatewaytest.Gate
}

func startStalling(t *testing.T, w way, lines ...string) stalling {
	first, second := gatewaytest.NewProvider(t), gatewaytest.NewProvider(t)
	s := startSite(t, append(lines,
		w.provider("first", first, "models 1"), w.provider("second", second, "models 2"),
		"model m {\nto first\nto second\n}")...)
	return stalling{s, first, second, gatewaytest.NewGate(t)}
}

func TestPingsThenA503ThenTheSecondTargetInOneResponse(t *testing.T) {
	eachWay(t, func(t *testing.T, w way) {
		for _, path := range callPaths {
			t.Run(path, func(t *testing.T) {
				s := startStalling(t, w, "commit_after 1ms", "keep_alive 5ms")
				s.first.Always(gatewaytest.Stall(s.gate, gatewaytest.Status(http.StatusServiceUnavailable)))
				answer := s.open(path, bodyFor(path, "m", "hello", true))
				assert.Equal(t, http.StatusOK, answer.StatusCode)
				assert.Equal(t, "text/event-stream; charset=utf-8", answer.Header.Get("Content-Type"))
				for range 3 {
					assert.True(t, isKeepAlive(path, answer.next()))
				}
				s.gate.Open()
				whole := answer.rest()
				seen := whole.read(t, path) // a second message_start would fail here
				assert.True(t, seen.complete)
				assert.Contains(t, seen.text, "hello")
				assert.Nil(t, seen.failure)
				assert.Equal(t, 1, s.second.Count())
				record := s.record(whole.id())
				assert.Equal(t, "answered", record["outcome"])
				assert.Equal(t, "second", record["provider"])
			})
		}
	})
}

func TestAllTargetsFailingAfterTheCommitIsOneErrorEvent(t *testing.T) {
	eachWay(t, func(t *testing.T, w way) {
		for _, path := range callPaths {
			t.Run(path, func(t *testing.T) {
				s := startStalling(t, w, "commit_after 1ms", "keep_alive 5ms")
				s.first.Always(gatewaytest.Stall(s.gate, gatewaytest.Status(http.StatusServiceUnavailable)))
				s.second.Always(gatewaytest.Status(http.StatusServiceUnavailable))
				answer := s.open(path, bodyFor(path, "m", "hello", true))
				assert.True(t, isKeepAlive(path, answer.next()))
				s.gate.Open()
				whole := answer.rest()
				require.NoError(t, whole.err, "the body ends in order")
				want := `data: {"error":{"message":"scripted error","type":"server_error","param":null,"code":"overloaded"}}` + "\n\n"
				if path == messagesPath {
					want = "event: error\n" + `data: {"type":"error","error":{"type":"overloaded_error","message":"scripted error"},"request_id":"` + whole.id() + `"}` + "\n\n"
				}
				assert.Equal(t, want, withoutKeepAlives(path, whole.body))
				assert.True(t, strings.HasSuffix(whole.body, want), "nothing after it")
				assert.Equal(t, "failed", s.record(whole.id())["outcome"])
			})
		}
	})
}

func TestKeepAlivesStandOnlyBetweenEvents(t *testing.T) {
	eachWay(t, func(t *testing.T, w way) {
		for _, path := range callPaths {
			t.Run(path, func(t *testing.T) {
				s := startStalling(t, w, "keep_alive 5ms")
				plain := strings.Join(streams[path], "")
				middle := strings.Index(plain, "there") + 2 // in the middle of a word of an event
				s.first.Script(gatewaytest.InOrder(
					gatewaytest.Chunks(gatewaytest.EventStream, plain[:middle]),
					gatewaytest.Stall(s.gate, more(plain[middle:])),
				))
				answer := s.open(path, bodyFor(path, "m", "hello", true))
				for !strings.Contains(answer.next(), "Hi") {
				}
				for range 2 {
					assert.Equal(t, keepAlives[path], answer.next(), "half an event is kept back")
				}
				s.gate.Open()
				whole := answer.rest()
				assert.True(t, whole.read(t, path).complete)
				assert.Equal(t, withoutKeepAlives(path, plain), withoutKeepAlives(path, whole.body), "the provider's bytes, and keep-alives between them")
			})
		}
	})
}

// Keep-alives once went on while the gateway waited for a provider to close a
// stream whose last event had gone to the client already.
func TestNothingFollowsTheLastEvent(t *testing.T) {
	eachWay(t, func(t *testing.T, w way) {
		p := gatewaytest.NewProvider(t)
		s := startSite(t, "keep_alive 1ms", w.provider("p", p, "usage_wait 100ms"))
		for i, path := range callPaths {
			events := streams[path]
			begin := strings.Join(events[:len(events)-2], "")
			for j, end := range []string{strings.Join(events[len(events)-2:], ""), errorEvents[path]} {
				closing := gatewaytest.NewGate(t) // never opened: the provider does not close the stream
				answer := s.afterContent(p, path, begin, gatewaytest.InOrder(more(end), gatewaytest.Stall(closing, more())))
				require.NoError(t, answer.err)
				assert.True(t, strings.HasSuffix(answer.body, end), answer.body)
				assert.Equal(t, []string{"answered", "cut"}[j], s.record(answer.id())["outcome"])
				assert.NoError(t, p.WaitCancelledN(waiting(t), 2*i+j+1), "the call does not outlive usage_wait")
			}
		}
	})
}

// With commit_after off the timer for it once fired at once.
func TestCommitAfterOffKeepsTheStatusOpen(t *testing.T) {
	eachWay(t, func(t *testing.T, w way) {
		p, open := gatewaytest.NewProvider(t), gatewaytest.NewProvider(t)
		s := startSite(t, "commit_after off", "keep_alive 1ms",
			w.provider("p", p, "models m", "response_header_timeout 50ms"), w.provider("open", open, "models open", "idle_timeout 300ms"))
		for range 20 {
			p.Script(gatewaytest.Stall(gatewaytest.NewGate(t), gatewaytest.Answer()))
			assert.Equal(t, http.StatusGatewayTimeout, s.ask(messagesPath, bodyFor(messagesPath, "m", "hello", true)).status)
		}
		open.Script(gatewaytest.StallAfter(6, gatewaytest.NewGate(t)))
		whole := s.ask(messagesPath, bodyFor(messagesPath, "open", "hello", true))
		assert.Contains(t, whole.body, keepAlives[messagesPath], "once committed by content, pings come")
	})
}

// With keep_alive off one was once sent when commit_after had passed.
func TestKeepAliveOffSendsNoneBehindTheCommit(t *testing.T) {
	eachWay(t, func(t *testing.T, w way) {
		p := gatewaytest.NewProvider(t)
		s := startSite(t, "commit_after 30ms", "keep_alive off", w.provider("p", p, "idle_timeout 300ms"))
		p.Script(gatewaytest.StallAfter(6, gatewaytest.NewGate(t)))
		whole := s.ask(messagesPath, bodyFor(messagesPath, "m", "hello", true))
		assert.NotContains(t, whole.body, keepAlives[messagesPath])
		assert.Equal(t, "timeout_error", whole.read(t, messagesPath).failure.Type)
	})
}

func TestAJSONRequestIsNeverCommittedEarly(t *testing.T) {
	eachWay(t, func(t *testing.T, w way) {
		for _, path := range append([]string{"/v1/messages/count_tokens"}, callPaths...) {
			t.Run(path, func(t *testing.T) {
				p := gatewaytest.NewProvider(t)
				s := startSite(t, "commit_after 1ms", "keep_alive 1ms", w.provider("p", p, "response_header_timeout 100ms"))
				p.Always(gatewaytest.Stall(gatewaytest.NewGate(t), gatewaytest.Answer()))
				stream := path == "/v1/messages/count_tokens" // there, stream means nothing
				body := bodyFor(strings.TrimSuffix(path, "/count_tokens"), "m", "hello", stream)
				if stream {
					body = strings.ReplaceAll(body, `"max_tokens":1000,`, "")
				}
				answer := s.ask(path, body)
				assert.Equal(t, http.StatusGatewayTimeout, answer.status, answer.body)
				assert.Equal(t, "application/json", answer.header.Get("Content-Type"))
			})
		}
	})
}

func TestStreamHeaders(t *testing.T) {
	eachWay(t, func(t *testing.T, w way) {
		p := gatewaytest.NewProvider(t)
		p.Header.Set("Set-Cookie", "session=1")
		p.Header.Set("Anthropic-Ratelimit-Tokens-Remaining", "5")
		p.Header.Set("X-Ratelimit-Remaining-Tokens", "5")
		p.Header.Set("Access-Control-Allow-Origin", "*")
		p.Header.Set("Server", "vendor")
		s := startSite(t, w.provider("p", p))
		for _, path := range callPaths {
			p.Script(gatewaytest.InOrder(gatewaytest.SetHeader("Request-Id", "req_vendor"), gatewaytest.Chunks(gatewaytest.EventStream, streams[path]...)))
			answer := s.ask(path, bodyFor(path, "m", "hello", true))
			answer.header.Del("Date")
			answer.header.Del("Content-Type")
			assert.Equal(t, http.Header{
				"Cache-Control": {"no-cache, no-transform"}, "X-Accel-Buffering": {"no"},
				"Request-Id": {answer.id()}, "X-Request-Id": {answer.id()},
				"X-Gateway-Model": {"m"}, "X-Upstream-Request-Id": {"req_vendor"}, "Server": {"Caddy"},
			}, answer.header)
		}
	})
}

func TestAnErrorAsTheFirstEventIsToldByStatusAndFailsOver(t *testing.T) {
	eachWay(t, func(t *testing.T, w way) {
		s := startStalling(t, w)
		alone := map[string]told{
			messagesPath: {status: 529, messagesKind: "overloaded_error"},
		}
		for _, path := range callPaths {
			body := bodyFor(path, "1", "hello [[fault:first-event-error]]", true)
			answer := s.ask(path, body)
			assert.GreaterOrEqual(t, answer.status, 500, answer.body)
			if want, known := alone[path]; known {
				assert.Equal(t, want.status, answer.status)
				assert.Equal(t, want.messagesKind, answer.failure(t).Type)
			}
			before := s.second.Count()
			s.second.Script(gatewaytest.Chunks(gatewaytest.EventStream, streams[path]...))
			answer = s.ask(path, strings.Replace(body, `"model":"1"`, `"model":"m"`, 1))
			assert.Equal(t, http.StatusOK, answer.status)
			assert.Equal(t, "Hi there", answer.read(t, path).text)
			assert.Equal(t, before+1, s.second.Count())
		}
	})
}

// streams are whole answers, event by event: "Hi there".
var streams = map[string][]string{
	messagesPath: {
		"event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"x\",\"content\":[],\"stop_reason\":null,\"stop_sequence\":null,\"usage\":{\"input_tokens\":9,\"output_tokens\":1}}}\n\n",
		"event: ping\ndata: {\"type\": \"ping\"}\n\n",
		"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n",
		"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"Hi\"}}\n\n",
		"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\" there\"}}\n\n",
		"event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n",
		"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\",\"stop_sequence\":null},\"usage\":{\"output_tokens\":4}}\n\n",
		"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
	},
	chatPath: {
		"data: {\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"x\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"},\"finish_reason\":null}]}\n\n",
		"data: {\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"x\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"},\"finish_reason\":null}]}\n\n",
		"data: {\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"x\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\" there\"},\"finish_reason\":null}]}\n\n",
		"data: {\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"x\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n",
		"data: [DONE]\n\n",
	},
	completionsPath: {
		"data: {\"id\":\"t1\",\"object\":\"text_completion\",\"created\":1,\"model\":\"x\",\"choices\":[{\"index\":0,\"text\":\"Hi\",\"logprobs\":null,\"finish_reason\":null}]}\n\n",
		"data: {\"id\":\"t1\",\"object\":\"text_completion\",\"created\":1,\"model\":\"x\",\"choices\":[{\"index\":0,\"text\":\" there\",\"logprobs\":null,\"finish_reason\":null}]}\n\n",
		"data: {\"id\":\"t1\",\"object\":\"text_completion\",\"created\":1,\"model\":\"x\",\"choices\":[{\"index\":0,\"text\":\"\",\"logprobs\":null,\"finish_reason\":\"stop\"}]}\n\n",
		"data: [DONE]\n\n",
	},
}

// errorEvents are what providers send when they fail in mid-stream.
var errorEvents = map[string]string{
	messagesPath:    "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"},\"vendor\":1}\n\n",
	chatPath:        "data: {\"error\":{\"message\":\"The server had an error\",\"type\":\"server_error\",\"vendor\":1}}\n\n",
	completionsPath: "data: {\"error\":{\"message\":\"The server had an error\",\"type\":\"server_error\",\"vendor\":1}}\n\n",
}

func TestAnErrorEventAfterContentIsRelayedAndEndsTheStream(t *testing.T) {
	eachWay(t, func(t *testing.T, w way) {
		s := startStalling(t, w)
		for _, path := range callPaths {
			events := streams[path]
			half := events[:len(events)/2+1]
			// What comes behind the error, the terminal event included, would
			// make a failed stream look finished.
			rest := append([]string{errorEvents[path]}, events[len(half):]...)
			for name, then := range map[string]gatewaytest.Step{
				"one by one": more(rest...), "in one go": more(strings.Join(rest, "")),
			} {
				t.Run(path+" "+name, func(t *testing.T) {
					whole := s.afterContent(s.first, path, strings.Join(half, ""), then)
					require.NoError(t, whole.err)
					assert.Equal(t, strings.Join(half, "")+errorEvents[path], whole.body)
					assert.Equal(t, "cut", s.record(whole.id())["outcome"])
				})
			}
		}
		assert.Zero(t, s.second.Count(), "no other target after content")
	})
}

func TestTruncatedStreamsEndWithAnErrorEvent(t *testing.T) {
	abort := func(*gatewaytest.Call) { panic(http.ErrAbortHandler) }
	eachWay(t, func(t *testing.T, w way) {
		s := startStalling(t, w)
		for _, path := range callPaths {
			events := streams[path]
			last := events[len(events)-1]
			complete := strings.Join(events, "")
			half := complete[:strings.Index(complete, " there")]
			wholeEvents := half[:strings.LastIndex(half, "\n\n")+2]
			for name, c := range map[string]struct {
				begin, relayed string
				then           gatewaytest.Step
			}{
				"clean end":                    {wholeEvents, wholeEvents, more()},
				"clean end inside an event":    {half, wholeEvents, more()},
				"clean end before the last":    {strings.TrimSuffix(complete, last), strings.TrimSuffix(complete, last), more()},
				"reset":                        {wholeEvents, wholeEvents, gatewaytest.Reset()},
				"reset inside an event":        {half, wholeEvents, gatewaytest.Reset()},
				"chunked body cut":             {wholeEvents, wholeEvents, abort},
				"chunked body cut in an event": {half, wholeEvents, abort},
			} {
				t.Run(path+" "+name, func(t *testing.T) {
					whole := s.afterContent(s.first, path, c.begin, c.then)
					require.NoError(t, whole.err, "the body itself ends in order")
					want := `data: {"error":{"message":"` + truncated.message + `","type":"server_error","param":null,"code":"upstream_stream_truncated"}}` + "\n\n"
					if path == messagesPath {
						want = "event: error\n" + `data: {"type":"error","error":{"type":"api_error","message":"` + truncated.message + `"},"request_id":"` + whole.id() + `"}` + "\n\n"
					}
					assert.Equal(t, c.relayed+want, whole.body)
					assert.Equal(t, "cut", s.record(whole.id())["outcome"])
				})
			}
		}
		assert.Zero(t, s.second.Count())
	})
}

func thenReset(body string) gatewaytest.Step {
	return gatewaytest.InOrder(gatewaytest.Chunks(gatewaytest.EventStream, body), gatewaytest.Reset())
}

func thenCut(body string) gatewaytest.Step {
	return gatewaytest.InOrder(gatewaytest.Chunks(gatewaytest.EventStream, body), func(*gatewaytest.Call) { panic(http.ErrAbortHandler) })
}

// Before content a stream that breaks off is no answer, and the next target is
// asked.
func TestAStreamThatBreaksOffBeforeContentFailsOver(t *testing.T) {
	eachWay(t, func(t *testing.T, w way) {
		s := startStalling(t, w)
		for _, path := range callPaths {
			start := "" // what comes before content
			if path != completionsPath {
				start = streams[path][0]
			}
			for name, step := range map[string]gatewaytest.Step{
				"clean end": gatewaytest.Chunks(gatewaytest.EventStream, start),
				"reset":     thenReset(start),
				"cut":       thenCut(start),
				"comments":  gatewaytest.Chunks(gatewaytest.EventStream, ": hello\n\n", start, ": hello\n\n"),
				"garbage":   gatewaytest.Chunks(gatewaytest.EventStream, "data: <html>\n\n"),
			} {
				t.Run(path+" "+name, func(t *testing.T) {
					s.first.Script(step)
					whole := s.ask(path, bodyFor(path, "m", "hello", true))
					assert.Equal(t, http.StatusOK, whole.status, whole.body)
					assert.True(t, whole.read(t, path).complete)
					s.first.Script(step)
					whole = s.ask(path, bodyFor(path, "1", "hello", true))
					assert.Equal(t, http.StatusBadGateway, whole.status, whole.body)
				})
			}
		}
	})
}

func TestIdleStreamsEndWithATimeoutEvent(t *testing.T) {
	eachWay(t, func(t *testing.T, w way) {
		p := gatewaytest.NewProvider(t)
		s := startSite(t, w.provider("p", p, "idle_timeout 300ms"))
		for _, path := range callPaths {
			p.Script(gatewaytest.StallAfter(6, gatewaytest.NewGate(t)))
			whole := s.ask(path, bodyFor(path, "m", "hello", true))
			seen := whole.read(t, path)
			assert.False(t, seen.complete)
			require.NotNil(t, seen.failure)
			assert.Equal(t, timedOut.message, seen.failure.Message)
			if path == messagesPath {
				assert.Equal(t, "timeout_error", seen.failure.Type)
			} else {
				assert.Equal(t, "upstream_timeout", seen.failure.Code)
			}
			assert.Equal(t, "cut", s.record(whole.id())["outcome"])
		}
		require.NoError(t, p.WaitCancelledN(waiting(t), 3))
	})
}

// The comments take twice as long as the idle time: each is a sign of life.
func TestCommentsKeepAStreamAlive(t *testing.T) {
	eachWay(t, func(t *testing.T, w way) {
		p := gatewaytest.NewProvider(t)
		s := startSite(t, w.provider("p", p, "idle_timeout 600ms"))
		events := streams[chatPath]
		p.Script(paced(append(append(slices.Clone(events[:3]), slices.Repeat([]string{": alive\n\n"}, 40)...), events[3:]...)))
		whole := s.ask(chatPath, bodyFor(chatPath, "m", "hello", true))
		assert.True(t, whole.read(t, chatPath).complete, whole.body)
		assert.Equal(t, 40, strings.Count(whole.body, ": alive\n\n"), "comments are relayed too")
	})
}

// paced sends the pieces of a stream with pauses between them, much shorter
// than the idle time of the test.
func paced(pieces []string) gatewaytest.Step {
	return func(c *gatewaytest.Call) {
		c.Header().Set("Content-Type", gatewaytest.EventStream)
		tick := time.NewTicker(30 * time.Millisecond)
		defer tick.Stop()
		for _, piece := range pieces {
			_, _ = c.Write([]byte(piece)) // a caller that left ends the loop below
			_ = http.NewResponseController(c.ResponseWriter).Flush()
			select {
			case <-tick.C:
			case <-c.Request.Context().Done():
				return
			}
		}
	}
}

func TestUsageIsReadWhileEveryByteIsRelayed(t *testing.T) {
	eachWay(t, func(t *testing.T, w way) {
		p := gatewaytest.NewProvider(t)
		s := startSite(t, w.provider("p", p))
		p.Script(gatewaytest.Chunks(gatewaytest.EventStream, streams[messagesPath]...))
		whole := s.ask(messagesPath, bodyFor(messagesPath, "m", "hello", true))
		assert.Equal(t, strings.Join(streams[messagesPath], ""), whole.body)
		record := s.record(whole.id())
		assert.Equal(t, 9.0, record["usage.input_tokens"])
		assert.Equal(t, 4.0, record["usage.output_tokens"])
		assert.Equal(t, "x", record["answered_by"])
	})
}

const usageChunk = "data: {\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"x\",\"choices\":[],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":3,\"total_tokens\":10}}\n\n"

func TestUsageOfChatStreamsIsAskedForAndWithheld(t *testing.T) {
	const head = `{"model":"m","messages":[{"role":"user","content":"hi"}],"stream":true`
	cases := []struct {
		name, sent, received string
		shown                bool
	}{
		{"absent", head + `}`, head + `,"stream_options":{"include_usage":true}}`, false},
		{"absent, spaces", head + ` } `, head + ` ,"stream_options":{"include_usage":true}} `, false},
		{"null", head + `,"stream_options": null }`, head + `,"stream_options": {"include_usage":true} }`, false},
		{"empty", head + `,"stream_options":{ },"n":1}`, head + `,"stream_options":{"include_usage":true},"n":1}`, false},
		{"another member", head + `,"stream_options":{"include_obfuscation":false}}`, head + `,"stream_options":{"include_usage":true,"include_obfuscation":false}}`, false},
		{"false", head + `,"stream_options":{"include_usage":false}}`, head + `,"stream_options":{"include_usage":true}}`, false},
		{"include_usage null", head + `,"stream_options":{"include_usage": null}}`, head + `,"stream_options":{"include_usage": true}}`, false},
		{"asked for by the client", head + `,"stream_options":{"include_usage":true}}`, head + `,"stream_options":{"include_usage":true}}`, true},
	}
	events := streams[chatPath]
	last := len(events) - 1
	without := strings.Join(events, "")
	with := strings.Join(events[:last], "") + usageChunk + events[last]
	eachWay(t, func(t *testing.T, w way) {
		p, never := gatewaytest.NewProvider(t), gatewaytest.NewProvider(t)
		s := startSite(t, w.provider("p", p, "models m"), w.provider("never", never, "models never", "include_usage off"))
		for _, c := range cases {
			for _, oneByOne := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s, one by one: %t", c.name, oneByOne), func(t *testing.T) {
					step := gatewaytest.Chunks(gatewaytest.EventStream, with)
					if oneByOne {
						step = gatewaytest.Chunks(gatewaytest.EventStream, strings.SplitAfter(with, "\n\n")...)
					}
					p.Script(step)
					whole := s.ask(chatPath, c.sent)
					want := without
					if c.shown {
						want = with
					}
					assert.Equal(t, want, whole.body)
					requests := p.Requests()
					assert.Equal(t, c.received, string(requests[len(requests)-1].Body))
					record := s.record(whole.id())
					assert.Equal(t, 7.0, record["usage.input_tokens"])
					assert.Equal(t, 3.0, record["usage.output_tokens"])
				})
			}
		}
		never.Script(gatewaytest.Chunks(gatewaytest.EventStream, with))
		body := strings.Replace(cases[0].sent, `"m"`, `"never"`, 1)
		assert.Equal(t, with, s.ask(chatPath, body).body, "nothing is withheld that was not asked for")
		assert.Equal(t, body, string(never.Requests()[0].Body), "include_usage off leaves the body alone")
	})
}

// A stop that the provider never confirms with [DONE] is an end only where the
// configuration says so.
func TestStreamsWithoutDone(t *testing.T) {
	eachWay(t, func(t *testing.T, w way) {
		p, lax := gatewaytest.NewProvider(t), gatewaytest.NewProvider(t)
		s := startSite(t, w.provider("p", p, "models m"), w.provider("lax", lax, "models lax", "stream_end finish"))
		for _, path := range []string{chatPath, completionsPath} {
			events := streams[path]
			step := gatewaytest.Chunks(gatewaytest.EventStream, events[:len(events)-1]...)
			p.Script(step)
			assert.NotNil(t, s.ask(path, bodyFor(path, "m", "hello", true)).read(t, path).failure)
			lax.Script(step)
			whole := s.ask(path, bodyFor(path, "lax", "hello", true))
			assert.Equal(t, strings.Join(events[:len(events)-1], ""), whole.body)
			assert.Equal(t, "answered", s.record(whole.id())["outcome"])
		}
	})
}
