package answer_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/responses/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/signal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// observe gives an observer events by the types of their data, and returns what the
// last one meant.
func observe(o *answer.Observer, events ...string) (last signal.Signal) {
	for _, data := range events {
		last = o.Observe(sse.Event{Data: []byte(data)})
	}
	return last
}

// TestTheFirstContentIsFound is about what must not be held back, and what must be:
// until content comes another target can still be asked.
func TestTheFirstContentIsFound(t *testing.T) {
	for data, want := range map[string]signal.Signal{
		text(0, 0, "a"): signal.Content,
		text(0, 0, ""):  0,
		textEvent(0, 0, "refusal.delta", "delta", "no"): signal.Content,
		thinks(0, 0, "a"): signal.Content,
		added(0, message): 0,
		added(0, thought): 0,
		added(0, call):    signal.Content,
		added(0, free):    signal.Content,
		added(0, `{"type":"web_search_call","action":{"query":"q"}}`):                                      0,
		textEvent(0, 0, "output_text.done", "text", "a"):                                                   signal.Content,
		done(0, whole("output_text", `"text":"a"`)):                                                        signal.Content,
		done(0, whole("output_text", `"text":""`)):                                                         0,
		done(0, `{"type":"reasoning","summary":[],"encrypted_content":"g"}`):                               signal.Content,
		done(0, `{"type":"reasoning","summary":[{"type":"summary_text","text":"a"}]}`):                     signal.Content,
		eventOf("response.content_part.done", `"part":{"type":"output_text","text":"a"}`):                  signal.Content,
		eventOf("response.content_part.added", `"part":{"type":"output_text","text":"","annotations":[]}`): 0,
		eventOf("response.queued", `"response":{"status":"queued"}`):                                       0,
		`{"type":"keepalive","text":"a"}`:                                                                  0,
		`{"type":"codex.mood","delta":"a"}`:                                                                0,
		ends("[]"):                                                                                         signal.Content | signal.Finish | signal.Terminal,
		eventOf("response.incomplete", `"response":{}`):                                                    signal.Content | signal.Finish | signal.Terminal,
	} {
		o := answer.NewObserver().(*answer.Observer)
		assert.Equal(t, want, observe(o, created, data), data)
		assert.Nil(t, o.Fault())
	}
}

func TestFailuresAreFoundInAnyEvent(t *testing.T) {
	for data, status := range map[string]int{
		eventOf("error", `"code":"rate_limit_exceeded","message":"m"`):                                                429,
		eventOf("response.completed", `"response":{"status":"cancelled","output":[]}`):                                502,
		eventOf("response.completed", `"response":{"status":"failed","error":{"code":"server_error","message":"m"}}`): 500,
		eventOf("response.output_text.delta", `"delta":"a","error":{"message":"m"}`):                                  500,
		eventOf("response.in_progress", `"error":{"message":"m"}`):                                                    500,
		`{"error":{"message":"m"}}`:            500,
		`[]`:                                   502,
		`{"x":1}`:                              502,
		`{"type":"response.output_text.delta"`: 502,
		`{"type":"response.created"`:           502,
	} {
		o := answer.NewObserver().(*answer.Observer)
		assert.Equal(t, signal.Failed, observe(o, created, data), data)
		require.NotNil(t, o.Fault(), data)
		assert.Equal(t, status, o.Fault().Status(), data)
		assert.Zero(t, observe(o, text(0, 0, "late"), ends("[]")), "nothing follows")
	}
	o := answer.NewObserver().(*answer.Observer)
	assert.Equal(t, signal.Signal(0), o.Observe(sse.Event{Name: []byte("codex.limits"), Data: []byte("anything")}))
	observe(o, created, text(0, 0, "a"))
	for _, data := range []string{`[]`, `{"x":1}`, `{"type":"response.completed"`} {
		assert.Zero(t, observe(o, data), "the client judges what is relayed: %s", data)
	}
}

func TestTheObserverKnowsTheResponse(t *testing.T) {
	o := answer.NewObserver().(*answer.Observer)
	observe(o, created, text(0, 0, "a"))
	assert.Equal(t, "resp_1", o.ID())
	assert.Equal(t, "m", o.Model())
	assert.Equal(t, token.Usage{}, o.Usage())
	observe(o, ends("[]"))
	assert.Equal(t, token.Usage{Counts: token.Counts{Fresh: 7, CacheRead: 20, CacheWrite: 3, Answer: 5, Reasoning: 4}, Known: true}, o.Usage())
}

// TestARelayedStreamThatBrokeOffFails ensures that the event which the gateway puts
// behind a truncated stream is one of the same response, and the next one.
func TestARelayedStreamThatBrokeOffFails(t *testing.T) {
	o := answer.NewObserver().(*answer.Observer)
	observe(o, created, added(0, message), text(0, 0, "a"))
	name, data := lastEvent(t, string(o.AppendFailure(nil, newIDs(), fault.Truncated(nil))))
	assert.Equal(t, "response.failed", name)
	assert.Equal(t, "3", data["sequence_number"].(interface{ String() string }).String())
	response := data["response"].(map[string]any)
	assert.Equal(t, "resp_1", response["id"])
	assert.Equal(t, "failed", response["status"])
	assert.Equal(t, []any{}, response["output"], "official SDKs iterate over it")
	assert.Equal(t, map[string]any{"code": "server_error", "message": "the upstream closed the stream before completing the answer"}, response["error"])
}

// Some servers name neither the model nor the time at the beginning. The event had an empty
// model and null for the output, over which official SDKs iterate.
func TestAFailureNamesWhatTheStreamHasNot(t *testing.T) {
	o := answer.NewObserver().(*answer.Observer)
	observe(o, `{"type":"response.created","response":{"id":"resp_1","object":"response","status":"in_progress"}}`, begins(message))
	_, data := lastEvent(t, string(o.AppendFailure(nil, newIDs(), fault.Truncated(nil))))
	response := data["response"].(map[string]any)
	assert.Equal(t, "resp_1", response["id"])
	assert.Equal(t, "asked", response["model"])
	assert.Equal(t, json.Number("5"), response["created_at"])
	assert.Equal(t, []any{}, response["output"])
}

func TestAnswersAreInspected(t *testing.T) {
	got, fault := answer.Inspect([]byte(wholeAnswer(`"status":"completed","output":[],"usage":{"input_tokens":5,"input_tokens_details":{"cached_tokens":2},"output_tokens":1}`)), translate.Generate)
	require.Nil(t, fault)
	assert.Equal(t, signal.Answer{Model: "m", Ended: event.FinishStop, Usage: token.Usage{Counts: token.Counts{Fresh: 3, CacheRead: 2, Answer: 1}, Known: true}}, got)

	for body, status := range map[string]int{
		wholeAnswer(`"output":null`):                    0,
		wholeAnswer(`"status":"cancelled","output":[]`): 502,
		wholeAnswer(`"status":"queued","output":[]`):    0,
		wholeAnswer(`"output":[],"output":[]`):          0,
		wholeAnswer(`"status":"failed","error":{"code":"rate_limit_exceeded","message":"m"},"output":[]`): 429,
		`{"error":{"code":"invalid_prompt","message":"m"}}`:                                               400,
		`{"detail":"m"}`:                    502,
		wholeAnswer(`"status":"completed"`): 502,
		wholeAnswer(`"output":"x"`):         502,
		`[]`:                                502,
		`{"output":[]`:                      502,
	} {
		_, fault := answer.Inspect([]byte(body), translate.Generate)
		if status == 0 {
			assert.Nil(t, fault, body)
			continue
		}
		require.NotNil(t, fault, body)
		assert.Equal(t, status, formats.Of(translate.Responses).Errors.Status(fault), body)
	}
}

func TestCountsOfTokensAreInspected(t *testing.T) {
	got, fault := answer.Inspect(answer.AppendTokenCount(nil, 11), translate.CountTokens)
	require.Nil(t, fault)
	assert.Equal(t, signal.Answer{Usage: token.Usage{Counts: token.Counts{Fresh: 11}}}, got)
	for body, status := range map[string]int{
		`{"object":"response.input_tokens"}`: 502, `{"input_tokens":-1}`: 502, `[]`: 502, `{"input_tokens":1`: 502,
		`{"error":{"code":"rate_limit_exceeded","message":"m"}}`: 429,
	} {
		_, fault := answer.Inspect([]byte(body), translate.CountTokens)
		require.NotNil(t, fault, body)
		assert.Equal(t, status, formats.Of(translate.Responses).Errors.Status(fault), body)
	}
}

func BenchmarkObserveDelta(b *testing.B) {
	o := answer.NewObserver()
	delta := sse.Event{Name: []byte("response.output_text.delta"), Data: []byte(text(0, 0, "Hello"))}
	b.ReportAllocs()
	for b.Loop() {
		if !o.Observe(delta).Has(signal.Content) {
			b.Fatal("no content")
		}
	}
}

// What the tools of the service use, and charge, is beside the usage of a response: an image of 4160
// tokens was free.
func TestTheUseOfToolsIsCounted(t *testing.T) {
	response := func(tools, use string) string {
		return `{"id":"r","model":"m","status":"completed","tools":[` + tools + `],"output":[{"type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":"a"}]}],"tool_usage":` + use +
			`,"usage":{"input_tokens":10,"output_tokens":2}}`
	}
	const images = `{"image_gen":{"input_tokens":50,"input_tokens_details":{"image_tokens":40,"text_tokens":10},"output_tokens":4160,"total_tokens":4210},"web_search":{"num_requests":2}}`
	run := func(model string) []token.Run {
		return []token.Run{{Model: model, Usage: token.Usage{
			Counts: token.Counts{Fresh: 50, Answer: 4160}, Known: true, Units: token.Units{ImageTokens: token.MediaTokens{Input: 40, Output: 4160}},
		}}}
	}
	for name, c := range map[string]struct {
		response string
		searches int64
		runs     []token.Run
	}{
		"images and searches":        {response(`{"type":"web_search"},{"type":"image_generation","model":"gpt-image-2"}`, images), 2, run("gpt-image-2")},
		"images of an unknown model": {response(`{"type":"function","model":"x"}`, images), 2, run("image_generation")},
		"a name without a bound":     {response(`{"type":"image_generation","model":"`+strings.Repeat("a", 200)+`"}`, images), 2, run("image_generation")},
		"nothing":                    {response("", `{"image_gen":{"input_tokens":0,"output_tokens":0},"web_search":{"num_requests":0}}`), 0, nil},
		"null":                       {response("", `null`), 0, nil},
		"other words":                {response("", `{"image_gen":null,"web_search":[],"computer":{"x":1}}`), 0, nil},
	} {
		whole, failed := answer.Inspect([]byte(c.response), translate.Generate)
		require.Nil(t, failed, name)
		stream := answer.NewObserver()
		stream.Observe(sse.Event{Name: []byte("response.created"), Data: []byte(`{"type":"response.created","response":{"id":"r","status":"in_progress","output":[],"tools":[],"usage":null}}`)})
		stream.Observe(sse.Event{Name: []byte("response.completed"), Data: []byte(`{"type":"response.completed","response":` + c.response + `}`)})
		for lane, used := range map[string]token.Usage{"whole": whole.Usage, "stream": stream.Usage()} {
			assert.Equal(t, token.Counts{Fresh: 10, Answer: 2, Searches: c.searches}, used.Counts, name+", "+lane)
			assert.Equal(t, c.runs, used.Beside, name+", "+lane)
		}
	}
}
