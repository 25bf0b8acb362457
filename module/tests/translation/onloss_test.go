package translation_test

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	_ "github.com/caddyserver/caddy/v2/modules/metrics" // the directive
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// What a chat provider without reasoning_effort has no place for.
const (
	losesHint = `{"model":"m","max_tokens":9,"cache_control":{"type":"ephemeral"},"messages":[{"role":"user","content":"x"}]}`
)

// The header was once ignored: with x-gateway-on-loss: reject, a client got answers to
// requests that had lost a field.
func TestAClientMayRefuseLossesThatShapeTheAnswer(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		p := gatewaytest.NewProvider(t)
		s := site.Start(t, w.Provider("p", p, "format chat"))
		assert.Equal(t, http.StatusOK, s.Ask(site.MessagesPath, losesEffort).Status)
		assert.Equal(t, http.StatusOK, s.Ask(site.MessagesPath, losesEffort, "x-gateway-on-loss", "warn").Status)
		assert.Equal(t, http.StatusOK, s.Ask(site.MessagesPath, losesHint, "x-gateway-on-loss", "reject").Status, "a hint shapes nothing")
		count := p.Count()
		refused := s.Ask(site.MessagesPath, losesEffort, "x-gateway-on-loss", "reject")
		assert.Equal(t, http.StatusBadRequest, refused.Status)
		assert.Equal(t, "thinking: cannot be translated for model 'm' (upstream format chat): x-gateway-on-loss asks to refuse what would be lost",
			refused.Failure(t).Message)
		assert.Equal(t, count, p.Count(), "nobody was asked")
	})
}

// The error was once that of fields that cannot be translated at all, so that it did not
// show that a setting had refused the request.
func TestARefusalByASettingNamesTheSetting(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		s := site.Start(t, w.Provider("p", gatewaytest.NewProvider(t), "format chat", "on_loss reject"))
		assert.Equal(t, "thinking: cannot be translated for model 'm' (upstream format chat): the gateway is set to refuse what would be lost",
			s.Ask(site.MessagesPath, losesEffort).Failure(t).Message)
	})
}

// The last setting of provider, model and target counts. A client can only ask for
// more strictness.
func TestOnLossIsSetByProviderModelAndTarget(t *testing.T) {
	const reject = "on_loss reject"
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		p := gatewaytest.NewProvider(t)
		for _, c := range []struct {
			provider, model, target string
			want                    int
		}{
			{want: http.StatusOK},
			{provider: reject, want: http.StatusBadRequest},
			{model: reject, want: http.StatusBadRequest},
			{target: reject, want: http.StatusBadRequest},
			{provider: reject, model: "on_loss warn", want: http.StatusOK},
			{model: reject, target: "on_loss warn", want: http.StatusOK},
			{provider: reject, model: "sampling one", want: http.StatusBadRequest},
		} {
			t.Run(fmt.Sprintf("%+v", c), func(t *testing.T) {
				s := site.Start(t, w.Provider("p", p, "format chat", c.provider),
					"model m {\nto p {\n"+c.target+"\n}\n"+c.model+"\n}")
				assert.Equal(t, c.want, s.Ask(site.MessagesPath, losesEffort).Status)
				assert.Equal(t, c.want, s.Ask(site.MessagesPath, losesEffort, "x-gateway-on-loss", "warn").Status, "never less strict")
				assert.Equal(t, http.StatusBadRequest, s.Ask(site.MessagesPath, losesEffort, "x-gateway-on-loss", "reject").Status)
				assert.Equal(t, http.StatusOK, s.Ask(site.MessagesPath, losesHint).Status, "a hint shapes nothing")
			})
		}
	})
}

func TestAStrictTargetIsPassedOverForOneThatLosesNothing(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		chat, messages := gatewaytest.NewProvider(t), gatewaytest.NewProvider(t)
		s := site.Start(t, w.Provider("chatting", chat, "format chat", "models 1"), w.Provider("conversing", messages, "format messages", "models 2"),
			"model m {\nto chatting\nto conversing\non_loss reject\n}")
		answer := s.Ask(site.MessagesPath, losesEffort)
		assert.Equal(t, http.StatusOK, answer.Status)
		assert.Equal(t, "conversing", s.Record(answer.ID())["provider"])
		assert.Zero(t, chat.Count())
		assert.NotContains(t, answer.Header, "X-Gateway-Dropped", "its own bytes lost nothing")
	})
}

func TestTraitsOfAModelShapeItsRequestsAlone(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		p := gatewaytest.NewProvider(t)
		s := site.Start(t, w.Provider("p", p, "format chat", "reasoning_effort low high", "user_field none"),
			"model deep {\nto p {\nreasoning_effort off\n}\nuser_field user\n}",
			"model other {\nto p\n}")
		asked := func(model string) map[string]any {
			body := strings.Replace(losesEffort, `"m"`, `"`+model+`","metadata":{"user_id":"u1"}`, 1)
			assert.Equal(t, http.StatusOK, s.Ask(site.MessagesPath, body).Status)
			return p.LastJSON(t)
		}
		deep := asked("deep")
		assert.NotContains(t, deep, "reasoning_effort")
		assert.Equal(t, "u1", deep["user"])
		for _, model := range []string{"other", "unheard-of"} {
			asked := asked(model)
			assert.Equal(t, "low", asked["reasoning_effort"], model)
			assert.NotContains(t, asked, "user", model)
		}
	})
}

// A trait of a model applies on the byte lane, too.
func TestTraitsOfAModelShapeTheEditsOfItsBytes(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		p := gatewaytest.NewProvider(t)
		s := site.Start(t, w.Provider("p", p), "model m {\nto p\ninclude_usage off\n}")
		require.Equal(t, http.StatusOK, s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", "x", true)).Status)
		assert.NotContains(t, p.LastJSON(t), "stream_options")
		require.Equal(t, http.StatusOK, s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "other", "x", true)).Status)
		assert.Contains(t, p.LastJSON(t), "stream_options")
	})
}

func TestLossesAreReportedToTheClient(t *testing.T) {
	const losing = `{"model":"m","max_tokens":9,"speed":"fast","temperature":0.5,"top_k":4,"unheard_of":1,"b\u0000r":2,%s` +
		`"messages":[{"role":"user","content":[{"type":"text","text":"x","cache_control":{}},{"type":"text","text":"y","cache_control":{}}]}]}`
	const want = "speed,unheard_of,?,messages.*.content.*.cache_control,top_k"
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		p := gatewaytest.NewProvider(t)
		s := site.Start(t, w.Provider("p", p, "format chat", "extensions min_p"))
		for _, stream := range []string{"", `"stream":true,`} {
			answer := s.Ask(site.MessagesPath, fmt.Sprintf(losing, stream))
			require.Equal(t, http.StatusOK, answer.Status, answer.Body)
			assert.Equal(t, []string{want}, answer.Header["X-Gateway-Dropped"])
			record := s.Record(answer.ID())
			assert.Equal(t, strings.Replace(want, "unheard_of,", "", 1), record["losses"], "? stands for a name of the client's")
			assert.NotContains(t, record, "losses_unreported")
		}
		whole := s.Ask(site.MessagesPath, site.BodyFor(site.MessagesPath, "m", "x", false))
		assert.NotContains(t, whole.Header, "X-Gateway-Dropped", "nothing was lost")
		assert.NotContains(t, s.Record(whole.ID()), "losses")
	})
}

func TestTheReportOfLossesIsBounded(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		p := gatewaytest.NewProvider(t)
		s := site.Start(t, w.Provider("p", p, "format chat"))
		const fields = 300
		var unknown strings.Builder
		for i := range fields {
			fmt.Fprintf(&unknown, `"unknown_%d":1,`, i)
		}
		answer := s.Ask(site.MessagesPath, "{"+unknown.String()+site.BodyFor(site.MessagesPath, "m", "x", false)[1:])
		require.Equal(t, http.StatusOK, answer.Status, answer.Body)
		report := answer.Header.Get("X-Gateway-Dropped")
		assert.LessOrEqual(t, len(report), 1024)
		assert.Greater(t, len(report), 1000)
		paths := strings.Split(report, ",")
		more, err := strconv.Atoi(strings.TrimPrefix(paths[len(paths)-1], "+"))
		require.NoError(t, err, report)
		assert.Equal(t, fields, len(paths)-1+more)
		assert.Equal(t, "unknown_0", paths[0])
		assert.Equal(t, "?", s.Record(answer.ID())["losses"])
	})
}

func TestOnlyLossesOfTheTargetThatAnsweredAreReported(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		first, second := gatewaytest.NewProvider(t), gatewaytest.NewProvider(t)
		s := site.Start(t, w.Provider("first", first, "format chat", "models 1"),
			w.Provider("second", second, "format chat", "models 2", "reasoning_effort low"),
			"model m {\nto first\nto second\n}")
		first.Script(gatewaytest.Status(http.StatusServiceUnavailable))
		answer := s.Ask(site.MessagesPath, strings.Replace(losesEffort, "{", `{"speed":"fast",`, 1))
		require.Equal(t, http.StatusOK, answer.Status)
		assert.Equal(t, "speed", answer.Header.Get("X-Gateway-Dropped"), "the second takes an effort")

		first.Script(gatewaytest.Status(http.StatusServiceUnavailable))
		second.Script(gatewaytest.Status(http.StatusServiceUnavailable))
		failed := s.Ask(site.MessagesPath, losesEffort)
		assert.GreaterOrEqual(t, failed.Status, 500)
		assert.NotContains(t, failed.Header, "X-Gateway-Dropped", "nobody answered")
	})
}

// After the first keep-alive, the header cannot be sent any more.
func TestLossesFoundAfterAnEarlyCommitAreOnlyLogged(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		p := gatewaytest.NewProvider(t)
		s := site.Start(t, "commit_after 1ms", "keep_alive 5ms", w.Provider("p", p, "format chat"))
		for body, unreported := range map[string]any{
			strings.Replace(losesHint, "{", `{"stream":true,`, 1): true,
			site.BodyFor(site.MessagesPath, "m", "x", true):       nil,
		} {
			gate := gatewaytest.NewGate(t)
			p.Script(gatewaytest.Stall(gate, gatewaytest.Answer()))
			answer := s.Open(site.MessagesPath, body)
			assert.True(t, site.IsKeepAlive(site.MessagesPath, answer.Next()))
			gate.Open()
			whole := answer.Rest()
			assert.NotContains(t, whole.Header, "X-Gateway-Dropped")
			record := s.Record(whole.ID())
			assert.Equal(t, "answered", record["outcome"])
			assert.Equal(t, unreported, record["losses_unreported"])
		}
	})
}

func TestWhatIsLeftOutOfAnAnswerIsLogged(t *testing.T) {
	const chunk = `data: {"model":"x","choices":[{"index":0,"delta":{"content":"Hi","annotations":[{"type":"url_citation"}]},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"
	const body = `{"model":"x","choices":[{"index":0,"message":{"content":"Hi","annotations":[{"type":"url_citation"}]},"finish_reason":"stop"}]}`
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		p := gatewaytest.NewProvider(t)
		s := site.Start(t, w.Provider("p", p, "format chat"))
		for streaming, script := range map[bool]gatewaytest.Step{
			false: gatewaytest.Body(http.StatusOK, "application/json", []byte(body)),
			true:  gatewaytest.Body(http.StatusOK, "text/event-stream", []byte(chunk)),
		} {
			p.Script(script)
			answer := s.Ask(site.MessagesPath, site.BodyFor(site.MessagesPath, "m", "x", streaming))
			require.Equal(t, http.StatusOK, answer.Status, answer.Body)
			assert.Contains(t, answerText(t, answer, site.MessagesPath, streaming), "Hi")
			assert.NotContains(t, answer.Header, "X-Gateway-Dropped", "the header tells of requests")
			assert.Equal(t, "choices[*].message.annotations", s.Record(answer.ID())["answer_losses"])
		}
	})
}

// scrapedMetrics returns the counters of losses, as the site shows them at /metrics.
func scrapedMetrics(s *site.Site) map[string]string {
	s.T.Helper()
	response := s.Get(s.URL("site", "/metrics"))
	defer func() { _ = response.Body.Close() }()
	raw, err := io.ReadAll(response.Body)
	require.NoError(s.T, err)
	counters := make(map[string]string)
	for line := range strings.Lines(string(raw)) {
		if rest, ok := strings.CutPrefix(line, "caddy_ai_gateway_losses_total"); ok {
			labels, value, _ := strings.Cut(strings.TrimSpace(rest), "} ")
			counters[labels+"}"] = value
		}
	}
	return counters
}

func TestLossesAreCountedByNamesThatNoClientChose(t *testing.T) {
	const body = `{"model":"m","max_tokens":9,"speed":"fast","odd_%d":1,"messages":[{"role":"user","content":"x"}]}`
	labels := func(provider, client, target, class, field string) string {
		return `{class="` + class + `",field="` + field + `",from="` + client + `",provider="` + provider + `",to="` + target + `"}`
	}
	name := exchange.NewID("counted-") // counters go on as long as the process
	p := gatewaytest.NewProvider(t)
	block := site.Block("metrics /metrics\n", site.Direct.Provider(name, p, "format chat"))
	s := site.StartCaddyfile(t, block)
	for i := range 3 {
		require.Equal(t, http.StatusOK, s.Ask(site.MessagesPath, fmt.Sprintf(body, i)).Status)
	}
	p.Script(gatewaytest.Body(http.StatusOK, "application/json", []byte(`{"choices":[{"message":{"content":"x"},"finish_reason":"bored"}]}`)))
	require.Equal(t, http.StatusOK, s.Ask(site.MessagesPath, site.BodyFor(site.MessagesPath, "m", "x", false)).Status)
	p.Script(gatewaytest.Status(http.StatusServiceUnavailable))
	require.NotEqual(t, http.StatusOK, s.Ask(site.MessagesPath, fmt.Sprintf(body, 0)).Status)
	require.Equal(t, http.StatusOK, s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", "x", false)).Status)
	s.Record(s.Ask(site.MessagesPath, site.BodyFor(site.MessagesPath, "m", "x", false)).ID()) // the one before has ended
	want := map[string]string{
		labels(name, "messages", "chat", "hint", "speed"):                      "3",
		labels(name, "messages", "chat", "hint", "?"):                          "3",
		labels(name, "chat", "messages", "answer", "choices[*].finish_reason"): "1",
	}
	counted := func() map[string]string {
		all := scrapedMetrics(s)
		for labels := range all {
			if !strings.Contains(labels, `provider="`+name+`"`) {
				delete(all, labels) // of another test
			}
		}
		return all
	}
	assert.Equal(t, want, counted())

	require.NoError(t, s.Reload(block))
	assert.Equal(t, want, counted(), "a reload forgets nothing")
}
