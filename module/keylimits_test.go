package module_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
)

// limitedKey is the block of a limit and of alice's key, which names it.
func limitedKey(rules ...string) string {
	return "limit small {\n" + strings.Join(rules, "\n") + "\n}\nkey alice {env.KEY_ALICE} {\nlimit small\n}"
}

// asAlice asks with the key that has a limit.
func (s *site) asAlice(path, body string, headers ...string) reply {
	s.t.Helper()
	return s.ask(path, body, append([]string{"Authorization", "Bearer " + aliceKey}, headers...)...)
}

// left is what a header says is left of a rate.
func (r reply) left(t testing.TB, of string) int64 {
	t.Helper()
	value := r.header.Get("Anthropic-Ratelimit-" + of + "-Remaining")
	if value == "" {
		value = r.header.Get("X-Ratelimit-Remaining-" + of)
	}
	n, err := strconv.ParseInt(value, 10, 64)
	require.NoError(t, err, "%v", r.header)
	return n
}

// refusedByLimit demands the answer of a limit that was reached.
func refusedByLimit(t *testing.T, answer reply, what string) {
	t.Helper()
	require.Equal(t, http.StatusTooManyRequests, answer.status, answer.body)
	assert.Equal(t, what+" limit reached for this key", answer.failure(t).Message)
	seconds, err := strconv.Atoi(answer.header.Get("Retry-After"))
	require.NoError(t, err)
	assert.GreaterOrEqual(t, seconds, 1)
}

func TestG120KeysWithLimitsAreToldWhatIsLeft(t *testing.T) {
	setKeys(t)
	eachWay(t, func(t *testing.T, w way) {
		for _, path := range callPaths {
			for _, streaming := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s stream=%t", path, streaming), func(t *testing.T) {
					p := gatewaytest.NewProvider(t)
					s := startSite(t, w.provider("p", p, "models m"), w.provider("other", p, "models translated", "format "+otherFormat(path)),
						limitedKey("requests 3/6m", "tokens 100000/1h"))
					body := bodyFor(path, "m", "hello", streaming)
					first, second := s.asAlice(path, body), s.asAlice(path, bodyFor(path, "translated", "hello", streaming))
					assert.Equal(t, http.StatusOK, first.status, first.body)
					assert.Equal(t, http.StatusOK, second.status, second.body)
					assertQuota(t, path, first, "Requests", 3, 2, 6*time.Minute)
					assertQuota(t, path, second, "Requests", 3, 1, 6*time.Minute)
					assert.Less(t, first.left(t, "Tokens"), int64(100000))
					assertQuota(t, path, first, "Tokens", 100000, first.left(t, "Tokens"), time.Hour)

					third, refused := s.asAlice(path, body), s.asAlice(path, body)
					assertQuota(t, path, third, "Requests", 3, 0, 6*time.Minute)
					refusedByLimit(t, refused, "request rate")
					assertQuota(t, path, refused, "Requests", 3, 0, 6*time.Minute)
					seconds, _ := strconv.Atoi(refused.header.Get("Retry-After"))
					assert.LessOrEqual(t, seconds, 6*60+6)
					assert.Equal(t, 3, p.Count(), "what is refused is sent to nobody")
					assertRefusal(t, path, refused)
					assert.Empty(t, shownLimits(s.ask(path, body)), "a key without a limit")
				})
			}
		}
	})
}

func otherFormat(path string) string {
	if path == messagesPath {
		return "chat"
	}
	return "messages"
}

// assertRefusal demands the body of wire format E.4.
func assertRefusal(t *testing.T, path string, answer reply) {
	t.Helper()
	const message = "request rate limit reached for this key"
	want := `{"error":{"message":"` + message + `","type":"rate_limit_error","param":null,"code":"rate_limit_exceeded"}}`
	if path == messagesPath {
		want = `{"type":"error","error":{"type":"rate_limit_error","message":"` + message + `"},"request_id":"` + answer.header.Get("Request-Id") + `"}`
	}
	assert.JSONEq(t, want, answer.body)
}

// assertQuota demands the headers of one rate, in the client's own family alone.
// A rate is whole again one slot after its time at the latest.
func assertQuota(t *testing.T, path string, answer reply, of string, limit, remaining int64, per time.Duration) {
	t.Helper()
	name := func(what string) string { return "X-Ratelimit-" + what + "-" + of }
	other := "Anthropic-Ratelimit-" + of + "-Limit"
	if path == messagesPath {
		name, other = func(what string) string { return "Anthropic-Ratelimit-" + of + "-" + what }, "X-Ratelimit-Limit-"+of
	}
	assert.Empty(t, answer.header.Get(other))
	assert.Equal(t, fmt.Sprint(limit), answer.header.Get(name("Limit")))
	assert.Equal(t, fmt.Sprint(remaining), answer.header.Get(name("Remaining")))
	reset := answer.header.Get(name("Reset"))
	var in time.Duration
	if path == messagesPath {
		at, err := time.Parse(time.RFC3339, reset)
		require.NoError(t, err)
		assert.True(t, strings.HasSuffix(reset, "Z"), reset)
		in = time.Until(at)
	} else {
		var err error
		in, err = time.ParseDuration(reset)
		require.NoError(t, err)
		assert.Regexp(t, `^(\d+h)?(\d+m)?\d+s$`, reset)
	}
	assert.Positive(t, in)
	assert.LessOrEqual(t, in, per+per/60+2*time.Second)
}

func TestG120QuotasAreOnErrorsToo(t *testing.T) {
	setKeys(t)
	eachWay(t, func(t *testing.T, w way) {
		p := gatewaytest.NewProvider(t)
		s := startSite(t, w.provider("p", p, "models m"), w.provider("chat", p, "models translated", "format chat"),
			w.providerAt("absent", gatewaytest.RefusedAddress(t), "models absent"), limitedKey("requests 1000/1h", "tokens 1000000/1h"))
		assert.Empty(t, shownLimits(s.asAlice(messagesPath, "{")), "what fails before the limit is asked counts for nothing")
		assert.Empty(t, shownLimits(s.asAlice(messagesPath, bodyFor(messagesPath, "unknown", "hello", false))))
		left := int64(1000)
		for name, ask := range map[string]func() reply{
			"of the provider": func() reply {
				p.Script(gatewaytest.Status(400))
				return s.asAlice(messagesPath, bodyFor(messagesPath, "m", "hello", false))
			},
			"of a provider that cannot be reached": func() reply { return s.asAlice(chatPath, bodyFor(chatPath, "absent", "hello", true)) },
			"of the translation": func() reply {
				return s.asAlice(messagesPath, `{"model":"translated","max_tokens":5,"messages":[{"role":"user","content":"hi"}],"tools":[{"type":"web_search_20250305","name":"web_search"}]}`)
			},
		} {
			answer := ask()
			assert.GreaterOrEqual(t, answer.status, 400, name)
			left--
			assert.Equal(t, left, answer.left(t, "Requests"), name)
			last := s.asAlice(chatPath, bodyFor(chatPath, "m", "hello", false))
			left--
			assert.Equal(t, left, last.left(t, "Requests"))
			require.Equal(t, http.StatusOK, last.status)
		}
	})
}

// The gateway's own of the same name win over a provider's (wire format E.5).
func TestQuotasReplaceForwardedOnesOfTheSameName(t *testing.T) {
	setKeys(t)
	eachWay(t, func(t *testing.T, w way) {
		p := gatewaytest.NewProvider(t)
		p.Always(limited(gatewaytest.Answer()))
		s := startSite(t, w.provider("p", p, "forward_ratelimit_headers on"), limitedKey("requests 9/1h"))
		shown := shownLimits(s.asAlice(messagesPath, bodyFor(messagesPath, "m", "hello", false)))
		assert.Equal(t, "9", shown["Anthropic-Ratelimit-Requests-Limit"])
		assert.Equal(t, "8", shown["Anthropic-Ratelimit-Requests-Remaining"])
		assert.Equal(t, vendorLimits["Anthropic-Ratelimit-Tokens-Reset"], shown["Anthropic-Ratelimit-Tokens-Reset"], "of another name")
	})
}

// usedBy is what the usage in an answer, or in the last event of a stream, adds
// up to.
func (s *site) usedBy(answer reply) int64 {
	s.t.Helper()
	var sum float64
	record := s.record(answer.id())
	for _, name := range []string{"input_tokens", "cache_read_tokens", "cache_write_tokens", "output_tokens"} {
		n, _ := record["usage."+name].(float64)
		sum += n
	}
	return int64(sum)
}

func TestTokensThatWereNotUsedAreGivenBack(t *testing.T) {
	setKeys(t)
	eachWay(t, func(t *testing.T, w way) {
		const limit = 1_000_000
		p := gatewaytest.NewProvider(t)
		s := startSite(t, w.provider("p", p, "models m"), w.provider("chat", p, "models translated", "format chat"),
			w.provider("single", p, "models single", "format messages"),
			w.providerAt("absent", gatewaytest.RefusedAddress(t), "models absent"), limitedKey("tokens 1000000/1h"))
		used := int64(0)
		for _, c := range []struct {
			name, path, model, more string
			step                    gatewaytest.Step
			reserves                int64 // at least, beside the prompt
		}{
			{"as the client says", messagesPath, "m", "", nil, 1000},
			{"translated", messagesPath, "translated", "", nil, 1000},
			{"by default", chatPath, "m", "", nil, 4096},
			{"for each answer", completionsPath, "single", `,"n":3,"max_tokens":7000`, nil, 21000},
			{"refused by the provider", chatPath, "m", `,"max_completion_tokens":50000`, gatewaytest.Status(400), 50000},
			{"not sent", chatPath, "absent", `,"max_tokens":60000`, nil, 60000},
			{"not translated", completionsPath, "single", `,"max_tokens":60000,"best_of":7`, nil, 7*60000 + 60}, // as many as are made to choose from
		} {
			for _, streaming := range []bool{false, true} {
				if c.step != nil {
					p.Script(c.step)
				}
				body := bodyFor(c.path, c.model, "hello", streaming)
				answer := s.asAlice(c.path, strings.TrimSuffix(body, "}")+c.more+"}")
				taken := limit - used - answer.left(t, "Tokens")
				assert.Greater(t, taken, c.reserves, c.name)
				assert.Less(t, taken, c.reserves+100, c.name)
				if answer.status == http.StatusOK {
					assert.Positive(t, s.usedBy(answer), c.name)
					used += s.usedBy(answer)
				}
			}
		}
		assert.Positive(t, used)
	})
}

// A client could once read nearly all of its answer, leave before its usage was
// told, and so use what it liked.
func TestWhatIsCutOffKeepsItsEstimate(t *testing.T) {
	setKeys(t)
	eachWay(t, func(t *testing.T, w way) {
		p := gatewaytest.NewProvider(t)
		s := startSite(t, w.provider("p", p), limitedKey("tokens 100000/1h"))
		events := streams[messagesPath]
		p.Script(gatewaytest.InOrder(gatewaytest.Chunks(gatewaytest.EventStream, events[:len(events)-1]...)))
		body := bodyFor(messagesPath, "m", "hello", true)
		cut := s.asAlice(messagesPath, body)
		require.NotNil(t, cut.read(t, messagesPath).failure)
		next := s.asAlice(messagesPath, body)
		assert.Equal(t, 2*(100000-cut.left(t, "Tokens")), 100000-next.left(t, "Tokens"))
	})
}

func TestARequestThatIsTooLargeForTheTokenLimitIsToldNotToComeAgain(t *testing.T) {
	setKeys(t)
	p := gatewaytest.NewProvider(t)
	s := startSite(t, direct.provider("p", p), limitedKey("tokens 1000/1m"))
	for _, path := range callPaths {
		answer := s.asAlice(path, bodyFor(path, "m", "hello", false))
		require.Equal(t, http.StatusTooManyRequests, answer.status)
		assert.Regexp(t, `^this request alone may use \d{4} tokens, more than the token rate limit of 1000 for this key: `, answer.failure(t).Message)
		assert.Equal(t, "false", answer.header.Get("X-Should-Retry"))
		assert.Equal(t, "60", answer.header.Get("Retry-After"))
		assert.Equal(t, int64(1000), answer.left(t, "Tokens"))
	}
	assert.Zero(t, p.Count())
}

func TestCountsOfTokensAreRequestsAndModelsAreNot(t *testing.T) {
	setKeys(t)
	s := startSite(t, demoProvider, limitedKey("requests 2/1h", "tokens 1000000/1h"))
	for range 5 {
		answer := s.list(aliceKey, "/v1/models")
		assert.Equal(t, http.StatusOK, answer.status)
		assert.Empty(t, shownLimits(answer))
	}
	count := `{"model":"demo","messages":[{"role":"user","content":"hi"}]}`
	answer := s.asAlice(countPath, count)
	assert.Equal(t, http.StatusOK, answer.status, answer.body)
	assert.Equal(t, int64(1), answer.left(t, "Requests"))
	assert.Equal(t, int64(1000000), answer.left(t, "Tokens"))
	assert.Equal(t, http.StatusOK, s.asAlice(countPath, count).status)
	refusedByLimit(t, s.asAlice(countPath, count), "request rate")
}

func TestSeveralCallsAreOneRequest(t *testing.T) {
	setKeys(t)
	p := gatewaytest.NewProvider(t)
	s := startSite(t, direct.provider("p", p, "format messages"), limitedKey("requests 9/1h", "concurrent 1"))
	answer := s.asAlice(completionsPath, `{"model":"m","prompt":["a","b"],"n":2,"max_tokens":9}`)
	assert.Equal(t, http.StatusOK, answer.status, answer.body)
	assert.Equal(t, 4, p.Count())
	assert.Equal(t, int64(8), answer.left(t, "Requests"))
}

// meanwhile is asAlice in a goroutine of its own.
func (s *site) meanwhile(path, body string) <-chan reply {
	ended := make(chan reply, 1)
	go func() {
		defer close(ended)
		response, err := s.post(waiting(s.t), path, body, "Authorization", "Bearer "+aliceKey)
		if !assert.NoError(s.t, err) {
			return
		}
		defer func() { _ = response.Body.Close() }()
		raw, err := io.ReadAll(response.Body)
		ended <- reply{response.StatusCode, response.Header, string(raw), err}
	}()
	return ended
}

func TestNoMoreRequestsRunAtOnceThanMay(t *testing.T) {
	setKeys(t)
	eachWay(t, func(t *testing.T, w way) {
		for _, path := range callPaths {
			t.Run(path, func(t *testing.T) { testAtOnce(t, w, path) })
		}
	})
}

func testAtOnce(t *testing.T, w way, path string) {
	p, gate := gatewaytest.NewProvider(t), gatewaytest.NewGate(t)
	s := startSite(t, w.provider("p", p), limitedKey("concurrent 2"))
	stalled := gatewaytest.Stall(gate, gatewaytest.Chunks(gatewaytest.EventStream, streams[path]...))
	p.Script(stalled, stalled)
	body := bodyFor(path, "m", "hello", true)
	first, second := s.meanwhile(path, body), s.meanwhile(path, body)
	require.NoError(t, p.WaitRequests(waiting(t), 2))
	refused := s.asAlice(path, body)
	refusedByLimit(t, refused, "concurrent request")
	assert.Equal(t, "1", refused.header.Get("Retry-After"))
	assert.Empty(t, shownLimits(refused), "there is no header for what runs at once")
	assert.Equal(t, http.StatusOK, s.status(clientKey), "of another key")
	gate.Open()
	assert.True(t, (<-first).read(t, path).complete)
	assert.True(t, (<-second).read(t, path).complete)
	assert.Equal(t, http.StatusOK, s.asAlice(path, body).status)
}

// A client that sends its next request once it has read the last event of an
// answer could once be told that the first request still ran.
func TestOneRequestAfterTheOtherIsNotTwoAtOnce(t *testing.T) {
	setKeys(t)
	eachWay(t, func(t *testing.T, w way) {
		p := gatewaytest.NewProvider(t)
		s := startSite(t, w.provider("p", p, "models m"), w.provider("chat", p, "models translated", "format chat"),
			w.provider("single", p, "models single", "format messages"), limitedKey("concurrent 1", "tokens 1000000/1h"))
		for i := range 60 {
			path := callPaths[i%len(callPaths)]
			for _, body := range []string{
				bodyFor(path, "m", "hello", i%2 == 0), bodyFor(path, "translated", "hello", i%2 == 0),
				`{"model":"single","prompt":["a","b"],"stream":true}`,
			} {
				if strings.Contains(body, "single") {
					path = completionsPath
				}
				answer := s.asAlice(path, body)
				require.Equal(t, http.StatusOK, answer.status, "%d: %s", i, answer.body)
			}
		}
		p.Always(gatewaytest.InOrder(gatewaytest.Chunks(gatewaytest.EventStream, streams[chatPath]...), gatewaytest.Stall(gatewaytest.NewGate(t), more())))
		for range 3 { // the provider has said its last, without any usage, and does not close
			answer := s.open(chatPath, bodyFor(chatPath, "m", "hello", true), "Authorization", "Bearer "+aliceKey)
			require.Equal(t, http.StatusOK, answer.StatusCode)
			for !strings.Contains(answer.next(), "[DONE]") {
			}
		}
	})
}

func TestEveryEndMakesRoomForTheNextRequest(t *testing.T) {
	setKeys(t)
	eachWay(t, func(t *testing.T, w way) {
		p := gatewaytest.NewProvider(t)
		s := startSite(t, w.provider("p", p, "models m"), "provider panicking {\nmodels now later\n}",
			w.providerAt("absent", gatewaytest.RefusedAddress(t), "models absent"), limitedKey("concurrent 1"))
		for name, ask := range map[string]func(){
			"an error":              func() { p.Script(gatewaytest.Status(500)); s.asAlice(chatPath, bodyFor(chatPath, "m", "hello", false)) },
			"nobody there":          func() { s.asAlice(chatPath, bodyFor(chatPath, "absent", "hello", false)) },
			"a broken connection":   func() { p.Script(gatewaytest.Reset()); s.asAlice(chatPath, bodyFor(chatPath, "m", "hello", true)) },
			"a panic":               func() { s.asAlice(chatPath, bodyFor(chatPath, "now", "hello", false)) },
			"a panic in the middle": func() { s.asAlice(chatPath, bodyFor(chatPath, "later", "hello", true)) },
			"a client that leaves":  func() { s.leaveEarly(p) },
		} {
			ask()
			s.becomes(aliceKey, http.StatusOK)
			require.False(t, t.Failed(), name)
		}
	})
}

// leaveEarly is a client of alice's that goes away before its answer begins.
func (s *site) leaveEarly(p *gatewaytest.Provider) {
	gate := gatewaytest.NewGate(s.t)
	p.Script(gatewaytest.Stall(gate, gatewaytest.Answer()))
	ctx, leave := context.WithCancel(s.t.Context())
	before, done := p.Count(), make(chan struct{})
	go func() {
		defer close(done)
		response, err := s.post(ctx, chatPath, bodyFor(chatPath, "m", "hello", true), "Authorization", "Bearer "+aliceKey)
		if err == nil {
			_ = response.Body.Close()
		}
	}()
	require.NoError(s.t, p.WaitRequests(waiting(s.t), before+1))
	leave()
	<-done
}

func TestAReloadForgetsNoLimit(t *testing.T) {
	setKeys(t)
	p, gate := gatewaytest.NewProvider(t), gatewaytest.NewGate(t)
	lines := []string{direct.provider("p", p), limitedKey("requests 3/1h", "concurrent 1")}
	s := startSite(t, lines...).persistently()
	p.Script(gatewaytest.Stall(gate, gatewaytest.Answer()))
	ended := s.meanwhile(chatPath, bodyFor(chatPath, "m", "hello", false))
	require.NoError(t, p.WaitRequests(waiting(t), 1))
	require.NoError(t, s.Reload(siteBlock("", append(lines, "max_body 1MiB")...)))
	refusedByLimit(t, s.asAlice(chatPath, bodyFor(chatPath, "m", "hello", false)), "concurrent request")
	gate.Open()
	assert.Equal(t, http.StatusOK, (<-ended).status)
	last := s.asAlice(chatPath, bodyFor(chatPath, "m", "hello", false))
	assert.Equal(t, int64(1), last.left(t, "Requests"), last.body)
}

func TestKeysOfALimitThatIsNotThereAreRefused(t *testing.T) {
	setKeys(t)
	path, rewrite := keysFile(t, "key alice {env.KEY_ALICE}")
	s := startSite(t, demoProvider, "keys_file "+path)
	assert.ErrorContains(t, s.Reload(siteBlock("", demoProvider, "key bob {env.KEY_BOB} {\nlimit small\n}")),
		"key 'bob' names the limit 'small', which is not defined")
	rewrite("# one line", "key bob {env.KEY_BOB}", "key alice {env.KEY_ALICE} {", "limit small", "}")
	require.NoError(t, s.Logs.Wait(waiting(t), "key 'alice' names the limit 'small', which is not defined, at "+path+":3"))
	assert.Equal(t, http.StatusOK, s.status(aliceKey), "the keys that were there before stay")
	assert.Equal(t, http.StatusUnauthorized, s.status(bobKey))

	assert.ErrorContains(t, s.Reload(siteBlock("", demoProvider, "keys_file "+path)), "names the limit 'small'")
	require.NoError(t, s.Reload(siteBlock("", demoProvider, "keys_file "+path, "limit small {\nrequests 1/1h\n}")))
	assert.Equal(t, http.StatusOK, s.status(aliceKey))
	s.becomes(aliceKey, http.StatusTooManyRequests) // the old configuration may have taken a connection more
}

func TestSitesInheritLimitsAndAddToThem(t *testing.T) {
	setKeys(t)
	limit := func(name string) string { return "limit " + name + " {\nrequests 1/1h\n}\n" }
	key := func(name, limit string) string {
		return "key " + name + " {env.KEY_" + strings.ToUpper(name) + "} {\nlimit " + limit + "\n}\n"
	}
	global := func(lines ...string) string {
		return "{\nai_gateway {\n" + demoProvider + "\n" + strings.Join(lines, "") + "}\n}\n"
	}
	s := startCaddyfile(t, global(limit("small"), key("alice", "small"))+siteBlock("", limit("tiny"), key("bob", "small")))
	for _, k := range []string{aliceKey, bobKey} {
		assert.Equal(t, http.StatusOK, s.status(k))
		assert.Equal(t, http.StatusTooManyRequests, s.status(k), "each key counts by itself")
	}
	assert.ErrorContains(t, s.Reload(global(limit("small"))+siteBlock("", limit("small"))), "limit 'small': is defined twice")
	assert.ErrorContains(t, s.Reload(global(key("alice", "small"))+siteBlock("", limit("small"))), "names the limit 'small'")
	assert.ErrorContains(t, s.Reload(global("counters memory\n")+siteBlock("", "counters memory")), "counters is set in the global option")
	require.NoError(t, s.Reload(global("counters memory\n")+siteBlock("", limit("small"), key("bob", "small"))))
	assert.Equal(t, http.StatusTooManyRequests, s.status(bobKey), "the same limit, wherever it stands")
}

// A user could once make a key without the limit that an administrator had
// given to the first one, or as many keys as quotas were wanted.
func TestNoUserGetsRoundTheLimitOfUsers(t *testing.T) {
	s := startSite(t, demoProvider, "limit of-users {\nrequests 2/1h\n}", "limit large {\nrequests 9/1h\n}", "accounts {\nlimit of-users\n}")
	s.addUser("alice")
	s.addUser("bob")
	alice := s.as("site", "alice")
	for body, status := range map[string]int{
		`{"name":"k","group":"large"}`: http.StatusForbidden, `{"name":"k","group":""}`: http.StatusOK, `{"name":"k","group":"of-users"}`: http.StatusOK,
	} {
		answer := alice.ask(http.MethodPost, "/api/token/", body)
		assert.Equal(t, status, answer.status, body)
		if status == http.StatusOK {
			assert.Equal(t, "of-users", answer.field(t, "group"))
		}
	}
	id, key := alice.newKey()
	for _, body := range []string{`{"id":` + id + `,"group":""}`, `{"id":` + id + `,"group":"large"}`} {
		assert.Equal(t, http.StatusForbidden, alice.ask(http.MethodPut, "/api/token/", body).status, body)
	}
	_, other := alice.newKey()
	assert.Equal(t, http.StatusOK, s.status(key))
	assert.Equal(t, http.StatusOK, s.status(other))
	assert.Equal(t, http.StatusTooManyRequests, s.status(key), "all keys of a user share the limit")
	assert.Equal(t, http.StatusOK, alice.ask(http.MethodDelete, "/api/token/"+id, "").status)
	_, fresh := alice.newKey()
	assert.Equal(t, http.StatusTooManyRequests, s.status(fresh))
	_, ofBob := s.as("site", "bob").newKey()
	assert.Equal(t, http.StatusOK, s.status(ofBob))

	assert.ErrorContains(t, s.Reload(siteBlock("", demoProvider, "accounts {\nlimit of-users\n}")), "accounts: the limit 'of-users' is not defined")
	require.NoError(t, s.Reload(siteBlock("", demoProvider)))
	s.becomes(ofBob, http.StatusForbidden)
	answer := s.ask(chatPath, bodyFor(chatPath, "m", "hi", false), "Authorization", "Bearer "+ofBob)
	assert.Equal(t, http.StatusForbidden, answer.status, "a key that was meant to be bounded does not become free")
	assert.Contains(t, answer.body, "the limit of this key is not configured")
}
