package pairs_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// Moonshot states the tokens of its cache as "cached_tokens" of the usage itself, so they once
// cost ten times what the service charges.
func TestUsageIsReadInTheWordsOfVendors(t *testing.T) {
	const all = `"prompt_tokens":1000,"completion_tokens":20,"total_tokens":1020`
	read := token.Usage{Counts: token.Counts{Fresh: 100, CacheRead: 900, Answer: 20}, Known: true}
	written := token.Usage{Counts: token.Counts{Fresh: 100, CacheWrite: 900, Answer: 20}, Known: true}
	thought := token.Usage{Counts: token.Counts{Fresh: 1000, Answer: 5, Reasoning: 15}, Known: true}
	for usage, want := range map[string]token.Usage{
		`"prompt_tokens_details":{"cached_tokens":900}`:               read,
		`"cached_tokens":900`:                                         read,
		`"cached_tokens":900,"prompt_tokens_details":null`:            read,
		`"num_cached_tokens":900`:                                     read,
		`"prompt_cache_hit_tokens":900`:                               read,
		`"cache_read_input_tokens":900`:                               read,
		`"prompt_tokens_details":{"cache_write_tokens":900}`:          written,
		`"prompt_tokens_details":{"cache_creation_tokens":900}`:       written,
		`"prompt_tokens_details":{"cache_creation_input_tokens":900}`: written,
		`"cache_creation_input_tokens":900`:                           written,
		`"completion_tokens_details":{"reasoning_tokens":15}`:         thought,
		`"reasoning_tokens":15`:                                       thought,
		`"cached_tokens":900,"prompt_tokens_details":{"cached_tokens":900},"num_cached_tokens":900,"prompt_cache_hit_tokens":900`: read,
	} {
		for _, from := range []translate.Format{translate.Chat, translate.Completions} {
			body := []byte(`{"model":"m","choices":[{"index":0,"text":"a","message":{"content":"a"},"finish_reason":"stop"}],"usage":{` + all + `,` + usage + `}}`)
			answer, fault := formats.Of(from).Answers.Inspect(body, translate.Generate)
			require.Nil(t, fault)
			assert.Equal(t, want, answer.Usage, "%s: %s", from, usage)
		}
	}
	// With the words of another format, a call once cost nothing.
	for _, counts := range []string{
		`"input_tokens":1000,"output_tokens":20`, `"input_tokens":1000,"output_tokens":20,"total_tokens":1020`,
		all + `,"input_tokens":0,"output_tokens":0`, `"prompt_tokens":0,"completion_tokens":0,"input_tokens":1000,"output_tokens":20`,
	} {
		body := []byte(`{"model":"m","choices":[{"index":0,"message":{"content":"a"},"finish_reason":"stop"}],"usage":{` + counts + `}}`)
		answer, fault := formats.Of(translate.Chat).Answers.Inspect(body, translate.Generate)
		require.Nil(t, fault)
		assert.Equal(t, token.Usage{Counts: token.Counts{Fresh: 1000, Answer: 20}, Known: true}, answer.Usage, counts)
	}
	for usage, want := range map[string]token.Usage{
		`"cached_tokens":900`:               read,
		`"cache_write_tokens":900`:          written,
		`"cache_creation_tokens":900`:       written,
		`"cache_creation_input_tokens":900`: written,
	} {
		body := []byte(`{"object":"response","model":"m","status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"a"}]}],"usage":{"input_tokens":1000,"output_tokens":20,"input_tokens_details":{` + usage + `}}}`)
		answer, fault := formats.Of(translate.Responses).Answers.Inspect(body, translate.Generate)
		require.Nil(t, fault)
		assert.Equal(t, want, answer.Usage, usage)
	}
}

// A server that answers in the chat format with the usage of the responses format charged cached
// input as fresh: its details were not read. A 0 in the words of one format hides no count in those
// of another, whatever the order of the members.
func TestUsageIsReadInTheWordsOfOtherFormats(t *testing.T) {
	words := map[bool]*strings.Replacer{
		false: strings.NewReplacer(), true: strings.NewReplacer("prompt_tokens", "input_tokens", "completion_tokens", "output_tokens"),
	}
	want := token.Usage{Counts: token.Counts{Fresh: 100, CacheRead: 700, CacheWrite: 200, Answer: 5, Reasoning: 15}, Known: true}
	want.Units.ImageTokens = token.MediaTokens{Input: 50, Output: 3}
	for _, written := range []string{"cache_write_tokens", "cache_creation_input_tokens", "cache_creation_tokens"} {
		input := `"prompt_tokens_details":{"image_tokens":50,"cached_tokens":700,"` + written + `":200}`
		output := `"completion_tokens_details":{"reasoning_tokens":15,"image_tokens":3}`
		for _, others := range []bool{false, true} {
			inWords, inOthers := words[others].Replace, words[!others].Replace
			members := []string{inWords(`"prompt_tokens":1000`), `"completion_tokens":20,"output_tokens":0`, inOthers(input), inOthers(output), `"cached_tokens":0,"reasoning_tokens":0`}
			orders(members, func(order []string) {
				usage := `"usage":{` + strings.Join(order, ",") + `}`
				choice := `{"model":"m","choices":[{"index":0,"text":"a","message":{"content":"a"},"delta":{"content":"a"},"finish_reason":"stop"}],` + usage + `}`
				response := `{"object":"response","model":"m","status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"a"}]}],` + usage + `}`
				for from, whole := range map[translate.Format]string{translate.Chat: choice, translate.Completions: choice, translate.Responses: response} {
					answer, fault := formats.Of(from).Answers.Inspect([]byte(whole), translate.Generate)
					require.Nil(t, fault)
					require.Equal(t, want, answer.Usage, "%s: %s", from, usage)
					stream := chatStream(nil, choice, `[DONE]`)
					if from == translate.Responses {
						stream = responsesStream(`{"type":"response.completed","response":` + response + `}`)
					}
					require.Contains(t, observe(from, [][]byte{stream}, true).lines(), "usage "+usageText(want), "%s: %s", from, usage)
				}
			})
		}
	}
}

// The number of searches in the words of four services was 0, so that a cost without them looked whole.
func TestSearchesInUsageAreCounted(t *testing.T) {
	for service, members := range map[string]string{
		"OpenRouter":   `"server_tool_use":{"web_search_requests":3}`,
		"xAI":          `"num_sources_used":7,"server_side_tool_usage_details":{"web_search_calls":2,"x_search_calls":1}`,
		"Perplexity":   `"num_search_queries":3,"citation_tokens":9`,
		"others":       `"web_search_requests":3`,
		"Model Studio": `"plugins":{"search":{"count":3}}`,
	} {
		usage := `"usage":{"prompt_tokens":10,"completion_tokens":2,` + members + `}`
		choice := `{"model":"m","choices":[{"index":0,"text":"a","message":{"content":"a"},"delta":{"content":"a"},"finish_reason":"stop"}],` + usage + `}`
		for _, from := range []translate.Format{translate.Chat, translate.Completions} {
			answer, fault := formats.Of(from).Answers.Inspect([]byte(choice), translate.Generate)
			require.Nil(t, fault, service)
			assert.EqualValues(t, 3, answer.Usage.Searches, service)
			assert.Contains(t, observe(from, [][]byte{chatStream(nil, choice, `[DONE]`)}, true).lines(), "usage "+usageText(answer.Usage), service)
		}
	}
}

// orders calls a function with all orders of some texts.
func orders(texts []string, each func([]string)) {
	var place func(first int)
	place = func(first int) {
		if first == len(texts) {
			each(texts)
		}
		for i := first; i < len(texts); i++ {
			texts[first], texts[i] = texts[i], texts[first]
			place(first + 1)
			texts[first], texts[i] = texts[i], texts[first]
		}
	}
	place(0)
}

// Moonshot puts the usage of a stream into the last choice, and Groq into a member of its own, so
// such calls once had the cost of an estimate, and their clients read zeros.
func TestUsageOfStreamsIsFoundWhereVendorsPutIt(t *testing.T) {
	const (
		text   = `{"model":"m","choices":[{"index":0,"text":"a","delta":{"content":"a"}}]}`
		stop   = `{"choices":[{"index":0,"text":"","delta":{},"finish_reason":"stop"%s}]%s}`
		counts = `{"prompt_tokens":1000,"completion_tokens":20,"total_tokens":1020,"cached_tokens":900}`
		zeros  = `{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0}`
		done   = `[DONE]`
	)
	want := token.Usage{Counts: token.Counts{Fresh: 100, CacheRead: 900, Answer: 20}, Known: true}
	for name, chunks := range map[string][]string{
		"in the choice":              {text, fmt.Sprintf(stop, `,"usage":`+counts, ""), done},
		"in the choice, null beside": {text, fmt.Sprintf(stop, `,"usage":`+counts, `,"usage":null`), done},
		"in a second choice":         {text, `{"choices":[{"index":0,"text":"","delta":{},"finish_reason":"stop"},{"index":1,"text":"b","delta":{"content":"b"},"finish_reason":"stop","usage":` + counts + `}]}`, done},
		"in the choice, then alone":  {text, fmt.Sprintf(stop, `,"usage":`+counts, ""), `{"choices":[],"usage":` + counts + `}`, done},
		"in the choice, zeros first": {`{"model":"m","choices":[{"index":0,"text":"a","delta":{"content":"a"},"usage":` + zeros + `}]}`, fmt.Sprintf(stop, `,"usage":`+counts, ""), done},
		"of Groq":                    {text, fmt.Sprintf(stop, "", `,"x_groq":{"id":"r","usage":`+counts+`}`), done},
		"of Groq, in the first":      {`{"model":"m","choices":[{"index":0,"text":"a","delta":{"content":"a"}}],"x_groq":{"id":"r","seed":1}}`, fmt.Sprintf(stop, "", `,"x_groq":{"usage":`+counts+`}`), done},
		"of Groq, then alone":        {text, fmt.Sprintf(stop, "", `,"x_groq":{"usage":`+counts+`}`), `{"choices":[],"usage":` + counts + `}`, done},
		"usage as usual":             {text, fmt.Sprintf(stop, "", ""), `{"choices":[],"usage":` + counts + `}`, done},
	} {
		for _, w := range ways {
			if !w.fromChoices() {
				continue
			}
			cut := [][]byte{chatStream(nil, chunks...)}
			o := translated(w, translate.AnswerContext{Stream: true}, cut, true)
			assert.Equal(t, want, o.Usage(), "%s, %s", w.name(), name)
			assert.Contains(t, observe(w.source, cut, true).lines(), fmt.Sprintf("usage %s", usageText(want)), "%s, %s", w.name(), name)
		}
	}
}
