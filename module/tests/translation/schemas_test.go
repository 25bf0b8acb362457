package translation_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// bySchema is a messages request for an answer by a schema.
const bySchema = `{"model":"m","max_tokens":50,"messages":[{"role":"user","content":"hi"}],"output_config":{"format":{"type":"json_schema","schema":{"type":"object"}}}}`

// llama.cpp and Ollama ignore the schema of a messages request, but not that of a chat
// request: messages clients got free text, and nothing said so.
func TestARequestWithASchemaReachesTheFormatThatHeedsIt(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		p := gatewaytest.NewProvider(t)
		s := site.Start(t, w.Provider("p", p, "format messages chat", "messages_schema false"))
		for _, body := range []string{
			bySchema, strings.Replace(strings.Replace(bySchema, `"output_config":{"format":`, `"output_format":`, 1), "}}}}", "}}}", 1),
			site.BodyFor(site.MessagesPath, "m", "hi", false), strings.Replace(bySchema, `{"type":"json_schema","schema":{"type":"object"}}`, "null", 1),
		} {
			answer := s.Ask(site.MessagesPath, body)
			requireAnswered(t, answer)
			assert.Empty(t, answer.Header.Get("X-Gateway-Dropped"))
		}
		assert.Equal(t, []string{site.ChatPath, site.ChatPath, site.MessagesPath, site.MessagesPath}, asked(p))
		assert.Contains(t, string(p.Requests()[0].Body), `"response_format"`)
	})
}

func TestASchemaThatNoFormatHeedsIsReported(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	s := site.Start(t, site.Direct.Provider("p", p, "format messages", "messages_schema false", "models m"))
	answer := s.Ask(site.MessagesPath, bySchema)
	requireAnswered(t, answer)
	assert.Equal(t, "output_config.format", answer.Header.Get("X-Gateway-Dropped"))
	assert.Equal(t, bySchema, string(p.Requests()[0].Body), "the client's bytes")
	chat := s.Ask(site.ChatPath, `{"model":"m","max_tokens":5,"messages":[{"role":"user","content":"hi"}],"response_format":{"type":"json_schema","json_schema":{"schema":{"type":"object"}}}}`)
	requireAnswered(t, chat)
	assert.Equal(t, "response_format", chat.Header.Get("X-Gateway-Dropped"))
	refused := s.Ask(site.MessagesPath, bySchema, "X-Gateway-On-Loss", "reject")
	assert.Equal(t, http.StatusBadRequest, refused.Status)
	assert.Contains(t, s.List(site.ClientKey, "/v1/capabilities").Body, `"messages":{"lane":"bytes","upstream":"messages","kept":["*"],"reported":["output_config.format","output_format"],"refused":[],`)
	assert.Equal(t, []string{site.MessagesPath, site.MessagesPath, "/v1/models"}, asked(p), "what is refused is not sent")
}
