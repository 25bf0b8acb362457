package pairs_test

import (
	"testing"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// mailDigest is the digest of the user a@b.c.
const mailDigest = "d648b243a3e817eaa3309e00e183483f2867baadf522099f0c2121770536b25a"

func TestCompletionsTowardsMessages(t *testing.T) {
	bounded := func(limit string, members ...string) string {
		return asksFor(`{"model":"up","max_tokens":`+limit+`,"messages":[`+userHi+`]`, members)
	}
	want := func(members ...string) string { return bounded("9", members...) }
	request := func(members ...string) string { return completion(append([]string{`"max_tokens":9`}, members...)...) }
	runRenderCases(t, translate.Completions, translate.Messages, []renderCase{
		{name: "a prompt", body: request(), want: want()},
		{name: "a prompt in a list", body: `{"model":"m1","max_tokens":9,"prompt":["hi"]}`, want: want()},
		{name: "an empty prompt", body: `{"model":"m1","prompt":""}`, fault: "prompt:" + notM1 + "messages)"},
		{name: "tokens", body: `{"model":"m1","prompt":[1,2,3]}`, fault: "prompt:" + notM1 + "messages)"},
		{name: "no bound", body: completion(), want: bounded("4096"), losses: "max_tokens hint"},
		{name: "no bound, another default", traits: "default_max_tokens 100", body: completion(`"max_tokens":null`), want: bounded("100"), losses: "max_tokens hint"},
		{name: "no tokens at all", body: completion(`"max_tokens":0`), fault: "max_tokens: 0" + notM1 + "messages)"},
		{name: "any number of answers", body: request(`"n":-1`), fault: "n: -1" + notM1 + "messages)"},
		{name: "too large a bound", body: completion(`"max_tokens":2147483648`), fault: "max_tokens: must be at most 2147483647, got 2147483648"},
		{name: "temperature", body: request(`"temperature":1`), want: want(`"temperature":1`)},
		{name: "temperature beyond the bound", body: request(`"temperature":1.6`), want: want(`"temperature":1`), losses: "temperature shaping"},
		{name: "temperature far beyond it", body: request(`"temperature":1e999`), want: want(`"temperature":1`), losses: "temperature shaping"},
		{name: "temperature below zero", body: request(`"temperature":-1`), fault: "temperature: must be at least 0, got -1"},
		{name: "top_p and top_k", body: request(`"temperature":0.5,"top_p":0.5,"top_k":3`), want: want(`"temperature":0.5`, `"top_p":0.5`, `"top_k":3`)},
		{name: "a version that refuses sampling", traits: "anthropic_version 2026-10-21", body: request(`"temperature":0.5,"top_p":0.5,"top_k":3`), want: want(), losses: "temperature shaping, top_p shaping, top_k shaping"},
		{name: "a version that refuses sampling, at a provider that does not", traits: "anthropic_version 2026-10-21; sampling all", body: request(`"temperature":0.5`), want: want(`"temperature":0.5`)},
		{name: "a top_k that is none", body: request(`"top_k":"x"`), fault: "top_k: must be an integer"},
		{name: "what says nothing", body: request(`"presence_penalty":0,"frequency_penalty":0.0,"seed":0,"logit_bias":{}`), want: want()},
		{name: "a stop", body: request(`"stop":"\u0061"`), want: want(`"stop_sequences":["\u0061"]`)},
		{name: "stops of white space are not sent", body: request(`"stop":["\n\n","END"," "]`), want: want(`"stop_sequences":["END"]`)},
		{name: "nothing but a stop of white space", body: request(`"stop":"\n"`), want: want()},
		{name: "an empty stop", body: request(`"stop":["a",""]`), fault: "stop[1]:" + notM1 + "messages)"},
		{name: "an empty stop alone", body: request(`"stop":""`), fault: "stop:" + notM1 + "messages)"},
		{name: "a stream", body: request(`"stream":true,"stream_options":{"include_usage":true}`), want: want(`"stream":true`)},
		{
			name: "a suffix in words", traits: "suffix instruct", body: request(`"suffix":"x"`),
			want:   `{"model":"up","max_tokens":9,"messages":[` + messageOf("user", textBlock(`PREFIX:\nhi\n\nSUFFIX:\nx`)) + `],"system":[` + textBlock("Write only the text that belongs between PREFIX and SUFFIX.") + `]}`,
			losses: "suffix shaping",
		},
		{name: "a system text", traits: "completion_system Go on.", body: request(), want: want(`"system":[` + textBlock("Go on.") + `]`)},
		{name: "logprobs", body: request(`"logprobs":0`), fault: "logprobs: 0" + notM1 + "messages)"},
		{name: "user", body: request(`"user":"u_1-A"`), want: want(`"metadata":{"user_id":"u_1-A"}`)},
		{name: "a user that may be a mail address", body: request(`"user":"a@b.c"`), want: want(`"metadata":{"user_id":"` + mailDigest + `"}`), losses: "user shaping"},
		{name: "no user", body: request(`"user":""`), want: want(), losses: "user hint"},
		{name: "unknown fields", traits: "extensions min_p", body: request(`"min_p":1,"bar":2`), want: want(`"min_p":1`), losses: "bar hint"},
	})
}
