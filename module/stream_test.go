package module_test

import (
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
				"Request-Id": {answer.id()}, "X-Request-Id": {answer.id()}, "X-Content-Type-Options": {"nosniff"},
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

func TestG084TruncatedStreamsEndWithAnErrorEvent(t *testing.T) {
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

// thenSilence sends the first half of a stream in one go, content included, so
// that the pause behind it is the only one. No keep-alive is in it.
func thenSilence(t *testing.T, path string) gatewaytest.Step {
	begin := withoutKeepAlives(path, strings.Join(streams[path][:len(streams[path])/2+1], ""))
	return gatewaytest.InOrder(gatewaytest.Chunks(gatewaytest.EventStream, begin), gatewaytest.Stall(gatewaytest.NewGate(t), more()))
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
			p.Script(thenSilence(t, path))
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

func TestCommentsOfAProviderAreRelayed(t *testing.T) {
	eachWay(t, func(t *testing.T, w way) {
		p := gatewaytest.NewProvider(t)
		s := startSite(t, w.provider("p", p))
		events := streams[chatPath]
		p.Script(gatewaytest.Chunks(gatewaytest.EventStream, slices.Insert(slices.Clone(events), 3, slices.Repeat([]string{": alive\n\n"}, 40)...)...))
		whole := s.ask(chatPath, bodyFor(chatPath, "m", "hello", true))
		assert.True(t, whole.read(t, chatPath).complete, whole.body)
		assert.Equal(t, 40, strings.Count(whole.body, ": alive\n\n"))
	})
}

// paced sends the pieces of a stream with pauses between them.
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
