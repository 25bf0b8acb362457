package relay_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// admin gets a path of the admin API.
func admin(t *testing.T, s *site.Site, path string, want int) map[string]any {
	t.Helper()
	response := s.Get(s.AdminURL(path))
	reply := site.ReadReply(response)
	require.Equal(t, want, reply.Status, reply.Body)
	var answer map[string]any
	require.NoError(t, json.Unmarshal([]byte(reply.Body), &answer))
	return answer
}

func TestOperatorsSeeWhichTargetsRest(t *testing.T) {
	s, p := startKeys(t, site.Direct)
	assert.Len(t, admin(t, s, "/api/v1/targets", http.StatusOK)["items"], 2, "an entry for each API key of a provider of any model")
	require.NoError(t, s.Reload(site.Block("", site.Direct.Provider("p", p, "models m", "api_key {env.FIRST_KEY} {env.SECOND_KEY}"))))
	p.Always(keyed("sk-first", gatewaytest.Status(http.StatusTooManyRequests, "Retry-After", "60")))
	for range 20 {
		s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", "hello", false))
	}
	require.NoError(t, p.WaitSettled(site.Waiting(t)))
	list := admin(t, s, "/api/v1/targets", http.StatusOK)["items"].([]any)
	require.Len(t, list, 2)
	first, second := list[0].(map[string]any), list[1].(map[string]any)
	assert.Equal(t, "{env.FIRST_KEY}", first["api_key"], "the reference, never the key")
	assert.Equal(t, "resting", first["state"])
	assert.Equal(t, "rate_limited", first["last_failure"])
	assert.NotEmpty(t, first["rest_until"])
	assert.Equal(t, map[string]any{
		"provider": "p", "upstream_model": "m", "api_key": "{env.SECOND_KEY}", "weight": 1.0, "state": "available", "running": 0.0,
	}, second)
}

// Two providers with one address share what is known of its models, and each listed the models of both.
func TestAModelIsListedForTheProvidersThatItLeadsTo(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	s := site.Start(t, site.Direct.Provider("open", p, "models open-*"), site.Direct.Provider("bounded", p, "models bounded-*"), "model named {\nto bounded/x\n}")
	p.Always(gatewaytest.Status(http.StatusInternalServerError))
	for _, model := range []string{"open-1", "bounded-1", "named"} {
		s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, model, "hello", false))
	}
	require.NoError(t, p.WaitSettled(site.Waiting(t)))
	var listed []string
	for _, item := range admin(t, s, "/api/v1/targets", http.StatusOK)["items"].([]any) {
		listed = append(listed, fmt.Sprint(item.(map[string]any)["provider"], "/", item.(map[string]any)["upstream_model"]))
	}
	assert.ElementsMatch(t, []string{"open/open-1", "bounded/bounded-1", "bounded/x"}, listed)
}

// Keys of users, which are the ones that need an explanation, once were unknown here.
func TestOperatorsSeeWhatAKeyOfAUserMayUse(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	s := site.Start(t, site.Direct.Provider("p", p), "limit small {\nconcurrent 2\n}")
	s.AddUser("alice")
	made := s.Call(http.MethodPost, s.AdminURL("/api/v1/keys"), `{"user":"alice","name":"laptop","models":["m*"],"limit":"small"}`)
	require.Equal(t, http.StatusOK, made.Status, made.Body)
	var key struct{ ID int }
	require.NoError(t, json.Unmarshal([]byte(made.Body), &key))
	for _, id := range []string{fmt.Sprint(key.ID), fmt.Sprint("key_", key.ID)} {
		for model, allowed := range map[string]bool{"m1": true, "other": false} {
			answer := admin(t, s, "/api/v1/explain?format=chat&model="+model+"&key="+id, http.StatusOK)["key"].(map[string]any)
			assert.Equal(t, fmt.Sprint("key_", key.ID), answer["id"])
			assert.Equal(t, allowed, answer["allowed"])
			assert.Len(t, answer["limits"], 1)
		}
	}
	unknown := admin(t, s, "/api/v1/explain?format=chat&model=m1&key=999", http.StatusNotFound)
	assert.Contains(t, unknown["detail"], "no key has this id")
}

// A key of another site than the first with the model was once unknown.
func TestOperatorsSeeWhatAKeyOfAnySiteMayUse(t *testing.T) {
	t.Setenv("CLIENT_KEY_2", "sk-another-key-of-clients")
	s := site.StartCaddyfile(t, site.Block("", site.DemoProvider)+
		"http://127.0.0.1:PORT(second) {\nai_gateway {\nkey other {env.CLIENT_KEY_2}\n"+site.DemoProvider+"\n}\n}\n")
	for _, key := range []string{"client", "other"} {
		answer := admin(t, s, "/api/v1/explain?format=chat&model=m1&key="+key, http.StatusOK)
		assert.Equal(t, key, answer["key"].(map[string]any)["id"])
	}
}

// The first site with a model that matches was explained, though another has a model of just this name, and the
// answer did not name the site.
func TestOperatorsSeeWhichSiteIsExplained(t *testing.T) {
	t.Setenv("CLIENT_KEY_2", "sk-another-key-of-clients")
	s := site.StartCaddyfile(t, site.Block("", "provider demo {\nmodels *\n}")+
		"http://127.0.0.1:PORT(second) {\nai_gateway {\nkey other {env.CLIENT_KEY_2}\nprovider demo {\nmodels off\n}\nmodel m1 {\nto demo/x\n}\n}\n}\n")
	second := fmt.Sprint("127.0.0.1:", s.Port("second"))
	first := fmt.Sprint("127.0.0.1:", s.Port("site"))
	for query, want := range map[string]string{
		"model=m1":                          second, // exactly this name
		"model=m1&key=client":               first,  // the only one with the key
		"model=m1&site=" + first:            first,
		"model=m1&site=http://" + first:     first,
		"model=m1&key=other&site=" + second: second,
		"model=m2":                          first, // the only one with the model
	} {
		explained := admin(t, s, "/api/v1/explain?"+query, http.StatusOK)["site"].(map[string]any)
		assert.Equal(t, []any{"http://" + want}, explained["addresses"], query)
		others := []any{}
		if query == "model=m1" {
			others = append(others, "http://"+first)
		}
		assert.Equal(t, others, explained["others"], query)
	}
	for query, want := range map[string]string{
		"model=m1&site=127.0.0.2":            "no site has this host or address",
		"model=m2&site=" + second:            "no model has this name",
		"model=m1&key=client&site=" + second: "no key has this id",
	} {
		assert.Contains(t, admin(t, s, "/api/v1/explain?"+query, http.StatusNotFound)["detail"], want, query)
	}
}

// The shares of a provider with two API keys were once "1 of 4" for each key, beside "3 of
// 4" for the other target.
func TestSharesOfAPIKeysAddUpToOne(t *testing.T) {
	t.Setenv("FIRST_KEY", "sk-first")
	t.Setenv("SECOND_KEY", "sk-second")
	a, b := gatewaytest.NewProvider(t), gatewaytest.NewProvider(t)
	s := site.Start(t, site.Direct.Provider("a", a, "models off"), site.Direct.Provider("b", b, "models off", "api_key {env.FIRST_KEY} {env.SECOND_KEY}"),
		"model m {\nto a weight 3\nto b weight 1\n}")
	shares := make(map[string]any)
	for _, item := range admin(t, s, "/api/v1/explain?model=m&format=chat", http.StatusOK)["targets"].([]any) {
		target := item.(map[string]any)
		key, _ := target["api_key"].(string)
		shares[target["provider"].(string)+key] = []any{target["weight"], target["step_weight"]}
	}
	assert.Equal(t, map[string]any{"a": []any{3.0, 4.0}, "b{env.FIRST_KEY}": []any{1.0, 8.0}, "b{env.SECOND_KEY}": []any{1.0, 8.0}}, shares)
}

func TestOperatorsSeeWhereRequestsGo(t *testing.T) {
	t.Setenv("CLIENT_KEY_2", "sk-another-key-of-clients")
	a, b := gatewaytest.NewProvider(t), gatewaytest.NewProvider(t)
	s := site.Start(t, site.Direct.Provider("a", a, "models off", "format messages"), site.Direct.Provider("b", b, "models off", "format chat"),
		"model m* {\nto a/x weight 2\nto b/y weight 1\n}", "limit small {\nrequests 9/1m\nconcurrent 2\nwithin large\n}", "limit large {\ntokens 5/30d\nper group\n}", "limit all {\nconcurrent 7\nper gateway\n}", "key other {env.CLIENT_KEY_2} {\nmodels n*\nlimit small\n}")
	answer := admin(t, s, "/api/v1/explain?model=m1&format=messages&key=other", http.StatusOK)
	assert.Equal(t, "m*", answer["pattern"])
	assert.Equal(t, map[string]any{"id": "other", "allowed": false, "reason": "its models are n*", "priority": "normal", "limits": []any{
		map[string]any{"name": "small", "per": "user", "rules": "9 requests per 1m, 2 at once"},
		map[string]any{"name": "large", "per": "group", "rules": "5 tokens per 30d"},
		map[string]any{"name": "all", "per": "gateway", "rules": "7 at once"},
	}}, answer["key"], "limits that the key does not name apply too")
	list := answer["targets"].([]any)
	require.Len(t, list, 2)
	first, second := list[0].(map[string]any), list[1].(map[string]any)
	assert.Equal(t, []any{"a", "x", "messages", "bytes", 2.0, 3.0}, []any{first["provider"], first["upstream_model"], first["format"], first["lane"], first["weight"], first["step_weight"]})
	assert.Equal(t, []any{"b", "y", "chat", "translated"}, []any{second["provider"], second["upstream_model"], second["format"], second["lane"]})
	assert.NotEmpty(t, second["reported"], "what a translation leaves out")

	admin(t, s, "/api/v1/explain?model=nobody&format=chat", http.StatusNotFound)
	refused := admin(t, s, "/api/v1/explain?model=m1&format=morse", http.StatusBadRequest)
	assert.Equal(t, "unknown format; known are [messages chat completions responses gemini]", refused["detail"])
	admin(t, s, "/api/v1/explain?model=m1&format=chat&key=nobody", http.StatusNotFound)
}

// An operator could not see to which arm a customer belongs, nor that requests were copied or waited.
func TestOperatorsSeeArmsMirrorsAndQueues(t *testing.T) {
	t.Setenv("CLIENT_KEY_2", "sk-another-key-of-clients")
	a, b, copied := gatewaytest.NewProvider(t), gatewaytest.NewProvider(t), gatewaytest.NewProvider(t)
	s := site.Start(t, "customer header.X-Customer", "limit first {\npriority high\n}", "key vip {env.CLIENT_KEY_2} {\nlimit first\n}",
		site.Direct.Provider("a", a, "models off", "max_running 5", "queue 200 30s"), site.Direct.Provider("b", b, "models off"),
		site.Direct.Provider("c", copied, "models off"),
		"model m {\nto a/x weight 1\nto b/x weight 1\nsplit_by customer\nmirror c/y 0.5%\n}")
	firsts := make(map[any]int)
	for i := range 40 {
		customer := fmt.Sprint("customer", i)
		answer := admin(t, s, "/api/v1/explain?format=chat&model=m&key=vip&customer="+customer, http.StatusOK)
		first := answer["targets"].([]any)[0].(map[string]any)
		firsts[first["provider"]]++
		assert.Equal(t, []any{"customer", "split", "c/y 0.5%"}, []any{answer["split_by"], answer["choice"], answer["mirror"]})
		assert.Equal(t, "high", answer["key"].(map[string]any)["priority"])
		asked := s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", "hello", false), "X-Customer", customer)
		assert.Equal(t, first["provider"], s.Record(asked.ID())["provider"], "the arm of the customer, whatever the key")
		if first["provider"] == "a" {
			assert.Equal(t, "200 30s", first["queue"])
		}
	}
	assert.Len(t, firsts, 2)
	sessions := admin(t, s, "/api/v1/explain?format=chat&model=m", http.StatusOK)
	assert.Equal(t, "session", sessions["choice"], "of no customer and no key")
}
