package module_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
)

// keepAlives is what the gateway sends while there is nothing to say.
var keepAlives = map[string]string{
	messagesPath:    "event: ping\ndata: {\"type\": \"ping\"}\n",
	chatPath:        ": keep-alive\n",
	completionsPath: ": keep-alive\n",
}

// isKeepAlive reports whether an event says nothing.
func isKeepAlive(path, event string) bool { return event == keepAlives[path] }

// withoutKeepAlives is a stream as it would have been without them.
func withoutKeepAlives(path, body string) string {
	return strings.ReplaceAll(body, keepAlives[path]+"\n", "")
}

func TestG124PingsThenA503ThenTheSecondTargetInOneResponse(t *testing.T) {
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

func TestG125AllTargetsFailingAfterTheCommitIsOneErrorEvent(t *testing.T) {
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
		open.Script(thenSilence(t, messagesPath))
		whole := s.ask(messagesPath, bodyFor(messagesPath, "open", "hello", true))
		assert.Contains(t, whole.body, keepAlives[messagesPath], "once committed by content, pings come")
	})
}

// With keep_alive off one was once sent when commit_after had passed.
func TestKeepAliveOffSendsNoneBehindTheCommit(t *testing.T) {
	eachWay(t, func(t *testing.T, w way) {
		p := gatewaytest.NewProvider(t)
		// The content has a second to arrive before commit_after, and the idle
		// time ends the stream well behind it.
		s := startSite(t, "commit_after 1s", "keep_alive off", w.provider("p", p, "idle_timeout 1500ms"))
		p.Script(thenSilence(t, messagesPath))
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

// The error event of a stream that was committed early had no error.details, by
// which SDKs know how to go on.
func TestAnErrorBehindAnEarlyCommitKeepsItsDetails(t *testing.T) {
	const details = `"details":{"error_code":"thread_unsupported_request","unsupported":["thread"]}`
	const failure = `{"type":"error","error":{"type":"invalid_request_error","message":"no thread",` + details + `}}`
	eachWay(t, func(t *testing.T, w way) {
		s := startStalling(t, w, "commit_after 1ms", "keep_alive 5ms")
		for name, step := range map[string]gatewaytest.Step{
			"by its status": gatewaytest.Body(http.StatusBadRequest, "application/json", []byte(failure)),
			"by an event":   gatewaytest.Chunks(gatewaytest.EventStream, "event: error\ndata: "+failure+"\n\n"),
		} {
			gate := gatewaytest.NewGate(t)
			s.first.Script(gatewaytest.Stall(gate, step))
			answer := s.open(messagesPath, bodyFor(messagesPath, "1", "hello", true))
			assert.True(t, isKeepAlive(messagesPath, answer.next()), name)
			gate.Open()
			whole := answer.rest()
			want := "event: error\n" + `data: {"type":"error","error":{"type":"invalid_request_error","message":"no thread",` + details + `},"request_id":"` + whole.id() + `"}` + "\n\n"
			assert.True(t, strings.HasSuffix(whole.body, want), "%s: %s", name, whole.body)
		}
	})
}
