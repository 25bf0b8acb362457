package gateway

import (
	"context"
	"errors"
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
)

// lister is a caller that answers queries for models.
type lister func(q *exchange.ModelsQuery) (status int, body string, err error)

func (l lister) Call(to receiver, r *http.Request) {
	status, body, err := l(exchange.ModelsQueryFrom(r.Context()))
	if err != nil {
		to.note(err)
		return
	}
	to.WriteHeader(status)
	_, _ = to.Write([]byte(body))
}

// listing is a provider with a list of its own, and what it logs.
func listing(answer lister) (*provider, *observer.ObservedLogs) {
	core, logs := observer.New(zapcore.DebugLevel)
	return &provider{
		name: "p", formats: []translate.Format{translate.Messages}, list: new(modelList), call: answer, logger: zap.New(core),
	}, logs
}

// ids are those of the models that p is known to serve once its list is as new
// as it gets.
func (p *provider) ids(t *testing.T) (ids []string) {
	t.Helper()
	awaitLists(t.Context(), p)
	for _, m := range p.models() {
		ids = append(ids, m.ID)
	}
	return ids
}

func TestAListIsReadWhenItIsNeededAndOld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reads := 0
		p, logs := listing(func(*exchange.ModelsQuery) (int, string, error) {
			reads++
			return http.StatusOK, `{"data":[{"id":"b"},{"id":"m` + strconv.Itoa(reads) + `"},{"id":"a"},{"id":"a"}]}`, nil
		})
		assert.Empty(t, p.models(), "nobody has asked yet")
		time.Sleep(time.Hour)
		synctest.Wait()
		assert.Zero(t, reads, "a gateway that is not asked does not ask")
		assert.Equal(t, []string{"a", "b", "m1"}, p.ids(t))
		time.Sleep(listLifetime - 1)
		assert.Equal(t, []string{"a", "b", "m1"}, p.ids(t))
		time.Sleep(1)
		assert.Equal(t, []string{"a", "b", "m2"}, p.ids(t))
		assert.Equal(t, 2, reads)
		assert.Zero(t, logs.Len())
	})
}

func TestAListSurvivesAnOutage(t *testing.T) {
	for name, failure := range map[string]lister{
		"a status":           func(*exchange.ModelsQuery) (int, string, error) { return http.StatusServiceUnavailable, "", nil },
		"a 404 in between":   func(*exchange.ModelsQuery) (int, string, error) { return http.StatusNotFound, "", nil },
		"an error":           func(*exchange.ModelsQuery) (int, string, error) { return 0, "", errors.New("sk-key: refused") },
		"no JSON":            func(*exchange.ModelsQuery) (int, string, error) { return http.StatusOK, "<html>sk-key", nil },
		"no list":            func(*exchange.ModelsQuery) (int, string, error) { return http.StatusOK, `{"sk-key":1}`, nil },
		"an unreadable list": func(*exchange.ModelsQuery) (int, string, error) { return 0, "", exchange.ErrModelsUnreadable },
		"a panic":            func(*exchange.ModelsQuery) (int, string, error) { panic(http.ErrAbortHandler) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				answer := lister(func(*exchange.ModelsQuery) (int, string, error) { return http.StatusOK, `{"data":[{"id":"a"}]}`, nil })
				p, logs := listing(func(q *exchange.ModelsQuery) (int, string, error) { return answer(q) })
				working := answer
				for range 2 {
					answer = working
					require.Equal(t, []string{"a"}, p.ids(t))
					answer = failure
					for range 3 {
						time.Sleep(absentLifetime)
						assert.Equal(t, []string{"a"}, p.ids(t))
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
			p, logs := listing(func(*exchange.ModelsQuery) (int, string, error) {
				reads++
				return status, "", nil
			})
			for range 10 {
				assert.Empty(t, p.ids(t))
				time.Sleep(listLifetime)
			}
			assert.Equal(t, 1, reads)
			time.Sleep(absentLifetime)
			assert.Empty(t, p.ids(t))
			assert.Equal(t, 2, reads, "it may have become one that has")
			require.Equal(t, 1, logs.Len())
			assert.Equal(t, zapcore.InfoLevel, logs.All()[0].Level)
		})
	}
}

func TestClientsShareOneReadAndDoNotWaitForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reads, gate := 0, make(chan struct{})
		p, _ := listing(func(*exchange.ModelsQuery) (int, string, error) {
			reads++
			<-gate
			return http.StatusOK, `[{"id":"a"}]`, nil
		})
		start := time.Now()
		for range 5 {
			go awaitLists(t.Context(), p)
		}
		gone, leave := context.WithCancel(t.Context())
		leave()
		awaitLists(gone, p)
		assert.Zero(t, time.Since(start), "a client that is gone waits for nothing")
		assert.Empty(t, p.ids(t))
		assert.Equal(t, listPatience, time.Since(start))
		close(gate)
		synctest.Wait()
		assert.Equal(t, []string{"a"}, p.ids(t))
		assert.Equal(t, 1, reads)
	})
}

func TestPagesAreFollowedAsFarAsTheBound(t *testing.T) {
	pages := map[string]string{
		"":  `{"data":[{"id":"c"},{"id":"b"}],"has_more":true,"last_id":"b"}`,
		"b": `{"data":[{"id":"a"}],"has_more":true,"last_id":"a"}`,
		"a": `{"data":[],"has_more":false,"last_id":null}`,
	}
	p, _ := listing(func(q *exchange.ModelsQuery) (int, string, error) { return http.StatusOK, pages[q.After], nil })
	assert.Equal(t, []string{"a", "b", "c"}, p.ids(t))

	asked := 0
	p, _ = listing(func(*exchange.ModelsQuery) (int, string, error) {
		asked++
		n := strconv.Itoa(asked)
		return http.StatusOK, `{"data":[{"id":"` + n + `"}],"has_more":true,"last_id":"` + n + `"}`, nil
	})
	assert.Len(t, p.ids(t), maxListPages)
	assert.Equal(t, maxListPages, asked)
}

// A server that ignores after_id answers every page alike.
func TestAPageThatLeadsNowhereIsTheLast(t *testing.T) {
	asked := 0
	p, _ := listing(func(*exchange.ModelsQuery) (int, string, error) {
		asked++
		return http.StatusOK, `{"data":[{"id":"a"}],"has_more":true,"last_id":"a"}`, nil
	})
	assert.Equal(t, []string{"a"}, p.ids(t))
	assert.Equal(t, 2, asked)
}

func TestAListOutlivesTheConfigurationThatHasReadIt(t *testing.T) {
	var before, after, other modelLists
	id := listIdentity{format: translate.Chat, baseURL: "http://outlives"}
	list := before.load(id)
	list.settle([]translate.Model{{ID: "a"}}, nil)
	assert.Same(t, list, after.load(id))
	assert.NotSame(t, list, other.load(listIdentity{format: translate.Chat, baseURL: "http://outlives", apiKey: "{env.OTHER}"}))
	for _, lists := range []*modelLists{&before, &after, &other} {
		require.NoError(t, lists.release())
	}
	assert.NotSame(t, list, before.load(id), "nobody used it any more")
	require.NoError(t, before.release())
	_, kept := listPool.References(id)
	assert.False(t, kept)
}
