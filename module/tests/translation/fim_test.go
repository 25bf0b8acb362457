package translation_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

func TestCompletionsFillInTheMiddleInTheWordsOfTheModel(t *testing.T) {
	const own = `fim_template "<P>{prefix}<S>{suffix}<M>"`
	const asked = `"prompt":"f(","suffix":")\n","max_tokens":20`
	filled := func(prompt string) string { return `"prompt":"` + prompt + `","max_tokens":20` }
	runAskings(t, []asking{
		{name: "codellama", lane: "t>t", traits: "fim_template codellama", body: asked, want: filled(`<PRE> f( <SUF>)\n <MID>`)},
		{name: "deepseek", lane: "t>t", traits: "fim_template deepseek", body: asked, want: filled(`<｜fim▁begin｜>f(<｜fim▁hole｜>)\n<｜fim▁end｜>`)},
		{name: "qwen", lane: "t>t", traits: "fim_template qwen", body: asked, want: filled(`<|fim_prefix|>f(<|fim_suffix|>)\n<|fim_middle|>`)},
		{name: "starcoder2", lane: "t>t", traits: "fim_template starcoder2", body: asked, want: filled(`<fim_prefix>f(<fim_suffix>)\n<fim_middle>`)},
		{name: "a template of one's own", lane: "t>t", traits: own, body: asked, want: filled(`<P>f(<S>)\n<M>`)},
		{name: "a prompt in a list", lane: "t>t", traits: own, body: `"prompt":["f("],"suffix":")","n":1`, want: `"prompt":"<P>f(<S>)<M>","n":1`},
		{name: "no suffix", lane: "t>t", traits: own, body: `"prompt":["a","b"] ,"echo":true`},
		{name: "null", lane: "t>t", traits: own, body: `"prompt":[1,2],"suffix":null`},
		{name: "an empty suffix", lane: "t>t", traits: own, body: `"prompt":"a","suffix":""`, want: `"prompt":"a"`},
		{name: "no template", lane: "t>t", body: asked},
		{name: "tokens", lane: "t>t", traits: own, body: `"prompt":[1,2],"suffix":"b"`, refused: "prompt: "},
		{name: "two prompts", lane: "t>t", traits: own, body: `"prompt":["a","b"],"suffix":"c"`, refused: "prompt: "},
		{name: "an echo of what nobody wrote", lane: "t>t", traits: own, body: `"prompt":"a","suffix":"b","echo":true`, refused: "echo: "},
		{name: "a prompt that ends itself", lane: "t>t", traits: own, body: `"prompt":"a<S>","suffix":"b"`, refused: "prompt: must not hold '<S>'"},
		{name: "a suffix that begins the middle", lane: "t>t", traits: own, body: `"prompt":"a","suffix":"\u003cM>"`, refused: "suffix: must not hold '<M>'"},
		{name: "another format", lane: "t>c", traits: own, body: `"prompt":"a","suffix":"b"`, refused: "suffix: "},
	})
}

// If the template of one server cannot express a request, the next server is tried.
func TestWhatATemplateCannotHoldGoesToAServerThatTakesASuffix(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		filling, plain := gatewaytest.NewProvider(t), gatewaytest.NewProvider(t)
		s := site.Start(t, w.Provider("filling", filling, "models 1", "fim_template qwen"), w.Provider("plain", plain, "models 2"),
			"model m {\nto filling/m\nto plain/m\n}")
		for _, more := range []string{"", `,"stream":true,"stream_options":{"include_usage":true}`} {
			for text, asked := range map[string]*gatewaytest.Provider{"f(": filling, "<|fim_suffix|>": plain} {
				body := `{"model":"m","prompt":"` + text + `","suffix":")"` + more + `}`
				answer := s.Ask(site.CompletionsPath, body)
				assert.Contains(t, readCompletion(t, answer, more != "").Choices[0].Text, "You wrote", answer.Body)
				sent := asked.Requests()
				want := body
				if asked == filling {
					want = `{"model":"m","prompt":"<|fim_prefix|>f(<|fim_suffix|>)<|fim_middle|>"` + more + `}`
				}
				assert.Equal(t, want, string(sent[len(sent)-1].Body))
				assert.Equal(t, "answered", s.Record(answer.ID())["outcome"])
			}
		}
	})
}
