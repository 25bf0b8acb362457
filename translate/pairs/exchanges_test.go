package pairs_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/pairs"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest/client"
)

// Whole exchanges are in testdata/goldens/exchanges, one per folder:
// request.<format>.json is what a client of that format sends for it: each
// exchange has the request of an older format and that of the responses format, and
// that of the gemini format if the format can express it.
// answer.<format>.json and .sse are what a provider of that format answers, as
// JSON and as a stream. What the translations make of them is beside it, one
// file per pair.

// exchanges are the folders, and the traits of their providers.
var exchanges = []struct {
	name   string
	traits map[translate.Format]string
}{
	{"agent_first_turn", map[translate.Format]string{translate.Chat: "max_tokens_field max_completion_tokens; user_field safety_identifier; extensions service_tier; reasoning_effort on; cache_breakpoints on", translate.Messages: "thinking_style adaptive", translate.Responses: "reasoning_effort on; cache_breakpoints on; responses_reasoning encrypted"}},
	{"agent_third_turn", map[translate.Format]string{translate.Chat: "reasoning_effort low medium high xhigh max; reasoning_replay reasoning_content", translate.Messages: "thinking_style adaptive", translate.Responses: "responses_reasoning text"}},
	{"parallel_tools_with_images", nil},
	{"schema_of_a_long_conversation", map[translate.Format]string{translate.Completions: "extensions structured_outputs"}},
	{"cut_at_the_limit", map[translate.Format]string{translate.Chat: "extensions top_k", translate.Completions: "prompt_template chatml"}},
	{"matched_stop", map[translate.Format]string{translate.Chat: "prefill vllm", translate.Converse: "prefill native"}},
	{"refused_by_the_model", nil},
	{"openrouter_reasoning", map[translate.Format]string{translate.Chat: "extensions top_k min_p; prefill native; reasoning_replay reasoning", translate.Messages: "thinking_style budget", translate.Responses: "responses_reasoning text; reasoning_summary off"}},
	{"ollama_tools", map[translate.Format]string{translate.Chat: "image_url base64; reasoning_replay reasoning; user_field none", translate.Responses: "user_field none"}},

	{"thinking_with_tools", map[translate.Format]string{translate.Messages: "thinking_style budget", translate.Responses: "responses_reasoning encrypted"}},
	{"schema_asked_in_chat", map[translate.Format]string{translate.Completions: "extensions structured_outputs"}},
	{"images_in_chat", map[translate.Format]string{translate.Chat: "files on"}},
	{"two_choices_with_logprobs", nil},
	{"filtered_in_chat", nil},
	{"arguments_cut_off", nil},
	{"cut_in_chat", map[translate.Format]string{translate.Messages: "sampling one"}},
	{"agent_in_chat", map[translate.Format]string{translate.Messages: "thinking_style adaptive", translate.Responses: "responses_reasoning encrypted; responses_item_ids on"}},

	{"completion_with_logprobs", nil},
	{"completion_of_openrouter", map[translate.Format]string{translate.Chat: "extensions top_k", translate.Messages: "completion_system Continue the text."}},
	{"completion_with_two_choices", nil},
	{"completion_of_ollama", map[translate.Format]string{translate.Chat: "user_field none"}},
	{"completion_filtered", nil},
}

const exchangesDir = "../../testdata/goldens/exchanges"

// requestsOf reads the requests of an exchange.
func requestsOf(t testing.TB, name string) map[translate.Format][]byte {
	t.Helper()
	requests := map[translate.Format][]byte{}
	for _, client := range formats.Names() {
		if body := recorded(t, filepath.Join(exchangesDir, name), "request."+string(client)+".json"); body != nil {
			requests[client] = body
		}
	}
	older := len(requests)
	for _, newer := range []translate.Format{translate.Responses, translate.Gemini} {
		if requests[newer] != nil {
			older--
		}
	}
	require.Equal(t, 1, older, "the request of an older format")
	require.Contains(t, requests, translate.Responses)
	return requests
}

func TestEveryExchangeIsInTheTable(t *testing.T) {
	entries, err := os.ReadDir(exchangesDir)
	require.NoError(t, err)
	var names, listed []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	for _, e := range exchanges {
		listed = append(listed, e.name)
	}
	assert.ElementsMatch(t, names, listed)
}

func TestExchangesAreTranslatedAsRecorded(t *testing.T) {
	for _, e := range exchanges {
		dir := filepath.Join(exchangesDir, e.name)
		answered := make(map[translate.Format]bool) // some request is not refused
		for client, body := range requestsOf(t, e.name) {
			for _, provider := range spoken {
				if !pairs.CanTranslate(client, provider) {
					continue
				}
				pair := string(client) + "-" + string(provider)
				t.Run(e.name+"/"+pair, func(t *testing.T) {
					got := translatedExchange(t, dir, client, provider, body, e.traits[provider])
					requireGolden(t, filepath.Join(dir, pair+".txt"), []byte(got))
					answered[provider] = answered[provider] || !strings.HasPrefix(got, "refused")
				})
			}
		}
		for _, provider := range spoken {
			answer := recorded(t, dir, "answer."+string(provider)+".sse")
			require.True(t, answer == nil || answered[provider], "%s: requests that are refused have no answer", e.name)
		}
	}
}

// translatedExchange writes down what becomes of a request on its way to a
// provider, and of the answer on its way back.
func translatedExchange(t *testing.T, dir string, client, provider translate.Format, body []byte, traits string) string {
	t.Helper()
	_, fault := formats.Of(client).Requests.Inspect(body, translate.Generate)
	require.Nil(t, fault, "the client's request is right")
	info := &core.RequestInfo{Model: "m1", Upstream: upstreamName(provider), Traits: traitsOf(t, traits), Seals: sealer}
	out, r, fault := pairs.Render(nil, client, provider, body, info)
	answer, stream := recorded(t, dir, "answer."+string(provider)+".json"), recorded(t, dir, "answer."+string(provider)+".sse")
	if fault != nil {
		return fmt.Sprintf("refused with %d: %s\n", formats.Of(client).Errors.Status(fault), formats.Of(client).Errors.Append(nil, fault, ""))
	}
	requireRight(t, provider, out)
	told := fmt.Sprintf("request:\n%slosses: %s\n", indented(t, out), lossesOf(r.Losses))
	require.NotEmpty(t, stream, "an answer is recorded")
	return told + translatedAnswers(t, way{provider, client}, r, answer, stream)
}

// upstreamName returns the provider's name of the model, on which requests of some formats
// depend.
func upstreamName(provider translate.Format) string {
	switch provider {
	case translate.Gemini:
		return "gemini-3.5-flash"
	case translate.Converse:
		return "us.anthropic.claude-sonnet-4-6"
	}
	return "up"
}

// recorded reads a file that an exchange may lack.
func recorded(t testing.TB, dir, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	if !os.IsNotExist(err) {
		require.NoError(t, err)
	}
	return data
}

// requireRight requires that a provider would take a request.
func requireRight(t *testing.T, provider translate.Format, body []byte) {
	t.Helper()
	if inspect := formats.Of(provider).Requests.Inspect; inspect != nil {
		_, fault := inspect(body, translate.Generate)
		require.Nil(t, fault)
	}
	switch provider {
	case translate.Chat:
		require.NoError(t, judgeChat(body))
	case translate.Messages:
		require.NoError(t, judgeMessages(body))
	case translate.Responses:
		require.NoError(t, judgeResponses(body))
	case translate.Converse:
		if why := translatetest.StrictConverse(body); !strings.Contains(why, "results for") { // which only clients know
			require.Empty(t, why)
		}
	}
}

// translatedAnswers requires that both forms of an answer become the same
// answer, in whichever form the client wants it, and writes that down.
func translatedAnswers(t *testing.T, w way, r core.Rendered, answer, stream []byte) string {
	t.Helper()
	streaming, whole := r.Answer, r.Answer
	streaming.Stream, streaming.IncludeUsage, whole.Stream = true, w.target != translate.Messages, false
	if numberOfCalls(r) > 1 {
		return mergedAnswers(t, w, streaming, numberOfCalls(r), stream)
	}
	streamed, collected := translated(w, streaming, [][]byte{stream}, true), translated(w, whole, [][]byte{stream}, true)
	requireAgreement(t, w, streamed, collected)
	told := streamed.summary() + "answer losses: " + lossesOf(streamed.Losses()) + "\n"
	if answer != nil {
		replayed, converted := answered(w, streaming, answer), answered(w, whole, answer)
		requireAgreement(t, w, replayed, converted)
		require.Equal(t, withParsedArguments(t, converted.out), withParsedArguments(t, collected.out))
		require.Equal(t, converted.summary(), collected.summary())
	}
	return told + answersOf(t, collected.out, streamed.out)
}

// mergedAnswers answers every call of a request that became several alike.
func mergedAnswers(t *testing.T, w way, streaming translate.AnswerContext, calls int, stream []byte) string {
	t.Helper()
	f := fanned{way: w}
	for range calls {
		f.memory, f.streams = append(f.memory, streaming), append(f.streams, stream)
	}
	_, streamed := f.play(inTurn)
	for i := range f.memory {
		f.memory[i].Stream = false
	}
	fan, whole := f.play(inTurn)
	added, err := w.added(streamed, true)
	require.NoError(t, err)
	require.Equal(t, added, decoded(t, whole))
	return fmt.Sprintf("calls: %d\nusage %s\n", calls, usageText(fan.Usage())) + answersOf(t, whole, streamed)
}

// answersOf writes down both forms of an answer.
func answersOf(t *testing.T, whole, stream string) string {
	t.Helper()
	return "\nanswer:\n" + string(indented(t, []byte(whole))) + "\nstream:\n" + stream
}

func decoded(t *testing.T, body string) client.Object {
	t.Helper()
	o, err := client.Decode([]byte(body))
	require.NoError(t, err, body)
	return o
}

// withParsedArguments decodes an answer and the arguments of its calls: those of
// a stream keep the white space in which the provider wrote them.
func withParsedArguments(t *testing.T, body string) client.Object {
	t.Helper()
	o := decoded(t, body)
	choices, _ := o["choices"].([]any)
	for _, c := range choices {
		message, _ := c.(client.Object)["message"].(client.Object)
		calls, _ := message["tool_calls"].([]any)
		for _, call := range calls {
			parseArguments(call.(client.Object)["function"].(client.Object))
		}
	}
	items, _ := o["output"].([]any)
	for _, item := range items {
		parseArguments(item.(client.Object))
	}
	return o
}

// parseArguments decodes the arguments of a call in place, unless they are cut off.
func parseArguments(call client.Object) {
	text, _ := call["arguments"].(string)
	var arguments any
	if json.Unmarshal([]byte(text), &arguments) == nil {
		call["arguments"] = arguments
	}
}
