package endpoints_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/counters/counterstest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// cached is a model whose answers are kept, with further lines in the block of its cache.
func cached(lines ...string) string {
	return "model small {\nto up/big-1\nprice input 1 output 2\ncache {\n" + strings.Join(lines, "\n") + "\n}\n}"
}

// startCached runs a gateway before a server whose answers are numbered, so that each shows by
// which call it was made.
func startCached(t *testing.T, lines ...string) (*site.Site, *server) {
	t.Setenv("OTHER_KEY", "sk-the-key-of-another-client")
	var calls atomic.Int64
	s := newServer(t, nil)
	s.answer = func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		answer := numbered(r.URL.Path, string(body), calls.Add(1))
		if strings.HasPrefix(answer, "data:") {
			w.Header().Set("Content-Type", "text/event-stream")
		} else {
			w.Header().Set("Content-Type", "application/json")
		}
		_, _ = io.WriteString(w, answer)
	}
	return start(t, s, append([]string{"key other {env.OTHER_KEY}"}, lines...)...), s
}

// numbered returns the answer of a call.
func numbered(path, body string, call int64) string {
	switch {
	case path == embeddings:
		return strings.Replace(vectors, "-1.25e0", fmt.Sprint(call), 1)
	case strings.Contains(body, `"stream":true`):
		return fmt.Sprintf(`data: {"id":"c%d","object":"chat.completion.chunk","created":1,"model":"big-1","choices":[{"index":0,"delta":{"role":"assistant","content":"Hi"},"finish_reason":null}]}

data: {"id":"c%[1]d","object":"chat.completion.chunk","created":1,"model":"big-1","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}

data: {"id":"c%[1]d","object":"chat.completion.chunk","created":1,"model":"big-1","choices":[],"usage":{"prompt_tokens":100,"completion_tokens":20,"total_tokens":120}}

data: [DONE]

`, call)
	}
	return completion(call, `"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"`)
}

func completion(call int64, choice string) string {
	return fmt.Sprintf(`{"id":"c%d","object":"chat.completion","created":1,"model":"big-1","choices":[{"index":0,%s}],"usage":{"prompt_tokens":100,"completion_tokens":20,"total_tokens":120}}`, call, choice)
}

const (
	embed  = `{"model":"small","input":"a","encoding_format":"float"}`
	chat   = "/v1/chat/completions"
	asking = `{"model":"small","temperature":0,"messages":[{"role":"user","content":"hi"}]}`
)

// assertState checks what the cache did for an answer.
func assertState(t *testing.T, want string, r site.Reply, about ...any) {
	t.Helper()
	assert.Equal(t, http.StatusOK, r.Status, r.Body)
	assert.Equal(t, want, r.Header.Get("X-Gateway-Cache"), about...)
	assert.Equal(t, want == "hit", r.Header.Get("Age") != "", about...)
}

func TestX117EqualRequestsAreAnsweredFromTheCache(t *testing.T) {
	c, s := startCached(t, cached())
	first := c.Ask(embeddings, embed)
	assertState(t, "miss", first)
	again := c.Ask(embeddings, "{ \"encoding_format\": \"float\",\n\"input\":\"a\" , \"model\":\"small\" }")
	assertState(t, "hit", again)
	assert.Equal(t, first.Body, again.Body)
	assertState(t, "miss", c.Ask(embeddings, strings.Replace(embed, `"a"`, `"b"`, 1)))
	assert.Len(t, s.received, 2)

	asked := c.Ask(chat, asking)
	assertState(t, "miss", asked)
	assertState(t, "miss", c.Ask(chat, strings.Replace(asking, "0", "0.0", 1)), "a number counts as it is written")
	repeated := c.Ask(chat, asking)
	assertState(t, "hit", repeated)
	assert.Equal(t, asked.Body, repeated.Body)
	assertState(t, "bypass", c.Ask(chat, strings.Replace(asking, `"temperature":0,`, "", 1)))
	assertState(t, "bypass", c.Ask(chat, strings.Replace(asking, "0", "1", 1)))
	assert.Len(t, s.received, 6)
}

func TestAnswersOfSelectedKeysAreKept(t *testing.T) {
	c, _ := startCached(t, cached("keys oth*"))
	for _, want := range []string{"miss", "hit"} {
		assertState(t, want, c.Ask(embeddings, embed, "Authorization", otherClient))
		assertState(t, "bypass", c.Ask(embeddings, embed))
	}
}

func TestModelsHaveNoCacheByDefault(t *testing.T) {
	c, s := startCached(t)
	for range 2 {
		assertState(t, "", c.Ask(embeddings, embed))
	}
	assert.Len(t, s.received, 2)
}

func TestX116KeysDoNotShareAnswers(t *testing.T) {
	for scope, want := range map[string]string{"": "miss", "scope user": "miss", "scope all": "hit"} {
		t.Run(scope, func(t *testing.T) {
			c, _ := startCached(t, cached(scope))
			assertState(t, "miss", c.Ask(embeddings, embed))
			assertState(t, want, c.Ask(embeddings, embed, "Authorization", "Bearer sk-the-key-of-another-client"))
			assertState(t, "hit", c.Ask(embeddings, embed))
		})
	}
}

// Many clients at once get the answers of their own keys alone.
func TestX116ManyClientsGetTheAnswersOfTheirKeys(t *testing.T) {
	c, s := startCached(t, cached())
	of := map[string]string{"": c.Ask(embeddings, embed).Body}
	of["Bearer sk-the-key-of-another-client"] = c.Ask(embeddings, embed, "Authorization", "Bearer sk-the-key-of-another-client").Body
	assert.NotEqual(t, of[""], of["Bearer sk-the-key-of-another-client"])
	var wait sync.WaitGroup
	for i := range 50 {
		wait.Go(func() {
			var r site.Reply
			key := ""
			if i%2 == 0 {
				r = c.Ask(embeddings, embed)
			} else {
				key = "Bearer sk-the-key-of-another-client"
				r = c.Ask(embeddings, embed, "Authorization", key)
			}
			assertState(t, "hit", r)
			assert.Equal(t, of[key], r.Body)
		})
	}
	wait.Wait()
	assert.Len(t, s.received, 2)
}

// Equal requests at one moment were as many calls. The server answers when all clients are waiting.
func TestManyClientsAtOneMomentAreOneCallForEachKey(t *testing.T) {
	c, s := startCached(t, cached())
	answer, release := s.answer, make(chan struct{})
	s.answer = func(w http.ResponseWriter, r *http.Request) {
		<-release
		answer(w, r)
	}
	var wait sync.WaitGroup
	bodies := map[string]*sync.Map{ownKey: {}, otherClient: {}}
	for range 25 {
		for key, seen := range bodies {
			wait.Go(func() {
				r := c.Ask(embeddings, embed, "Authorization", key)
				assert.Equal(t, http.StatusOK, r.Status, r.Body)
				seen.Store(r.Body, true)
			})
		}
	}
	assert.Eventually(t, func() bool {
		return strings.Contains(c.Call(http.MethodGet, c.AdminURL("/api/v1/status"), "").Body, `"running":50,`)
	}, site.Patience, site.PollEvery)
	close(release)
	wait.Wait()
	// One that the server has answered just before a client looks for it is a call more.
	assert.Less(t, len(s.received), 6)
	seen := make(map[any]bool)
	for _, of := range bodies {
		of.Range(func(body, _ any) bool {
			assert.False(t, seen[body], "an answer for another key")
			seen[body] = true
			return true
		})
	}
}

// Each client gets the form that it accepts.
func TestAnAnswerIsOfTheFormThatARequestAccepts(t *testing.T) {
	c, s := startCached(t, cached())
	s.answer = func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Accept") == "text/csv" {
			answering("text/csv", "1,2")(w, r)
			return
		}
		answering("application/json", vectors)(w, r)
	}
	for range 2 {
		assert.Contains(t, c.Ask(embeddings, embed, "Accept", "application/json").Body, `"embedding"`)
		assert.NotContains(t, c.Ask(embeddings, embed, "Accept", "text/csv").Body, `"embedding"`)
	}
}

func TestX118JSONIsStreamedFromTheCacheAndStreamsAreNotMadeJSON(t *testing.T) {
	c, s := startCached(t, cached())
	stream := strings.Replace(asking, "{", `{"stream":true,`, 1)
	first := c.Ask(chat, stream)
	assertState(t, "miss", first)
	again := c.Ask(chat, stream)
	assertState(t, "hit", again)
	assert.Equal(t, first.Body, again.Body)
	assert.True(t, again.Read(t, chat).Complete)

	json := c.Ask(chat, asking)
	assertState(t, "miss", json, "the cache has a stream")
	assertState(t, "hit", c.Ask(chat, asking))
	streamed := c.Ask(chat, stream)
	assertState(t, "hit", streamed)
	assert.True(t, streamed.Read(t, chat).Complete)
	assert.Contains(t, streamed.Body, `"content":"Hi"`)
	assert.Contains(t, streamed.Body, `"id":"c2"`)
	assert.Len(t, s.received, 2)
}

// The cache is asked by what the provider gets: a client of another format gets the answer in its
// own.
func TestX118AnAnswerIsTranslatedForEachClient(t *testing.T) {
	c, s := startCached(t, cached())
	messages := `{"model":"small","max_tokens":9,"temperature":0,"messages":[{"role":"user","content":"hi"}]}`
	first := c.Ask("/v1/messages", messages)
	assertState(t, "miss", first)
	again := c.Ask("/v1/messages", messages)
	assertState(t, "hit", again)
	assert.Equal(t, first.Text(t, "/v1/messages"), again.Text(t, "/v1/messages"))
	assertState(t, "miss", c.Ask(chat, asking))
	assert.Len(t, s.received, 2)
}

func TestX119WhatFailedIsNotKept(t *testing.T) {
	c, s := startCached(t, cached())
	const stopped = `"message":{"role":"assistant","content":"Hi"},"finish_reason":`
	for name, answer := range map[string]http.HandlerFunc{
		"filtered": answering("application/json", completion(1, stopped+`"content_filter"`)),
		"refused":  answering("application/json", completion(1, `"message":{"role":"assistant","content":null,"refusal":"no"},"finish_reason":"stop"`)),
		"tools":    answering("application/json", completion(1, `"message":{"role":"assistant","content":null,"tool_calls":[{"id":"t","type":"function","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"tool_calls"`)),
	} {
		s.answer = answer
		for range 2 {
			assertState(t, "miss", c.Ask(chat, asking), name)
		}
	}
	s.answer = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadRequest) }
	for range 2 {
		assert.Equal(t, http.StatusBadRequest, c.Ask(chat, asking).Status)
	}
	s.answer = answering("text/event-stream", strings.TrimSuffix(numbered(chat, `"stream":true`, 1), "data: [DONE]\n\n"))
	for range 2 {
		r := c.Ask(chat, strings.Replace(asking, "{", `{"stream":true,`, 1))
		assertState(t, "miss", r, "cut")
		assert.NotContains(t, r.Body, "[DONE]")
	}
}

func TestX120AnswersThatCallToolsAreKeptIfTheModelAllows(t *testing.T) {
	c, s := startCached(t, cached("tool_calls on", "any_temperature on"))
	s.answer = answering("application/json", completion(1, `"message":{"role":"assistant","content":null,"tool_calls":[{"id":"t","type":"function","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"tool_calls"`))
	warm := strings.Replace(asking, `"temperature":0`, `"temperature":1`, 1)
	assertState(t, "miss", c.Ask(chat, warm))
	assertState(t, "hit", c.Ask(chat, warm))
}

func TestX121TheRecordOfACachedAnswerHasWhatItSaved(t *testing.T) {
	t.Setenv("LIMITED_KEY", "sk-the-key-of-a-limited-client")
	c, _ := startCached(t, cached(), "limit few {\nrequests 3/1h\ntokens 400/1h\n}", "key limited {env.LIMITED_KEY} {\nlimit few\n}")
	bearer := "Bearer sk-the-key-of-a-limited-client"
	bounded := strings.Replace(asking, "{", `{"max_tokens":50,`, 1)
	assertState(t, "miss", c.Ask(chat, bounded, "Authorization", bearer))
	for range 2 { // three times 120 tokens, and the estimate of a further request, would be too many
		assertState(t, "hit", c.Ask(chat, bounded, "Authorization", bearer))
	}
	refused := c.Ask(chat, bounded, "Authorization", bearer)
	assert.Equal(t, http.StatusTooManyRequests, refused.Status)
	assert.Contains(t, refused.Body, "request", "cached answers count as requests")
	assert.NotContains(t, refused.Body, "token")

	var page struct {
		Items []struct {
			Status   int
			Outcome  string
			Calls    []map[string]any
			Attempts []struct{ End string }
		}
	}
	require.Eventually(t, func() bool {
		page.Items = nil
		r := c.Call(http.MethodGet, c.AdminURL("/api/v1/records"), "")
		return json.Unmarshal([]byte(r.Body), &page) == nil && len(page.Items) == 4
	}, site.Patience, 10*time.Millisecond)
	hit, miss := page.Items[1], page.Items[3]
	assert.Equal(t, "answered", hit.Outcome)
	assert.Equal(t, "cached", hit.Attempts[0].End)
	assert.Equal(t, "answered", miss.Attempts[0].End)
	require.Len(t, hit.Calls, 1)
	of := func(names ...string) (values []any) {
		for _, name := range names {
			values = append(values, hit.Calls[0][name])
		}
		return values
	}
	assert.Equal(t, []any{"up", "big-1", 200.0, "cached", 100.0, 20.0}, of("provider", "upstream_model", "status", "source", "input_tokens", "output_tokens"))
	assert.Equal(t, []any{0.0, "none", "", "USD", 0.0, miss.Calls[0]["cost_nano"]}, of("cost_nano", "cost_source", "price", "currency", "held_nano", "saved_nano"))
	assert.EqualValues(t, 100*1000+20*2000, miss.Calls[0]["cost_nano"])
	assert.NotContains(t, miss.Calls[0], "saved_nano")

	// Sums lacked it, so that nobody saw what the cache is worth.
	require.EventuallyWithT(t, func(now *assert.CollectT) {
		r := c.Call(http.MethodGet, c.AdminURL("/api/v1/usage?by=model"), "")
		assert.Contains(now, r.Body, `"saved_micro":280`, "twice")
		assert.Contains(now, r.Body, `"cost_micro":140,`)
	}, site.Patience, site.PollEvery)
	savings := c.Call(http.MethodGet, c.AdminURL("/api/v1/usage/savings"), "").Body
	assert.Contains(t, savings, `{"saved_micro":0,"answers_micro":280,"currency":"USD"}`)

	usage := c.Call(http.MethodGet, c.AdminURL("/api/v1/usage"), "")
	assert.Contains(t, usage.Body, `"output_tokens":20`, "sums have what providers charge")
}

func TestX122ANameThatLeadsElsewhereIsAskedAgain(t *testing.T) {
	t.Setenv("UPSTREAM_KEY", upstreamKey)
	s := newServer(t, answering("application/json", vectors))
	config := func(model string) []string {
		return []string{
			fmt.Sprintf("provider up openai_compatible {env.UPSTREAM_KEY} {\nbase_url %s/v1\n}", s.URL),
			"model small {\nto up/" + model + "\ncache\n}", "model steady {\nto up/big-3\ncache\n}",
		}
	}
	c := site.Start(t, config("big-1")...)
	steady := strings.Replace(embed, "small", "steady", 1)
	assertState(t, "miss", c.Ask(embeddings, embed))
	assertState(t, "miss", c.Ask(embeddings, steady))
	require.NoError(t, c.Reload(site.Block("", config("big-2")...)))
	assertState(t, "miss", c.Ask(embeddings, embed))
	assertState(t, "hit", c.Ask(embeddings, steady))
}

// The cache outlives a configuration, and what it has may not be what the new one allows.
func TestX123OnlyValidKeysGetCachedAnswersThatGuardsAllow(t *testing.T) {
	t.Setenv("UPSTREAM_KEY", upstreamKey)
	t.Setenv("OTHER_KEY", "sk-the-key-of-another-client")
	s := newServer(t, answering("application/json", completion(1, `"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"`)))
	up := fmt.Sprintf("provider up openai_compatible {env.UPSTREAM_KEY} {\nbase_url %s/v1\n}", s.URL)
	config := func(lines ...string) []string { return append(lines, up, cached("scope all")) }
	c := site.Start(t, config("key other {env.OTHER_KEY}")...)
	assertState(t, "miss", c.Ask(chat, asking))
	assertState(t, "hit", c.Ask(chat, asking, "Authorization", otherClient))

	r := c.Ask(chat, asking, "Authorization", "Bearer sk-an-unknown-key-of-nobody")
	assert.Equal(t, http.StatusUnauthorized, r.Status)
	assert.Empty(t, r.Header.Get("X-Gateway-Cache"))
	require.NoError(t, c.Reload(site.Block("", config("key other {env.OTHER_KEY} {\ndisabled\n}")...)))
	r = c.Ask(chat, asking, "Authorization", otherClient)
	assert.Equal(t, http.StatusUnauthorized, r.Status)
	assert.Empty(t, r.Header.Get("X-Gateway-Cache"))
	assertState(t, "hit", c.Ask(chat, asking))

	require.NoError(t, c.Reload(site.Block("", config("guard polite regex {\npattern greeting Hi\nblock greeting\non answer\n}")...)))
	r = c.Ask(chat, asking)
	assert.Contains(t, r.Body, "content_blocked", "a guard that is new checks what was kept before")
	assert.NotContains(t, r.Body, `"Hi"`)
	assert.Len(t, s.received, 1)
}

func TestX124ClientsControlWhatTheCacheDoes(t *testing.T) {
	c, s := startCached(t, cached())
	first := c.Ask(embeddings, embed)
	assertState(t, "bypass", c.Ask(embeddings, embed, "Cache-Control", "no-store"))
	assert.Equal(t, first.Body, c.Ask(embeddings, embed).Body)
	fresh := c.Ask(embeddings, embed, "Cache-Control", "no-cache")
	assertState(t, "refresh", fresh)
	assert.NotEqual(t, first.Body, fresh.Body)
	assertState(t, "hit", c.Ask(embeddings, embed, "Cache-Control", "max-age=3600"))
	assert.Equal(t, fresh.Body, c.Ask(embeddings, embed).Body)
	assertState(t, "miss", c.Ask(embeddings, embed, "Cache-Control", "max-age=0"))
	assert.Len(t, s.received, 4)
}

// removedBy returns how many answers a key has removed.
func removedBy(t *testing.T, c *site.Site, headers ...string) int {
	t.Helper()
	got := c.Call(http.MethodDelete, c.URL("site", "/v1/cache"), "", headers...)
	require.Equal(t, http.StatusOK, got.Status, got.Body)
	var answer struct{ Removed int }
	require.NoError(t, json.Unmarshal([]byte(got.Body), &answer))
	return answer.Removed
}

const (
	ownKey      = "Bearer " + site.ClientKey
	otherClient = "Bearer sk-the-key-of-another-client"
)

func TestAKeyRemovesItsCachedAnswers(t *testing.T) {
	c, _ := startCached(t, cached())
	for range 2 {
		assertState(t, "miss", c.Ask(embeddings, embed))
		assertState(t, "miss", c.Ask(embeddings, strings.Replace(embed, `"a"`, `"b"`, 1)))
		assert.Zero(t, removedBy(t, c, "Authorization", otherClient), "they belong to another key")
		assertState(t, "hit", c.Ask(embeddings, embed))
		assert.Equal(t, 2, removedBy(t, c, "Authorization", ownKey))
	}
	assert.Equal(t, http.StatusUnauthorized, c.Call(http.MethodDelete, c.URL("site", "/v1/cache"), "", "Authorization", "Bearer sk-unknown").Status)
}

// A key may not take from all others what they share.
func TestAKeyDoesNotRemoveWhatAllKeysShare(t *testing.T) {
	c, _ := startCached(t, cached("scope all"))
	assertState(t, "miss", c.Ask(embeddings, embed))
	assert.Zero(t, removedBy(t, c, "Authorization", ownKey))
	assertState(t, "hit", c.Ask(embeddings, embed))
}

func TestThereIsNothingToRemoveWithoutACache(t *testing.T) {
	c, _ := startCached(t)
	got := c.Call(http.MethodDelete, c.URL("site", "/v1/cache"), "", "Authorization", ownKey)
	assert.Equal(t, http.StatusNotFound, got.Status)
	assert.Contains(t, got.Body, "the gateway does not serve /v1/cache, since no model has a cache of answers")
}

// Gateways that answer in turn would otherwise each ask the provider once, and again after each start.
func TestGatewaysShareCachedAnswersInRedis(t *testing.T) {
	server, ok := counterstest.StartRedis(t)
	if !ok {
		return
	}
	t.Setenv("TEST_SEAL_KEY", "a key that both gateways have")
	t.Setenv("OTHER_KEY", "sk-the-key-of-another-client")
	s := newServer(t, answering("application/json", vectors))
	lines := []string{cached(), "key other {env.OTHER_KEY}", "seal_keys {env.TEST_SEAL_KEY}", "cache {\nin redis " + server.Address + "\n}"}
	var first site.Reply
	t.Run("one gateway", func(t *testing.T) {
		c := start(t, s, lines...)
		first = c.Ask(embeddings, embed)
		assertState(t, "miss", first)
		assertState(t, "miss", c.Ask(embeddings, embed, "Authorization", otherClient))
	})
	t.Run("another one", func(t *testing.T) {
		c := start(t, s, lines...)
		again := c.Ask(embeddings, embed)
		assertState(t, "hit", again)
		assert.Equal(t, first.Body, again.Body)
		assert.Len(t, s.received, 2)
		assert.Equal(t, 1, removedBy(t, c, "Authorization", ownKey))
		assertState(t, "miss", c.Ask(embeddings, embed))
		assertState(t, "hit", c.Ask(embeddings, embed, "Authorization", otherClient))
		assert.JSONEq(t, `{"removed":2}`, c.Call(http.MethodDelete, c.AdminURL("/api/v1/cache"), "").Body)
		assertState(t, "miss", c.Ask(embeddings, embed, "Authorization", otherClient))

		server.Kill()
		assertState(t, "miss", c.Ask(embeddings, embed), "the request is served without the cache")
		got := c.Call(http.MethodDelete, c.URL("site", "/v1/cache"), "", "Authorization", ownKey)
		assert.Equal(t, http.StatusServiceUnavailable, got.Status)
		assert.Contains(t, got.Body, "cached answers cannot be removed right now")
		got = c.Call(http.MethodDelete, c.AdminURL("/api/v1/cache"), "")
		assert.Equal(t, http.StatusServiceUnavailable, got.Status)
	})
}
