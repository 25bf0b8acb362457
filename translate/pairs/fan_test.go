package pairs_test

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/pairs"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest/client"
)

// callsOf renders every prompt of a request.
func callsOf(t *testing.T, target translate.Format, traits, body string) (bodies []string, r core.Rendered, fault *fault.Fault) {
	t.Helper()
	_, fault = formats.Of(translate.Completions).Requests.Inspect([]byte(body), translate.Generate)
	require.Nil(t, fault, "the client's request is right")
	info := &core.RequestInfo{Model: "m1", Upstream: "up", Traits: traitsOf(t, traits)}
	for more := true; more; more = info.Prompt < r.Prompts {
		var out []byte
		if out, r, fault = pairs.Render(nil, translate.Completions, target, []byte(body), info); fault != nil {
			return nil, r, fault
		}
		bodies = append(bodies, string(out))
		info.Prompt++
	}
	return bodies, r, nil
}

// numberOfCalls returns the number of calls that a request becomes.
func numberOfCalls(r core.Rendered) int { return r.Prompts * r.Samples }

// G043, G044, G107, G108 and G126 of the wire format, as far as requests go.
func TestPromptsAndSamplesBecomeCalls(t *testing.T) {
	const chat, messages = translate.Chat, translate.Messages
	tooMany := "cannot be translated for model 'm1' (upstream format %s): more than %d calls"
	for _, c := range []struct {
		name    string
		target  translate.Format
		traits  string
		members string
		prompts string // of the calls, by "|"
		samples int
		sent    string // the n that is sent
		fault   string
	}{
		{name: "G043 two prompts", target: chat, members: `"prompt":["a","b"]`, prompts: "a|b", samples: 1},
		{name: "G107 prompts and samples", target: messages, members: `"prompt":["a","b"],"n":2`, prompts: "a|b", samples: 2},
		{name: "prompts and samples, which a provider could give", target: chat, members: `"prompt":["a","b"],"n":2`, prompts: "a|b", samples: 2},
		{name: "G126 samples that the provider gives", target: chat, members: `"prompt":"a","n":2`, prompts: "a", samples: 1, sent: "2"},
		{name: "G126 samples that it does not give", target: chat, traits: "native_n off", members: `"prompt":"a","n":2`, prompts: "a", samples: 2},
		{name: "one prompt in a list", target: chat, members: `"prompt":["a"],"n":3`, prompts: "a", samples: 1, sent: "3"},
		{name: "many samples that the provider gives", target: chat, members: `"prompt":"a","n":128`, prompts: "a", samples: 1, sent: "128"},
		{name: "the best of as many", target: messages, members: `"prompt":"a","n":2,"best_of":2`, prompts: "a", samples: 2},
		{name: "as many as may be", target: messages, members: `"prompt":["a","b"],"n":4`, prompts: "a|b", samples: 4},
		{name: "G108 too many prompts", target: chat, members: `"prompt":["1","2","3","4","5","6","7","8","9"],"n":2`, fault: "prompt: 9 prompts " + fmt.Sprintf(tooMany, chat, 8)},
		{name: "G108 too many samples", target: messages, members: `"prompt":"a","n":9`, fault: "n: 9 " + fmt.Sprintf(tooMany, messages, 8)},
		{name: "too many samples of several prompts", target: messages, members: `"prompt":["a","b"],"n":5`, fault: "n: 5 for 2 prompts " + fmt.Sprintf(tooMany, messages, 8)},
		{name: "more samples than any number of calls", target: messages, members: `"prompt":["a","b"],"n":9223372036854775807`, fault: "n: 9223372036854775807 for 2 prompts " + fmt.Sprintf(tooMany, messages, 8)},
		{name: "a lower limit", target: messages, traits: "max_fan_out 2", members: `"prompt":"a","n":3`, fault: "n: 3 " + fmt.Sprintf(tooMany, messages, 2)},
		{name: "a higher limit", target: messages, traits: "max_fan_out 12", members: `"prompt":["a","b","c"],"n":4`, prompts: "a|b|c", samples: 4},
		{name: "a prompt that says nothing", target: chat, members: `"prompt":["a",""]`, fault: "prompt[1]:" + notM1 + "chat)"},
		{name: "G044 tokens", target: chat, members: `"prompt":[1,2,3]`, fault: "prompt:" + notM1 + "chat)"},
		{name: "lists of tokens", target: messages, members: `"prompt":[[1],[2]]`, fault: "prompt:" + notM1 + "messages)"},
		{name: "the best of more", target: messages, members: `"prompt":["a","b"],"n":2,"best_of":3`, fault: "best_of: 3" + notM1 + "messages)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			bodies, r, fault := callsOf(t, c.target, c.traits, `{"model":"m1",`+c.members+`}`)
			if c.fault != "" {
				require.NotNil(t, fault)
				assert.Equal(t, c.fault, fault.Message)
				assert.Equal(t, "unsupported_for_upstream", fault.Code)
				path, _, _ := strings.Cut(c.fault, ":")
				assert.Equal(t, path, fault.Param)
				return
			}
			require.Nil(t, fault)
			prompts := strings.Split(c.prompts, "|")
			assert.Equal(t, len(prompts), r.Prompts)
			assert.Equal(t, c.samples, r.Samples)
			assert.Equal(t, len(prompts)*c.samples, numberOfCalls(r))
			assert.Equal(t, cmp.Or(c.sent, "0"), strconv.Itoa(r.Answer.Choices), "as many answers as one call asks for")
			require.Len(t, bodies, len(prompts))
			for i, body := range bodies {
				said := map[translate.Format]string{chat: `{"role":"user","content":"` + prompts[i] + `"}`, messages: messageOf("user", textBlock(prompts[i]))}
				assert.Contains(t, body, `"messages":[`+said[c.target]+`]`)
				assert.Equal(t, c.sent != "", strings.Contains(body, `"n":`+c.sent), body)
			}
		})
	}
}

// A bug was here: nothing bounded the answers that a provider was asked for in one
// call, all of which the gateway keeps account of.
func TestAProviderIsAskedForSoManyAnswersAtMost(t *testing.T) {
	for from, body := range map[translate.Format]string{
		translate.Completions: `{"model":"m1","prompt":"a","n":129}`,
		translate.Chat:        `{"model":"m1","messages":[{"role":"user","content":"a"}],"n":129}`,
	} {
		target := map[translate.Format]translate.Format{translate.Completions: translate.Chat, translate.Chat: translate.Completions}[from]
		info := &core.RequestInfo{Model: "m1", Upstream: "up", Traits: traitsOf(t, "prompt_template chatml")}
		_, _, fault := pairs.Render(nil, from, target, []byte(body), info)
		require.NotNil(t, fault, from)
		assert.Equal(t, 400, formats.Of(from).Errors.Status(fault))
		assert.Equal(t, "n", fault.Param)
		assert.Equal(t, "n: must be at most 128", fault.Message)
	}
}

// fanned are the answers of several calls.
type fanned struct {
	way     way
	memory  []translate.AnswerContext
	streams [][]byte
}

// play puts the streams through a fan, event by event, in the order of the
// calls that next gives.
func (f fanned) play(next func(open []int) int) (pairs.Fan, string) {
	memories := make([]*translate.AnswerContext, len(f.memory))
	lexers := make([]*sse.Lexer, len(f.streams))
	var open []int
	for i := range f.memory {
		memories[i] = &f.memory[i]
		lexers[i] = sse.NewLexer(0)
		lexers[i].Feed(f.streams[i])
		open = append(open, i)
	}
	fan := pairs.NewFan(f.way.source, f.way.target, memories, newIDs())
	var out bytes.Buffer
	for len(open) > 0 {
		pos := next(open)
		i := open[pos]
		event, ok := lexers[i].Next()
		if ok {
			fan[i].Event(event)
		} else {
			fan[i].End(true)
			open = append(open[:pos], open[pos+1:]...)
		}
		out.Write(fan[i].Output())
	}
	return fan, out.String()
}

// speech is the stream of a messages provider.
func speech(usage int, texts ...string) []byte {
	events := []string{fmt.Sprintf(`{"type":"message_start","message":{"model":"m","usage":{"input_tokens":%d}}}`, usage)}
	for _, text := range texts {
		events = append(events, `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"`+text+`"}}`)
	}
	return messagesStream(append(events, `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}`, `{"type":"message_stop"}`)...)
}

func inTurn([]int) int { return 0 }

func TestCallsThatAreMergedKeepTheirChoice(t *testing.T) {
	f := fanned{way: messagesToCompletions, streams: [][]byte{speech(3, "a", "b"), speech(4), speech(5, "c")}}
	for range f.streams {
		f.memory = append(f.memory, translate.AnswerContext{Stream: true, IncludeUsage: true})
	}
	turn := 0
	fan, out := f.play(func(open []int) int { turn++; return turn % len(open) })
	const frame = `{"id":"id_1","object":"text_completion","created":1700000000,"model":"m","choices":[`
	lines := data(out)
	require.Len(t, lines, 8)
	assert.ElementsMatch(t, []string{
		frame + `{"text":"a","index":0,"logprobs":null,"finish_reason":null}],"usage":null}`,
		frame + `{"text":"b","index":0,"logprobs":null,"finish_reason":null}],"usage":null}`,
		frame + `{"text":"c","index":2,"logprobs":null,"finish_reason":null}],"usage":null}`,
	}, lines[:3])
	for i, line := range lines[3:6] {
		assert.Equal(t, frame+fmt.Sprintf(`{"text":"","index":%d,"logprobs":null,"finish_reason":"stop"}],"usage":null}`, i), line)
	}
	assert.Contains(t, lines[6], frame+`],"usage":{"prompt_tokens":12,"completion_tokens":3,"total_tokens":15`)
	assert.Equal(t, "[DONE]", lines[7])
	assert.Equal(t, token.Usage{Counts: token.Counts{Fresh: 12, Answer: 3}, Known: true}, fan.Usage())
	assert.Equal(t, "m", fan.Model())
}

func TestAnyInterleavingOfCallsGivesTheSameChoices(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 12))
	for range 200 {
		var f fanned
		f.way = messagesToCompletions
		for i := range 1 + random.IntN(6) {
			var texts []string
			for j := range random.IntN(5) {
				texts = append(texts, fmt.Sprintf("<%d.%d>", i, j))
			}
			f.streams = append(f.streams, speech(i, texts...))
			f.memory = append(f.memory, translate.AnswerContext{Stream: true, IncludeUsage: true, Input: translate.Input{Echo: fmt.Appendf(nil, "prompt %d: ", i)}})
		}
		_, straight := f.play(inTurn)
		fan, mixed := f.play(func(open []int) int { return random.IntN(len(open)) })
		for _, translator := range fan {
			require.True(t, translator.Finished())
		}
		want, err := client.Completions.Emitted([]byte(straight))
		require.NoError(t, err)
		got, err := client.Completions.Emitted([]byte(mixed))
		require.NoError(t, err)
		require.Equal(t, want, got)
		for i := range f.memory {
			f.memory[i].Stream = false
		}
		_, whole := f.play(func(open []int) int { return random.IntN(len(open)) })
		answer, err := client.Decode([]byte(whole))
		require.NoError(t, err)
		require.Equal(t, want, answer, "a JSON answer tells the same")
	}
}

func TestUsageThatOneCallLacksIsUnknown(t *testing.T) {
	silent := chatStream([]string{`{"content":"a"}`}, `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`, `[DONE]`)
	telling := chatStream([]string{`{"content":"b"}`}, `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":2}}`, `[DONE]`)
	f := fanned{chatToCompletions, []translate.AnswerContext{{Stream: true, IncludeUsage: true}, {Stream: true, IncludeUsage: true}}, [][]byte{telling, silent}}
	fan, out := f.play(inTurn)
	assert.Equal(t, token.Usage{}, fan.Usage())
	assert.Contains(t, out, `"usage":{"prompt_tokens":0,`)
}

// A call may give more than it was asked for, or no finish.
func TestACallGivesExactlyOneChoice(t *testing.T) {
	several := chatStream([]string{`{"content":"a"}`},
		`{"choices":[{"index":1,"delta":{"content":"x"},"finish_reason":"length"}]}`, `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`, `[DONE]`)
	silent := chatStream([]string{`{"content":"b"}`}, `[DONE]`)
	f := fanned{chatToCompletions, make([]translate.AnswerContext, 2), [][]byte{several, silent}}
	_, out := f.play(inTurn)
	assert.Contains(t, out, `"choices":[{"text":"a","index":0,"logprobs":null,"finish_reason":"stop"},{"text":"b","index":1,"logprobs":null,"finish_reason":"stop"}]`)
}

func TestEveryCallIsCutByItself(t *testing.T) {
	m := translate.AnswerContext{Cuts: translate.Cuts{Stops: []string{"\n\n"}, Enforced: []string{"\n\n"}}}
	f := fanned{messagesToCompletions, []translate.AnswerContext{m, m, m}, [][]byte{speech(1, `a\n`, `\nb`), speech(1, `c\n`, `d`), speech(1, `e\n\n`, "f")}}
	_, out := f.play(func(open []int) int { return len(open) - 1 })
	for i, text := range []string{"a", `c\nd`, "e"} {
		assert.Contains(t, out, fmt.Sprintf(`{"text":"%s","index":%d,`, text, i))
	}
	assert.Contains(t, out, `"usage":{"prompt_tokens":3,`, "usage is read on behind a cut")
}

func TestOffsetsOfLogprobsCountFromTheirOwnPrompt(t *testing.T) {
	const delta = `{"choices":[{"index":0,"delta":{"content":"ab"},"logprobs":{"content":[{"token":"ab","logprob":-1}]},"finish_reason":"stop"}]}`
	stream := chatStream(nil, delta, `[DONE]`)
	f := fanned{chatToCompletions, []translate.AnswerContext{{Logprobs: translate.Logprobs{Asked: true}, Input: translate.Input{Length: 3}}, {Logprobs: translate.Logprobs{Asked: true}, Input: translate.Input{Length: 7}}}, [][]byte{stream, stream}}
	_, out := f.play(inTurn)
	assert.Contains(t, out, `"index":0,"logprobs":{"tokens":["ab"],"token_logprobs":[-1],"top_logprobs":null,"text_offset":[3]}`)
	assert.Contains(t, out, `"index":1,"logprobs":{"tokens":["ab"],"token_logprobs":[-1],"top_logprobs":null,"text_offset":[7]}`)
}

func TestAnAnswerHasNoEndWhileACallHasNone(t *testing.T) {
	broken := messagesStream(`{"type":"message_start","message":{"model":"m"}}`, `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}`)
	f := fanned{messagesToCompletions, []translate.AnswerContext{{Stream: true}, {Stream: true}}, [][]byte{broken, speech(1, "b")}}
	fan, out := f.play(inTurn)
	require.NotNil(t, fan[0].Fault())
	assert.False(t, fan[0].Finished())
	assert.NotContains(t, out, "[DONE]")
	assert.NotContains(t, out, `"finish_reason":"`)
}
