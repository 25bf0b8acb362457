package pairs_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// completion gives a case the body of a completions request.
func completion(members ...string) string { return asksFor(`{"model":"m1","prompt":"hi"`, members) }

func asksFor(body string, members []string) string {
	for _, member := range members {
		body += "," + member
	}
	return body + "}"
}

func TestCompletionsTowardsChat(t *testing.T) {
	want := func(members ...string) string { return asksFor(`{"model":"up","messages":[`+hi+`]`, members) }
	runRenderCases(t, translate.Completions, translate.Chat, []renderCase{
		{name: "a prompt", body: completion(), want: want()},
		{name: "a prompt as it is escaped", body: `{"model":"m1","prompt":"a\u00e9\n\"<"}`, want: `{"model":"up","messages":[{"role":"user","content":"a\u00e9\n\"<"}]}`},
		{name: "a prompt in a list", body: `{"prompt":["hi"],"model":"m1"}`, want: want()},
		{name: "an empty prompt", body: `{"model":"m1","prompt":""}`, fault: "prompt:" + notM1 + "chat)"},
		{name: "tokens", body: `{"model":"m1","prompt":[1,2,3]}`, fault: "prompt:" + notM1 + "chat)"},
		{name: "one token", body: `{"model":"m1","prompt":[1]}`, fault: "prompt:" + notM1 + "chat)"},
		{name: "lists of tokens", body: `{"model":"m1","prompt":[[1,2]]}`, fault: "prompt:" + notM1 + "chat)"},
		{name: "max_tokens", body: completion(`"max_tokens":16.0`), want: want(`"max_tokens":16`)},
		{name: "max_completion_tokens", traits: "max_tokens_field max_completion_tokens", body: completion(`"max_tokens":16`), want: want(`"max_completion_tokens":16`)},
		{name: "more tokens than the model gives", traits: "max_output_tokens 9", body: completion(`"max_tokens":16`), want: want(`"max_tokens":9`), losses: "max_tokens shaping"},
		{name: "no tokens at all", body: completion(`"max_tokens":0`), fault: "max_tokens: 0" + notM1 + "chat)"},
		{name: "any number of tokens", body: completion(`"max_tokens":-1`), fault: "max_tokens: -1" + notM1 + "chat)"},
		{name: "a number of tokens that nobody counts", body: completion(`"max_tokens":-1e30`), fault: "max_tokens: -1e30" + notM1 + "chat)"},
		{name: "no answer", body: completion(`"n":0`), fault: "n: 0" + notM1 + "chat)"},
		{
			name: "sampling", body: completion(`"seed":7,"temperature":1.60,"top_p":0.5,"presence_penalty":-1,"frequency_penalty":0.5,"logit_bias":{"50256":-100}`),
			want: want(`"temperature":1.60`, `"top_p":0.5`, `"presence_penalty":-1`, `"frequency_penalty":0.5`, `"logit_bias":{"50256":-100}`, `"seed":7`),
		},
		{name: "a penalty that is no number", body: completion(`"presence_penalty":"x"`), fault: "presence_penalty: must be a number"},
		{name: "one answer", body: completion(`"n":1,"best_of":1`), want: want()},
		{name: "several answers", body: completion(`"n":2.0,"best_of":2`), want: want(`"n":2`)},
		{name: "several answers, one a call", traits: "native_n off", body: completion(`"n":2`), want: want()},
		{name: "stops", body: completion(`"stop":["a","\n"]`), want: want(`"stop":["a","\n"]`)},
		{name: "no stops", body: completion(`"stop":[]`), want: want()},
		{name: "a stream without usage", traits: "include_usage false", body: completion(`"stream":true,"stream_options":{"include_usage":true}`), want: want(`"stream":true`)},
		{name: "padding", body: completion(`"stream":true,"stream_options":{"include_obfuscation":true}`), want: want(`"stream":true`, `"stream_options":{"include_usage":true}`), losses: "stream_options.include_obfuscation hint"},
		{
			name: "a suffix in words", traits: "suffix instruct; completion_system Code.", body: completion(`"suffix":"x"`),
			want:   `{"model":"up","messages":[{"role":"system","content":"Code.\n\nWrite only the text that belongs between PREFIX and SUFFIX."},{"role":"user","content":"PREFIX:\nhi\n\nSUFFIX:\nx"}]}`,
			losses: "suffix shaping",
		},
		{
			name: "a system text", traits: "completion_system Continue the \"text\".; system_role developer", body: completion(),
			want: `{"model":"up","messages":[{"role":"developer","content":"Continue the \"text\"."},` + hi + `]}`,
		},
		{name: "logprobs of the chosen only", body: completion(`"logprobs":0`), want: want(`"logprobs":true`, `"top_logprobs":0`)},
		{name: "logprobs below zero", body: completion(`"logprobs":-1`), fault: "logprobs: must be an integer of at least 0"},
		{name: "logprobs of the prompt", body: completion(`"logprobs":2,"echo":true`), fault: "logprobs: 2" + notM1 + "chat)"},
		{name: "user", body: completion(`"user":"a@b.c"`), want: want(`"user":"a@b.c"`)},
		{name: "user in another field", traits: "user_field safety_identifier", body: completion(`"user":"u"`), want: want(`"safety_identifier":"u"`)},
		{name: "a user that is no string", body: completion(`"user":7`), fault: "user: must be a string"},
		{name: "extensions", traits: "extensions min_p", body: completion(`"min_p":0.1,"top_k":3,"odd":1`), want: want(`"min_p":0.1`), losses: "odd hint, top_k shaping"},
		{name: "what is null is absent", body: completion(`"max_tokens":null,"n":null,"best_of":null,"stop":null,"suffix":null,"logprobs":null,"user":null,"stream":null,"stream_options":null`), want: want()},
	})
}

func TestTheWayBackRemembersTheCompletionsRequest(t *testing.T) {
	c := renderCase{body: `{"model":"m1","prompt":"h\u00e9\n","echo":true,"stop":["a","\n"],"stream":true,"stream_options":{"include_usage":true}}`}
	_, r := renderCaseOf(t, translate.Completions, translate.Chat, c)
	assert.Equal(t, translate.AnswerContext{Stream: true, IncludeUsage: true, Input: translate.Input{Echo: []byte("hé\n"), Length: 3}, Cuts: translate.Cuts{Stops: []string{"a", "\n"}}}, r.Answer)
	c.body = `{"model":"m1","prompt":"h\u00e9\n","logprobs":3,"stop":"b"}`
	_, r = renderCaseOf(t, translate.Completions, translate.Chat, c)
	assert.Equal(t, translate.AnswerContext{Logprobs: translate.Logprobs{Asked: true, Top: 3}, Input: translate.Input{Length: 3}, Cuts: translate.Cuts{Stops: []string{"b"}}}, r.Answer)
	c.body = completion(`"stop":["\n","END"," \t"]`)
	_, r = renderCaseOf(t, translate.Completions, translate.Messages, c)
	assert.Equal(t, translate.AnswerContext{Cuts: translate.Cuts{Stops: []string{"\n", "END", " \t"}, Enforced: []string{"\n", " \t"}}}, r.Answer)
}
