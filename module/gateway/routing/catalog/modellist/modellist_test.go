package modellist

import (
	"context"
	"net/http"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/modelcard"
)

// querier implements the queries of exchange.Caller by a function.
type querier func(context.Context)

func (f querier) Query(ctx context.Context) { f(ctx) }

func (querier) Call(context.Context, *exchange.Conduit, exchange.Receiver, *http.Request) error {
	return nil
}

func (querier) Pass(context.Context, *exchange.Passage, exchange.Receiver) error { return nil }

// lister answers queries for models like the transport.
type lister func(q *exchange.ModelsQuery)

// lists returns a lister that answers every query with the same page.
func lists(page string) lister {
	return func(q *exchange.ModelsQuery) { q.Status, q.Page = http.StatusOK, []byte(page) }
}

func answersStatus(status int) lister {
	return func(q *exchange.ModelsQuery) { q.Status = status }
}

// listing returns the list of a provider that answers by answer, and its log.
func listing(answer lister) (*List, *observer.ObservedLogs) {
	core, logs := observer.New(zapcore.DebugLevel)
	call := querier(func(ctx context.Context) { answer(exchange.ModelsQueryFrom(ctx)) })
	return &List{Source: Source{Name: "p", Caller: call, Logger: zap.New(core)}, format: formats.Of(translate.Messages), cache: new(cache)}, logs
}

// ids returns the ids of the list after Await.
func (l *List) ids(t *testing.T) (ids []string) {
	t.Helper()
	Await(t.Context(), l)
	for _, m := range l.Models() {
		ids = append(ids, m.ID)
	}
	return ids
}

func TestAListIsReadWhenItIsNeededAndOld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reads := 0
		list, logs := listing(func(q *exchange.ModelsQuery) {
			reads++
			lists(`{"data":[{"id":"b"},{"id":"m` + strconv.Itoa(reads) + `"},{"id":"a"},{"id":"a"}]}`)(q)
		})
		assert.Empty(t, list.Models(), "nobody has asked yet")
		time.Sleep(time.Hour)
		synctest.Wait()
		assert.Zero(t, reads, "a list is read on demand only")
		assert.Equal(t, []string{"a", "b", "m1"}, list.ids(t))
		time.Sleep(listLifetime - time.Nanosecond)
		assert.Equal(t, []string{"a", "b", "m1"}, list.ids(t))
		time.Sleep(time.Nanosecond)
		assert.Equal(t, []string{"a", "b", "m2"}, list.ids(t))
		assert.Equal(t, 2, reads)
		assert.Zero(t, logs.Len())
	})
}

func TestAListSurvivesAnOutage(t *testing.T) {
	for name, failure := range map[string]lister{
		"a status":           answersStatus(http.StatusServiceUnavailable),
		"a 404 in between":   answersStatus(http.StatusNotFound),
		"no answer":          answersStatus(0),
		"no JSON":            lists("<html>sk-key"),
		"no list":            lists(`{"sk-key":1}`),
		"an unreadable list": answersStatus(http.StatusOK),
		"a panic":            func(*exchange.ModelsQuery) { panic(http.ErrAbortHandler) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var answer lister
				list, logs := listing(func(q *exchange.ModelsQuery) { answer(q) })
				for range 2 {
					answer = lists(`{"data":[{"id":"a"}]}`)
					require.Equal(t, []string{"a"}, list.ids(t))
					answer = failure
					for range 3 {
						time.Sleep(absentLifetime)
						assert.Equal(t, []string{"a"}, list.ids(t))
					}
					time.Sleep(absentLifetime)
				}
				assert.Equal(t, 2, logs.Len(), "once for each outage")
				for _, entry := range logs.All() {
					for _, field := range entry.Context {
						assert.NotContains(t, field.String, "sk-key")
					}
				}
			})
		})
	}
}

func TestAProviderWithoutAListIsLearnedAndLoggedOnce(t *testing.T) {
	for _, status := range []int{http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented} {
		synctest.Test(t, func(t *testing.T) {
			reads := 0
			list, logs := listing(func(q *exchange.ModelsQuery) {
				reads++
				answersStatus(status)(q)
			})
			for range 10 {
				assert.Empty(t, list.ids(t))
				time.Sleep(listLifetime)
			}
			assert.Equal(t, 1, reads)
			time.Sleep(absentLifetime)
			assert.Empty(t, list.ids(t))
			assert.Equal(t, 2, reads, "the provider may have a list now")
			require.Equal(t, 1, logs.Len())
			assert.Equal(t, zapcore.InfoLevel, logs.All()[0].Level)
		})
	}
}

func TestClientsShareOneReadAndDoNotWaitForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reads, gate := 0, make(chan struct{})
		list, _ := listing(func(q *exchange.ModelsQuery) {
			reads++
			<-gate
			lists(`[{"id":"a"}]`)(q)
		})
		start := time.Now()
		for range 5 {
			go Await(t.Context(), list)
		}
		gone, leave := context.WithCancel(t.Context())
		leave()
		Await(gone, list)
		assert.Zero(t, time.Since(start), "a client that is gone waits for nothing")
		assert.Empty(t, list.ids(t))
		assert.Equal(t, patience, time.Since(start))
		close(gate)
		synctest.Wait()
		assert.Equal(t, []string{"a"}, list.ids(t))
		assert.Equal(t, 1, reads)
	})
}

// reverse_proxy takes a deadline for a failure of the address. One slow list of models
// would mark the provider as down for all requests.
func TestAListThatTakesTooLongEndsAsIfNobodyWantedIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ended error
		list, _ := listing(nil)
		list.Caller = querier(func(ctx context.Context) {
			<-ctx.Done()
			ended = ctx.Err()
		})
		start := time.Now()
		_, err := list.read()
		assert.ErrorIs(t, err, errListTimeout)
		assert.Equal(t, listTimeout, time.Since(start))
		assert.Equal(t, context.Canceled, ended)
	})
}

func TestPagesAreFollowedAsFarAsTheBound(t *testing.T) {
	pages := map[string]string{
		"":  `{"data":[{"id":"c"},{"id":"b"}],"has_more":true,"last_id":"b"}`,
		"b": `{"data":[{"id":"a"}],"has_more":true,"last_id":"a"}`,
		"a": `{"data":[],"has_more":false,"last_id":null}`,
	}
	list, _ := listing(func(q *exchange.ModelsQuery) { lists(pages[q.Previous])(q) })
	assert.Equal(t, []string{"a", "b", "c"}, list.ids(t))

	asked := 0
	list, _ = listing(func(q *exchange.ModelsQuery) {
		asked++
		n := strconv.Itoa(asked)
		lists(`{"data":[{"id":"` + n + `"}],"has_more":true,"last_id":"` + n + `"}`)(q)
	})
	assert.Len(t, list.ids(t), maxListPages)
	assert.Equal(t, maxListPages, asked)
}

// A server that ignores after_id answers every query with the same page.
func TestAPageThatLeadsNowhereIsTheLast(t *testing.T) {
	asked := 0
	list, _ := listing(func(q *exchange.ModelsQuery) {
		asked++
		lists(`{"data":[{"id":"a"}],"has_more":true,"last_id":"a"}`)(q)
	})
	assert.Equal(t, []string{"a"}, list.ids(t))
	assert.Equal(t, 2, asked)
}

func TestAListOutlivesTheConfigurationThatHasReadIt(t *testing.T) {
	var before, after, other Lists
	id := Identity{Format: formats.Of(translate.Chat), BaseURL: "http://outlives"}
	load := func(l *Lists, id Identity) *cache { return l.Load(id, Source{}).cache }
	list := load(&before, id)
	list.settle([]modelcard.Card{{ID: "a"}}, nil)
	assert.Same(t, list, load(&after, id))
	assert.NotSame(t, list, load(&other, Identity{Format: formats.Of(translate.Chat), BaseURL: "http://outlives", APIKey: "{env.OTHER}"}))
	for _, lists := range []*Lists{&before, &after, &other} {
		require.NoError(t, lists.Release())
	}
	assert.NotSame(t, list, load(&before, id), "the unused list was removed")
	require.NoError(t, before.Release())
	_, kept := pool.References(id)
	assert.False(t, kept)
}

// Agents sized their conversations by nothing, since Ollama's list has no lengths, and the server cut
// the beginning of prompts off. The length is that with which a model is loaded.
func TestContextsOfLoadedModelsAreRemembered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		loaded := lists(`{"models":[{"name":"qwen3:8b","model":"qwen3:8b","size":1,"context_length":32768},{"model":"other","context_length":1}]}`)
		list, logs := listing(func(q *exchange.ModelsQuery) {
			if q.Loaded == "" {
				lists(`{"object":"list","data":[{"id":"gemma4:4b"},{"id":"qwen3:8b"}]}`)(q)
				return
			}
			assert.Equal(t, "/api/ps", q.Loaded)
			loaded(q)
		})
		list.Loaded = "/api/ps"
		contexts := func() (all []int64) {
			time.Sleep(time.Hour)
			list.ids(t)
			for _, m := range list.Models() {
				all = append(all, m.ContextTokens)
			}
			return all
		}
		assert.Equal(t, []int64{0, 32768}, contexts(), "a model that is not loaded has no known length")
		loaded = lists(`{"models":[{"model":"gemma4:4b","context_length":8192}]}`)
		assert.Equal(t, []int64{8192, 32768}, contexts())
		loaded = answersStatus(http.StatusNotFound)
		assert.Equal(t, []int64{8192, 32768}, contexts(), "an older server has no such list")
		assert.Zero(t, logs.Len())
	})
}
