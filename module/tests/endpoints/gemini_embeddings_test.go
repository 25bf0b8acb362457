package endpoints_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// The methods were answered 404: only OpenAI's clients had embeddings.
func TestY047EmbeddingsOfGeminiClientsPassToProvidersOfTheFormat(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		p := gatewaytest.NewProvider(t)
		s := site.Start(t, w.Provider("google", p, "format gemini", "models m"), "model vec {\nto google/m\n}")
		for method, c := range map[string]struct{ body, sent, answer string }{
			"embedContent": {
				`{"content": {"parts":[{"text":"a"}]}, "taskType":"RETRIEVAL_QUERY"}`, `{"content": {"parts":[{"text":"a"}]}, "taskType":"RETRIEVAL_QUERY"}`,
				`{"embedding": {"values":[0.5]},"usageMetadata":{"promptTokenCount":7}}`,
			},
			"batchEmbedContents": {
				`{"requests": [{"model":"models/vec","content":{"parts":[{"text":"model"}]}},{"content":{},"model":"vec"}]}`,
				`{"requests": [{"model":"models/m","content":{"parts":[{"text":"model"}]}},{"content":{},"model":"models/m"}]}`,
				`{"embeddings": [{"values":[0.5]},{"values":[1]}],"usageMetadata":{"promptTokenCount":7}}`,
			},
		} {
			p.Script(gatewaytest.Body(http.StatusOK, "application/json", []byte(c.answer)))
			answer := s.Ask("/v1beta/models/vec:"+method, c.body)
			require.Equal(t, http.StatusOK, answer.Status, answer.Body)
			assert.Equal(t, c.answer, answer.Body)
			assert.Equal(t, "/v1beta/models/m:"+method, lastOf(p).Path)
			assert.Equal(t, c.sent, string(lastOf(p).Body))
			record := recordOf(t, s, answer.ID())
			assert.Equal(t, "embeddings", record.Operation)
			assert.EqualValues(t, 7, record.Calls[0].Input)
		}
	})
}

func TestY048EmbeddingsOfGeminiClientsAreThoseOfOpenAIsEndpointWhereTheyAreExact(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		p := gatewaytest.NewProvider(t)
		s := site.Start(t, w.Provider("up", p, "format chat", "models talk"))
		script := func(data string) {
			p.Script(gatewaytest.Body(http.StatusOK, "application/json", []byte(`{"object":"list","data":[`+data+`],"model":"talk","usage":{"prompt_tokens":7,"total_tokens":7}}`)))
		}
		one := `{"model":"models/talk","content":{"role":"user","parts":[{"text":"a\"b"}]},"taskType":"RETRIEVAL_QUERY","output_dimensionality":2,"news":1}`
		script(`{"index":0,"embedding":[0.5, -1e3]}`)
		answer := s.Ask("/v1beta/models/talk:embedContent", one)
		require.Equal(t, http.StatusOK, answer.Status, answer.Body)
		assert.Equal(t, "/v1/embeddings", lastOf(p).Path)
		assert.Equal(t, `{"model":"talk","input":["a\"b"],"encoding_format":"float","dimensions":2}`, string(lastOf(p).Body))
		assert.Equal(t, `{"embedding":{"values":[0.5, -1e3]},"usageMetadata":{"promptTokenCount":7}}`, answer.Body)
		assert.Equal(t, "taskType,news", strings.ReplaceAll(answer.Header.Get("X-Gateway-Dropped"), ", ", ","))
		record := recordOf(t, s, answer.ID())
		assert.Equal(t, "embeddings", record.Operation)
		assert.EqualValues(t, 7, record.Calls[0].Input)

		script(`{"index":1,"embedding":[2]},{"index":0,"embedding":[1]}`)
		answer = s.Ask("/v1beta/models/talk:batchEmbedContents", `{"requests":[{"model":"talk","content":{"parts":[{"text":"a"}]}},{"content":{"parts":[{"text":"b"}]}}]}`)
		assert.Equal(t, `{"model":"talk","input":["a","b"],"encoding_format":"float"}`, string(lastOf(p).Body))
		assert.Equal(t, `{"embeddings":[{"values":[1]},{"values":[2]}],"usageMetadata":{"promptTokenCount":7}}`, answer.Body, "in the order of the requests")

		count := p.Count()
		strictly := s.Ask("/v1beta/models/talk:embedContent", one, "X-Gateway-On-Loss", "reject")
		assert.Equal(t, http.StatusBadRequest, strictly.Status)
		assert.Contains(t, strictly.Body, "taskType")
		assert.Equal(t, count, p.Count())

		script(`{"index":0,"embedding":"AAAA"}`)
		assert.Equal(t, http.StatusBadGateway, s.Ask("/v1beta/models/talk:embedContent", `{"content":{"parts":[{"text":"a"}]}}`).Status, "no vector")
	})
}

// A second model in the body would be one that the key need not have.
func TestRequestsForEmbeddingsOfGeminiClientsAreChecked(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	s := site.Start(t, site.Direct.Provider("google", p, "format gemini", "models m"), site.Direct.Provider("up", p, "format chat", "models talk"))
	const text = `"content":{"parts":[{"text":"a"}]}`
	for body, c := range map[string]struct{ path, message string }{
		`{"model":"models/other",` + text + `}`:                                       {"m:embedContent", "model: must be the model of the path"},
		`{"requests":[{"model":"m",` + text + `},{"model":"models/n",` + text + `}]}`: {"m:batchEmbedContents", "requests[1].model: must be that of the other requests"},
		`{"requests":[{"model":"n",` + text + `}]}`:                                   {"m:batchEmbedContents", "model: must be the model of the path"},
		`{"requests":[{"model":"m","model":"n",` + text + `}]}`:                       {"m:batchEmbedContents", "model"},
		`{"requests":[]}`:  {"m:batchEmbedContents", "requests: must hold at least one request"},
		`{"requests":[1]}`: {"m:batchEmbedContents", "requests[0].content: must be an object"},
		`{"requests":{}}`:  {"m:batchEmbedContents", "requests: must be an array of objects"},
		`{` + text + `}`:   {"m:batchEmbedContents", "requests: required"},
		`{"content":"a"}`:  {"m:embedContent", "content: must be an object"},
		`{"contents":[]}`:  {"m:embedContent", "content: required"},
		`{"content":{"parts":[{"text":"a"},{"text":"b"}]}}`:                     {"talk:embedContent", "content: must be one text for this model"},
		`{"content":{"parts":[{"inlineData":{"data":"AA=="}}]}}`:                {"talk:embedContent", "content: must be one text for this model"},
		`{"requests":[{` + text + `},{` + text + `,"outputDimensionality":3}]}`: {"talk:batchEmbedContents", "outputDimensionality: must be the same in all requests for this model"},
	} {
		answer := s.Ask("/v1beta/models/"+c.path, body)
		assert.Equal(t, http.StatusBadRequest, answer.Status, body)
		assert.Contains(t, answer.Body, c.message, body)
	}
	assert.Zero(t, p.Count())
}

// The demo provider answers as Google does.
func TestTheDemoProviderHasEmbeddingsForGeminiClients(t *testing.T) {
	s := site.Start(t, site.DemoProvider)
	one := s.Ask("/v1beta/models/demo:embedContent", `{"content":{"parts":[{"text":"a"}]},"outputDimensionality":3}`)
	assert.Regexp(t, `^\{"embedding":\{"values":\[[^,]+,[^,]+,[^,]+\]\}\}$`, one.Body)
	many := s.Ask("/v1beta/models/demo:batchEmbedContents", `{"requests":[{"model":"models/demo","content":{"parts":[{"text":"a"}]}},{"content":{"parts":[{"text":"b"}]}}]}`)
	assert.Equal(t, 2, strings.Count(many.Body, `{"values":[`), many.Body)
}
