package sink

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
)

// client is the ResponseWriter of a client. It records what the client receives.
type client struct {
	header http.Header

	mu      sync.Mutex // guards all below
	sent    http.Header
	status  int // 0 while nothing was sent
	body    strings.Builder
	flushed bool
	gone    error
}

func (c *client) Header() http.Header { return c.header }

func (c *client) WriteHeader(status int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.status, c.sent = status, c.header.Clone()
}

func (c *client) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gone != nil {
		return 0, c.gone
	}
	return c.body.Write(p)
}

func (c *client) Flush() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.flushed = true
}

// leave closes the connection.
func (c *client) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gone = errors.New("broken pipe")
}

// text returns the body so far.
func (c *client) text() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.body.String()
}

// untouched reports whether nothing was sent, not even a status.
func (c *client) untouched() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.status == 0 && c.body.Len() == 0 && !c.flushed
}

// sinkFor returns a sink with a running first attempt.
func sinkFor(format translate.Format, stream bool) (*Sink, *client) {
	c := &client{header: make(http.Header)}
	ex := &exchange.Exchange{ID: "req_1", Request: exchange.Request{Format: formats.Of(format), View: translate.View{Model: "m1", Stream: stream}}}
	s := new(Sink)
	s.Init(c, ex)
	another(s)
	return s, c
}

// another begins the next attempt.
func another(s *Sink) {
	s.ex.Course.Begin(&exchange.Conduit{Attempt: exchange.Attempt{Exchange: s.ex, Format: s.ex.Request.Format}}, 0)
	s.Next()
}

const (
	ping  = "event: ping\ndata: {\"type\": \"ping\"}\n\n"
	event = "event: x\ndata: {}\n\n"
)

func TestSinkSendsNothingBeforeContent(t *testing.T) {
	s, c := sinkFor(translate.Messages, true)
	s.Header().Set("Content-Type", "text/event-stream")
	s.WriteHeader(http.StatusContinue)
	s.WriteHeader(http.StatusEarlyHints)
	s.WriteHeader(http.StatusOK)
	assert.NoError(t, s.FlushError())
	assert.True(t, c.untouched())
	assert.False(t, s.Over())
}

func TestSinkDiscardsFailedAnswersAndSendsTheNext(t *testing.T) {
	s, c := sinkFor(translate.Chat, false)
	for _, status := range []int{http.StatusServiceUnavailable, http.StatusFound, http.StatusCreated, http.StatusNoContent} {
		s.Header().Set("X-Secret", "1")
		s.WriteHeader(status)
		n, err := s.Write([]byte("discarded"))
		assert.Equal(t, 9, n)
		assert.NoError(t, err)
		another(s)
	}
	assert.True(t, c.untouched())
	s.Header().Set("Content-Type", "application/json")
	s.WriteHeader(http.StatusOK)
	_, _ = s.Write([]byte("{}"))
	assert.Equal(t, "{}", c.text())
	assert.Empty(t, c.Header().Get("X-Secret"))
}

func TestSinkLetsOnlyListedHeadersThrough(t *testing.T) {
	s, c := sinkFor(translate.Chat, false)
	for _, name := range []string{
		"Set-Cookie", "Server", "Via", "Location", "Alt-Svc", "Date", "Content-Encoding", "Transfer-Encoding", "X-Request-Id",
		"Request-Id", "Openai-Organization", "X-Ratelimit-Limit-Requests", "Access-Control-Allow-Origin", "Cache-Control",
	} {
		s.Header().Set(name, "provider's")
	}
	s.Header()["Content-Type"] = []string{"application/json", "text/html"}
	s.Header().Set("Content-Length", "2")
	s.ex.Course.Result.Head.RequestID = "up-1"
	s.WriteHeader(http.StatusOK)
	_, _ = s.Write([]byte("{}"))
	assert.Equal(t, http.Header{
		"Content-Type": {"application/json"}, "Content-Length": {"2"}, "X-Gateway-Model": {"m1"}, "X-Upstream-Request-Id": {"up-1"},
		"Request-Id": {"req_1"}, "X-Request-Id": {"req_1"}, "X-Content-Type-Options": {"nosniff"},
	}, c.sent)
}

// The values of headers that are set together are neighbours in memory, and a header directive
// of the site changes values in place, and appends to them.
func TestAHeaderThatIsChangedChangesNoOther(t *testing.T) {
	h := make(http.Header)
	setHeaders(h, "Request-Id", "req_1", "X-Request-Id", "req_1", "X-Accel-Buffering", "no")
	h["Request-Id"][0] = "changed"
	h.Add("X-Request-Id", "added")
	assert.Equal(t, http.Header{"Request-Id": {"changed"}, "X-Request-Id": {"req_1", "added"}, "X-Accel-Buffering": {"no"}}, h)
}

func TestSinkKeepsStreamsFromBeingHeldUp(t *testing.T) {
	s, c := sinkFor(translate.Chat, true)
	s.WriteHeader(http.StatusOK)
	_, _ = s.Write([]byte(event))
	_ = s.FlushError()
	assert.True(t, c.flushed)
	h := c.sent
	assert.Equal(t, "text/event-stream; charset=utf-8", h.Get("Content-Type"))
	assert.Equal(t, "no-cache, no-transform", h.Get("Cache-Control"))
	assert.Equal(t, "no", h.Get("X-Accel-Buffering"))
}

func TestSinkHasNoUnwrap(t *testing.T) {
	s, _ := sinkFor(translate.Chat, true)
	_, ok := any(s).(interface{ Unwrap() http.ResponseWriter })
	assert.False(t, ok, "a ResponseController would bypass the lock")
}

func TestSilenceIsBrokenAfterCommitAfterAndThenEveryKeepAlive(t *testing.T) {
	for format, keepAlive := range map[translate.Format]string{translate.Messages: ping, translate.Chat: ": keep-alive\n\n"} {
		synctest.Test(t, func(t *testing.T) {
			s, c := sinkFor(format, true)
			s.Start(func() {}, Options{CommitAfter: 30 * time.Second, KeepAlive: 15 * time.Second})
			time.Sleep(30*time.Second - time.Nanosecond)
			synctest.Wait()
			assert.True(t, c.untouched())
			time.Sleep(time.Nanosecond)
			synctest.Wait()
			assert.Equal(t, keepAlive, c.text())
			assert.True(t, c.flushed)
			assert.Equal(t, http.StatusOK, c.status)
			assert.False(t, s.Over(), "another target may still answer")
			for n := 2; n <= 4; n++ {
				time.Sleep(15 * time.Second)
				synctest.Wait()
				assert.Equal(t, strings.Repeat(keepAlive, n), c.text())
			}
			s.Close(false)
			s.tick() // by a timer that fires too late
			time.Sleep(time.Hour)
			synctest.Wait()
			assert.Equal(t, strings.Repeat(keepAlive, 4), c.text(), "nothing after stop")
		})
	}
}

func TestContentRestartsTheSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, c := sinkFor(translate.Messages, true)
		s.Start(func() {}, Options{CommitAfter: 30 * time.Second, KeepAlive: 15 * time.Second})
		s.WriteHeader(http.StatusOK)
		var want strings.Builder
		for range 5 {
			time.Sleep(14 * time.Second)
			_, _ = s.Write([]byte(event))
			_ = s.FlushError()
			want.WriteString(event)
		}
		synctest.Wait()
		assert.Equal(t, want.String(), c.text())
		time.Sleep(15 * time.Second)
		synctest.Wait()
		assert.Equal(t, want.String()+ping, c.text())
		s.Close(false)
	})
}

func TestNoKeepAliveBreaksAnEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, c := sinkFor(translate.Messages, true)
		s.Start(func() {}, Options{CommitAfter: 30 * time.Second, KeepAlive: 15 * time.Second})
		s.WriteHeader(http.StatusOK)
		_, _ = s.Write([]byte(event[:10]))
		_ = s.FlushError()
		time.Sleep(50 * time.Second)
		_, _ = s.Write([]byte(event[10:]))
		_ = s.FlushError()
		time.Sleep(14 * time.Second)
		assert.Equal(t, event, c.text())
		time.Sleep(30 * time.Second)
		synctest.Wait()
		assert.True(t, strings.HasPrefix(c.text(), event+ping))
		s.Close(false)
	})
}

// TestKeepAlivesChangeNoEvent sends events in random pieces at random times. Without the
// keep-alives, the client has every byte, and each keep-alive is after a whole event.
func TestKeepAlivesChangeNoEvent(t *testing.T) {
	for seed := range uint64(100) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 7))
			end := []string{"\n", "\r\n", "\r"}[seed%3]
			s, c := sinkFor(translate.Messages, true)
			s.Start(func() {}, Options{CommitAfter: time.Duration(random.IntN(40)) * time.Second, KeepAlive: time.Duration(1+random.IntN(20)) * time.Second})
			s.WriteHeader(http.StatusOK)
			var text strings.Builder
			for i := range 20 {
				fmt.Fprintf(&text, "event: e%sdata: {\"n\":%d}%s%s", end, i, end, end)
			}
			for rest := text.String(); rest != ""; {
				n := min(1+random.IntN(60), len(rest))
				time.Sleep(time.Duration(random.IntN(40)) * time.Second)
				_, _ = s.Write([]byte(rest[:n]))
				_ = s.FlushError()
				rest = rest[n:]
			}
			s.Close(false)
			require.Equal(t, text.String(), strings.ReplaceAll(c.text(), ping, ""))
			parts := strings.Split(c.text(), ping)
			for _, before := range parts[:len(parts)-1] {
				require.True(t, before == "" || strings.HasSuffix(breaks.Replace(before), "\n\n"), "%q", before)
			}
		})
	}
}

// breaks writes all line breaks alike.
var breaks = strings.NewReplacer("\r\n", "\n", "\r", "\n")

func TestNegativeTimesSwitchTheirHalfOff(t *testing.T) {
	for _, test := range []struct {
		commitAfter, keepAlive time.Duration
		silent, afterContent   string // the bytes of a minute of silence
	}{
		{-1, -1, "", event},
		{30 * time.Second, -1, ping, event},
		{-1, 45 * time.Second, "", event + ping},
	} {
		synctest.Test(t, func(t *testing.T) {
			s, c := sinkFor(translate.Messages, true)
			s.Start(func() {}, Options{CommitAfter: test.commitAfter, KeepAlive: test.keepAlive})
			time.Sleep(time.Minute)
			synctest.Wait()
			assert.Equal(t, test.silent, c.text())
			s.Close(false)

			s, c = sinkFor(translate.Messages, true)
			s.Start(func() {}, Options{CommitAfter: test.commitAfter, KeepAlive: test.keepAlive})
			s.WriteHeader(http.StatusOK)
			_, _ = s.Write([]byte(event))
			time.Sleep(time.Minute)
			synctest.Wait()
			assert.Equal(t, test.afterContent, c.text())
			s.Close(false)
		})
	}
}

func TestJSONAnswersHaveNoTimer(t *testing.T) {
	s, _ := sinkFor(translate.Messages, false)
	s.Start(func() {}, Options{})
	assert.Nil(t, s.heartbeat.timer)
	count, _ := sinkFor(translate.Messages, true)
	count.ex.Request.Operation = translate.CountTokens
	count.Start(func() {}, Options{})
	assert.Nil(t, count.heartbeat.timer, "a count is never a stream, even if its body asks for one")
}

// TestTimerAndWriterMeetWithoutHarm is for the race detector.
func TestTimerAndWriterMeetWithoutHarm(t *testing.T) {
	for range 100 {
		synctest.Test(t, func(t *testing.T) {
			s, c := sinkFor(translate.Messages, true)
			s.Start(func() {}, Options{CommitAfter: time.Second, KeepAlive: time.Second})
			var writer sync.WaitGroup
			writer.Go(func() {
				s.WriteHeader(http.StatusOK)
				for range 5 {
					time.Sleep(time.Second)
					_, _ = s.Write([]byte(event))
					_ = s.FlushError()
				}
				s.Close(false)
			})
			writer.Wait()
			time.Sleep(time.Minute)
			assert.Equal(t, 5, strings.Count(c.text(), event))
		})
	}
}

func TestSinkNeverFailsButRemembersThatTheClientIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, c := sinkFor(translate.Messages, true)
		cancelled := 0
		s.Start(func() { cancelled++ }, Options{CommitAfter: time.Minute, KeepAlive: time.Second})
		s.WriteHeader(http.StatusOK)
		_, _ = s.Write([]byte(event))
		c.leave()
		n, err := s.Write([]byte(event))
		assert.Equal(t, len(event), n)
		assert.NoError(t, err, "reverse_proxy would abort the request")
		assert.Equal(t, 1, cancelled, "the provider's call is over")
		_, _ = s.Write([]byte(event))
		assert.NoError(t, s.FlushError())
		time.Sleep(time.Minute)
		synctest.Wait()
		s.Fail(fault.Truncated(nil))
		assert.Equal(t, event, c.text())
		assert.Equal(t, 1, cancelled)
		assert.True(t, s.Over())
		end, _ := s.Close(false)
		assert.Equal(t, exchange.ClientClosed, end.Outcome)
	})
}

func TestAClientThatIsGoneIsFoundByAKeepAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, c := sinkFor(translate.Messages, true)
		cancelled := false
		c.leave()
		s.Start(func() { cancelled = true }, Options{CommitAfter: time.Second, KeepAlive: time.Second})
		time.Sleep(time.Second)
		synctest.Wait()
		assert.True(t, cancelled)
		s.Close(false)
	})
}

func TestFaultsReachTheClientInTheWayThatIsLeft(t *testing.T) {
	const body = `{"type":"error","error":{"type":"api_error","message":"internal error"},"request_id":"req_1"}`
	fault := func() *fault.Fault { return fault.InternalError(errors.New("secret")) }
	t.Run("by status before anything was sent", func(t *testing.T) {
		s, c := sinkFor(translate.Messages, true)
		s.Fail(fault())
		assert.Equal(t, http.StatusInternalServerError, c.status)
		assert.Equal(t, "application/json", c.sent.Get("Content-Type"))
		assert.Equal(t, fmt.Sprint(len(body)), c.sent.Get("Content-Length"))
		assert.Equal(t, body, c.text())
	})
	t.Run("by an event after an early commit", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s, c := sinkFor(translate.Messages, true)
			s.Start(func() {}, Options{CommitAfter: time.Second, KeepAlive: time.Hour})
			time.Sleep(time.Second)
			synctest.Wait()
			s.Fail(fault())
			assert.Equal(t, http.StatusOK, c.status)
			assert.Equal(t, ping+"event: error\ndata: "+body+"\n\n", c.text())
			time.Sleep(24 * time.Hour)
			synctest.Wait()
			assert.True(t, strings.HasSuffix(c.text(), body+"\n\n"), "nothing follows the last event")
			s.Close(false)
		})
	})
	t.Run("by an event that closes half of one first", func(t *testing.T) {
		s, c := sinkFor(translate.Messages, true)
		s.WriteHeader(http.StatusOK)
		_, _ = s.Write([]byte("event: x\nda"))
		s.Fail(fault())
		assert.Equal(t, "event: x\nda\n\nevent: error\ndata: "+body+"\n\n", c.text())
	})
	t.Run("not at all within a JSON answer", func(t *testing.T) {
		s, c := sinkFor(translate.Messages, false)
		s.WriteHeader(http.StatusOK)
		_, _ = s.Write([]byte(`{"half":`))
		s.Fail(fault())
		assert.Equal(t, `{"half":`, c.text())
	})
	t.Run("not at all after stop", func(t *testing.T) {
		s, c := sinkFor(translate.Messages, true)
		s.Close(false)
		s.Fail(fault())
		assert.True(t, c.untouched())
	})
}

func TestOutcomeFollowsFromTheStateOfTheSink(t *testing.T) {
	for _, test := range []struct {
		name       string
		state      state
		attempts   int
		clientGone bool
		want       exchange.Outcome
	}{
		{"a whole answer", complete, 1, false, exchange.Answered},
		{"a whole answer, and the connection ended with it", complete, 1, true, exchange.Answered},
		{"an answer of the gateway's own", complete, 0, false, exchange.Answered},
		{"a refusal", failed, 0, false, exchange.Refused},
		{"a failure", failed, 1, false, exchange.Failed},
		{"a failure behind pings", pinged, 1, false, exchange.Failed},
		{"an answer that broke off", cut, 1, false, exchange.Cut},
		{"a JSON answer that broke off", flowing, 1, false, exchange.Cut},
		{"the client left early", waiting, 1, true, exchange.ClientClosed},
		{"the client left in the middle", abandoned, 1, false, exchange.ClientClosed},
		{"the client left while an error was sent", failed, 1, true, exchange.ClientClosed},
	} {
		s, _ := sinkFor(translate.Chat, true)
		s.state = test.state
		if test.attempts == 0 {
			s.ex.Course.Result.State = exchange.Unasked
		}
		end, _ := s.Close(test.clientGone)
		assert.Equal(t, test.want, end.Outcome, test.name)
		_, open := s.Close(true)
		assert.False(t, open, "closed once: %s", test.name)
	}
}

// TestLastEventEndsTheAnswer covers the results of the last write: a whole answer, the
// provider's error event, or a client that did not get the last bytes.
func TestLastEventEndsTheAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		last exchange.AnswerState
		gone bool
		want state
	}{
		"content":                {exchange.Content, false, flowing},
		"the last event":         {exchange.Finished, false, complete},
		"a provider's error":     {exchange.Relayed, false, cut},
		"a client that has left": {exchange.Finished, true, abandoned},
	} {
		s, client := sinkFor(translate.Chat, true)
		s.WriteHeader(http.StatusOK)
		s.ex.Course.Result.State = c.last
		if c.gone {
			client.leave()
		}
		_, _ = s.Write([]byte(event))
		assert.Equal(t, c.want, s.state, name)
	}
}

// TestEveryByteOfAnEndIsSent covers ends that need more than one write.
func TestEveryByteOfAnEndIsSent(t *testing.T) {
	for _, last := range []exchange.AnswerState{exchange.Finished, exchange.Relayed} {
		s, c := sinkFor(translate.Chat, true)
		s.WriteHeader(http.StatusOK)
		s.ex.Course.Result.State = last
		_, _ = s.Write([]byte(event[:9]))
		_, _ = s.Write([]byte(event[9:]))
		assert.Equal(t, event, c.text())
	}
}

// A stream may end with its body, after the last bytes.
func TestEndOfTheBodyEndsTheAnswer(t *testing.T) {
	s, _ := sinkFor(translate.Chat, true)
	s.WriteHeader(http.StatusOK)
	_, _ = s.Write([]byte(event))
	s.ex.Course.Result.State = exchange.Finished
	end, _ := s.Close(false)
	assert.Equal(t, exchange.Answered, end.Outcome)
}

// A guard ends a stream whose end has already arrived from the provider. The exchange counted as
// answered.
func TestAStreamThatEndsWithAnErrorIsCut(t *testing.T) {
	s, _ := sinkFor(translate.Chat, true)
	s.WriteHeader(http.StatusOK)
	_, _ = s.Write([]byte(event))
	s.ex.Course.Result.State = exchange.Finished
	s.Fail(fault.InternalError(nil))
	end, _ := s.Close(false)
	assert.Equal(t, exchange.Cut, end.Outcome)
}

// An error event could follow a whole error answer, if a panic happened after it.
func TestNothingFollowsAnEnd(t *testing.T) {
	for _, state := range []state{complete, cut, failed, abandoned, closed} {
		s, c := sinkFor(translate.Chat, true)
		s.state = state
		s.Fail(fault.InternalError(nil))
		s.tick()
		assert.True(t, c.untouched(), "%d", state)
	}
}

func TestHeaderSafeLeavesNothingThatAHeaderMustNotHold(t *testing.T) {
	for name, want := range map[string]string{
		"":                   "",
		"gpt-5.1 mini":       "gpt-5.1 mini",
		"a\r\nSet-Cookie: x": "a??Set-Cookie: x",
		"a\x00\x1f\x7f~":     "a???~",
		"modèle":             "mod?le",
		"bad\xffbytes":       "bad?bytes",
		"\u2028":             "?",
	} {
		assert.Equal(t, want, headerSafe(name))
	}
}

// TestY036StreamsThatFailedAreAborted: gemini-cli shows a stream that ends with an error event
// and cleanly as a whole answer, and runs its calls.
func TestY036StreamsThatFailedAreAborted(t *testing.T) {
	for _, format := range []translate.Format{translate.Gemini, translate.Chat} {
		s, c := sinkFor(format, true)
		s.WriteHeader(http.StatusOK)
		_, _ = s.Write([]byte(event))
		s.Fail(fault.InternalError(nil))
		assert.Contains(t, c.text(), "internal error")
		end, _ := s.Close(false)
		assert.Equal(t, End{Outcome: exchange.Cut, Aborts: format == translate.Gemini}, end)
	}
	s, _ := sinkFor(translate.Gemini, true)
	s.Fail(fault.InternalError(nil))
	end, _ := s.Close(false)
	assert.Equal(t, End{Outcome: exchange.Failed}, end, "an error answer is whole")

	s, c := sinkFor(translate.Gemini, true)
	s.ex.Course.Result.State = exchange.Relayed
	s.WriteHeader(http.StatusOK)
	_, _ = s.Write([]byte(event))
	end, _ = s.Close(false)
	assert.True(t, end.Aborts, "the provider's own error event")
	assert.True(t, c.flushed, "and the client gets it before the connection is closed")

	s, _ = sinkFor(translate.Gemini, true)
	s.ex.Course.Result.State = exchange.Finished
	s.WriteHeader(http.StatusOK)
	_, _ = s.Write([]byte(event))
	end, _ = s.Close(false)
	assert.Equal(t, End{Outcome: exchange.Answered}, end)
}

// Some models ignore that a stream was asked for: keep-alives became part of the sound.
// Streams whose type has capitals had none.
func TestOnlyStreamsGetKeepAlives(t *testing.T) {
	for contentType, kept := range map[string]bool{"audio/mpeg": false, "text/event-stream": true, "Text/Event-Stream": true} {
		synctest.Test(t, func(t *testing.T) {
			s, c := sinkFor(translate.Chat, true)
			s.ex.Request.Operation = translate.Speak
			s.Start(func() {}, Options{CommitAfter: time.Second, KeepAlive: time.Second})
			time.Sleep(time.Minute)
			synctest.Wait()
			assert.True(t, c.untouched(), "the kind of the answer is not known before it begins")
			s.Header().Set("Content-Type", contentType)
			s.WriteHeader(http.StatusOK)
			_, _ = s.Write([]byte("data: x\n\n"))
			time.Sleep(time.Minute)
			synctest.Wait()
			assert.Equal(t, kept, c.text() != "data: x\n\n", contentType)
			end, _ := s.Close(false)
			assert.Equal(t, End{Outcome: exchange.Cut, Aborts: !kept}, end)
		})
	}
}
