package relay_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// resting are two providers for the model "m", of which the first rests after failures.
type resting struct {
	*site.Site
	first, second *gatewaytest.Provider
	config        string
}

func startResting(t *testing.T, w site.Way) resting {
	t.Helper()
	first, second := gatewaytest.NewProvider(t), gatewaytest.NewProvider(t)
	lines := []string{
		w.Provider("first", first, "models 1"), w.Provider("second", second, "models 2"),
		"model m {\nto first\nto second\n}",
	}
	// Two sites of one process, at addresses of their own.
	config := site.Block("", lines...) + "http://127.0.0.1:PORT(other) {\nai_gateway {\nkey client {env.CLIENT_KEY}\n" +
		lines[0] + lines[1] + lines[2] + "\n}\n}\n"
	return resting{site.StartCaddyfile(t, config), first, second, config}
}

func (r resting) ask(t *testing.T) {
	t.Helper()
	answer := r.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", "hello", false))
	assert.Equal(t, http.StatusOK, answer.Status, answer.Body)
}

// While the first target failed, every request once had to wait for its failure.
func TestATargetThatFailsRestsForAllSitesAndOverReloads(t *testing.T) {
	site.EachWay(t, func(t *testing.T, w site.Way) {
		s := startResting(t, w)
		s.first.Always(gatewaytest.Status(http.StatusServiceUnavailable))
		for range 8 {
			s.ask(t)
		}
		assert.Equal(t, 5, s.first.Count(), "five failures in a row")
		require.NoError(t, s.Logs.Wait(site.Waiting(t), "provider rests, other targets are asked first"))

		response := s.Post(s.URL("other", site.ChatPath), site.BodyFor(site.ChatPath, "m", "hello", false), "Authorization", "Bearer "+site.ClientKey)
		assert.Equal(t, http.StatusOK, response.StatusCode)
		require.NoError(t, response.Body.Close())
		assert.Equal(t, 5, s.first.Count(), "the other site knows")

		require.NoError(t, s.Reload(s.config))
		require.Error(t, s.Reload(s.config+"http://127.0.0.1:PORT(third) {\nai_gateway {\ncooldown never\n}\n}\n"))
		s.ask(t)
		assert.Equal(t, 5, s.first.Count(), "so does the next configuration")

		s.first.Always(nil)
		answer := s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "1", "hello", false))
		assert.Equal(t, http.StatusOK, answer.Status, "without another target, one that rests is asked")
	})
}

func TestARateLimitedTargetRestsUntilTheProviderWantsToBeAsked(t *testing.T) {
	site.EachWay(t, func(t *testing.T, w site.Way) {
		s := startResting(t, w)
		s.first.Script(gatewaytest.Status(http.StatusTooManyRequests, "Retry-After", "60"))
		for range 3 {
			s.ask(t)
		}
		assert.Equal(t, 1, s.first.Count())
		assert.Equal(t, 3, s.second.Count())
	})
}

// Otherwise, the bad requests of one client would move the requests of all others. The
// images that clients sent to a llama.cpp without a model for them once did so.
func TestRequestsThatAProviderBlamesLetNothingRest(t *testing.T) {
	s := startResting(t, site.Direct)
	for _, refusal := range []gatewaytest.Step{
		gatewaytest.Status(400), gatewaytest.Status(404), gatewaytest.Status(413), gatewaytest.Status(422),
		gatewaytest.Body(500, "application/json", []byte(`{"error":{"code":500,"message":"image input is not supported - hint: if this is unexpected, you may need to provide the mmproj","type":"server_error"}}`)),
	} {
		s.first.Always(refusal)
		for range 6 {
			s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", "hello", false))
		}
	}
	assert.Equal(t, 30, s.first.Count())
}

// When every target rests, the provider's own time to wait reaches the client.
func TestRetryAfterReachesTheClientWhenAllTargetsRest(t *testing.T) {
	s := startResting(t, site.Direct)
	for range 2 {
		s.first.Always(gatewaytest.Status(http.StatusTooManyRequests, "Retry-After", "61"))
		s.second.Always(gatewaytest.Status(http.StatusTooManyRequests, "Retry-After", "47"))
		answer := s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", "hello", false))
		assert.Equal(t, http.StatusTooManyRequests, answer.Status)
		assert.Equal(t, "47", answer.Header.Get("Retry-After"), "of the target that recovers first")
	}
	assert.Equal(t, 1, s.first.Count())
	assert.Equal(t, 2, s.second.Count())
}

// A target that was silent until the deadline of the exchange did not count as one that fails: each request
// waited for it until its own deadline, and none came to the next target.
func TestATargetThatIsSilentUntilTheDeadlineRests(t *testing.T) {
	first, second := gatewaytest.NewProvider(t), gatewaytest.NewProvider(t)
	gate := gatewaytest.NewGate(t)
	s := site.Start(t, "deadline 600ms",
		site.Direct.Provider("first", first, "models 1", "response_header_timeout 400ms"), site.Direct.Provider("second", second, "models 2"),
		"model both {\nto first/m\nto second/m\n}", "model late {\nto second/m\nto first/m\n}")
	ask := func(model string, want int) {
		t.Helper()
		assert.Equal(t, want, s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, model, "hello", false)).Status)
	}
	silent := gatewaytest.Stall(gate, gatewaytest.Answer())
	first.Always(silent)
	second.Always(silent)
	for range 5 {
		ask("both", http.StatusGatewayTimeout)
	}
	assert.Equal(t, 5, first.Count())
	first.Always(nil)
	shared := second.Count()
	for range 5 {
		ask("late", http.StatusGatewayTimeout)
	}
	assert.Equal(t, shared+5, second.Count(), "it does not rest after deadlines of which it had less than half")
	assert.Equal(t, 5, first.Count())
	ask("late", http.StatusOK)
	assert.Equal(t, []int{6, shared + 5}, []int{first.Count(), second.Count()}, "both rest, and the rest of the first ends first")
	list := admin(t, s, "/api/v1/targets", http.StatusOK)["items"].([]any)
	assert.Equal(t, "timed_out", list[len(list)-1].(map[string]any)["last_failure"])
}

// keyed answers calls with one API key by step, and all other calls normally.
func keyed(key string, step gatewaytest.Step) gatewaytest.Step {
	return func(c *gatewaytest.Call) {
		if c.Request.Header.Get("Authorization") == "Bearer "+key {
			step(c)
			return
		}
		gatewaytest.Answer()(c)
	}
}

// startKeys is a provider with two API keys.
func startKeys(t *testing.T, w site.Way) (*site.Site, *gatewaytest.Provider) {
	t.Helper()
	t.Setenv("FIRST_KEY", "sk-first")
	t.Setenv("SECOND_KEY", "sk-second")
	p := gatewaytest.NewProvider(t)
	return site.Start(t, w.Provider("p", p, "api_key {env.FIRST_KEY} {env.SECOND_KEY}")), p
}

// credentials counts the requests of a provider by their credential.
func credentials(p *gatewaytest.Provider) map[string]int {
	counts := make(map[string]int)
	for _, r := range p.Requests() {
		counts[fmt.Sprint(r.Header["Authorization"])]++
	}
	return counts
}

func TestAnAPIKeyThatIsRefusedRests(t *testing.T) {
	site.EachWay(t, func(t *testing.T, w site.Way) {
		for _, status := range []int{401, 402, 429} {
			t.Run(fmt.Sprint(status), func(t *testing.T) {
				s, p := startKeys(t, w)
				p.Always(keyed("sk-first", gatewaytest.Status(status, "Retry-After", "60")))
				for range 20 {
					answer := s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", "hello", false))
					require.Equal(t, http.StatusOK, answer.Status, answer.Body)
					assert.Equal(t, 1.0, s.Record(answer.ID())["attempts"], "another key is no other target")
				}
				assert.Equal(t, map[string]int{"[Bearer sk-first]": 1, "[Bearer sk-second]": 20}, credentials(p))
			})
		}
	})
}

func TestAPIKeysShareRequestsAndKeepSessions(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		s, p := startKeys(t, w)
		for range 40 {
			s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", "hello", false))
		}
		before := credentials(p)
		assert.Len(t, before, 2)
		assert.Greater(t, before["[Bearer sk-first]"], 5)
		for range 20 {
			s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", "hello", false), "X-Claude-Code-Session-Id", "one session")
		}
		after := credentials(p)
		assert.Contains(t, []int{0, 20}, after["[Bearer sk-first]"]-before["[Bearer sk-first]"])
	})
}

// A failure that does not concern the API key must not be repeated with each API key.
func TestOtherFailuresDoNotTryEveryAPIKey(t *testing.T) {
	s, p := startKeys(t, site.Direct)
	p.Always(gatewaytest.Status(http.StatusInternalServerError))
	s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", "hello", false))
	assert.Equal(t, 1, p.Count())
}

func TestSessionsStayWithTheTargetOfAStep(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		a, b := gatewaytest.NewProvider(t), gatewaytest.NewProvider(t)
		s := site.Start(t, w.Provider("a", a, "models a"), w.Provider("b", b, "models b"),
			"model m {\nto a weight 1\nto b weight 1\n}")
		ask := func(session int) {
			answer := s.Ask(site.MessagesPath, site.BodyFor(site.MessagesPath, "m", "hello", true), "X-Claude-Code-Session-Id", fmt.Sprint(session))
			assert.Equal(t, http.StatusOK, answer.Status, answer.Body)
		}
		for session := range 12 {
			before := a.Count()
			ask(session)
			first := a.Count() - before
			for range 3 {
				ask(session)
			}
			assert.Equal(t, 4*first, a.Count()-before, "session %d", session)
		}
		assert.Positive(t, a.Count())
		assert.Positive(t, b.Count())
	})
}

func TestWithoutAffinitySessionsAreSpread(t *testing.T) {
	a, b := gatewaytest.NewProvider(t), gatewaytest.NewProvider(t)
	s := site.Start(t, "affinity off", site.Direct.Provider("a", a, "models a"), site.Direct.Provider("b", b, "models b"),
		"model m {\nto a weight 1\nto b weight 1\n}")
	for range 60 {
		s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", "hello", false), "X-Claude-Code-Session-Id", "one session")
	}
	assert.Positive(t, a.Count())
	assert.Positive(t, b.Count())
}

// In a pool of equal servers, the requests of a conversation go to the server that has
// cached its beginning, whatever session the client names.
func TestConversationsStayAtTheAddressThatHasTheirBeginning(t *testing.T) {
	a, b := gatewaytest.NewProvider(t), gatewaytest.NewProvider(t)
	s := site.Start(t, "provider pool vllm {\nto "+a.Address()+" "+b.Address()+"\nlb_policy ai_prefix_hash\n}")
	for conversation := range 40 { // the ports of the servers decide who gets which one: of 12, one server once got all
		before := a.Count()
		turns := fmt.Sprintf(`{"role":"system","content":"be kind"},{"role":"user","content":"question %d"}`, conversation)
		for turn := range 4 {
			answer := s.Ask(site.ChatPath, `{"model":"m","messages":[`+turns+`]}`, "X-Claude-Code-Session-Id", fmt.Sprint(turn))
			require.Equal(t, http.StatusOK, answer.Status, answer.Body)
			turns += fmt.Sprintf(`,{"role":"assistant","content":"answer"},{"role":"user","content":"more %d"}`, turn)
		}
		assert.Contains(t, []int{0, 4}, a.Count()-before, "conversation %d", conversation)
	}
	assert.Positive(t, a.Count())
	assert.Positive(t, b.Count())
}

// Times of more than a day were left out for clients, and so no target rested by them: each request called it.
func TestATargetThatWantsToRestForDaysRests(t *testing.T) {
	for name, refusal := range map[string]gatewaytest.Step{
		"seconds":      gatewaytest.Status(429, "Retry-After", "287441"),
		"milliseconds": gatewaytest.Status(429, "Retry-After-Ms", "90000000"),
		"a date":       gatewaytest.Status(429, "Retry-After", "Wed, 21 Oct 2099 07:28:00 GMT"),
		"overloaded":   gatewaytest.Status(503, "Retry-After", "90000"),
		"a message":    gatewaytest.Body(429, "application/json", []byte(`{"error":{"message":"Your quota will reset after 27h41m36s."}}`)),
		"a member": gatewaytest.Body(429, "application/json", []byte(`{"error":{"type":"usage_limit_reached",`+
			`"message":"The usage limit has been reached","resets_at":1777936568,"resets_in_seconds":602705}}`)),
		"details": gatewaytest.Body(429, "application/json", []byte(`{"error":{"message":"slow","details":[`+
			`{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"99696.5s"}]}}`)),
	} {
		t.Run(name, func(t *testing.T) {
			s := startResting(t, site.Direct)
			s.first.Always(refusal)
			for range 4 {
				s.ask(t)
			}
			assert.Equal(t, 1, s.first.Count())
			s.second.Always(refusal)
			answer := s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", "hello", false))
			assert.Equal(t, "false", answer.Header.Get("X-Should-Retry"), "no client waits for days")
			assert.Empty(t, answer.Header.Get("Retry-After")+answer.Header.Get("Retry-After-Ms"))
		})
	}
}

// The client got the wait of the last target, though another one recovers earlier.
func TestTheClientGetsTheShortestTimeToWait(t *testing.T) {
	s := startResting(t, site.Direct)
	s.first.Always(gatewaytest.Status(429, "Retry-After", "9"))
	s.second.Always(gatewaytest.Status(503, "Retry-After", "300"))
	answer := s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", "hello", false))
	assert.Equal(t, http.StatusServiceUnavailable, answer.Status)
	assert.Equal(t, "9", answer.Header.Get("Retry-After"))
}
