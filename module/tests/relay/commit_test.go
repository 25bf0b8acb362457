package relay_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

func TestG124PingsThenA503ThenTheSecondTargetInOneResponse(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		for _, path := range site.ClientPaths {
			t.Run(path, func(t *testing.T) {
				s := site.StartFailover(t, w, "commit_after 1ms", "keep_alive 5ms")
				s.First.Always(gatewaytest.Stall(s.Gate, gatewaytest.Status(http.StatusServiceUnavailable)))
				answer := s.Open(path, site.BodyFor(path, "m", "hello", true))
				assert.Equal(t, http.StatusOK, answer.StatusCode)
				assert.Equal(t, "text/event-stream; charset=utf-8", answer.Header.Get("Content-Type"))
				for range 3 {
					assert.True(t, site.IsKeepAlive(path, answer.Next()))
				}
				s.Gate.Open()
				whole := answer.Rest()
				seen := whole.Read(t, path) // a second message_start would fail here
				assert.True(t, seen.Complete)
				assert.Contains(t, seen.Text(), "hello")
				assert.Nil(t, seen.Failure)
				assert.Equal(t, 1, s.Second.Count())
				record := s.Record(whole.ID())
				assert.Equal(t, "answered", record["outcome"])
				assert.Equal(t, "second", record["provider"])
			})
		}
	})
}

func TestG125AllTargetsFailingAfterTheCommitIsOneErrorEvent(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		for _, path := range site.ClientPaths {
			t.Run(path, func(t *testing.T) {
				s := site.StartFailover(t, w, "commit_after 1ms", "keep_alive 5ms")
				s.First.Always(gatewaytest.Stall(s.Gate, gatewaytest.Status(http.StatusServiceUnavailable)))
				s.Second.Always(gatewaytest.Status(http.StatusServiceUnavailable))
				answer := s.Open(path, site.BodyFor(path, "m", "hello", true))
				assert.True(t, site.IsKeepAlive(path, answer.Next()))
				s.Gate.Open()
				whole := answer.Rest()
				whole.AssertEnded(t, path)
				want := site.ErrorAnswer{
					Status: http.StatusServiceUnavailable, Kind: "server_error", MessagesKind: "overloaded_error", Code: "overloaded", Message: "scripted error",
				}
				want.AssertAfter(t, path, "", whole)
				assert.False(t, strings.HasSuffix(whole.Body, site.KeepAlives[path]+"\n"), "nothing after it")
				assert.Equal(t, "failed", s.Record(whole.ID())["outcome"])
			})
		}
	})
}

func TestKeepAlivesComeOnlyBetweenEvents(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		for _, path := range site.ClientPaths {
			t.Run(path, func(t *testing.T) {
				s := site.StartFailover(t, w, "keep_alive 5ms")
				plain := strings.Join(site.Streams[path], "")
				middle := strings.Index(plain, "there") + 2 // in the middle of a word of an event
				s.First.Script(gatewaytest.InOrder(
					gatewaytest.Chunks(gatewaytest.EventStream, plain[:middle]),
					gatewaytest.Stall(s.Gate, gatewaytest.More(plain[middle:])),
				))
				answer := s.Open(path, site.BodyFor(path, "m", "hello", true))
				answer.NextUntil(`"Hi"`)
				for range 2 {
					assert.Equal(t, site.KeepAlives[path], answer.Next(), "half an event is kept back")
				}
				s.Gate.Open()
				whole := answer.Rest()
				assert.True(t, whole.Read(t, path).Complete)
				assert.Equal(t, site.WithoutKeepAlives(path, plain), site.WithoutKeepAlives(path, whole.Body), "the provider's bytes, and keep-alives between them")
			})
		}
	})
}

// Keep-alives once continued after the last event, while the gateway waited for the
// provider to close the stream.
func TestNothingFollowsTheLastEvent(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		p := gatewaytest.NewProvider(t)
		s := site.Start(t, "keep_alive 1ms", w.Provider("p", p, "usage_wait 30ms"))
		for i, path := range site.CallPaths { // streams of gemini have no last event
			events := site.Streams[path]
			begin := strings.Join(events[:len(events)-2], "")
			for j, end := range []string{strings.Join(events[len(events)-2:], ""), site.ErrorEvents[path]} {
				closing := gatewaytest.NewGate(t) // never opened: the provider does not close the stream
				answer := s.AfterContent(p, path, begin, gatewaytest.InOrder(gatewaytest.More(end), gatewaytest.Stall(closing, gatewaytest.More())))
				require.NoError(t, answer.Err)
				assert.True(t, strings.HasSuffix(answer.Body, end), answer.Body)
				assert.Equal(t, []string{"answered", "cut"}[j], s.Record(answer.ID())["outcome"])
				assert.NoError(t, p.WaitCancelledN(site.Waiting(t), 2*i+j+1), "the call does not outlive usage_wait")
			}
		}
	})
}

// With commit_after off, its timer once fired immediately.
func TestCommitAfterOffKeepsTheStatusOpen(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		p, open := gatewaytest.NewProvider(t), gatewaytest.NewProvider(t)
		s := site.Start(t, "commit_after off", "keep_alive 1ms",
			w.Provider("p", p, "models m", "response_header_timeout 50ms"), w.Provider("open", open, "models open", "idle_timeout 1s"))
		p.Always(gatewaytest.Stall(gatewaytest.NewGate(t), gatewaytest.Answer()))
		var running sync.WaitGroup
		for range 20 {
			running.Go(func() {
				assert.Equal(t, http.StatusGatewayTimeout, s.Ask(site.MessagesPath, site.BodyFor(site.MessagesPath, "m", "hello", true)).Status)
			})
		}
		running.Wait()
		open.Script(thenSilence(t, site.MessagesPath))
		whole := s.Ask(site.MessagesPath, site.BodyFor(site.MessagesPath, "open", "hello", true))
		assert.Contains(t, whole.Body, site.KeepAlives[site.MessagesPath], "once committed by content, pings come")
	})
}

// With keep_alive off, a keep-alive was once sent after commit_after.
func TestKeepAliveOffSendsNoneBehindTheCommit(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	p.Always(thenSilence(t, site.MessagesPath))
	// The idle timeout ends the stream long after commit_after. The two ways wait at the
	// same time. On a busy machine, the content may come after commit_after, and a
	// keep-alive before the content.
	s := site.Start(t, "commit_after 1s", "keep_alive off",
		site.Direct.Provider("direct", p, "models direct", "idle_timeout 1500ms"),
		site.Proxied.Provider("proxied", p, "models proxied", "idle_timeout 1500ms"))
	var running sync.WaitGroup
	for _, model := range []string{"direct", "proxied"} {
		running.Go(func() {
			whole := s.Ask(site.MessagesPath, site.BodyFor(site.MessagesPath, model, "hello", true))
			_, after, _ := strings.Cut(whole.Body, `"Hi"`)
			assert.NotContains(t, after, site.KeepAlives[site.MessagesPath], model)
			assert.Contains(t, whole.Body, "timeout_error", model)
		})
	}
	running.Wait()
}

func TestAJSONRequestIsNeverCommittedEarly(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		for _, path := range append([]string{"/v1/messages/count_tokens"}, site.ClientPaths...) {
			t.Run(path, func(t *testing.T) {
				p := gatewaytest.NewProvider(t)
				s := site.Start(t, "commit_after 1ms", "keep_alive 1ms", w.Provider("p", p, "response_header_timeout 30ms"))
				p.Always(gatewaytest.Stall(gatewaytest.NewGate(t), gatewaytest.Answer()))
				stream := path == "/v1/messages/count_tokens" // there, stream means nothing
				body := site.BodyFor(strings.TrimSuffix(path, "/count_tokens"), "m", "hello", stream)
				if stream {
					body = strings.ReplaceAll(body, `"max_tokens":1000,`, "")
				}
				answer := s.Ask(path, body)
				assert.Equal(t, http.StatusGatewayTimeout, answer.Status, answer.Body)
				assert.Equal(t, "application/json", answer.Header.Get("Content-Type"))
			})
		}
	})
}

// The error event of a stream that was committed early once lacked error.details, which
// SDKs need to handle the error.
func TestAnErrorBehindAnEarlyCommitKeepsItsDetails(t *testing.T) {
	const details = `"details":{"error_code":"thread_unsupported_request","unsupported":["thread"]}`
	const failure = `{"type":"error","error":{"type":"invalid_request_error","message":"no thread",` + details + `}}`
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		s := site.StartFailover(t, w, "commit_after 1ms", "keep_alive 5ms")
		for name, step := range map[string]gatewaytest.Step{
			"by its status": gatewaytest.Body(http.StatusBadRequest, "application/json", []byte(failure)),
			"by an event":   gatewaytest.Chunks(gatewaytest.EventStream, "event: error\ndata: "+failure+"\n\n"),
		} {
			gate := gatewaytest.NewGate(t)
			s.First.Script(gatewaytest.Stall(gate, step))
			answer := s.Open(site.MessagesPath, site.BodyFor(site.MessagesPath, "1", "hello", true))
			assert.True(t, site.IsKeepAlive(site.MessagesPath, answer.Next()), name)
			gate.Open()
			whole := answer.Rest()
			want := "event: error\n" + `data: {"type":"error","error":{"type":"invalid_request_error","message":"no thread",` + details + `},"request_id":"` + whole.ID() + `"}` + "\n\n"
			assert.True(t, strings.HasSuffix(whole.Body, want), "%s: %s", name, whole.Body)
		}
	})
}
