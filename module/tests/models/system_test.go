package models_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/models/service"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// instructed are conversations that begin with system texts, by the formats of clients.
var instructed = map[string]string{
	"messages":  `"max_tokens":100,"system":[{"type":"text","text":"Be brief.","cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":"hi"}]`,
	"chat":      `"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"hi"},{"role":"assistant","content":"yes"},{"role":"user","content":"and"}]`,
	"responses": `"instructions":"Be brief.","input":"hi"`,
	"gemini":    `"systemInstruction":{"parts":[{"text":"Be brief."}]},"contents":[{"role":"user","parts":[{"text":"hi"}]}]`,
}

// Models without system texts got them where the format has a place for them, and refused every
// request with one: Gemma 3 at Google, the first models of Mistral and Titan at Bedrock
// (browser-use/browser-use#2577, danny-avila/LibreChat#6456).
func TestModelsWithoutSystemTextsGetThemInTheFirstTurn(t *testing.T) {
	fakes := service.Start(t)
	lines, _ := configuration(t, fakes)
	names := []string{
		"gemini/gemma-3-27b-it", "gemini/models/gemma-3-4b-it", "bedrock_converse/mistral.mistral-7b-instruct-v0:2",
		"bedrock_converse/mistral.mixtral-8x7b-instruct-v0:1", "bedrock_converse/amazon.titan-text-premier-v1:0",
	}
	for i, name := range names {
		lines = append(lines, fmt.Sprintf("model plain%d {\nto %s\n}", i, name))
	}
	s := site.Start(t, lines...)
	for i, name := range names {
		for _, c := range clients {
			if instructed[c.format] == "" || c.format == "gemini" && strings.HasPrefix(name, c.format) {
				continue // has no system texts, or gets the client's bytes
			}
			t.Run(name+" "+c.format, func(t *testing.T) {
				reply := s.Ask(c.path, fmt.Sprintf(`{%s,"model":"plain%d"}`, instructed[c.format], i))
				arrived, rule := fakes.Last()
				assert.Nil(t, rule)
				assert.Equal(t, http.StatusOK, reply.Status, reply.Body)
				assert.Regexp(t, `^\[\{"(content|parts)":\[\{"text":"Be brief."\},\{"text":"hi"\}\],"role":"user"\}`, encoded(turns(arrived)))
			})
		}
	}
}

// turns returns the turns of a request.
func turns(q *service.Request) any {
	for _, name := range []string{"contents", "messages"} {
		if found := q.Find(name); len(found) > 0 {
			return found[0]
		}
	}
	return nil
}
