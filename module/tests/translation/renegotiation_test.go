package translation_test

import (
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// refusesTools is how OpenAI refuses tools together with reasoning in the chat format.
const refusesTools = `{"error":{"message":"Function tools with reasoning_effort are not supported for m in /v1/chat/completions. Please use /v1/responses instead.","type":"invalid_request_error","param":"reasoning_effort","code":null}}`

// chatWithTools is a request of which the responses format expresses everything.
const chatWithTools = `{"model":"m","reasoning_effort":"high","messages":[{"role":"user","content":"hello"}],` +
	`"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}]}`

// onPath answers requests to a path in a way of their own.
func onPath(path string, step gatewaytest.Step) gatewaytest.Step {
	return func(c *gatewaytest.Call) {
		if c.Request.URL.Path == path {
			step(c)
			return
		}
		gatewaytest.Answer()(c)
	}
}

func refuse(status int, body string) gatewaytest.Step {
	return gatewaytest.Body(status, "application/json", []byte(body))
}

// startPicky starts a gateway whose provider speaks these formats, and refuses a path.
func startPicky(t *testing.T, w site.Way, formats, path string, refusal gatewaytest.Step) (*site.Site, *gatewaytest.Provider) {
	p := gatewaytest.NewProvider(t)
	p.Always(onPath(path, refusal))
	return site.Start(t, w.Provider("p", p, "format "+formats)), p
}

// asked returns the paths of the requests to a provider, in their order.
func asked(p *gatewaytest.Provider) (paths []string) {
	for _, request := range p.Requests() {
		paths = append(paths, request.Path)
	}
	return paths
}

func requireAnswered(t *testing.T, answer site.Reply) {
	t.Helper()
	require.Equal(t, http.StatusOK, answer.Status, answer.Body)
}

func TestR001ToolsWithReasoningReachTheFormatThatTheProviderPrefers(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		p := gatewaytest.NewProvider(t)
		s := site.Start(t, w.Provider("p", p, "format responses chat"))
		requireAnswered(t, s.Ask(site.MessagesPath, `{"model":"m","max_tokens":2000,"messages":[{"role":"user","content":"x"}],"output_config":{"effort":"high"},"tools":[`+ours("f", "")+`]}`))
		assert.Equal(t, []string{site.ResponsesPath}, asked(p))
		sent := p.LastJSON(t)
		assert.Equal(t, "high", sent["reasoning"].(map[string]any)["effort"])
		assert.Len(t, sent["tools"], 1)
		requireAnswered(t, s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", "hello", false)))
		requireAnswered(t, s.Ask(site.ResponsesPath, site.BodyFor(site.ResponsesPath, "m", "hello", false)))
		assert.Equal(t, []string{site.ResponsesPath, site.ChatPath, site.ResponsesPath}, asked(p), "other clients have their own format")
	})
}

func TestR002ARefusalThatNamesResponsesIsRepeatedThereAndRemembered(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		s, p := startPicky(t, w, "chat responses", site.ChatPath, refuse(http.StatusBadRequest, refusesTools))
		answer := s.Ask(site.ChatPath, chatWithTools)
		requireAnswered(t, answer)
		assert.NotEmpty(t, answer.Text(t, site.ChatPath))
		assert.Equal(t, []string{site.ChatPath, site.ResponsesPath}, asked(p))
		assert.Equal(t, 1.0, s.Record(answer.ID())["attempts"], "it is one target")

		stream := s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", "hello", true))
		assert.True(t, stream.Read(t, site.ChatPath).Complete)
		assert.Equal(t, []string{site.ChatPath, site.ResponsesPath, site.ResponsesPath}, asked(p), "the next request goes straight")
		requireAnswered(t, s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "other", "hello", false)))
		assert.Equal(t, site.ChatPath, asked(p)[3], "other models are not concerned")
		assert.Equal(t, 1, countEntries(s, "m"))
	})
}

// countEntries returns how often the log names the alternative for a model.
func countEntries(s *site.Site, model string) (n int) {
	for _, entry := range s.Logs.Entries() {
		if entry["msg"] == "provider wants another format for this model" && entry["upstream_model"] == model {
			n++
		}
	}
	return n
}

func TestAnAlternativeFormatOutlivesAReload(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	p.Always(onPath(site.ChatPath, refuse(http.StatusBadRequest, refusesTools)))
	lines := site.Direct.Provider("p", p, "format chat responses")
	s := site.Start(t, lines)
	requireAnswered(t, s.Ask(site.ChatPath, chatWithTools))
	require.NoError(t, s.Reload(site.Block("", lines, "commit_after 1s")))
	requireAnswered(t, s.Ask(site.ChatPath, chatWithTools))
	assert.Equal(t, []string{site.ChatPath, site.ResponsesPath, site.ResponsesPath}, asked(p))
}

func TestAMissingResponsesEndpointIsPassedOver(t *testing.T) {
	for _, status := range []int{http.StatusNotFound, http.StatusMethodNotAllowed} {
		site.EitherWay(t, func(t *testing.T, w site.Way) {
			s, p := startPicky(t, w, "responses chat", site.ResponsesPath, gatewaytest.Status(status))
			for _, path := range []string{site.MessagesPath, site.ResponsesPath} {
				requireAnswered(t, s.Ask(path, site.BodyFor(path, "m", "hello", false)))
			}
			assert.Equal(t, []string{site.ResponsesPath, site.ChatPath, site.ChatPath}, asked(p))
		})
	}
}

// A client that gets its own words quoted in a refusal, or whose request fails for a
// part that the other format leaves behind, would otherwise choose the format of all
// clients of the model.
func TestNoClientChoosesTheFormatOfOthers(t *testing.T) {
	for name, body := range map[string]string{
		"words of the client":   `{"model":"m","messages":[{"role":"user","content":"v1\/resp\u006Fnses"}]}`,
		"a part left behind":    `{"model":"m","logit_bias":{"1":1},"messages":[{"role":"user","content":"hello"}]}`,
		"a name of its own":     `{"model":"m","messages":[{"role":"user","content":"x"}],"metadata":{"/V1/Responses":"x"}}`,
		"failing everywhere":    `{"model":"m","messages":[{"role":"user","content":"[[fault:400]]"}]}`,
		"no place in responses": `{"model":"m","messages":[{"role":"user","content":"x"}],"modalities":["text","audio"],"audio":{"voice":"alloy","format":"wav"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			s, p := startPicky(t, site.Direct, "chat responses", site.ChatPath, refuse(http.StatusBadRequest, refusesTools))
			s.Ask(site.ChatPath, body)
			assert.Zero(t, countEntries(s, "m"))
			before := p.Count()
			requireAnswered(t, s.Ask(site.ChatPath, chatWithTools))
			assert.Equal(t, site.ChatPath, asked(p)[before], "the format of the client is tried first")
		})
	}
}

// What the other format cannot express would be refused for good, once another client
// has shown that the provider wants the other format.
func TestARequestThatCannotTakeTheAlternativeIsSentAsItIs(t *testing.T) {
	s, p := startPicky(t, site.Direct, "chat responses", site.ChatPath, gatewaytest.Answer())
	p.Script(refuse(http.StatusBadRequest, refusesTools))
	requireAnswered(t, s.Ask(site.ChatPath, chatWithTools))
	answer := s.Ask(site.ChatPath, chatWithTools[:len(chatWithTools)-1]+`,"logit_bias":{"1":1}}`, "X-Gateway-On-Loss", "reject")
	requireAnswered(t, answer)
	assert.Equal(t, []string{site.ChatPath, site.ResponsesPath, site.ChatPath}, asked(p))
	assert.Equal(t, 1.0, s.Record(answer.ID())["attempts"])
}

func TestARefusalOfAProviderWithoutResponsesReachesTheClient(t *testing.T) {
	s, p := startPicky(t, site.Direct, "chat completions", site.ChatPath, refuse(http.StatusBadRequest, refusesTools))
	answer := s.Ask(site.ChatPath, chatWithTools)
	assert.Equal(t, http.StatusBadRequest, answer.Status)
	assert.Equal(t, refusesTools, answer.Body)
	assert.Equal(t, 1, p.Count())
}

// The repeated request of a client that keeps state at the provider would be refused by
// the gateway, in words about another format.
func TestTheProvidersRefusalIsKeptIfItCannotBeAvoided(t *testing.T) {
	const missing = `{"error":{"message":"Previous response with id 'resp_1' not found.","type":"invalid_request_error","param":"previous_response_id","code":"previous_response_not_found"}}`
	p := gatewaytest.NewProvider(t)
	p.Always(onPath(site.ResponsesPath, refuse(http.StatusNotFound, missing)))
	s := site.Start(t, site.Direct.Provider("p", p, "format responses chat", "responses_state passthrough"))
	answer := s.Ask(site.ResponsesPath, `{"model":"m","input":"x","previous_response_id":"resp_1"}`)
	assert.Equal(t, http.StatusNotFound, answer.Status)
	assert.Equal(t, missing, answer.Body)
	record := s.Record(answer.ID())
	assert.Equal(t, 404.0, record["upstream_status"])
	assert.Equal(t, 1.0, record["attempts"])
	assert.Equal(t, 1, p.Count())
}

func TestClientsThatLearnTogetherAreAllAnswered(t *testing.T) {
	s, _ := startPicky(t, site.Direct, "chat responses", site.ChatPath, refuse(http.StatusBadRequest, refusesTools))
	var clients sync.WaitGroup
	for range 16 {
		ask := s.Later(site.ChatPath, chatWithTools)
		clients.Go(func() { assert.Equal(t, http.StatusOK, ask().Status) })
	}
	clients.Wait()
	assert.Equal(t, 1, countEntries(s, "m"))
}
