package relay_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

func TestStreamHeaders(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		p := gatewaytest.NewProvider(t)
		p.Header.Set("Set-Cookie", "session=1")
		p.Header.Set("Anthropic-Ratelimit-Tokens-Remaining", "5")
		p.Header.Set("X-Ratelimit-Remaining-Tokens", "5")
		p.Header.Set("Access-Control-Allow-Origin", "*")
		p.Header.Set("Server", "vendor")
		s := site.Start(t, w.Provider("p", p))
		for _, path := range site.ClientPaths {
			p.Script(gatewaytest.InOrder(gatewaytest.SetHeader("Request-Id", "req_vendor"), gatewaytest.Chunks(gatewaytest.EventStream, site.Streams[path]...)))
			answer := s.Ask(path, site.BodyFor(path, "m", "hello", true))
			answer.Header.Del("Date")
			answer.Header.Del("Content-Type")
			assert.Equal(t, http.Header{
				"Cache-Control": {"no-cache, no-transform"}, "X-Accel-Buffering": {"no"},
				"Request-Id": {answer.ID()}, "X-Request-Id": {answer.ID()}, "X-Content-Type-Options": {"nosniff"},
				"X-Gateway-Model": {"m"}, "X-Upstream-Request-Id": {"req_vendor"}, "Server": {"Caddy"},
			}, answer.Header)
		}
	})
}

func TestAnErrorAsTheFirstEventHasItsStatusAndFailsOver(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		s := site.StartFailover(t, w)
		alone := map[string]site.ErrorAnswer{
			site.MessagesPath: {Status: 529, MessagesKind: "overloaded_error"},
		}
		for _, path := range site.ClientPaths {
			body := site.BodyFor(path, "1", "hello [[fault:first-event-error]]", true)
			answer := s.Ask(path, body)
			assert.GreaterOrEqual(t, answer.Status, 500, answer.Body)
			if want, known := alone[path]; known {
				assert.Equal(t, want.Status, answer.Status)
				assert.Equal(t, want.MessagesKind, answer.Failure(t).Type)
			}
			before := s.Second.Count()
			s.Second.Script(gatewaytest.Chunks(gatewaytest.EventStream, site.Streams[path]...))
			answer = s.Ask(path, strings.Replace(body, `"model":"1"`, `"model":"m"`, 1))
			assert.Equal(t, http.StatusOK, answer.Status)
			assert.Equal(t, "Hi there", answer.Read(t, path).Text())
			assert.Equal(t, before+1, s.Second.Count())
		}
	})
}

func TestAnErrorEventAfterContentIsRelayedAndEndsTheStream(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		s := site.StartFailover(t, w)
		for _, path := range site.ClientPaths {
			events := site.Streams[path]
			half := events[:len(events)/2+1]
			// Events after the error, such as the terminal event, would make a failed
			// stream look finished.
			rest := append([]string{site.ErrorEvents[path]}, events[len(half):]...)
			for name, then := range map[string]gatewaytest.Step{
				"one by one": gatewaytest.More(rest...), "in one go": gatewaytest.More(strings.Join(rest, "")),
			} {
				t.Run(path+" "+name, func(t *testing.T) {
					whole := s.AfterContent(s.First, path, strings.Join(half, ""), then)
					whole.AssertEnded(t, path)
					assert.Equal(t, strings.Join(half, "")+site.ErrorEvents[path], whole.Body)
					assert.Equal(t, "cut", s.Record(whole.ID())["outcome"])
				})
			}
		}
		assert.Zero(t, s.Second.Count(), "no other target after content")
	})
}

func TestG084TruncatedStreamsEndWithAnErrorEvent(t *testing.T) {
	abort := func(*gatewaytest.Call) { panic(http.ErrAbortHandler) }
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		s := site.StartFailover(t, w)
		for _, path := range site.ClientPaths {
			events := site.Streams[path]
			last := events[len(events)-1]
			complete := strings.Join(events, "")
			half := complete[:strings.Index(complete, " there")]
			wholeEvents := half[:strings.LastIndex(half, "\n\n")+2]
			for name, c := range map[string]struct {
				begin, relayed string
				then           gatewaytest.Step
			}{
				"clean end":                    {wholeEvents, wholeEvents, gatewaytest.More()},
				"clean end inside an event":    {half, wholeEvents, gatewaytest.More()},
				"clean end before the last":    {strings.TrimSuffix(complete, last), strings.TrimSuffix(complete, last), gatewaytest.More()},
				"reset":                        {wholeEvents, wholeEvents, gatewaytest.Reset()},
				"reset inside an event":        {half, wholeEvents, gatewaytest.Reset()},
				"chunked body cut":             {wholeEvents, wholeEvents, abort},
				"chunked body cut in an event": {half, wholeEvents, abort},
			} {
				t.Run(path+" "+name, func(t *testing.T) {
					whole := s.AfterContent(s.First, path, c.begin, c.then)
					whole.AssertEnded(t, path)
					site.Truncated.AssertAfter(t, path, site.WithoutKeepAlives(path, c.relayed), whole)
					assert.Equal(t, "cut", s.Record(whole.ID())["outcome"])
				})
			}
		}
		assert.Zero(t, s.Second.Count())
	})
}

func thenReset(body string) gatewaytest.Step {
	return gatewaytest.InOrder(gatewaytest.Chunks(gatewaytest.EventStream, body), gatewaytest.Reset())
}

func thenCut(body string) gatewaytest.Step {
	return gatewaytest.InOrder(gatewaytest.Chunks(gatewaytest.EventStream, body), func(*gatewaytest.Call) { panic(http.ErrAbortHandler) })
}

// If a stream breaks off before content, the next target is tried.
func TestAStreamThatBreaksOffBeforeContentFailsOver(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		s := site.StartFailover(t, w)
		for _, path := range site.ClientPaths {
			start := "" // what comes before content
			if path != site.CompletionsPath {
				start = site.Streams[path][0]
			}
			for name, step := range map[string]gatewaytest.Step{
				"clean end": gatewaytest.Chunks(gatewaytest.EventStream, start),
				"reset":     thenReset(start),
				"cut":       thenCut(start),
				"comments":  gatewaytest.Chunks(gatewaytest.EventStream, ": hello\n\n", start, ": hello\n\n"),
				"garbage":   gatewaytest.Chunks(gatewaytest.EventStream, "data: <html>\n\n"),
			} {
				t.Run(path+" "+name, func(t *testing.T) {
					s.First.Script(step)
					whole := s.Ask(path, site.BodyFor(path, "m", "hello", true))
					assert.Equal(t, http.StatusOK, whole.Status, whole.Body)
					assert.True(t, whole.Read(t, path).Complete)
					s.First.Script(step)
					whole = s.Ask(path, site.BodyFor(path, "1", "hello", true))
					assert.Equal(t, http.StatusBadGateway, whole.Status, whole.Body)
				})
			}
		}
	})
}

func TestIdleStreamsEndWithATimeoutEvent(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		p := gatewaytest.NewProvider(t)
		s := site.Start(t, w.Provider("p", p, "idle_timeout 1s")) // with 300ms, a busy machine ended a stream before its first content
		p.Always(func(c *gatewaytest.Call) { thenSilence(t, site.Called(c.Request.URL.Path))(c) })
		answers := make([]func() site.Reply, len(site.ClientPaths))
		for i, path := range site.ClientPaths { // they wait at once
			answers[i] = s.Later(path, site.BodyFor(path, "m", "hello", true))
		}
		for i, path := range site.ClientPaths {
			whole := answers[i]()
			assert.False(t, whole.Read(t, path).Complete)
			site.TimedOut.AssertEnds(t, path, whole)
			assert.Equal(t, "cut", s.Record(whole.ID())["outcome"])
		}
		require.NoError(t, p.WaitCancelledN(site.Waiting(t), len(site.ClientPaths)))
	})
}

func TestCommentsOfAProviderAreRelayed(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		p := gatewaytest.NewProvider(t)
		s := site.Start(t, w.Provider("p", p))
		events := site.Streams[site.ChatPath]
		p.Script(gatewaytest.Chunks(gatewaytest.EventStream, slices.Insert(slices.Clone(events), 3, slices.Repeat([]string{": alive\n\n"}, 40)...)...))
		whole := s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", "hello", true))
		assert.True(t, whole.Read(t, site.ChatPath).Complete, whole.Body)
		assert.Equal(t, 40, strings.Count(whole.Body, ": alive\n\n"))
	})
}

// A finish without [DONE] ends a stream only if stream_end is finish.
func TestStreamsWithoutDone(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		p, lax := gatewaytest.NewProvider(t), gatewaytest.NewProvider(t)
		s := site.Start(t, w.Provider("p", p, "models m"), w.Provider("lax", lax, "models lax", "stream_end finish"))
		for _, path := range []string{site.ChatPath, site.CompletionsPath} {
			events := site.Streams[path]
			step := gatewaytest.Chunks(gatewaytest.EventStream, events[:len(events)-1]...)
			p.Script(step)
			assert.NotNil(t, s.Ask(path, site.BodyFor(path, "m", "hello", true)).Read(t, path).Failure)
			lax.Script(step)
			whole := s.Ask(path, site.BodyFor(path, "lax", "hello", true))
			assert.Equal(t, strings.Join(events[:len(events)-1], ""), whole.Body)
			assert.Equal(t, "answered", s.Record(whole.ID())["outcome"])
		}
	})
}
