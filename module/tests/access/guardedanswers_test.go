package access_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// streams are answers with the texts FIRST and SECOND, by path.
func streams() map[string][]string {
	replaced := make(map[string][]string)
	for path, events := range site.Streams {
		for _, event := range events {
			event = strings.NewReplacer(`"Hi there"`, `"FIRSTSECOND"`, `"Hi"`, `"FIRST"`, `" there"`, `"SECOND"`).Replace(event)
			replaced[path] = append(replaced[path], event)
		}
	}
	return replaced
}

// eventsOf returns a stream that has these texts.
func eventsOf(path, first, second string) []string {
	events := streams()[path]
	for i := range events {
		events[i] = strings.NewReplacer("FIRSTSECOND", first+second, "FIRST", first, "SECOND", second).Replace(events[i])
	}
	return events
}

// script answers the next call with a stream that has these texts.
func script(p *gatewaytest.Provider, path, first, second string) {
	p.Script(gatewaytest.Chunks("text/event-stream", eventsOf(path, first, second)...))
}

// streamBody returns a request for a stream. The model "gem" has a provider of the gemini format.
func streamBody(path string) string {
	model := "m"
	if path == site.GeminiPath {
		model = "gem"
	}
	return site.BodyFor(path, model, "go", true)
}

const answers = "guard pii regex {\nblock card\nmask email\non answer\n}"

func TestX110APatternInTwoDeltasIsFoundBeforeAnyOfItIsSent(t *testing.T) {
	s, p := guarded(t, answers)
	for path := range streams() {
		t.Run(path, func(t *testing.T) {
			script(p, path, "my card is 4111 1111 ", "1111 1111, keep it")
			answer := s.Ask(path, streamBody(path))
			// The status is 400 if the gateway read all events at once, and 200 if it sent the beginning
			// of the answer before it had read a text. This test demanded the first, and failed when
			// the processor was busy.
			assert.Contains(t, []int{http.StatusOK, http.StatusBadRequest}, answer.Status)
			assert.Contains(t, answer.Body, "blocked by the guard 'pii', rule 'card'")
			assert.NotContains(t, answer.Body, "4111")
		})
	}
}

// A stream whose type has capitals, or a parameter without a value, was no stream for guards: a
// pattern in two deltas passed.
func TestAStreamIsGuardedHoweverItsTypeIsWritten(t *testing.T) {
	s, p := guarded(t, answers)
	for _, contentType := range []string{"Text/Event-Stream", "Text/Event-Stream ; charset", "text/event-stream;charset"} {
		p.Script(gatewaytest.Chunks(contentType, eventsOf(site.MessagesPath, "mail bob@", "example.com, please")...))
		answer := s.Ask(site.MessagesPath, streamBody(site.MessagesPath))
		assert.Contains(t, answer.Body, "[email]", contentType)
		assert.NotContains(t, answer.Body, "example.com", contentType)
	}
}

func TestX111ABlockInTheMiddleOfAStreamIsAnErrorEvent(t *testing.T) {
	s, p := guarded(t, answers)
	for path := range streams() {
		t.Run(path, func(t *testing.T) {
			events := eventsOf(path, strings.Repeat("harmless words ", 40), "and 4111 1111 1111 1111 at the end")
			second := slices.IndexFunc(events, func(e string) bool { return strings.Contains(e, "1111") })
			for i := range 40 { // each delta is sent as a whole
				events = slices.Insert(events, second+i, events[second-1])
			}
			second += 40
			gate := gatewaytest.NewGate(t)
			p.Script(gatewaytest.InOrder(gatewaytest.Chunks("text/event-stream", events[:second]...), gatewaytest.Stall(gate, gatewaytest.More(events[second:]...))))
			stream := s.Open(path, streamBody(path))
			stream.NextUntil("harmless")
			gate.Open()
			answer := stream.Rest()
			assert.Equal(t, http.StatusOK, answer.Status, answer.Body)
			assert.Contains(t, answer.Body, "blocked by the guard 'pii', rule 'card'")
			assert.NotContains(t, answer.Body, "4111")
			assert.NotContains(t, answer.Body, "message_stop")
			assert.NotContains(t, answer.Body, "[DONE]")
			assert.NotContains(t, answer.Body, "response.completed")
			assert.NotContains(t, answer.Body, `"finishReason":"STOP"`)
			assert.Equal(t, "cut", s.Record(answer.ID())["outcome"])
		})
	}
}

func TestAMaskInAStreamCoversAllDeltasAndCopies(t *testing.T) {
	s, p := guarded(t, answers)
	for path := range streams() {
		t.Run(path, func(t *testing.T) {
			script(p, path, "write to jane.d", "oe@example.com today \\\"now\\\" \\u00e9")
			answer := s.Ask(path, streamBody(path))
			require.Equal(t, http.StatusOK, answer.Status, answer.Body)
			assert.NotContains(t, answer.Body, "jane")
			assert.NotContains(t, answer.Body, "example.com")
			got := answer.Read(t, path)
			assert.True(t, got.Complete, answer.Body)
			assert.Equal(t, "write to [email] today \"now\" é", got.Text())
		})
	}
}

func TestAStreamWithoutAMatchKeepsItsBytes(t *testing.T) {
	s, p := guarded(t, answers)
	for path := range streams() {
		script(p, path, "nothing to see, call 0123456789", " or room 4111")
		answer := s.Ask(path, streamBody(path))
		want := eventsOf(path, "nothing to see, call 0123456789", " or room 4111")
		assert.Equal(t, strings.Join(want, ""), answer.Body, path)
	}
}

func TestTranslatedAnswersAreChecked(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	s := site.Start(t, answers, site.Direct.Provider("p", p, "format chat", "models m gem"), site.Steady)
	for _, path := range []string{site.MessagesPath, site.ResponsesPath, site.GeminiPath} {
		script(p, site.ChatPath, "my card is 4111 1111 ", "1111 1111, keep it")
		answer := s.Ask(path, streamBody(path))
		assert.Contains(t, answer.Body, "rule 'card'", path)
		assert.NotContains(t, answer.Body, "4111", path)
		script(p, site.ChatPath, "mail jane@exam", "ple.com ok")
		answer = s.Ask(path, streamBody(path))
		assert.Contains(t, answer.Body, "[email]", path)
		assert.NotContains(t, answer.Body, "jane", path)
	}
}

// The event by which a stream of responses fails repeats the items that have ended. They are
// those of the provider, without masks, and with texts that the client must not get.
func TestAFailedStreamRepeatsNothingThatAGuardHolds(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	s := site.Start(t, answers, site.Direct.Provider("p", p, "format chat"), site.Steady)
	events := eventsOf(site.ChatPath, "mail jane@example.com, "+strings.Repeat("harmless words ", 60), "and 4111 1111 1111 1111 at the end")
	events = slices.Insert(events, 2, slices.Repeat([]string{strings.Replace(events[1], "mail jane@example.com, ", "", 1)}, 5)...)
	gate := gatewaytest.NewGate(t)
	p.Script(gatewaytest.InOrder(gatewaytest.Chunks("text/event-stream", events[:6]...), gatewaytest.Stall(gate, gatewaytest.More(events[6:]...))))
	stream := s.Open(site.ResponsesPath, streamBody(site.ResponsesPath))
	stream.NextUntil("[email]")
	gate.Open()
	answer := stream.Rest()
	assert.Contains(t, answer.Body, "event: response.failed")
	assert.Contains(t, answer.Body, "rule 'card'")
	assert.NotContains(t, answer.Body, "4111")
	assert.NotContains(t, answer.Body, "jane")
}

func TestAWholeAnswerIsHeldBack(t *testing.T) {
	s, p := guarded(t, answers)
	for path, body := range map[string]string{
		site.MessagesPath:    `{"id":"msg_1","type":"message","role":"assistant","model":"m", "content":[{"type":"text","text":"TEXT"}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":9,"output_tokens":4}}`,
		site.ChatPath:        `{"id":"c","object":"chat.completion","created":1,"model":"m", "choices":[{"index":0,"message":{"role":"assistant","content":"TEXT"},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":4,"total_tokens":13}}`,
		site.CompletionsPath: `{"id":"c","object":"text_completion","created":1,"model":"m", "choices":[{"index":0,"text":"TEXT","logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":4,"total_tokens":13}}`,
		site.ResponsesPath:   `{"id":"resp_1","object":"response","created_at":1,"status":"completed","model":"m", "output":[{"id":"msg_1","type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":"TEXT","annotations":[]}]}],"usage":{"input_tokens":9,"output_tokens":4,"total_tokens":13}}`,
	} {
		t.Run(path, func(t *testing.T) {
			p.Script(gatewaytest.Body(http.StatusOK, "application/json", []byte(strings.Replace(body, "TEXT", card, 1))))
			answer := s.Ask(path, site.BodyFor(path, "m", "go", false))
			assert.Equal(t, http.StatusBadRequest, answer.Status, answer.Body)
			assert.Contains(t, answer.Failure(t).Message, "the answer is blocked by the guard 'pii', rule 'card'")
			for _, member := range []string{`"` + card + `":1`, `"zz":{"a":[{"4111\u00201111 1111 1111":null}]}`, `"zz":4.111111111111111e15`} {
				p.Script(gatewaytest.Body(http.StatusOK, "application/json", []byte(`{`+member+`,`+strings.Replace(body, "TEXT", "x", 1)[1:])))
				answer = s.Ask(path, site.BodyFor(path, "m", "go", false))
				assert.Equal(t, http.StatusBadRequest, answer.Status, "%s %s", member, answer.Body)
			}
			p.Script(gatewaytest.Body(http.StatusOK, "application/json", []byte(strings.Replace(body, "TEXT", `to \"`+address+`\" \u00e9`, 1))))
			answer = s.Ask(path, site.BodyFor(path, "m", "go", false))
			require.Equal(t, http.StatusOK, answer.Status, answer.Body)
			assert.True(t, json.Valid([]byte(answer.Body)))
			assert.Equal(t, strings.Replace(body, "TEXT", `to \"[email]\" é`, 1), answer.Body)
		})
	}
}

func TestCallsOfToolsAreHeldBackUntilTheyAreComplete(t *testing.T) {
	s, p := guarded(t, answers)
	call := func(first, second string) string {
		return `data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"x","choices":[{"index":0,"delta":{"role":"assistant","tool_calls":[{"index":0,"id":"t","type":"function","function":{"name":"pay","arguments":"` + first + `"}}]},"finish_reason":null}]}` + "\n\n" +
			`data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"x","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"` + second + `"}}]},"finish_reason":null}]}` + "\n\n" +
			`data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"x","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}` + "\n\ndata: [DONE]\n\n"
	}
	p.Script(gatewaytest.Chunks("text/event-stream", call(`{\"card\":\"4111 1111`, ` 1111 1111\"}`)))
	answer := s.Ask(site.ChatPath, streamBody(site.ChatPath))
	assert.Contains(t, answer.Body, "rule 'card'")
	assert.NotContains(t, answer.Body, "4111")
	p.Script(gatewaytest.Chunks("text/event-stream", call(`{\"card\":\"none`, `\"}`)))
	assert.Equal(t, call(`{\"card\":\"none`, `\"}`), s.Ask(site.ChatPath, streamBody(site.ChatPath)).Body)
}

func TestX115AnUnboundedMaskIsRefused(t *testing.T) {
	s, _ := guarded(t)
	for config, problem := range map[string]string{
		"guard g regex {\npattern p secret.*\nmask p\n}":             "has no longest match",
		"guard g regex {\npattern p secret.*\nmask p\non request\n}": "",
		"guard g regex {\npattern p secret.*\nblock p\n}":            "",
	} {
		err := s.Reload(site.Block("", config, site.DemoProvider))
		if problem == "" {
			assert.NoError(t, err, config)
		} else {
			assert.ErrorContains(t, err, problem)
		}
	}
}

// Guards were asked about the raw JSON of arguments in answers, so that escapes hid a match.
func TestEscapesInArgumentsOfAnAnswerHideNothing(t *testing.T) {
	s, p := guarded(t, answers)
	const call = `{"index":0,"id":"t","type":"function","function":{"name":"f","arguments":"{\"a\":\"\\u0034111111111111111\"}"}}`
	whole := `{"id":"c","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[` + call + `]},"finish_reason":"tool_calls"}]}`
	stream := `data: {"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"role":"assistant","tool_calls":[` + call + "]}}]}\n\n" +
		`data: {"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}` + "\n\ndata: [DONE]\n\n"
	for kind, body := range map[string]string{"application/json": whole, "text/event-stream": stream} {
		p.Script(gatewaytest.Chunks(kind, body))
		answer := s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", "go", kind != "application/json"))
		assert.Contains(t, answer.Body, "rule 'card'", kind)
		assert.NotContains(t, answer.Body, "111111", kind)
	}
}
