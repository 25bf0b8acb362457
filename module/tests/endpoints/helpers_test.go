package endpoints_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// capabilities are the answer of GET /v1/capabilities.
type capabilities struct {
	Object string `json:"object"`
	Data   []struct {
		Model   string `json:"model"`
		Formats map[string]struct {
			Lane     string   `json:"lane"`
			Upstream string   `json:"upstream"`
			Kept     []string `json:"kept"`
			Reported []string `json:"reported"`
			Refused  []string `json:"refused"`
			LeftOut  []string `json:"left_out"`
			Counting string   `json:"count_tokens,omitempty"`
		} `json:"formats"`
		Endpoints []string `json:"endpoints"`
	} `json:"data"`
}

const capabilitiesPath = "/v1/capabilities"

// capabilitiesOf requests the capabilities with a key, and checks that the answer has only
// documented members.
func capabilitiesOf(s *site.Site, key string) (c capabilities, models []string) {
	s.T.Helper()
	answer := s.List(key, capabilitiesPath)
	require.Equal(s.T, http.StatusOK, answer.Status, answer.Body)
	assert.Equal(s.T, "application/json", answer.Header.Get("Content-Type"))
	require.NoError(s.T, json.Unmarshal([]byte(answer.Body), &c))
	document, err := json.Marshal(c)
	require.NoError(s.T, err)
	assert.JSONEq(s.T, string(document), answer.Body)
	assert.Equal(s.T, "list", c.Object)
	for _, d := range c.Data {
		models = append(models, d.Model)
	}
	return c, models
}

// modelList answers with a list of models as self-hosted servers do.
func modelList(models ...string) gatewaytest.Step {
	return gatewaytest.Body(http.StatusOK, "application/json", []byte(`{"object":"list","data":[`+strings.Join(models, ",")+`]}`))
}

// cardsOf returns models as JSON, in the messages or the chat format.
func cardsOf(messages bool, names ...string) string {
	var cards []string
	for _, name := range names {
		card := fmt.Sprintf(`{"id":"%s","object":"model","created":0,"owned_by":"gateway"}`, name)
		if messages {
			card = fmt.Sprintf(`{"type":"model","id":"%s","display_name":"%s","created_at":"1970-01-01T00:00:00Z"}`, name, name)
		}
		cards = append(cards, card)
	}
	return strings.Join(cards, ",")
}

// pageOf returns a page of models in the messages format.
func pageOf(more bool, names ...string) string {
	first, last := "null", "null"
	if len(names) > 0 {
		first, last = strconv.Quote(names[0]), strconv.Quote(names[len(names)-1])
	}
	return fmt.Sprintf(`{"data":[%s],"has_more":%t,"first_id":%s,"last_id":%s}`, cardsOf(true, names...), more, first, last)
}

const version = "Anthropic-Version: 2023-06-01"
