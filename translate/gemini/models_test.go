package gemini_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/gemini"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/modelcard"
)

func TestListsOfModels(t *testing.T) {
	const (
		methods = `"supportedGenerationMethods":["generateContent","streamGenerateContent","countTokens"]}`
		small   = `{"name":"models/a","displayName":"a",` + methods
		large   = `{"name":"models/b/c","displayName":"B","inputTokenLimit":9,"outputTokenLimit":3,` + methods
	)
	cards := []modelcard.Card{{ID: "a"}, {ID: "b/c", DisplayName: "B", ContextTokens: 9, OutputTokens: 3}}
	assert.Equal(t, large, string(gemini.Models.Append(nil, cards[1])))
	assert.Equal(t, `{"models":[`+small+","+large+`],"nextPageToken":"b/c"}`, string(gemini.Models.AppendList(nil, cards, true)))
	assert.Equal(t, `{"models":[`+small+`]}`, string(gemini.Models.AppendList(nil, cards[:1], false)))
	assert.Equal(t, `{"models":[]}`, string(gemini.Models.AppendList(nil, nil, false)))
}
