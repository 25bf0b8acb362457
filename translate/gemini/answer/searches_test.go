package answer_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/gemini/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/singleanswer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// An answer to gemini-3.1-pro-preview with two queries of Google Search was recorded without
// searches: a budget of 0.50 paid 28.03 USD.
func TestSearchesOfGroundedAnswersAreCounted(t *testing.T) {
	grounded := func(index, metadata string) string {
		return `{"index":` + index + `,"content":{"parts":[{"text":"a"}]},"groundingMetadata":` + metadata + `}`
	}
	ends := `{"index":0,"content":{"parts":[{"text":"b"}]},"finishReason":"STOP"}`
	chunk := func(model, usage string, candidates string) string {
		return `{"candidates":[` + candidates + `],"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":1` + usage + `},"modelVersion":"` + model + `"}`
	}
	const three, two = "gemini-3.1-pro-preview", "gemini-2.5-flash"
	const ab = `{"webSearchQueries":["a","b"]}`
	for name, c := range map[string]struct {
		chunks []string
		want   int64
	}{
		"queries":                     {[]string{chunk(three, "", grounded("0", ab))}, 2},
		"a query twice":               {[]string{chunk(three, "", grounded("0", `{"webSearchQueries":["a","b","a",""]}`))}, 2},
		"empty queries":               {[]string{chunk(three, "", grounded("0", `{"webSearchQueries":["a",""," "]}`))}, 1},
		"nothing but empty queries":   {[]string{chunk(three, "", grounded("0", `{"webSearchQueries":[""]}`))}, 0},
		"a prompt of an older model":  {[]string{chunk(two, "", grounded("0", ab))}, 1},
		"an older model by its path":  {[]string{chunk("models/gemini-2.0-flash-001", "", grounded("0", ab))}, 1},
		"an older model, ungrounded":  {[]string{chunk(two, "", grounded("0", `{}`))}, 0},
		"maps":                        {[]string{chunk(three, "", grounded("0", `{"groundingChunks":[{"maps":{"uri":"u"}}]}`))}, 1},
		"enterprise web search":       {[]string{chunk(three, "", grounded("0", `{"webSearchQueries":["x","y","z"],"groundingChunks":[{"web":{"uri":"u"}}]}`))}, 3},
		"images":                      {[]string{chunk("gemini-3.1-flash-image", "", grounded("0", `{"imageSearchQueries":["x"],"webSearchQueries":["x"]}`))}, 2},
		"own documents":               {[]string{chunk(three, "", grounded("0", `{"retrievalQueries":["x"],"groundingChunks":[{"retrievedContext":{"uri":"u"}}]}`))}, 0},
		"pages of the request":        {[]string{chunk(three, "", `{"urlContextMetadata":{"urlMetadata":[{}]},"content":{"parts":[{"text":"a"}]}}`)}, 0},
		"two candidates":              {[]string{chunk(three, "", grounded("0", ab)+","+grounded("1", `{"webSearchQueries":["b"]}`))}, 3},
		"repeated in a stream":        {[]string{chunk(three, "", grounded("0", ab)), chunk(three, "", grounded("0", ab))}, 2},
		"a list that grows":           {[]string{chunk(three, "", grounded("0", `{"webSearchQueries":["a"]}`)), chunk(three, "", grounded("0", ab))}, 2},
		"a list that goes on":         {[]string{chunk(three, "", grounded("0", `{"webSearchQueries":["a"]}`)), chunk(three, "", grounded("0", `{"webSearchQueries":["c"]}`))}, 2},
		"billed calls":                {[]string{chunk(three, `,"billedToolCalls":[{"tool":"GOOGLE_SEARCH_RETRIEVAL","successfulToolCallCount":5},{"tool":"URL_CONTEXT","successfulToolCallCount":9}]`, grounded("0", ab))}, 5},
		"fewer billed calls":          {[]string{chunk(three, "", grounded("0", ab)), chunk(three, `,"billedToolCalls":[{"tool":"google_search","successfulToolCallCount":1}]`, "")}, 1},
		"billed maps, without a list": {[]string{chunk(three, `,"billedToolCalls":[{"tool":"GOOGLE_MAPS","successfulToolCallCount":2},{"tool":"ENTERPRISE_WEB_SEARCH","successfulToolCallCount":1}]`, "")}, 3},
		"billed calls, then a list":   {[]string{chunk(three, `,"billedToolCalls":[{"tool":"GOOGLE_SEARCH","successfulToolCallCount":1}]`, ""), chunk(three, "", grounded("0", ab))}, 1},
		"no searches that are billed": {[]string{chunk(three, `,"billedToolCalls":[]`, grounded("0", ab))}, 0},
	} {
		stream := singleanswer.NewObserver(answer.NewParser)()
		for _, data := range append(c.chunks, `{"candidates":[`+ends+`]}`) {
			stream.Observe(sse.Event{Data: []byte(data)})
		}
		assert.Equal(t, c.want, stream.Usage().Searches, "%s, as a stream", name)
		assert.False(t, stream.Usage().Inconsistent, name)
		if len(c.chunks) > 1 {
			continue
		}
		read, _ := answer.Inspect([]byte(c.chunks[0]), translate.Generate) // without a reason for the end
		assert.Equal(t, c.want, read.Usage.Searches, name)
	}
	var last *token.Usage
	p := answer.NewParser(handler(func(e *event.Event) {
		if e.Kind == event.Usage {
			last = e.Usage
		}
	}))
	p.Answer([]byte(chunk(two, "", `{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP","groundingMetadata":`+ab+`}`)))
	require.NotNil(t, last)
	assert.EqualValues(t, 1, last.Searches, "a translated answer")
	assert.Equal(t, "candidates[*].groundingMetadata", p.Losses().String())
}

type handler func(*event.Event)

func (h handler) Handle(e *event.Event) { h(e) }
