package pairs_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/pairs"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/signal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
)

// textChunk returns a chunk of a chat stream with a text of a choice. "|" separates the
// tokens of the text.
func textChunk(choice int, text string) string {
	var tokens []string
	for token := range strings.SplitSeq(text, "|") {
		quoted, _ := json.Marshal(token)
		tokens = append(tokens, `{"token":`+string(quoted)+`,"logprob":-1}`)
	}
	quoted, _ := json.Marshal(strings.ReplaceAll(text, "|", ""))
	return `{"model":"m","choices":[{"index":` + string(rune('0'+choice)) + `,"delta":{"content":` + string(quoted) + `},"logprobs":{"content":[` + strings.Join(tokens, ",") + `]}}]}`
}

func ends(choice int) string {
	return `{"choices":[{"index":` + string(rune('0'+choice)) + `,"delta":{},"finish_reason":"length"}]}`
}

// addedUp adds up a stream of a completions client: the text, the reason and the tokens
// of each choice.
func addedUp(t *testing.T, o outcome) (choices [][3]string) {
	t.Helper()
	require.True(t, o.Finished(), "%v", o.Fault())
	added, err := chatToCompletions.added(o.out, false)
	require.NoError(t, err)
	for _, c := range added["choices"].([]any) {
		choice := c.(map[string]any)
		var tokens []string
		if logprobs, ok := choice["logprobs"].(map[string]any); ok {
			for _, token := range logprobs["tokens"].([]any) {
				tokens = append(tokens, token.(string))
			}
		}
		choices = append(choices, [3]string{choice["text"].(string), choice["finish_reason"].(string), strings.Join(tokens, "|")})
	}
	return choices
}

func TestTextsAreCutChoiceByChoice(t *testing.T) {
	const human = "\n\nHuman:"
	for _, tt := range []struct {
		name   string
		chunks []string
		want   [][3]string
	}{
		{"nothing to cut", []string{textChunk(0, "a|b"), ends(0)}, [][3]string{{"ab", "length", "a|b"}}},
		{"a stop in tokens of its own", []string{textChunk(0, "a"), textChunk(0, "\n\n"), textChunk(0, "Human"), textChunk(0, ":"), textChunk(0, "b"), ends(0)}, [][3]string{{"a", "stop", "a"}}},
		{"a stop within one chunk", []string{textChunk(0, "a|b\n\n|Human|:| c"), ends(0)}, [][3]string{{"ab", "stop", "a|b\n\n"}}},
		{"not it after all", []string{textChunk(0, "a"), textChunk(0, "\n\n"), textChunk(0, "Humans"), ends(0)}, [][3]string{{"a\n\nHumans", "length", "a|\n\n|Humans"}}},
		{"held to the end", []string{textChunk(0, "a"), textChunk(0, "\n\nHum"), ends(0)}, [][3]string{{"a\n\nHum", "length", "a|\n\nHum"}}},
		{"one of two", []string{textChunk(0, "a\n\nHuman"), textChunk(1, "b"), textChunk(0, ":"), textChunk(1, "\n\nHuman"), textChunk(0, "x"), ends(0), textChunk(1, "e"), ends(1)}, [][3]string{{"a", "stop", "a\n\nHuman"}, {"b\n\nHumane", "length", "b|\n\nHuman|e"}}},
		{"both", []string{textChunk(1, "b\n\n"), textChunk(0, "a\n\nHuman:"), textChunk(1, "Human:"), ends(0), ends(1)}, [][3]string{{"a", "stop", "a\n\nHuman:"}, {"b", "stop", "b\n\n"}}},
		{"a space that belongs to the template", []string{textChunk(0, " |a"), textChunk(0, " b"), textChunk(1, " "), textChunk(1, " c"), ends(0), ends(1)}, [][3]string{{"a b", "length", " |a| b"}, {" c", "length", " | c"}}},
		{"a space and a stop", []string{textChunk(0, " "), textChunk(0, "a|"+human), ends(0)}, [][3]string{{"a", "stop", " |a"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := translate.AnswerContext{Stream: true, Logprobs: translate.Logprobs{Asked: true}, Cuts: translate.Cuts{Enforced: []string{human}, LeadingSpace: strings.Contains(tt.name, "space")}}
			stream := chatStream(nil, append(tt.chunks, "[DONE]")...)
			o := translated(chatToCompletions, m, [][]byte{stream}, true)
			assert.Equal(t, tt.want, addedUp(t, o))
			m.Stream = false
			requireAgreement(t, chatToCompletions, translated(chatToCompletions, translate.AnswerContext{Stream: true, IncludeUsage: true, Logprobs: translate.Logprobs{Asked: true}, Cuts: m.Cuts}, [][]byte{stream}, true), translated(chatToCompletions, m, [][]byte{stream}, true))
		})
	}
}

// TestATokenThatIsOnlyASpaceKeepsItsProbability ensures that the log probability of the
// space of a template reaches clients whose format has no place for one in front of the
// text: streams of responses clients lost it.
func TestATokenThatIsOnlyASpaceKeepsItsProbability(t *testing.T) {
	m := translate.AnswerContext{Stream: true, Logprobs: translate.Logprobs{Asked: true}, Cuts: translate.Cuts{LeadingSpace: true}}
	stream := []byte(`data: {"model":"m","choices":[{"index":0,"text":" ","logprobs":{"tokens":[" "],"token_logprobs":[-1]}}]}

data: {"model":"m","choices":[{"index":0,"text":"Hi","logprobs":{"tokens":["Hi"],"token_logprobs":[-2]},"finish_reason":"stop"}]}

data: [DONE]

`)
	for _, w := range []way{completionsToChat, completionsToResponses} {
		o := translated(w, m, [][]byte{stream}, true)
		require.True(t, o.Finished(), w)
		first, _, _ := strings.Cut(o.out, `"token":"Hi"`)
		assert.Contains(t, first, `"token":" ","logprob":-1`, w)
	}
}

// TestAnAnswerIsCompleteOnceAllOfItWasCut ensures that a provider that breaks
// off behind the cuts spoils nothing, and before one of them does.
func TestAnAnswerIsCompleteOnceAllOfItWasCut(t *testing.T) {
	m := translate.AnswerContext{Stream: true, Cuts: translate.Cuts{Enforced: []string{"\n"}}}
	both := chatStream(nil, textChunk(0, "a"), textChunk(1, "b"), textChunk(0, "\n"), textChunk(1, "\n"))
	o := translated(chatToCompletions, m, [][]byte{both}, false)
	assert.Equal(t, [][3]string{{"a", "stop", ""}, {"b", "stop", ""}}, addedUp(t, o))
	assert.Equal(t, []signal.Signal{signal.Content, signal.Content, signal.Content, signal.Content | signal.Finish}, o.signals)

	one := chatStream(nil, textChunk(0, "a"), textChunk(1, "b"), textChunk(0, "\n"))
	o = translated(chatToCompletions, m, [][]byte{one}, false)
	require.NotNil(t, o.Fault())
	assert.False(t, o.Finished())
}

// TestAChoiceThatHasNotBegunIsWaitedFor ensures that an answer is not taken for
// finished while a choice that was asked for is still to come. Providers that
// give one choice after the other lost the later ones: the first was cut, or had
// ended, and what broke off then counted as complete.
func TestAChoiceThatHasNotBegunIsWaitedFor(t *testing.T) {
	for name, m := range map[string]translate.AnswerContext{
		"cut": {Stream: true, Choices: 2, Cuts: translate.Cuts{Enforced: []string{"\n"}}}, "ended": {Stream: true, Choices: 2},
	} {
		t.Run(name, func(t *testing.T) {
			first := []string{textChunk(0, "a"), textChunk(0, "\n"), ends(0)}
			o := translated(chatToCompletions, m, [][]byte{chatStream(nil, first...)}, false)
			for _, sig := range o.signals {
				assert.False(t, sig.Has(signal.Finish))
			}
			require.NotNil(t, o.Fault(), "it was cut off")

			o = translated(chatToCompletions, m, [][]byte{chatStream(nil, append(first, textChunk(1, "b"), ends(1))...)}, true)
			assert.Len(t, addedUp(t, o), 2)
			assert.True(t, o.signals[len(o.signals)-1].Has(signal.Finish))

			o = translated(chatToCompletions, m, [][]byte{chatStream(nil, append(first, "[DONE]")...)}, true)
			assert.Len(t, addedUp(t, o), 1, "a provider may give fewer")
		})
	}
}

// TestLogprobsOfAWholeAnswerEndAtItsCut has an answer whose log probabilities
// come behind all of its text.
func TestLogprobsOfAWholeAnswerEndAtItsCut(t *testing.T) {
	o := answered(chatToCompletions, translate.AnswerContext{Logprobs: translate.Logprobs{Asked: true}, Cuts: translate.Cuts{Enforced: []string{"\n"}}},
		[]byte(`{"model":"m","choices":[{"index":0,"message":{"content":"aé\nb"},"logprobs":{"content":[{"token":"a","logprob":-1},{"token":"\u00e9","logprob":-2},{"token":"\n","logprob":-3},{"token":"b","logprob":-4}]},"finish_reason":"stop"}]}`))
	assert.Contains(t, o.out, `"text":"aé","index":0,"logprobs":{"tokens":["a","\u00e9"],"token_logprobs":[-1,-2],"top_logprobs":null,"text_offset":[0,1]}`)
}

// A server may ignore the stop of the template, or hand it out in pieces.
func TestG105TheStopOfATemplateIsCutAndIsTheEndOfTheTurn(t *testing.T) {
	var b strings.Builder
	for _, text := range []string{` Hi`, `\n`, `\nHu`, `man:`, ` and more`} {
		b.WriteString(`data: {"model":"m","choices":[{"index":0,"text":"` + text + `"}]}` + "\n\n")
	}
	b.WriteString(`data: {"choices":[{"index":0,"text":"","finish_reason":"stop","stop_reason":"\n\nHuman:"}]}` + "\n\ndata: [DONE]\n\n")
	_, r := renderCaseOf(t, translate.Messages, translate.Completions, renderCase{body: conversation(hi, `"stop_sequences":["END"]`)})
	o := answered(completionsToMessages, r.Answer, []byte(`{"model":"m","choices":[{"index":0,"text":" Hi\n\nHuman: and more","finish_reason":"length"}]}`))
	assert.Contains(t, o.out, `"content":[{"type":"text","text":"Hi"}],"stop_reason":"end_turn","stop_sequence":null`)

	r.Answer.Stream = true
	o = translated(completionsToMessages, r.Answer, [][]byte{[]byte(b.String())}, true)
	added, err := completionsToMessages.added(o.out, false)
	require.NoError(t, err)
	assert.Equal(t, "Hi", added["content"].([]any)[0].(map[string]any)["text"])
	assert.Equal(t, "end_turn", added["stop_reason"])
}

// stopsOf is a chat request with these stop texts.
func stopsOf(stops ...string) string {
	list, _ := json.Marshal(stops)
	return chatting(hi, `"max_tokens":9,"stop":`+string(list))
}

// different are so many texts of white space.
func different(n int) (stops []string) {
	for i := range n {
		stops = append(stops, strings.Repeat("\t", i/2)+strings.Repeat("\n", 1+i%2))
	}
	return stops
}

// Stops of only white space are enforced here, so no provider refuses too many of
// them: two million, all the same, took 1.4 GB for as long as the answer lasted.
func TestEnforcedStopsAreFewAndDifferent(t *testing.T) {
	many := make([]string, 2_000_000)
	for i := range many {
		many[i] = "\t"
	}
	refused := "stop: cannot be translated for model 'm1' (upstream format messages): more than 64 different texts that the gateway itself must look for, or more than 4096 bytes of them"
	for _, tt := range []struct {
		name, fault string
		stops       []string
		enforced    int
	}{
		{name: "two million times the same", stops: many, enforced: 1},
		{name: "as many as may be, twice", stops: append(different(64), different(64)...), enforced: 64},
		{name: "one more", stops: different(65), fault: refused},
		{name: "as long as may be", stops: []string{strings.Repeat(" ", 4095), "\t", "END"}, enforced: 2},
		{name: "longer", stops: []string{strings.Repeat(" ", 4095), "\n\n"}, fault: refused},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, r := renderCaseOf(t, translate.Chat, translate.Messages, renderCase{body: stopsOf(tt.stops...), fault: tt.fault})
			assert.Equal(t, tt.enforced, len(r.Answer.Cuts.Enforced))
		})
	}
}

func TestDeltasOfACutAnswerAllocateNothing(t *testing.T) {
	m := translate.AnswerContext{Stream: true, Cuts: translate.Cuts{Enforced: different(64)}}
	translator := pairs.NewTranslator(translate.Chat, translate.Completions, &m, newIDs())
	event := sse.Event{Data: []byte(`{"model":"m","choices":[{"index":0,"delta":{"content":"a \nb\t"}}]}`)}
	repeat := func() {
		translator.Event(event)
		translator.Output()
	}
	repeat()
	assert.Zero(t, testing.AllocsPerRun(100, repeat))
}
