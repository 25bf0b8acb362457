package answer_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/gemini/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// A vector at the place of another input would be a wrong answer that nobody sees.
func TestVectorsKeepTheOrderOfTheInputs(t *testing.T) {
	for data, want := range map[string]string{
		`[{"index":1,"embedding":[2]},{"embedding":[1],"index":0}]`: `{"embeddings":[{"values":[1]},{"values":[2]}]}`,
		`[{"embedding":[1]},{"embedding":[2]}]`:                     `{"embeddings":[{"values":[1]},{"values":[2]}]}`,
		`[{"index":0,"embedding":[1]},{"index":0,"embedding":[2]}]`: "",
		`[{"index":1,"embedding":[1]}]`:                             "",
		`[{"index":-1,"embedding":[1]}]`:                            "",
		`[{"index":0,"embedding":"AAAA"}]`:                          "",
		`[{"index":0}]`:                                             "",
		`[1]`:                                                       "",
		`[]`:                                                        "",
		`{}`:                                                        "",
		`null`:                                                      "",
	} {
		got, fault := answer.AppendEmbeddings(nil, []byte(`{"data":`+data+`}`), translate.EmbedMany, token.Usage{})
		assert.Equal(t, want, string(got), data)
		assert.Equal(t, want == "", fault != nil, data)
	}
	_, fault := answer.AppendEmbeddings(nil, []byte(`{"data":[{"embedding":[1]},{"embedding":[2]}]}`), translate.Embed, token.Usage{})
	assert.NotNil(t, fault, "one was asked for")
	_, fault = answer.AppendEmbeddings(nil, []byte(`{}`), translate.Embed, token.Usage{})
	assert.NotNil(t, fault)
}

func TestAnswersWithEmbeddingsAreInspected(t *testing.T) {
	for body, input := range map[string]int64{
		`{"embedding":{"values":[1]},"usageMetadata":{"promptTokenCount":7}}`: 7,
		`{"embeddings":[{"values":[1]}]}`:                                     0,
		`{"embeddings":[],"usageMetadata":{}}`:                                0,
		`{"embeddings":[],"error":null}`:                                      0,
		`{"error":{"code":400,"message":"no","status":"INVALID_ARGUMENT"}}`:   -1,
		`{"candidates":[]}`:                                                   -1,
		`<html>`:                                                              -1,
	} {
		got, fault := answer.Inspect([]byte(body), translate.Embed)
		assert.Equal(t, input < 0, fault != nil, body)
		assert.Equal(t, max(input, 0), got.Usage.Input(), body)
		assert.Equal(t, input > 0, got.Usage.Known, body)
	}
}
