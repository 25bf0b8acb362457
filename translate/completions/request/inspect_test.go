package request_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/completions/request"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest"
)

var inspect = translatetest.Inspect(request.Inspect)

// requestWith returns a valid request with further members at its end.
func requestWith(members string) string { return `{"model":"m1","prompt":"a",` + members + `}` }

// prompt is a request with this prompt.
func prompt(p string) string { return `{"model":"m1","prompt":` + p + `}` }

const (
	kinds = "must be a string, an array of strings, an array of integers or an array of arrays of integers"
	mixed = "must be of the same kind as the first: strings, integers or arrays of integers"
	piece = "must be a string, an integer or an array of integers"
	once  = "must appear once, letter case ignored"
)

// refused lists invalid bodies with the error: the path of the field, which the error
// body repeats, and the requirement.
var refused = []struct{ name, body, path, what string }{
	{"model twice", `{"model":"a","MODEL":"b"}`, "model", once},
	{"prompt twice", `{"model":"a","prompt":"a","prompt":"b"}`, "prompt", once},
	{"prompt behind an escape", `{"\u0070rompt":"a","prompt":"b"}`, "prompt", once},
	{"in stream_options", requestWith(`"stream_options":{"a":1,"A":2}`), "stream_options.a", once},
	{"fields by their table", `{"seed":"x","n":0,"prompt":1,"model":1}`, "model", "must be a non-empty string, got number"},
	{"prompt before numbers", `{"n":0,"max_tokens":-1,"prompt":5,"model":"m"}`, "prompt", kinds + ", got number"},
	{"max_tokens before n", requestWith(`"n":0.5,"max_tokens":-1.5`), "max_tokens", "must be an integer"},

	{"no model", `{"prompt":"a"}`, "model", "required"},
	{"a null model", `{"model":null,"prompt":"a"}`, "model", "required"},
	{"an empty model", `{"model":"","prompt":"a"}`, "model", "must be a non-empty string"},
	{"no prompt", `{"model":"m"}`, "prompt", "required"},
	{"a null prompt", prompt(`null`), "prompt", "required"},
	{"a number for a prompt", prompt(`5`), "prompt", kinds + ", got number"},
	{"an object for a prompt", prompt(`{}`), "prompt", kinds + ", got object"},
	{"a boolean for a prompt", prompt(`true`), "prompt", kinds + ", got boolean"},
	{"an empty array", prompt(`[]`), "prompt", "must not be empty"},
	{"a null in the array", prompt(`[null]`), "prompt[0]", piece + ", got null"},
	{"an object in the array", prompt(`[{}]`), "prompt[0]", piece + ", got object"},
	{"a boolean in the array", prompt(`[true]`), "prompt[0]", piece + ", got boolean"},
	{"a text, then a token", prompt(`["a",1]`), "prompt[1]", mixed},
	{"a token, then a text", prompt(`[1,"a"]`), "prompt[1]", mixed},
	{"a token, then a list", prompt(`[1,[2]]`), "prompt[1]", mixed},
	{"a text, then a null", prompt(`["a",null]`), "prompt[1]", mixed},
	{"a fraction for a token", prompt(`[1,1.5]`), "prompt[1]", "must be an integer"},
	{"an empty list of tokens", prompt(`[[1],[]]`), "prompt[1]", "must not be empty"},
	{"a text in a list of tokens", prompt(`[[1,"a"]]`), "prompt[0][1]", "must be an integer"},
	{"a list in a list of tokens", prompt(`[[[1]]]`), "prompt[0][0]", "must be an integer"},
	{"a fraction in a list of tokens", prompt(`[[1],[2,3.25]]`), "prompt[1][1]", "must be an integer"},

	{"max_tokens 1.5", requestWith(`"max_tokens":1.5`), "max_tokens", "must be an integer"},
	{"max_tokens beyond 64 bits", requestWith(`"max_tokens":9223372036854775808`), "max_tokens", "must be at most 9223372036854775807, got 9223372036854775808"},
	{"max_tokens as a string", requestWith(`"max_tokens":"16"`), "max_tokens", "must be an integer"},
	{"temperature as a string", requestWith(`"temperature":"0"`), "temperature", "must be a number, got string"},
	{"top_p as an array", requestWith(`"top_p":[]`), "top_p", "must be a number, got array"},
	{"n as a string", requestWith(`"n":"1"`), "n", "must be an integer"},
	{"n beyond 64 bits", requestWith(`"n":1e20`), "n", "must be at most 9223372036854775807, got 1e20"},
	{"stream as a string", requestWith(`"stream":"yes"`), "stream", "must be a boolean, got string"},
	{"stop as a number", requestWith(`"stop":5`), "stop", "must be a string or an array of strings"},
	{"stop with a null", requestWith(`"stop":["a",null]`), "stop[1]", "must be a string"},
	{"suffix as a number", requestWith(`"suffix":5`), "suffix", "must be a string"},
	{"echo as a string", requestWith(`"echo":"true"`), "echo", "must be a boolean, got string"},
	{"stream_options as a string", requestWith(`"stream":true,"stream_options":"x"`), "stream_options", "must be an object"},
	{"include_usage as a number", requestWith(`"stream":true,"stream_options":{"include_usage":1}`), "stream_options.include_usage", "must be a boolean, got number"},
	{"stream_options without stream", requestWith(`"stream_options":{}`), "stream_options", "must be sent only with stream true"},
	{"stream_options with stream false", requestWith(`"stream_options":{"include_usage":true},"stream":false`), "stream_options", "must be sent only with stream true"},
	{"logprobs true", requestWith(`"logprobs":true`), "logprobs", "must be an integer"},
	{"best_of 1.5", requestWith(`"best_of":1.5`), "best_of", "must be an integer"},
	{"seed as a string", requestWith(`"seed":"x"`), "seed", "must be an integer"},
}

func TestInspectRefusesWithTheExactSentenceAndParam(t *testing.T) {
	for _, tt := range refused {
		t.Run(tt.name, func(t *testing.T) { inspect.Refuses(t, tt.body, tt.path, tt.what) })
	}
}

func TestInspectReportsThePositionOfInvalidJSON(t *testing.T) {
	inspect.LocatesInvalidJSON(t,
		`{"prompt":‸}`, `{"prompt":["a",‸]}`, `{"prompt":[1 ‸2]}`, `{"model":"m","prompt":"a"}‸,`,
		"{\"prompt\":\"‸\xc3\"}", `{"prompt":[[1]‸}`, requestWith(`"n":-‸`),
	)
}

// accepted are bodies that pass, each for the reason that its name gives.
var accepted = []struct{ name, body string }{
	{"a text", prompt(`"a"`)},
	{"an empty text", prompt(`""`)},
	{"texts", prompt(`["a","b",""]`)},
	{"tokens", prompt(`[1,2.0,3e0]`)},
	{"lists of tokens", prompt(`[[1,2],[3]]`)},
	{"max_tokens 0", requestWith(`"max_tokens":0,"echo":true`)},
	// Local servers take such numbers, -1 for no bound; they were refused on
	// every lane.
	{"numbers below what is asked for elsewhere", requestWith(`"max_tokens":-1,"n":0`)},
	{"a number far below", requestWith(`"max_tokens":-1e30,"n":-3`)},
	{"values beyond public bounds", requestWith(`"temperature":9,"n":4096,"logprobs":100,"best_of":-1,"stop":["a","b","c","d","e"]`)},
	{"stream_options with stream", requestWith(`"stream_options":{"include_usage":true},"stream":true`)},
	{"null stream_options without stream", requestWith(`"stream_options":null`)},
	{"nulls for all that is optional", requestWith(`"max_tokens":null,"temperature":null,"top_p":null,"n":null,"stream":null,"stop":null,"suffix":null,"echo":null,"logprobs":null,"best_of":null,"seed":null`)},
	{"unknown fields", requestWith(`"logit_bias":{"1":1,"1":2},"user":5,"guided_json":{}`)},
	{"no stop", requestWith(`"stop":[]`)},
	{"a byte order mark", "\ufeff" + prompt(`"a"`)},
}

func TestInspectAcceptsWhatTheProviderMayJudge(t *testing.T) {
	for _, tt := range accepted {
		t.Run(tt.name, func(t *testing.T) {
			view, fault := request.Inspect([]byte(tt.body), translate.Generate)
			assert.Nil(t, fault)
			assert.Equal(t, "m1", view.Model)
		})
	}
}
