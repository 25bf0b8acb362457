package answer_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/completions/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest/tell"
)

// parse reads the data of events, and then the end of the body.
func parse(clean bool, events ...string) []string {
	return translatetest.ReadEvents(answer.NewParser, clean, events...)
}

// contentChunk returns a chunk of choice 0.
func contentChunk(members string) string {
	return `{"id":"cmpl-1","object":"text_completion","model":"m","created":5,"choices":[{"index":0,` + members + `}]}`
}

const (
	begin   = "start m 5"
	stopped = `{"choices":[{"index":0,"text":"","finish_reason":"stop"}]}`
)

var (
	finish = "finish stop"
	cutOff = "error 502 the upstream closed the stream before completing the answer"
	unread = "error 502 the upstream returned an unusable answer"
)

func TestStreamsAreReadIntoCoreEvents(t *testing.T) {
	for _, tt := range []struct {
		name   string
		events []string
		want   []string
	}{
		{"text", []string{contentChunk(`"text":"Hel"`), contentChunk(`"text":"lo"`), stopped, "[DONE]"}, []string{begin, `text "Hel"`, `text "lo"`, finish, "end"}},
		{"escapes are decoded", []string{contentChunk(`"text":"\u00e9\n"`), contentChunk(`"text":"\ud83d\ude00"`), "[DONE]"}, []string{begin, `text "é\n"`, `text "😀"`, "end"}},
		{"what is empty, null or no text says nothing", []string{contentChunk(`"text":""`), contentChunk(`"text":null`), contentChunk(`"text":7`), contentChunk(`"n":1`), stopped, "[DONE]"}, []string{begin, finish, "end"}},
		{"a reason on the chunk of the text", []string{contentChunk(`"finish_reason":"length","text":"a"`), "[DONE]"}, []string{begin, `text "a"`, "finish length", "end"}},
		{"a filtered answer", []string{contentChunk(`"finish_reason":"content_filter","text":"a"`), "[DONE]"}, []string{begin, `text "a"`, "finish filtered", "end"}},
		{"an unknown reason", []string{contentChunk(`"finish_reason":"tired","text":"a"`), "[DONE]"}, []string{begin, `text "a"`, "finish unknown", "end"}},
		{"a matched stop", []string{contentChunk(`"finish_reason":"stop","stop_reason":"END","text":"a"`), "[DONE]"}, []string{begin, `text "a"`, `finish stop "END"`, "end"}},
		{"late usage", []string{contentChunk(`"text":"a"`), stopped, `{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2}}`, "[DONE]"}, []string{begin, `text "a"`, finish, "usage 3+0+0 2 (0)", "end"}},
		{"running usage", []string{`{"model":"m","created":5,"choices":[{"index":0,"text":"a"}],"usage":{"prompt_tokens":3,"completion_tokens":1}}`, stopped, "[DONE]"}, []string{begin + " input 3", `text "a"`, "usage 3+0+0 1 (0)", finish, "end"}},
		{"several choices", []string{contentChunk(`"text":"a"`), `{"choices":[{"index":1,"text":"b"}]}`, `{"choices":[{"index":1,"text":"","finish_reason":"stop"},{"index":0,"text":"c","finish_reason":"stop"}]}`, "[DONE]"}, []string{begin, `text "a"`, `1: text "b"`, "1: " + finish, `text "c"`, finish, "end"}},
		{"no reason at all", []string{contentChunk(`"text":"a"`), "[DONE]"}, []string{begin, `text "a"`, "end"}},
		{"the end of the body behind the reason", []string{contentChunk(`"text":"a"`), stopped}, []string{begin, `text "a"`, finish, "end"}},
		{"the end of the body before the reason", []string{contentChunk(`"text":"a"`)}, []string{begin, `text "a"`, cutOff}},
		{"nothing", []string{"[DONE]"}, []string{unread}},
		{"an error in the middle", []string{contentChunk(`"text":"a"`), `{"error":{"message":"no","code":503}}`, "[DONE]"}, []string{begin, `text "a"`, "error 503 no"}},
		{"no JSON", []string{"oops"}, []string{unread}},
	} {
		t.Run(tt.name, func(t *testing.T) { assert.Equal(t, tt.want, parse(true, tt.events...)) })
	}
	assert.Equal(t, []string{begin, `text "a"`, finish, cutOff}, parse(false, contentChunk(`"text":"a"`), stopped), "a body that broke off")
}

func TestAnswersAreReadIntoCoreEvents(t *testing.T) {
	var r translatetest.Transcript
	answer.NewParser(&r).Answer([]byte(`{"model":"m","created":5,"choices":[{"text":"Hi","index":0,"logprobs":null,"finish_reason":"stop"},{"text":"","index":1,"finish_reason":"length"}],"usage":{"prompt_tokens":3,"completion_tokens":2}}`))
	assert.Equal(t, []string{begin + " input 3", `text "Hi"`, finish, "1: finish length", "usage 3+0+0 2 (0)", "end"}, r.Lines)
	for _, body := range []string{``, `<html>`, `[]`, `{}`, `{"choices":[]}`, `{"content":[]}`} {
		assert.Equal(t, []string{unread}, translatetest.ReadAnswer(answer.NewParser, body), body)
	}
	assert.Equal(t, []string{"error 502 no"}, translatetest.ReadAnswer(answer.NewParser, `{"error":{"message":"no"}}`))
}

// The alternatives include names that differ in case alone: they are data, so they do not
// repeat a member.
func TestLogprobsBecomeTheListOfTheChatFormat(t *testing.T) {
	for name, tt := range map[string]struct{ legacy, want string }{
		"two tokens": {
			`{"tokens":["é","a"],"token_logprobs":[-0.10,-2],"top_logprobs":[{"x":-3,"é":-0.10},{"The":-2,"the":-1}],"text_offset":[4,5]}`,
			`[{"token":"é","logprob":-0.10,"bytes":[195,169],"top_logprobs":[{"token":"é","logprob":-0.10,"bytes":[195,169]},{"token":"x","logprob":-3,"bytes":[120]}]},` +
				`{"token":"a","logprob":-2,"bytes":[97],"top_logprobs":[{"token":"the","logprob":-1,"bytes":[116,104,101]},{"token":"The","logprob":-2,"bytes":[84,104,101]}]}]`,
		},
		"escapes": {`{"tokens":["\n\u0022"],"token_logprobs":[-1e-3]}`, `[{"token":"\n\u0022","logprob":-1e-3,"bytes":[10,34],"top_logprobs":[]}]`},
		"no alternatives": {
			`{"tokens":["a"],"token_logprobs":[-1],"top_logprobs":null}`, `[{"token":"a","logprob":-1,"bytes":[97],"top_logprobs":[]}]`,
		},
		"no probability": {`{"tokens":["a",""],"token_logprobs":[null]}`, `[{"token":"a","logprob":-9999.0,"bytes":[97],"top_logprobs":[]},{"token":"","logprob":-9999.0,"bytes":[],"top_logprobs":[]}]`},
		"odd elements":   {`{"tokens":["a",7],"token_logprobs":{},"top_logprobs":[{"b":"x","c":null}]}`, `[{"token":"a","logprob":-9999.0,"bytes":[97],"top_logprobs":[]}]`},
		"the list of chat": {
			`{"content":[{"id":1,"token":"a","bytes":[97],"logprob":-1,"top_logprobs":[]}]}`, `[{"id":1,"token":"a","bytes":[97],"logprob":-1,"top_logprobs":[]}]`,
		},
		"no tokens": {`{"tokens":[],"token_logprobs":[]}`, ``}, "null": {`null`, ``}, "another kind": {`[1]`, ``}, "no lists": {`{"tokens":"a","content":[]}`, ``},
	} {
		lines := parse(true, contentChunk(`"text":"a","logprobs":`+tt.legacy), "[DONE]")
		require.Equal(t, []string{begin, `text "a"`}, lines[:2], name)
		want := []string{"end"}
		if tt.want != "" {
			want = []string{"logprobs " + tt.want, "end"}
		}
		assert.Equal(t, want, lines[2:], name)
	}
}

// TestLogprobsSurviveTheWayThroughCoreEvents ensures that what the emitter of
// the format writes, its parser reads back.
func TestLogprobsSurviveTheWayThroughCoreEvents(t *testing.T) {
	const list = `[{"token":"é","logprob":-0.10,"bytes":[195,169],"top_logprobs":[{"token":"é","logprob":-0.10,"bytes":[195,169]},{"token":"x","logprob":-2,"bytes":[120]}]}]`
	body, fault := emit(translate.AnswerContext{Logprobs: translate.Logprobs{Asked: true, Top: 2}}, each(tell.Text("é"), tell.Logprobs(list))...)
	require.Nil(t, fault)
	var r translatetest.Transcript
	answer.NewParser(&r).Answer([]byte(body))
	assert.Contains(t, r.Lines, "logprobs "+list)
}

// Reasoning, which some servers send in completions, and unknown members of an answer
// were once dropped without a report.
func TestNothingOfAnAnswerIsLostInSilence(t *testing.T) {
	for choice, want := range map[string]struct{ lines, lost string }{
		`"text":"a","logprobs":null,"finish_reason":null,"stop_reason":null,"x":null,"prompt_logprobs":[]`: {`text "a"`, ""},
		`"text":"a","reasoning":"r"`:                                  {`reasoning "r" text "a"`, ""},
		`"text":"","reasoning":"s","reasoning_content":"r"`:           {`reasoning "r"`, ""},
		`"text":"","reasoning_content":"","reasoning":"r"`:            {`reasoning "r"`, ""},
		`"text":["a"],"reasoning":{"a":1},"native_finish_reason":"x"`: {"", "choices[*].text,choices[*].reasoning,choices[*].native_finish_reason"},
		`"text":"a","logprobs":[0.5]`:                                 {`text "a"`, "choices[*].logprobs"},
		`"text":"a","logprobs":{"tokens":[],"text_offset":[3],"x":1}`: {`text "a"`, "choices[*].logprobs.x"},
	} {
		var r translatetest.Transcript
		p := answer.NewParser(&r)
		p.Event(sse.Event{Data: []byte(contentChunk(choice))})
		assert.Equal(t, want.lines, strings.Join(r.Lines[1:], " "), choice)
		assert.Equal(t, want.lost, p.Losses().String(), choice)
	}
}
