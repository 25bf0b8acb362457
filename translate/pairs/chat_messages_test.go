package pairs_test

import (
	"strings"
	"testing"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
)

// talk is a chat request of those messages.
func talk(messages string, members ...string) string {
	return asksFor(`{"model":"m1","max_completion_tokens":9,"messages":[`+messages+`]`, members)
}

// messagesBody returns the messages request of the messages.
func messagesBody(messages string, members ...string) string {
	return asksFor(`{"model":"up","max_tokens":9,"messages":[`+messages+`]`, members)
}

// messageOf returns a message of a messages request.
func messageOf(role string, blocks ...string) string {
	return `{"role":"` + role + `","content":[` + strings.Join(blocks, ",") + `]}`
}

// textBlock is a text block, or a text part.
func textBlock(text string) string { return `{"type":"text","text":"` + text + `"}` }

var userHi = messageOf("user", textBlock("hi"))

func TestOptionsOfChatTowardsMessages(t *testing.T) {
	bounded := func(limit string, members ...string) string {
		return asksFor(`{"model":"up","max_tokens":`+limit+`,"messages":[`+userHi+`]`, members)
	}
	bare := func(members ...string) string { return asksFor(`{"model":"m1","messages":[`+hi+`]`, members) }
	request := func(members ...string) string { return talk(hi, members...) }
	want := func(members ...string) string { return messagesBody(userHi, members...) }
	runRenderCases(t, translate.Chat, translate.Messages, []renderCase{
		{name: "nothing", body: request(), want: want()},
		{name: "G036 no bound", body: bare(), want: bounded("4096"), losses: "max_tokens hint"},
		{name: "no bound, another default", traits: "default_max_tokens 100", body: bare(`"max_tokens":null`), want: bounded("100"), losses: "max_tokens hint"},
		{name: "the older bound", body: bare(`"max_tokens":7`), want: bounded("7")},
		{name: "both bounds", body: bare(`"max_tokens":7,"max_completion_tokens":7.0`), want: bounded("7")},
		{name: "two bounds", body: bare(`"max_tokens":7,"max_completion_tokens":8`), fault: "max_tokens: must be the same as max_completion_tokens where both are sent"},
		{name: "too large a bound", body: bare(`"max_completion_tokens":2147483648`), fault: "max_completion_tokens: must be at most 2147483647, got 2147483648"},
		{name: "temperature", body: request(`"temperature":1`), want: want(`"temperature":1`)},
		{name: "G031 temperature beyond the bound", body: request(`"temperature":1.6`), want: want(`"temperature":1`), losses: "temperature shaping"},
		{name: "temperature below zero", body: request(`"temperature":-1`), fault: "temperature: must be at least 0, got -1"},
		{name: "top_p and top_k", body: request(`"temperature":0.5,"top_p":0.5,"top_k":3`), want: want(`"temperature":0.5`, `"top_p":0.5`, `"top_k":3`)},
		{name: "a top_k that is none", body: request(`"top_k":"x"`), fault: "top_k: must be an integer"},
		{name: "G032 sampling one", traits: "sampling one", body: request(`"temperature":0.5,"top_p":0.5`), want: want(`"temperature":0.5`), losses: "top_p shaping"},
		{name: "sampling one of one", traits: "sampling one", body: request(`"top_p":0.5`), want: want(`"top_p":0.5`)},
		{name: "G033 a version that refuses sampling", traits: "anthropic_version 2026-10-21", body: request(`"temperature":0.2,"top_p":0.5,"top_k":3`), want: want(), losses: "temperature shaping, top_p shaping, top_k shaping"},
		{name: "what says nothing", body: request(`"presence_penalty":0,"frequency_penalty":0.0,"seed":0,"logit_bias":{},"verbosity":null,"logprobs":false,"top_logprobs":0,"n":1,"modalities":["text"],"functions":[]`), want: want()},
		{name: "a stop", body: request(`"stop":"\u0061"`), want: want(`"stop_sequences":["\u0061"]`)},
		{name: "G110 stops of white space are not sent", body: request(`"stop":["\n\n","END"]`), want: want(`"stop_sequences":["END"]`)},
		{name: "G035 nothing but a stop of white space", body: request(`"stop":"\n"`), want: want()},
		{name: "no stop", body: request(`"stop":[]`), want: want()},
		{name: "an empty stop", body: request(`"stop":["a",""]`), fault: "stop[1]:" + notM1 + "messages)"},
		{name: "a stream", body: request(`"stream":true,"stream_options":{"include_usage":true,"include_obfuscation":false}`), want: want(`"stream":true`), losses: "stream_options.include_obfuscation hint"},
		{name: "more tokens than the model gives", traits: "max_output_tokens 5", body: bare(`"max_tokens":7`), want: bounded("5"), losses: "max_tokens shaping"},
		{name: "a default that the model does not give", traits: "max_output_tokens 5; default_max_tokens 6", body: bare(), want: bounded("5"), losses: "max_tokens hint"},
		{name: "user", body: request(`"user":"u_1-A","safety_identifier":"u_1-A"`), want: want(`"metadata":{"user_id":"u_1-A"}`)},
		{name: "G039 a user that may be a mail address", body: request(`"user":"a@b.c"`), want: want(`"metadata":{"user_id":"` + mailDigest + `"}`), losses: "user shaping"},
		{name: "the other name of the user", body: request(`"safety_identifier":"s"`), want: want(`"metadata":{"user_id":"s"}`)},
		{name: "two users", body: request(`"user":"u","safety_identifier":"s"`), want: want(`"metadata":{"user_id":"u"}`), losses: "safety_identifier hint"},
		// It was looked up as the row about longer ids.
		{name: "a user of three dots", body: request(`"user":"..."`), want: want(`"metadata":{"user_id":"` + core.DigestOf("...") + `"}`), losses: "user shaping"},
		{name: "a user that is none", body: request(`"user":1`), fault: "user: must be a string"},
		{name: "the default tier", body: request(`"service_tier":"default"`), want: want(`"service_tier":"standard_only"`)},
		{name: "unknown fields", traits: "extensions min_p", body: request(`"min_p":1,"bar":2`), want: want(`"min_p":1`), losses: "bar hint"},
		{name: "text", body: request(`"response_format":{"type":"text"}`), want: want()},
		{
			name: "a schema", body: request(`"response_format":{"type":"json_schema","json_schema":{"name":"n","strict":true,"schema":{"type":"object","title": "t","additionalProperties":false}}}`),
			want:   want(`"output_config":{"format":{"type":"json_schema","schema":{"type":"object","title": "t","additionalProperties":false}}}`),
			losses: "response_format.json_schema.name hint, response_format.json_schema.strict hint",
		},
		{name: "no schema", body: request(`"response_format":{"type":"json_schema","json_schema":{"name":"n"}}`), fault: "response_format.json_schema.schema: required"},
		{name: "G122 any object, refused", traits: "json_object refuse", body: request(`"response_format":{"type":"json_object"}`), fault: "response_format.type: 'json_object'" + notM1 + "messages)"},
		{
			name:   "G122 any object, asked for in words",
			body:   talk(`{"role":"system","content":"s"},`+hi, `"response_format":{"type":"json_object"}`),
			want:   messagesBody(userHi, `"system":[`+textBlock("s")+`,`+textBlock("Answer with one JSON object and nothing else.")+`]`),
			losses: "response_format.type shaping",
		},
		{name: "a format that is none", body: request(`"response_format":"json"`), fault: "response_format: must be an object"},
	})
}

func TestThinkingOfChatTowardsMessages(t *testing.T) {
	talk := func(limit, effort string, members ...string) string {
		return asksFor(`{"model":"m1","max_tokens":`+limit+`,"messages":[`+hi+`],"reasoning_effort":`+effort, members)
	}
	want := func(limit string, members ...string) string {
		return asksFor(`{"model":"up","max_tokens":`+limit+`,"messages":[`+userHi+`]`, members)
	}
	disabled := `"thinking":{"type":"disabled"}`
	budget := func(n string) string { return `"thinking":{"type":"enabled","budget_tokens":` + n + `}` }
	adaptive := func(effort string) string {
		return `"thinking":{"type":"adaptive"},"output_config":{"effort":"` + effort + `"}`
	}
	cases := []renderCase{
		{name: "no effort", traits: "thinking_style adaptive", body: talk("9", `null`), want: want("9")},
		{name: "an effort that nobody knows", traits: "thinking_style adaptive", body: talk("9", `"huge"`), want: want("9"), losses: "reasoning_effort shaping"},
		{name: "an effort that is none", traits: "thinking_style adaptive", body: talk("9", `1`), fault: "reasoning_effort: must be a string"},
		{name: "disabled", traits: "thinking_style adaptive", body: talk("9", `"none"`), want: want("9", disabled)},
		{name: "disabled where it cannot be", traits: "thinking_style always", body: talk("9", `"none"`), want: want("9"), losses: "reasoning_effort shaping"},
		{name: "disabled, by a budget", traits: "thinking_style budget", body: talk("9", `"none"`), want: want("9", disabled)},
		// A budget up to the bound less one was sent: the text had one token.
		{name: "a budget too large for the bound", traits: "thinking_style budget", body: talk("8192", `"high"`), want: want("8192", budget("7168")), losses: "reasoning_effort shaping"},
		{name: "a budget as large as the bound", traits: "thinking_style budget", body: talk("4096", `"medium"`), want: want("4096", budget("3072")), losses: "reasoning_effort shaping"},
		{name: "a budget that leaves the text too little", traits: "thinking_style budget", body: talk("5119", `"medium"`), want: want("5119", budget("4095")), losses: "reasoning_effort shaping"},
		{name: "a budget that leaves the text enough", traits: "thinking_style budget", body: talk("5120", `"medium"`), want: want("5120", budget("4096"))},
		{name: "no room for a budget", traits: "thinking_style budget", body: talk("2047", `"low"`, `"temperature":0.5`), want: want("2047", `"temperature":0.5`), losses: "reasoning_effort shaping"},
		{name: "room for the least", traits: "thinking_style budget", body: talk("2048", `"low"`), want: want("2048", budget("1024"))},
		{
			name: "beside sampling, by a budget", traits: "thinking_style budget", body: talk("2500", `"low"`, `"temperature":0.5,"top_p":0.97,"top_k":3`),
			want: want("2500", budget("1024"), `"top_p":0.97`), losses: "temperature shaping, top_k shaping",
		},
		{
			name: "beside sampling, adaptive", traits: "thinking_style adaptive", body: talk("2000", `"low"`, `"temperature":0.5,"top_k":3`),
			want: want("2000", adaptive("low")), losses: "temperature shaping, top_k shaping",
		},
		{name: "beside the default temperature", traits: "thinking_style adaptive", body: talk("2000", `"low"`, `"temperature":1.0`), want: want("2000", adaptive("low"), `"temperature":1.0`)},
		{name: "disabled beside sampling", traits: "thinking_style adaptive", body: talk("2000", `"none"`, `"temperature":0.5`), want: want("2000", disabled, `"temperature":0.5`)},
		{
			name: "beside a schema", traits: "thinking_style adaptive",
			body:   talk("9", `"max"`, `"response_format":{"type":"json_schema","json_schema":{"name":"n","schema":{}}}`),
			want:   want("9", `"thinking":{"type":"adaptive"},"output_config":{"effort":"max","format":{"type":"json_schema","schema":{}}}`),
			losses: "response_format.json_schema.name hint",
		},
	}
	for effort, b := range map[string]string{"minimal": "1024", "low": "1024", "medium": "4096", "high": "16384", "xhigh": "32768", "max": "65536"} {
		word := strings.Replace(effort, "minimal", "low", 1)
		cases = append(cases,
			renderCase{name: effort, traits: "thinking_style adaptive", body: talk("99999", `"`+effort+`"`), want: want("99999", adaptive(word))},
			renderCase{name: effort + " that the model always has", traits: "thinking_style always", body: talk("99999", `"`+effort+`"`), want: want("99999", adaptive(word))},
			renderCase{name: effort + " by a budget", traits: "thinking_style budget", body: talk("99999", `"`+effort+`"`), want: want("99999", budget(b))},
		)
	}
	within := func(name, traits, effort, b string) renderCase {
		return renderCase{name: name, traits: "thinking_style budget; thinking_budget " + traits, body: talk("99999", effort), want: want("99999", budget(b)), losses: "reasoning_effort shaping"}
	}
	cases = append(cases,
		within("the most of the model", "1024-2048", `"high"`, "2048"),
		within("the least of the model", "2048-4096", `"low"`, "2048"),
		renderCase{name: "no room for the least of the model", traits: "thinking_style budget; thinking_budget 4096-8192", body: talk("4096", `"low"`), want: want("4096"), losses: "reasoning_effort shaping"},
	)
	const tool = `"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}]`
	const given = `"tools":[{"name":"f","input_schema":{"type":"object","properties":{}}}]`
	cases = append(cases,
		renderCase{
			name: "a tool that must be used, by a budget", traits: "thinking_style budget", body: talk("9999", `"low"`, tool, `"tool_choice":"required"`),
			want: want("9999", given, `"tool_choice":{"type":"any"}`), losses: "reasoning_effort shaping",
		},
		renderCase{
			name: "a tool that must be used, adaptive", traits: "thinking_style adaptive", body: talk("9", `"low"`, tool, `"tool_choice":{"type":"function","function":{"name":"f"}}`),
			want: want("9", given, `"tool_choice":{"type":"tool","name":"f"}`, `"output_config":{"effort":"low"}`), losses: "reasoning_effort shaping",
		},
		renderCase{name: "a tool that must be used and is not there", traits: "thinking_style budget", body: talk("9999", `"low"`, `"tool_choice":"required"`), want: want("9999", budget("1024")), losses: "tool_choice shaping"},
	)
	runRenderCases(t, translate.Chat, translate.Messages, cases)
}
