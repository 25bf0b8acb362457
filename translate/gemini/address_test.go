package gemini_test

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/gemini"
)

func TestK001K002TheModelAndTheKindOfAnswerAreInThePath(t *testing.T) {
	tests := []struct {
		name        string
		call        format.Call
		path, query string
	}{
		{"K002 a stream", format.Call{Model: "gemini-2.5-flash", Stream: true}, "/v1beta/models/gemini-2.5-flash:streamGenerateContent", "alt=sse"},
		{"an answer", format.Call{Model: "models/gemini-2.5-flash", Base: "/v1"}, "/v1/models/gemini-2.5-flash:generateContent", ""},
		{"tokens", format.Call{Model: "m", Operation: translate.CountTokens, Stream: true}, "/v1beta/models/m:countTokens", ""},
		{"a tuned model", format.Call{Model: "tunedModels/m"}, "/v1beta/tunedModels/m:generateContent", ""},
		{"K001 another path and a query", format.Call{Model: "a/b?x"}, "/v1beta/models/a%2Fb%3Fx:generateContent", ""},
		{"K001 a path upwards", format.Call{Model: "../../x#"}, "/v1beta/models/..%2F..%2Fx%23:generateContent", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path, query := gemini.Provider.Call(tt.call)
			assert.Equal(t, tt.path, path)
			assert.Equal(t, tt.query, query)
			sent := url.URL{Path: path, RawQuery: query}
			assert.NotContains(t, sent.EscapedPath(), "..%2F", "the path is escaped once more, so that no server reads a slash")
		})
	}
}

func TestPagesOfModelsFollowAToken(t *testing.T) {
	path, query := gemini.Provider.Models("", "tok")
	assert.Equal(t, "/v1beta/models?pageSize=1000&pageToken=tok", path+"?"+query)
}
