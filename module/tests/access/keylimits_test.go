package access_test

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// limitedKey is the block of a limit and of alice's key, which names it.
func limitedKey(rules ...string) string {
	return "limit small {\n" + strings.Join(rules, "\n") + "\n}\nkey alice {env.KEY_ALICE} {\nlimit small\n}"
}

// askAsAlice sends a request with the key that has a limit.
func askAsAlice(s *site.Site, path, body string) site.Reply {
	s.T.Helper()
	return s.Ask(path, body, "Authorization", "Bearer "+site.AliceKey)
}

// remaining returns the remaining amount of a rate in the headers of an answer.
func remaining(t testing.TB, r site.Reply, unit string) int64 {
	t.Helper()
	value := r.Header.Get("Anthropic-Ratelimit-" + unit + "-Remaining")
	if value == "" {
		value = r.Header.Get("X-Ratelimit-Remaining-" + unit)
	}
	n, err := strconv.ParseInt(value, 10, 64)
	require.NoError(t, err, "%v", r.Header)
	return n
}

// refusedByLimit checks that a limit has refused the request.
func refusedByLimit(t *testing.T, answer site.Reply, what string) {
	t.Helper()
	require.Equal(t, http.StatusTooManyRequests, answer.Status, answer.Body)
	assert.Equal(t, what+" limit reached for this key", answer.Failure(t).Message)
	seconds, err := strconv.Atoi(answer.Header.Get("Retry-After"))
	require.NoError(t, err)
	assert.GreaterOrEqual(t, seconds, 1)
}

func TestG120KeysWithLimitsGetWhatIsLeftOfThem(t *testing.T) {
	site.SetKeys(t)
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		for _, path := range site.ClientPaths {
			for _, streaming := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s stream=%t", path, streaming), func(t *testing.T) {
					p := gatewaytest.NewProvider(t)
					s := site.Start(t, w.Provider("p", p, "models m"), w.Provider("other", p, "models translated", "format "+otherFormat(path)),
						limitedKey("requests 3/6m", "tokens 100000/1h"))
					body := site.BodyFor(path, "m", "hello", streaming)
					first, second := askAsAlice(s, path, body), askAsAlice(s, path, site.BodyFor(path, "translated", "hello", streaming))
					assert.Equal(t, http.StatusOK, first.Status, first.Body)
					assert.Equal(t, http.StatusOK, second.Status, second.Body)
					assertQuota(t, path, first, "Requests", 3, 2, 6*time.Minute)
					assertQuota(t, path, second, "Requests", 3, 1, 6*time.Minute)
					assert.Less(t, remaining(t, first, "Tokens"), int64(100000))
					assertQuota(t, path, first, "Tokens", 100000, remaining(t, first, "Tokens"), time.Hour)

					third, refused := askAsAlice(s, path, body), askAsAlice(s, path, body)
					assertQuota(t, path, third, "Requests", 3, 0, 6*time.Minute)
					refusedByLimit(t, refused, "request rate")
					assertQuota(t, path, refused, "Requests", 3, 0, 6*time.Minute)
					seconds, _ := strconv.Atoi(refused.Header.Get("Retry-After"))
					assert.LessOrEqual(t, seconds, 6*60+6)
					assert.Equal(t, 3, p.Count(), "what is refused is sent to nobody")
					assertRefusal(t, path, refused)
					assert.Empty(t, s.Ask(path, body).RateLimits(), "a key without a limit")
				})
			}
		}
	})
}

func otherFormat(path string) string {
	if path == site.MessagesPath {
		return "chat"
	}
	return "messages"
}

// assertRefusal demands the body of wire format E.4.
func assertRefusal(t *testing.T, path string, answer site.Reply) {
	t.Helper()
	const message = "request rate limit reached for this key"
	want := `{"error":{"message":"` + message + `","type":"rate_limit_error","param":null,"code":"rate_limit_exceeded"}}`
	switch path {
	case site.GeminiPath:
		want = `{"error":{"code":429,"message":"` + message + `","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"` + answer.Header.Get("Retry-After") + `s"}]}}`
	case site.MessagesPath:
		want = `{"type":"error","error":{"type":"rate_limit_error","message":"` + message + `"},"request_id":"` + answer.Header.Get("Request-Id") + `"}`
	}
	assert.JSONEq(t, want, answer.Body)
}

// assertQuota checks the headers of one rate, which must have only the names of the client's
// format. A rate is full again at most one slot after its period.
func assertQuota(t *testing.T, path string, answer site.Reply, unit string, limit, remaining int64, period time.Duration) {
	t.Helper()
	name := func(what string) string { return "X-Ratelimit-" + what + "-" + unit }
	other := "Anthropic-Ratelimit-" + unit + "-Limit"
	if path == site.MessagesPath {
		name, other = func(what string) string { return "Anthropic-Ratelimit-" + unit + "-" + what }, "X-Ratelimit-Limit-"+unit
	}
	assert.Empty(t, answer.Header.Get(other))
	assert.Equal(t, fmt.Sprint(limit), answer.Header.Get(name("Limit")))
	assert.Equal(t, fmt.Sprint(remaining), answer.Header.Get(name("Remaining")))
	reset := answer.Header.Get(name("Reset"))
	var wait time.Duration
	if path == site.MessagesPath {
		moment, err := time.Parse(time.RFC3339, reset)
		require.NoError(t, err)
		assert.True(t, strings.HasSuffix(reset, "Z"), reset)
		wait = time.Until(moment)
	} else {
		var err error
		wait, err = time.ParseDuration(reset)
		require.NoError(t, err)
		assert.Regexp(t, `^(\d+h)?(\d+m)?\d+s$`, reset)
	}
	assert.Positive(t, wait)
	assert.LessOrEqual(t, wait, period+period/60+2*time.Second)
}

func TestG120QuotasAreOnErrorsToo(t *testing.T) {
	site.SetKeys(t)
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		p := gatewaytest.NewProvider(t)
		s := site.Start(t, w.Provider("p", p, "models m"), w.Provider("chat", p, "models translated", "format chat"),
			w.ProviderAt("absent", gatewaytest.RefusedAddress(t), "models absent"), limitedKey("requests 1000/1h", "tokens 1000000/1h"))
		assert.Empty(t, askAsAlice(s, site.MessagesPath, "{").RateLimits(), "what fails before the limit is asked counts for nothing")
		assert.Empty(t, askAsAlice(s, site.MessagesPath, site.BodyFor(site.MessagesPath, "unknown", "hello", false)).RateLimits())
		left := int64(1000)
		for name, ask := range map[string]func() site.Reply{
			"of the provider": func() site.Reply {
				p.Script(gatewaytest.Status(400))
				return askAsAlice(s, site.MessagesPath, site.BodyFor(site.MessagesPath, "m", "hello", false))
			},
			"of a provider that cannot be reached": func() site.Reply {
				return askAsAlice(s, site.ChatPath, site.BodyFor(site.ChatPath, "absent", "hello", true))
			},
			"of the translation": func() site.Reply {
				return askAsAlice(s, site.MessagesPath, `{"model":"translated","max_tokens":5,"messages":[{"role":"user","content":"hi"}],"tools":[{"type":"web_search_20250305","name":"web_search"}]}`)
			},
		} {
			answer := ask()
			assert.GreaterOrEqual(t, answer.Status, 400, name)
			left--
			assert.Equal(t, left, remaining(t, answer, "Requests"), name)
			last := askAsAlice(s, site.ChatPath, site.BodyFor(site.ChatPath, "m", "hello", false))
			left--
			assert.Equal(t, left, remaining(t, last, "Requests"))
			require.Equal(t, http.StatusOK, last.Status)
		}
	})
}

// Headers of the gateway take precedence over headers of a provider with the same name (wire
// format E.5).
func TestQuotasReplaceForwardedOnesOfTheSameName(t *testing.T) {
	site.SetKeys(t)
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		p := gatewaytest.NewProvider(t)
		p.Always(limited(gatewaytest.Answer()))
		s := site.Start(t, w.Provider("p", p, "forward_ratelimit_headers on"), limitedKey("requests 9/1h"))
		shown := askAsAlice(s, site.MessagesPath, site.BodyFor(site.MessagesPath, "m", "hello", false)).RateLimits()
		assert.Equal(t, "9", shown["Anthropic-Ratelimit-Requests-Limit"])
		assert.Equal(t, "8", shown["Anthropic-Ratelimit-Requests-Remaining"])
		assert.Equal(t, vendorLimits["Anthropic-Ratelimit-Tokens-Reset"], shown["Anthropic-Ratelimit-Tokens-Reset"], "of another name")
	})
}

// usedBy returns the sum of the usage in an answer, or in the last event of a
// stream.
func usedBy(s *site.Site, answer site.Reply) int64 {
	s.T.Helper()
	var sum float64
	record := s.Record(answer.ID())
	for _, name := range []string{"input_tokens", "cache_read_tokens", "cache_write_tokens", "output_tokens"} {
		n, _ := record["usage."+name].(float64)
		sum += n
	}
	return int64(sum)
}

func TestTokensThatWereNotUsedAreGivenBack(t *testing.T) {
	site.SetKeys(t)
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		const limit = 1_000_000
		p := gatewaytest.NewProvider(t)
		s := site.Start(t, w.Provider("p", p, "models m"), w.Provider("chat", p, "models translated", "format chat"),
			w.Provider("single", p, "models single", "format messages"),
			w.ProviderAt("absent", gatewaytest.RefusedAddress(t), "models absent"), limitedKey("tokens 1000000/1h"))
		used := int64(0)
		for _, c := range []struct {
			name, path, model, more string
			step                    gatewaytest.Step
			reserves                int64 // at least, beside the prompt
		}{
			{"as the client says", site.MessagesPath, "m", "", nil, 1000},
			{"translated", site.MessagesPath, "translated", "", nil, 1000},
			{"by default", site.ChatPath, "m", "", nil, 4096},
			{"for each answer", site.CompletionsPath, "single", `,"n":3,"max_tokens":7000`, nil, 21000},
			{"refused by the provider", site.ChatPath, "m", `,"max_completion_tokens":50000`, gatewaytest.Status(400), 50000},
			{"not sent", site.ChatPath, "absent", `,"max_tokens":60000`, nil, 60000},
			{"not translated", site.CompletionsPath, "single", `,"max_tokens":60000,"best_of":7`, nil, 7*60000 + 60}, // as many as are made to choose from
		} {
			for _, streaming := range []bool{false, true} {
				if c.step != nil {
					p.Script(c.step)
				}
				body := site.BodyFor(c.path, c.model, "hello", streaming)
				answer := askAsAlice(s, c.path, strings.TrimSuffix(body, "}")+c.more+"}")
				taken := limit - used - remaining(t, answer, "Tokens")
				assert.Greater(t, taken, c.reserves, c.name)
				assert.Less(t, taken, c.reserves+100, c.name)
				if answer.Status == http.StatusOK {
					assert.Positive(t, usedBy(s, answer), c.name)
					used += usedBy(s, answer)
				}
			}
		}
		assert.Positive(t, used)
	})
}

// A client could once exceed its limits: it read nearly the whole answer, and left before
// the usage was reported.
func TestWhatIsCutOffKeepsItsEstimate(t *testing.T) {
	site.SetKeys(t)
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		p := gatewaytest.NewProvider(t)
		s := site.Start(t, w.Provider("p", p), limitedKey("tokens 100000/1h"))
		events := site.Streams[site.MessagesPath]
		p.Script(gatewaytest.InOrder(gatewaytest.Chunks(gatewaytest.EventStream, events[:len(events)-1]...)))
		body := site.BodyFor(site.MessagesPath, "m", "hello", true)
		cut := askAsAlice(s, site.MessagesPath, body)
		require.NotNil(t, cut.Read(t, site.MessagesPath).Failure)
		next := askAsAlice(s, site.MessagesPath, body)
		assert.Equal(t, 2*(100000-remaining(t, cut, "Tokens")), 100000-remaining(t, next, "Tokens"))
	})
}

func TestARequestThatIsTooLargeForTheTokenLimitIsNotToBeRetried(t *testing.T) {
	site.SetKeys(t)
	p := gatewaytest.NewProvider(t)
	s := site.Start(t, site.Direct.Provider("p", p), limitedKey("tokens 1000/1m"))
	for _, path := range site.ClientPaths {
		answer := askAsAlice(s, path, site.BodyFor(path, "m", "hello", false))
		require.Equal(t, http.StatusTooManyRequests, answer.Status)
		assert.Regexp(t, `^this request alone may use \d{4} tokens, more than the token rate limit of 1000 for this key: `, answer.Failure(t).Message)
		assert.Equal(t, "false", answer.Header.Get("X-Should-Retry"))
		assert.Empty(t, answer.Header.Get("Retry-After"), "waiting does not help")
		assert.Equal(t, int64(1000), remaining(t, answer, "Tokens"))
	}
	assert.Zero(t, p.Count())
}

func TestCountsOfTokensAreRequestsAndModelsAreNot(t *testing.T) {
	site.SetKeys(t)
	s := site.Start(t, site.DemoProvider, limitedKey("requests 2/1h", "tokens 1000000/1h"))
	for range 5 {
		answer := s.List(site.AliceKey, "/v1/models")
		assert.Equal(t, http.StatusOK, answer.Status)
		assert.Empty(t, answer.RateLimits())
	}
	count := `{"model":"demo","messages":[{"role":"user","content":"hi"}]}`
	answer := askAsAlice(s, site.CountPath, count)
	assert.Equal(t, http.StatusOK, answer.Status, answer.Body)
	assert.Equal(t, int64(1), remaining(t, answer, "Requests"))
	assert.Equal(t, int64(1000000), remaining(t, answer, "Tokens"))
	assert.Equal(t, http.StatusOK, askAsAlice(s, site.CountPath, count).Status)
	refusedByLimit(t, askAsAlice(s, site.CountPath, count), "request rate")
}

func TestSeveralCallsAreOneRequest(t *testing.T) {
	site.SetKeys(t)
	p := gatewaytest.NewProvider(t)
	s := site.Start(t, site.Direct.Provider("p", p, "format messages"), limitedKey("requests 9/1h", "concurrent 1"))
	answer := askAsAlice(s, site.CompletionsPath, `{"model":"m","prompt":["a","b"],"n":2,"max_tokens":9}`)
	assert.Equal(t, http.StatusOK, answer.Status, answer.Body)
	assert.Equal(t, 4, p.Count())
	assert.Equal(t, int64(8), remaining(t, answer, "Requests"))
}

// askMeanwhile is askAsAlice in a goroutine of its own.
func askMeanwhile(s *site.Site, path, body string) <-chan site.Reply {
	ended := make(chan site.Reply, 1)
	go func() {
		defer close(ended)
		response, err := s.Send(site.Waiting(s.T), path, body, "Authorization", "Bearer "+site.AliceKey)
		if !assert.NoError(s.T, err) {
			return
		}
		ended <- site.ReadReply(response)
	}()
	return ended
}

func TestNoMoreRequestsRunAtOnceThanMay(t *testing.T) {
	site.SetKeys(t)
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		for _, path := range site.ClientPaths {
			t.Run(path, func(t *testing.T) { testAtOnce(t, w, path) })
		}
	})
}

func testAtOnce(t *testing.T, w site.Way, path string) {
	p, gate := gatewaytest.NewProvider(t), gatewaytest.NewGate(t)
	s := site.Start(t, w.Provider("p", p), limitedKey("concurrent 2"))
	stalled := gatewaytest.Stall(gate, gatewaytest.Chunks(gatewaytest.EventStream, site.Streams[path]...))
	p.Script(stalled, stalled)
	body := site.BodyFor(path, "m", "hello", true)
	first, second := askMeanwhile(s, path, body), askMeanwhile(s, path, body)
	require.NoError(t, p.WaitRequests(site.Waiting(t), 2))
	refused := askAsAlice(s, path, body)
	refusedByLimit(t, refused, "concurrent request")
	assert.Equal(t, "1", refused.Header.Get("Retry-After"))
	assert.Empty(t, refused.RateLimits(), "there is no header for what runs at once")
	assert.Equal(t, http.StatusOK, site.Status(s, site.ClientKey), "of another key")
	gate.Open()
	assert.True(t, (<-first).Read(t, path).Complete)
	assert.True(t, (<-second).Read(t, path).Complete)
	assert.Equal(t, http.StatusOK, askAsAlice(s, path, body).Status)
}

// If a client sent its next request directly after the last event of an answer, the request
// was sometimes refused, because the first request still counted.
func TestOneRequestAfterTheOtherIsNotTwoAtOnce(t *testing.T) {
	site.SetKeys(t)
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		p := gatewaytest.NewProvider(t)
		s := site.Start(t, w.Provider("p", p, "models m"), w.Provider("chat", p, "models translated", "format chat"),
			w.Provider("single", p, "models single", "format messages"), limitedKey("concurrent 1", "tokens 1000000/1h"))
		for i := range 60 {
			path := site.ClientPaths[i%len(site.ClientPaths)]
			for _, body := range []string{
				site.BodyFor(path, "m", "hello", i%2 == 0), site.BodyFor(path, "translated", "hello", i%2 == 0),
				`{"model":"single","prompt":["a","b"],"stream":true}`,
			} {
				if strings.Contains(body, "single") {
					path = site.CompletionsPath
				}
				answer := askAsAlice(s, path, body)
				require.Equal(t, http.StatusOK, answer.Status, "%d: %s", i, answer.Body)
			}
		}
		p.Always(gatewaytest.InOrder(gatewaytest.Chunks(gatewaytest.EventStream, site.Streams[site.ChatPath]...), gatewaytest.Stall(gatewaytest.NewGate(t), gatewaytest.More())))
		for range 3 { // the provider has sent the last event, without any usage, and does not close
			answer := s.Open(site.ChatPath, site.BodyFor(site.ChatPath, "m", "hello", true), "Authorization", "Bearer "+site.AliceKey)
			require.Equal(t, http.StatusOK, answer.StatusCode)
			for !strings.Contains(answer.Next(), "[DONE]") {
			}
		}
	})
}

func TestEveryEndMakesRoomForTheNextRequest(t *testing.T) {
	site.SetKeys(t)
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		p := gatewaytest.NewProvider(t)
		s := site.Start(t, w.Provider("p", p, "models m"), "provider panicking {\nmodels now later\n}",
			w.ProviderAt("absent", gatewaytest.RefusedAddress(t), "models absent"), limitedKey("concurrent 1"))
		for name, ask := range map[string]func(){
			"an error": func() {
				p.Script(gatewaytest.Status(500))
				askAsAlice(s, site.ChatPath, site.BodyFor(site.ChatPath, "m", "hello", false))
			},
			"nobody there": func() { askAsAlice(s, site.ChatPath, site.BodyFor(site.ChatPath, "absent", "hello", false)) },
			"a broken connection": func() {
				p.Always(gatewaytest.Reset())
				defer p.Always(nil)
				askAsAlice(s, site.ChatPath, site.BodyFor(site.ChatPath, "m", "hello", true))
			},
			"a panic":               func() { askAsAlice(s, site.ChatPath, site.BodyFor(site.ChatPath, "now", "hello", false)) },
			"a panic in the middle": func() { askAsAlice(s, site.ChatPath, site.BodyFor(site.ChatPath, "later", "hello", true)) },
			"a client that leaves":  func() { leaveEarly(s, p) },
		} {
			ask()
			site.WaitStatus(s, site.AliceKey, http.StatusOK)
			require.False(t, t.Failed(), name)
		}
	})
}

// leaveEarly asks with alice's key and leaves before the answer begins.
func leaveEarly(s *site.Site, p *gatewaytest.Provider) {
	gate := gatewaytest.NewGate(s.T)
	p.Script(gatewaytest.Stall(gate, gatewaytest.Answer()))
	ctx, leave := context.WithCancel(s.T.Context())
	before, done := p.Count(), make(chan struct{})
	go func() {
		defer close(done)
		response, err := s.Send(ctx, site.ChatPath, site.BodyFor(site.ChatPath, "m", "hello", true), "Authorization", "Bearer "+site.AliceKey)
		if err == nil {
			_ = response.Body.Close()
		}
	}()
	require.NoError(s.T, p.WaitRequests(site.Waiting(s.T), before+1))
	leave()
	<-done
}

func TestAReloadForgetsNoLimit(t *testing.T) {
	site.SetKeys(t)
	p, gate := gatewaytest.NewProvider(t), gatewaytest.NewGate(t)
	lines := []string{site.Direct.Provider("p", p), limitedKey("requests 3/1h", "concurrent 1")}
	s := site.Start(t, lines...)
	p.Script(gatewaytest.Stall(gate, gatewaytest.Answer()))
	ended := askMeanwhile(s, site.ChatPath, site.BodyFor(site.ChatPath, "m", "hello", false))
	require.NoError(t, p.WaitRequests(site.Waiting(t), 1))
	require.NoError(t, s.Reload(site.Block("", append(lines, "max_body 1MiB")...)))
	refusedByLimit(t, askAsAlice(s, site.ChatPath, site.BodyFor(site.ChatPath, "m", "hello", false)), "concurrent request")
	gate.Open()
	assert.Equal(t, http.StatusOK, (<-ended).Status)
	last := askAsAlice(s, site.ChatPath, site.BodyFor(site.ChatPath, "m", "hello", false))
	assert.Equal(t, int64(1), remaining(t, last, "Requests"), last.Body)
}

func TestSitesInheritLimitsAndAddToThem(t *testing.T) {
	site.SetKeys(t)
	limit := func(name string) string { return "limit " + name + " {\nrequests 1/1h\n}\n" }
	key := func(name, limit string) string {
		return "key " + name + " {env.KEY_" + strings.ToUpper(name) + "} {\nlimit " + limit + "\n}\n"
	}
	global := func(lines ...string) string {
		return "{\nai_gateway {\n" + site.DemoProvider + "\n" + strings.Join(lines, "") + "}\n}\n"
	}
	s := site.StartCaddyfile(t, global(limit("small"), key("alice", "small"))+site.Block("", limit("tiny"), key("bob", "small")))
	for _, k := range []string{site.AliceKey, site.BobKey} {
		assert.Equal(t, http.StatusOK, site.Status(s, k))
		assert.Equal(t, http.StatusTooManyRequests, site.Status(s, k), "each key counts by itself")
	}
	assert.ErrorContains(t, s.Reload(global(limit("small"))+site.Block("", limit("small"))), "limit 'small': is defined twice")
	assert.ErrorContains(t, s.Reload(global(key("alice", "small"))+site.Block("", limit("small"))), "names the limit 'small'")
	assert.ErrorContains(t, s.Reload(global("counters memory\n")+site.Block("", "counters memory")), "counters is set in the global option")
	require.NoError(t, s.Reload(global("counters memory\n")+site.Block("", limit("small"), key("bob", "small"))))
	assert.Equal(t, http.StatusTooManyRequests, site.Status(s, site.BobKey), "the same limit, wherever it stands")
}

// The administrator got the key, and every request with it 403.
func TestAKeyCannotNameALimitThatNoSiteDefines(t *testing.T) {
	s := site.StartCaddyfile(t, "{\nai_gateway {\n"+site.DemoProvider+"\nlimit shared {\nrequests 9/1h\n}\n}\n}\n"+
		site.Block("", "limit tiny {\nrequests 1/1h\n}"))
	s.AddUser("alice")
	create := func(limit string) site.Reply {
		return askAdmin(s, http.MethodPost, "/api/v1/keys", `{"user":"alice","name":"k","limit":"`+limit+`"}`)
	}
	for _, limit := range []string{"shared", "tiny", ""} {
		assert.Equal(t, http.StatusOK, create(limit).Status, limit)
	}
	refused := create("huge")
	assert.Equal(t, http.StatusBadRequest, refused.Status)
	assert.JSONEq(t, `{"title":"Bad Request","status":400,"detail":"limit: the limit 'huge' is not defined; the limits of the configuration are: shared, tiny"}`, refused.Body)
}

// A user could once create a key without the limit that an administrator had set for
// another key, or get more quota by creating more keys.
func TestNoUserGetsRoundTheLimitOfUsers(t *testing.T) {
	s := site.Start(t, site.DemoProvider, "limit of-users {\nrequests 2/1h\n}", "limit large {\nrequests 9/1h\n}", "accounts {\nlimit of-users\n}")
	s.AddUser("alice")
	s.AddUser("bob")
	alice := logInAs(s, "site", "alice")
	for body, status := range map[string]int{
		`{"name":"k","group":"large"}`: http.StatusForbidden, `{"name":"k","group":""}`: http.StatusOK, `{"name":"k","group":"of-users"}`: http.StatusOK,
	} {
		answer := alice.ask(http.MethodPost, "/api/token/", body)
		assert.Equal(t, status, answer.Status, body)
		if status == http.StatusOK {
			assert.Equal(t, "of-users", dataField(t, answer, "group"))
		}
	}
	id, key := alice.newKey()
	for _, body := range []string{`{"id":` + id + `,"group":""}`, `{"id":` + id + `,"group":"large"}`} {
		assert.Equal(t, http.StatusForbidden, alice.ask(http.MethodPut, "/api/token/", body).Status, body)
	}
	_, other := alice.newKey()
	assert.Equal(t, http.StatusOK, site.Status(s, key))
	assert.Equal(t, http.StatusOK, site.Status(s, other))
	assert.Equal(t, http.StatusTooManyRequests, site.Status(s, key), "all keys of a user share the limit")
	assert.Equal(t, http.StatusOK, alice.ask(http.MethodDelete, "/api/token/"+id, "").Status)
	_, fresh := alice.newKey()
	assert.Equal(t, http.StatusTooManyRequests, site.Status(s, fresh))
	_, ofBob := logInAs(s, "site", "bob").newKey()
	assert.Equal(t, http.StatusOK, site.Status(s, ofBob))

	assert.ErrorContains(t, s.Reload(site.Block("", site.DemoProvider, "accounts {\nlimit of-users\n}")), "accounts: the limit 'of-users' is not defined")
	require.NoError(t, s.Reload(site.Block("", site.DemoProvider)))
	site.WaitStatus(s, ofBob, http.StatusForbidden)
	answer := s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", "hi", false), "Authorization", "Bearer "+ofBob)
	assert.Equal(t, http.StatusForbidden, answer.Status, "a key that was meant to be bounded does not become free")
	assert.Contains(t, answer.Body, "the limit of this key is not configured")
}
