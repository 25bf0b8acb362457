package transport

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"hash"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// shelf has cached answers.
type shelf struct {
	flights exchange.Flights
	answers sync.Map // *exchange.CachedAnswer by exchange.CacheKey
	forgets bool     // as a server that does not answer
}

func (*shelf) MAC() hash.Hash                            { return hmac.New(sha256.New, []byte("secret")) }
func (*shelf) Largest() int64                            { return 1 << 10 }
func (s *shelf) Flights() *exchange.Flights              { return &s.flights }
func (*shelf) Clear(...exchange.CacheScope) (int, error) { return 0, nil }

func (s *shelf) Get(key exchange.CacheKey, _ time.Duration) (*exchange.CachedAnswer, time.Duration) {
	if answer, ok := s.answers.Load(key); ok && !s.forgets {
		return answer.(*exchange.CachedAnswer), 0
	}
	return nil, 0
}

func (s *shelf) Put(key exchange.CacheKey, answer *exchange.CachedAnswer, _ time.Duration) {
	s.answers.Store(key, answer)
}

// asker makes calls whose answers are kept.
type asker struct {
	*Transport
	t     *testing.T
	calls atomic.Int32
	shelf
}

// newAsker returns an asker before a provider.
func newAsker(t *testing.T, answer func(call int32, r *http.Request) (*http.Response, error)) *asker {
	a := &asker{t: t}
	a.Transport = newTransport(answers(func(r *http.Request) (*http.Response, error) { return answer(a.calls.Add(1), r) }))
	return a
}

// attempt returns an attempt of a tenant.
func (a *asker) attempt(tenant byte, stream bool) *exchange.Attempt {
	attempt := attemptFor(a.t, translate.Chat, stream)
	attempt.Exchange.Request.View.Stream = stream
	attempt.Cache = &exchange.Cache{Answers: &a.shelf, Scope: exchange.CacheScope{tenant}, TTL: time.Hour, MaxAge: time.Hour}
	return attempt
}

// ask makes a call for a tenant. state is the header of the cache.
func (a *asker) ask(ctx context.Context, tenant byte, stream bool, change ...func(*exchange.Cache)) (state, answer string) {
	attempt := a.attempt(tenant, stream)
	for _, c := range change {
		c(attempt.Cache)
	}
	c := &exchange.Conduit{Attempt: *attempt}
	res, err := a.Ask(ctx, c)
	if err != nil {
		return "failed", ""
	}
	text, err := io.ReadAll(res.Body)
	assert.NoError(a.t, err)
	assert.NoError(a.t, res.Body.Close())
	return c.Result.Head.Header.Get(exchange.CacheHeader), string(text)
}

const (
	wholeAnswer = `{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}]}`
	streamStart = `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"Hi"},"finish_reason":null}]}` + "\n\n"
	streamEnd   = `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"
)

func wholeOf(text string) *http.Response {
	return responds(http.StatusOK, "application/json", io.NopCloser(strings.NewReader(text)))
}

// Equal requests at one moment were as many calls, each of which was paid.
func TestEqualRequestsAtOneMomentAreOneCallForEachTenant(t *testing.T) {
	for name, forgets := range map[string]bool{"the store has answers": false, "the store does not answer": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				release := make(chan struct{})
				a := newAsker(t, func(int32, *http.Request) (*http.Response, error) {
					<-release
					return wholeOf(wholeAnswer), nil
				})
				a.forgets = forgets
				var states sync.Map // *atomic.Int32 by state
				for i := range 50 {
					go func() {
						state, answer := a.ask(t.Context(), byte(i%5), false)
						n, _ := states.LoadOrStore(state, new(atomic.Int32))
						n.(*atomic.Int32).Add(1)
						assert.Equal(t, wholeAnswer, answer)
					}()
				}
				synctest.Wait()
				assert.EqualValues(t, 5, a.calls.Load(), "one for each tenant")
				close(release)
				synctest.Wait()
				count := func(state string) int32 {
					n, _ := states.LoadOrStore(state, new(atomic.Int32))
					return n.(*atomic.Int32).Load()
				}
				assert.EqualValues(t, 5, count(exchange.CacheMiss))
				assert.EqualValues(t, 45, count(exchange.CacheHit))
				assert.EqualValues(t, 5, a.calls.Load())
			})
		})
	}
}

// paced is a body that is a text, and its end after a time.
func paced(text string, after time.Duration, rest string, end error) io.ReadCloser {
	r, w := io.Pipe()
	go func() {
		_, _ = io.WriteString(w, text)
		time.Sleep(after) // of the clock of the test
		_, _ = io.WriteString(w, rest)
		_ = w.CloseWithError(end)
	}()
	return r
}

// A second request shares the fate of the first only if that is an answer which is kept.
func TestARequestWhoseEqualHasNoAnswerIsACallOfItsOwn(t *testing.T) {
	const takes = 2 * time.Second
	for name, test := range map[string]struct {
		first  answers // after a time
		stream bool
		after  time.Duration // until the second call
	}{
		"an error of the network": {func(*http.Request) (*http.Response, error) { return nil, errors.New("gone") }, false, takes},
		"an error status":         {refuses(500), false, takes},
		"no answer of the format": {func(*http.Request) (*http.Response, error) { return wholeOf(`{"a":`), nil }, false, takes},
		"a refusal": {func(*http.Request) (*http.Response, error) {
			return wholeOf(strings.Replace(wholeAnswer, `"stop"`, `"content_filter"`, 1)), nil
		}, false, takes},
		"too large an answer": {func(*http.Request) (*http.Response, error) {
			return wholeOf(strings.Replace(wholeAnswer, "Hi", strings.Repeat("Hi", 1<<10), 1)), nil
		}, false, takes},
		"a stream that breaks off": {func(*http.Request) (*http.Response, error) {
			return responds(http.StatusOK, "text/event-stream", paced(streamStart, time.Second, "", io.ErrUnexpectedEOF)), nil
		}, true, takes + time.Second},
		"a stream that takes long": {func(*http.Request) (*http.Response, error) {
			return responds(http.StatusOK, "text/event-stream", paced(streamStart, time.Minute, streamEnd, nil)), nil
		}, true, 5 * time.Second},
		"an answer that takes long": {func(*http.Request) (*http.Response, error) {
			time.Sleep(2 * time.Minute) // of the clock of the test
			return wholeOf(wholeAnswer), nil
		}, false, time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var called sync.Map // time.Duration by call
				begun := time.Now()
				a := newAsker(t, func(call int32, r *http.Request) (*http.Response, error) {
					called.Store(call, time.Since(begun))
					switch {
					case call == 1:
						time.Sleep(takes) // of the clock of the test
						return test.first(r)
					case test.stream:
						return responds(http.StatusOK, "text/event-stream", io.NopCloser(strings.NewReader(streamStart+streamEnd))), nil
					}
					return wholeOf(wholeAnswer), nil
				})
				var first sync.WaitGroup
				defer first.Wait()
				first.Go(func() { a.ask(t.Context(), 1, test.stream) })
				synctest.Wait()
				state, answer := a.ask(t.Context(), 1, test.stream)
				assert.Equal(t, exchange.CacheMiss, state)
				assert.Contains(t, answer, "Hi")
				at, ok := called.Load(int32(2))
				require.True(t, ok)
				assert.Equal(t, test.after, at)
			})
		})
	}
}

func TestAStreamIsOneCallForRequestsOfStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAsker(t, func(call int32, _ *http.Request) (*http.Response, error) {
			if call == 1 {
				return responds(http.StatusOK, "text/event-stream", paced(streamStart, 3*time.Second, streamEnd, nil)), nil
			}
			return wholeOf(wholeAnswer), nil
		})
		first := make(chan string, 1)
		go func() {
			_, answer := a.ask(t.Context(), 1, true)
			first <- answer
		}()
		synctest.Wait()
		begun := time.Now()
		state, answer := a.ask(t.Context(), 1, false)
		assert.Equal(t, exchange.CacheMiss, state, "a stream is not made JSON")
		assert.Equal(t, wholeAnswer, answer)
		assert.Zero(t, time.Since(begun), "so that there is nothing to wait for")
		a.answers.Clear()
		state, answer = a.ask(t.Context(), 1, true)
		assert.Equal(t, exchange.CacheHit, state)
		assert.Equal(t, 3*time.Second, time.Since(begun))
		assert.Equal(t, <-first, answer)
		assert.EqualValues(t, 2, a.calls.Load())
	})
}

// A client that leaves takes nothing from others: neither the first one, nor one that waits.
func TestAClientThatLeavesTakesNothingFromEqualRequests(t *testing.T) {
	for name, leaver := range map[string]int{"the first": 0, "one that waits": 1} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				release := make(chan struct{})
				a := newAsker(t, func(_ int32, r *http.Request) (*http.Response, error) {
					select {
					case <-release:
						return wholeOf(wholeAnswer), nil
					case <-r.Context().Done():
						return nil, r.Context().Err()
					}
				})
				states := make([]string, 3)
				leaving, leave := context.WithCancel(t.Context())
				for i := range states {
					ctx := t.Context()
					if i == leaver {
						ctx = leaving
					}
					go func() { states[i], _ = a.ask(ctx, 1, false) }()
					synctest.Wait()
				}
				assert.EqualValues(t, 1, a.calls.Load())
				leave()
				synctest.Wait()
				assert.Equal(t, "failed", states[leaver])
				close(release)
				synctest.Wait()
				assert.ElementsMatch(t, []string{"failed", exchange.CacheMiss, exchange.CacheHit}, states)
				assert.EqualValues(t, 2-leaver, a.calls.Load(), "the call of the first that has left is made by one other")
			})
		})
	}
}

// All requests that waited called at once when the first call failed: the answer to one 429 were a hundred calls.
func TestAfterACallWithoutAnAnswerOneRequestCallsAndTheOthersWait(t *testing.T) {
	cut := func(contentType, text string) answers {
		return func(*http.Request) (*http.Response, error) {
			return responds(http.StatusOK, contentType, paced(text, 0, "", io.ErrUnexpectedEOF)), nil
		}
	}
	const requests, failures = 20, 3
	for name, test := range map[string]struct {
		fail   answers
		stream bool
		takes  time.Duration // each call
		want   []time.Duration
	}{
		"a limit of the provider":  {refuses(429), false, time.Second, []time.Duration{0, 1, 2, 3}},
		"an error of the provider": {refuses(529), false, time.Second, []time.Duration{0, 1, 2, 3}},
		"the network":              {func(*http.Request) (*http.Response, error) { return nil, errors.New("gone") }, false, time.Second, []time.Duration{0, 1, 2, 3}},
		"a cut":                    {cut("application/json", `{"id":`), false, time.Second, []time.Duration{0, 1, 2, 3}},
		"no answer of the format":  {func(*http.Request) (*http.Response, error) { return wholeOf(`{"a":`), nil }, false, time.Second, []time.Duration{0, 1, 2, 3}},
		"a cut of a stream":        {cut("text/event-stream", streamStart), true, time.Second, []time.Duration{0, 1, 2, 3}},
		// Each waits for a minute in all, and for five seconds for a stream.
		"slow failures":         {refuses(503), false, 40 * time.Second, append([]time.Duration{0, 40}, slices.Repeat([]time.Duration{60}, requests-2)...)},
		"slow failures, stream": {refuses(503), true, 4 * time.Second, append([]time.Duration{0, 4}, slices.Repeat([]time.Duration{5}, requests-2)...)},
		// What is in the request would make the others fail, too.
		"a bad request": {refuses(400), false, time.Second, append([]time.Duration{0}, slices.Repeat([]time.Duration{1}, requests-1)...)},
		"a filter": {func(*http.Request) (*http.Response, error) {
			return wholeOf(strings.Replace(wholeAnswer, `"stop"`, `"content_filter"`, 1)), nil
		}, false, time.Second, append([]time.Duration{0}, slices.Repeat([]time.Duration{1}, requests-1)...)},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				var called []time.Duration // in seconds since the first
				begun := time.Now()
				a := newAsker(t, func(call int32, r *http.Request) (*http.Response, error) {
					mu.Lock()
					called = append(called, time.Since(begun)/time.Second)
					mu.Unlock()
					time.Sleep(test.takes) // of the clock of the test
					switch {
					case call <= failures:
						return test.fail(r)
					case test.stream:
						return responds(http.StatusOK, "text/event-stream", io.NopCloser(strings.NewReader(streamStart+streamEnd))), nil
					}
					return wholeOf(wholeAnswer), nil
				})
				var all sync.WaitGroup
				for range requests {
					all.Go(func() {
						if res, err := a.Ask(t.Context(), &exchange.Conduit{Attempt: *a.attempt(1, test.stream)}); err == nil {
							_, _ = io.Copy(io.Discard, res.Body) // a stream may break off
							_ = res.Body.Close()
						}
					})
				}
				all.Wait()
				assert.Equal(t, test.want, called)
			})
		})
	}
}

// Requests whose clients had left, too, called when the first one did: of 500 that left, 257.
func TestARequestWhoseClientHasLeftMakesNoCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAsker(t, func(_ int32, r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		})
		clients, leave := context.WithCancel(t.Context())
		var all sync.WaitGroup
		for range 500 {
			all.Go(func() {
				state, _ := a.ask(clients, 1, false)
				assert.Equal(t, "failed", state)
			})
		}
		synctest.Wait()
		leave()
		all.Wait()
		assert.EqualValues(t, 1, a.calls.Load())
	})
}

// A panic of the call left requests waiting if only its end counted.
func TestARequestWaitsForNoCallThatHasPanicked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		a := newAsker(t, func(call int32, _ *http.Request) (*http.Response, error) {
			if call == 1 {
				<-release
				panic("of the provider")
			}
			return wholeOf(wholeAnswer), nil
		})
		go func() {
			ctx, end := context.WithCancel(t.Context()) // of the request, which the server ends
			defer end()
			defer func() { _ = recover() }()
			a.ask(ctx, 1, false)
		}()
		synctest.Wait()
		begun := time.Now()
		time.AfterFunc(time.Second, func() { close(release) })
		state, _ := a.ask(t.Context(), 1, false)
		assert.Equal(t, exchange.CacheMiss, state)
		assert.Equal(t, time.Second, time.Since(begun))
	})
}

func TestARequestForAFreshAnswerWaitsForNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		a := newAsker(t, func(call int32, _ *http.Request) (*http.Response, error) {
			if call == 1 {
				<-release
			}
			return wholeOf(wholeAnswer), nil
		})
		go a.ask(t.Context(), 1, false)
		synctest.Wait()
		state, _ := a.ask(t.Context(), 1, false, func(c *exchange.Cache) { c.Refresh = true })
		assert.Equal(t, exchange.CacheRefresh, state)
		a.answers.Clear()
		state, _ = a.ask(t.Context(), 1, false, func(c *exchange.Cache) { c.MaxAge = 0 })
		assert.Equal(t, exchange.CacheMiss, state)
		close(release)
	})
}

// A client that asked for another form than JSON got the JSON of one that did not, and the other way around.
func TestAnAnswerIsNeverOfAnotherFormThanTheRequestAccepts(t *testing.T) {
	a := newAsker(t, func(int32, *http.Request) (*http.Response, error) { return wholeOf(wholeAnswer), nil })
	ask := func(accept string) string {
		attempt := a.attempt(1, false)
		attempt.Exchange.Request.Client.Set("Accept", accept)
		return carry(t, a.Transport, attempt).Result.Head.Header.Get(exchange.CacheHeader)
	}
	for _, test := range [][2]string{
		{"application/json", "miss"}, {"*/*", "hit"}, {"Application/JSON;q=0.9, */*;q=0.1", "hit"},
		{"text/event-stream", "miss"}, {"application/json, text/event-stream", "miss"}, {"text/event-stream", "hit"},
		{"application/octet-stream", "miss"}, {"application/octet-stream", "hit"}, {"text/csv", "miss"}, {"application/json", "hit"},
	} {
		assert.Equal(t, test[1], ask(test[0]), test[0])
	}
	assert.True(t, acceptsUsual([]string{"text/event-stream"}, true), "of a request for a stream")
}
