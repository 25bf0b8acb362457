package clouds_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest"
)

// novaName is the id of a profile of a model that is not Anthropic's, and novaPath its path.
const (
	novaName = "us.amazon.nova-2-lite-v1:0"
	novaPath = "/model/" + novaName
)

// converse answers a request for Converse or for a count of tokens. known is false for another
// method, and why states why the request is refused.
func (b *bedrockFake) converse(c *gatewaytest.Call, name, method string, raw []byte) (why string, known bool) {
	switch method {
	case "converse", "converse-stream":
		if why := translatetest.StrictConverse(raw); why != "" {
			return why, true
		}
		b.turn(c, method == "converse-stream", strings.Contains(string(raw), `"toolConfig"`) && !strings.Contains(string(raw), `"toolResult"`))
	case "count-tokens":
		return counted(c, name, raw), true
	default:
		return "", false
	}
	return "", true
}

// counted answers with a count of tokens, or returns why the service refuses it.
func counted(c *gatewaytest.Call, name string, raw []byte) (why string) {
	var r struct {
		Input struct {
			InvokeModel *struct{ Body []byte }
			Converse    json.RawMessage
		}
	}
	switch err := json.Unmarshal(raw, &r); {
	case err != nil:
		return err.Error()
	case strings.HasPrefix(name, "us."):
		return "The provided model identifier is invalid."
	case strings.Contains(name, "nova"):
		return "The provided model doesn't support counting tokens."
	case r.Input.InvokeModel != nil:
		var body map[string]json.RawMessage
		if json.Unmarshal(r.Input.InvokeModel.Body, &body) != nil || body["max_tokens"] == nil || body["anthropic_version"] == nil || body["model"] != nil {
			return "Malformed input request"
		}
	default:
		if why := translatetest.StrictConverse(r.Input.Converse); why != "" {
			return why
		}
	}
	refuse(c, http.StatusOK, `{"inputTokens":11}`)
	return ""
}

// turn answers with a text or a call.
func (b *bedrockFake) turn(c *gatewaytest.Call, stream, calls bool) {
	const usage = `"usage":{"inputTokens":7,"outputTokens":5,"totalTokens":17,"cacheReadInputTokens":5,"cacheWriteInputTokens":0}`
	content, reason := `{"text":"hello"}`, "end_turn"
	if calls {
		content, reason = `{"toolUse":{"toolUseId":"tooluse_1","name":"look","input":{"at":"it"}}}`, "tool_use"
	}
	if !stream {
		refuse(c, http.StatusOK, `{"metrics":{"latencyMs":9},"output":{"message":{"role":"assistant","content":[`+content+`]}},"stopReason":"`+reason+`",`+usage+`}`)
		return
	}
	c.ResponseWriter.Header().Set("Content-Type", "application/vnd.amazon.eventstream")
	for _, event := range conversed(calls, reason, usage) {
		_, _ = c.ResponseWriter.Write(event)
	}
}

// conversed returns the messages of a stream, the last of which contains the usage.
func conversed(calls bool, reason, usage string) (messages [][]byte) {
	add := func(name, payload string) { messages = append(messages, frame("event", "event", name, payload)) }
	add("messageStart", `{"p":"abcdefg","role":"assistant"}`)
	if calls {
		add("contentBlockStart", `{"contentBlockIndex":0,"p":"ab","start":{"toolUse":{"name":"look","toolUseId":"tooluse_1"}}}`)
		add("contentBlockDelta", `{"contentBlockIndex":0,"delta":{"toolUse":{"input":"{\"at\":"}},"p":"abc"}`)
		add("contentBlockDelta", `{"contentBlockIndex":0,"delta":{"toolUse":{"input":"\"it\"}"}},"p":"abcdef"}`)
	} else {
		add("contentBlockDelta", `{"contentBlockIndex":0,"delta":{"text":"hel"},"p":"abcd"}`)
		add("contentBlockDelta", `{"contentBlockIndex":0,"delta":{"text":"lo"},"p":"abcdefgh"}`)
	}
	add("contentBlockStop", `{"contentBlockIndex":0,"p":"a"}`)
	add("messageStop", `{"p":"ab","stopReason":"`+reason+`"}`)
	add("metadata", `{"metrics":{"latencyMs":9},"p":"abcdefghij",`+usage+`}`)
	return messages
}

func TestClientsOfAllFormatsUseConverse(t *testing.T) {
	b := newBedrock(t)
	s := site.Start(t, b.block("bedrock"), "model nova {\nto bedrock/"+novaName+"\n}")
	for _, path := range []string{site.MessagesPath, site.ChatPath, site.CompletionsPath, site.ResponsesPath} {
		reply := ask(s, path, "nova")
		require.Equal(t, http.StatusOK, reply.Status, reply.Body)
		assert.Contains(t, reply.Body, "hello")
		assert.Equal(t, novaPath+"/converse", b.lastPath())

		reply = s.Ask(path, site.BodyFor(path, "nova", "hello", true))
		require.Equal(t, http.StatusOK, reply.Status, reply.Body)
		assert.True(t, reply.Read(t, path).Complete, reply.Body)
		assert.Equal(t, novaPath+"/converse-stream", b.lastPath())
		record := s.Record(reply.ID())
		assert.EqualValues(t, 5, record["usage.output_tokens"])
		assert.EqualValues(t, 5, record["usage.cache_read_tokens"])
	}
	last := b.Requests()[b.Count()-1]
	assert.Equal(t, "application/vnd.amazon.eventstream", last.Header.Get("Accept"))
	assert.NotContains(t, b.LastJSON(t), "stream")
}

func TestConverseCallsToolsOverTwoTurns(t *testing.T) {
	b := newBedrock(t)
	s := site.Start(t, b.block("bedrock {env.BEDROCK_KEY}"), "model nova {\nto bedrock/"+novaName+"\n}")
	const tools = `"tools":[{"name":"look","input_schema":{"type":"object","properties":{"at":{"type":"string"}}}}]`
	for _, stream := range []string{"false", "true"} {
		ask := func(messages string) site.Reply {
			return s.Ask(site.MessagesPath, `{"model":"nova","max_tokens":100,"stream":`+stream+`,`+tools+`,"messages":[`+messages+`]}`)
		}
		reply := ask(`{"role":"user","content":"look"}`)
		require.Equal(t, http.StatusOK, reply.Status, reply.Body)
		assert.Contains(t, reply.Body, `"id":"tooluse_1","name":"look"`)
		reply = ask(`{"role":"user","content":"look"},{"role":"assistant","content":[{"type":"tool_use","id":"tooluse_1","name":"look","input":{"at":"it"}}]},` +
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"tooluse_1","content":"seen"}]}`)
		require.Equal(t, http.StatusOK, reply.Status, reply.Body)
		assert.Contains(t, reply.Body, "hel")
	}
}

// The model decides which API answers; a configured format has no exceptions.
func TestBedrockAsksModelsInTheirFormats(t *testing.T) {
	b := newBedrock(t)
	s := site.Start(t, b.block("bedrock"), b.block("other bedrock", "format converse", "models off"),
		"model claude {\nto other/us.anthropic.claude-sonnet-4-6\n}")
	for model, want := range map[string]string{
		"us.anthropic.claude-sonnet-4-6":   "/model/us.anthropic.claude-sonnet-4-6/invoke",
		"deepseek.v3-v1:0":                 "/model/deepseek.v3-v1:0/converse",
		"arn:aws:bedrock:us-east-1:1:p/ab": "/model/arn:aws:bedrock:us-east-1:1:p/ab/converse",
		"claude":                           "/model/us.anthropic.claude-sonnet-4-6/converse",
	} {
		reply := ask(s, site.MessagesPath, model)
		require.Equal(t, http.StatusOK, reply.Status, reply.Body)
		assert.Equal(t, want, b.lastPath())
	}
}

func TestK058ExceptionsInAStreamOfConverse(t *testing.T) {
	b, other := newBedrock(t), gatewaytest.NewProvider(t)
	s := site.Start(t, b.block("bedrock", "models off"), site.Direct.Provider("other", other, "models off"), "model amazon.m {\nto bedrock\nto other\n}")
	throttled := frame("exception", "exception", "throttlingException", `{"message":"Too many tokens"}`)
	answer := func(messages ...[]byte) site.Reply {
		var stream []byte
		for _, m := range messages {
			stream = append(stream, m...)
		}
		b.Always(gatewaytest.Body(http.StatusOK, "application/vnd.amazon.eventstream", stream))
		return s.Ask(site.MessagesPath, site.BodyFor(site.MessagesPath, "amazon.m", "hello", true))
	}
	whole := conversed(false, "end_turn", `"usage":{}`)
	reply := answer(whole[0], throttled)
	assert.True(t, reply.Read(t, site.MessagesPath).Complete, "another target answers before the first content")
	assert.Equal(t, 1, other.Count())
	for name, messages := range map[string][][]byte{
		"an exception": {whole[0], whole[1], throttled}, "an end within a message": {whole[0], whole[1], throttled[:len(throttled)-5]},
		"an end between messages": whole[:4], "a failed turn": append(whole[:4:4], conversed(false, "malformed_model_output", `"usage":{}`)[4]),
	} {
		reply := answer(messages...)
		read := reply.Read(t, site.MessagesPath)
		assert.False(t, read.Complete, name)
		require.NotNil(t, read.Failure, name)
		if name == "an exception" {
			assert.Equal(t, "rate_limit_error", read.Failure.Type)
		}
	}
	assert.True(t, answer(whole...).Read(t, site.MessagesPath).Complete)
}

func TestErrorsOfConverseAreTheClients(t *testing.T) {
	b := newBedrock(t)
	s := site.Start(t, b.block("bedrock"))
	for _, path := range []string{site.MessagesPath, site.ChatPath} {
		reply := ask(s, path, "throttled")
		assert.Equal(t, http.StatusTooManyRequests, reply.Status, reply.Body)
		assert.Contains(t, reply.Body, "Too many requests, please wait")
	}
	reply := s.Ask(site.MessagesPath, `{"model":"amazon.m","max_tokens":1,"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"r"}]}]}`)
	assert.Equal(t, http.StatusBadRequest, reply.Status, reply.Body)
}

func TestK068TokensAreCountedByBedrock(t *testing.T) {
	b := newBedrock(t)
	s := site.Start(t, b.block("bedrock"), b.block("other bedrock", "format converse", "models off"),
		"model claude {\nto other/us.anthropic.claude-sonnet-4-6\n}")
	count := func(model string) site.Reply {
		return s.Ask("/v1/messages/count_tokens", fmt.Sprintf(`{"messages":[{"role":"user","content":"hello"}],"model":%q}`, model))
	}
	for _, model := range []string{"us.anthropic.claude-sonnet-4-6", "claude"} {
		reply := count(model)
		require.Equal(t, http.StatusOK, reply.Status, reply.Body)
		assert.JSONEq(t, `{"input_tokens":11}`, reply.Body)
		assert.Empty(t, reply.Header.Get("X-Gateway-Estimate"))
		assert.Equal(t, "/model/anthropic.claude-sonnet-4-6/count-tokens", b.lastPath())
	}
	asked := b.Count()
	for range 2 {
		reply := count(novaName)
		require.Equal(t, http.StatusOK, reply.Status, reply.Body)
		assert.Equal(t, "true", reply.Header.Get("X-Gateway-Estimate"), "the model does not count")
	}
	assert.Equal(t, asked+1, b.Count(), "which is not asked again")
}

// A body without an end would be read forever.
func TestAnswersOfCountsAreBounded(t *testing.T) {
	b := newBedrock(t)
	b.Always(func(c *gatewaytest.Call) {
		_, _ = io.WriteString(c.ResponseWriter, `{"inputTokens":`)
	})
	s := site.Start(t, b.block("bedrock"))
	reply := s.Ask("/v1/messages/count_tokens", `{"messages":[{"role":"user","content":"hello"}],"model":"anthropic.m"}`)
	assert.Equal(t, http.StatusBadGateway, reply.Status, reply.Body)
}
