package converse_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/converse"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
)

func TestTheModelAndTheKindOfAnswerAreInThePath(t *testing.T) {
	for path, call := range map[string]format.Call{
		"/model/amazon.nova-lite-v1%3A0/converse":            {Model: "amazon.nova-lite-v1:0"},
		"/b/model/m/converse-stream":                         {Model: "m", Base: "/b", Stream: true},
		"/model/arn%3Aaws%3Abedrock%3A%3Ap%2Fa/count-tokens": {Model: "arn:aws:bedrock::p/a", Operation: translate.CountTokens, Stream: true},
		"/model/..%2F..%2Fx%3Fy/converse":                    {Model: "../../x?y"},
	} {
		got, query := converse.Provider.Call(call)
		assert.Equal(t, path, got)
		assert.Empty(t, query)
	}
	path, _ := converse.Provider.Models("/b", "")
	assert.Equal(t, "/b/foundation-models", path)
}
