package clouds_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

const (
	awsKeyID   = "AKIDEXAMPLE0123456789"
	awsSecret  = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
	awsSession = "session-token-of-the-machine-0123456789"
	bedrockKey = "bedrock-api-key-0123456789"
)

// bedrockFake refuses what Bedrock refuses. It verifies signatures without the SDK.
type bedrockFake struct {
	*cloud
	session string // the token that is accepted
}

func newBedrock(t *testing.T) *bedrockFake {
	b := &bedrockFake{session: awsSession}
	b.cloud = newCloud(t, b.check)
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": awsKeyID, "AWS_SECRET_ACCESS_KEY": awsSecret, "AWS_SESSION_TOKEN": awsSession, "BEDROCK_KEY": bedrockKey,
		"AWS_EC2_METADATA_DISABLED": "true", "AWS_CONFIG_FILE": "/nowhere", "AWS_SHARED_CREDENTIALS_FILE": "/nowhere",
	} {
		t.Setenv(name, value)
	}
	return b
}

func (b *bedrockFake) block(head string, lines ...string) string {
	return b.provider(head, append(lines, "base_url "+b.URL, "region us-east-1")...)
}

// verified reports whether a request has a valid signature of version 4.
func verified(r *http.Request, body []byte) bool {
	rest, ok := strings.CutPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 Credential="+awsKeyID+"/")
	scope, rest, _ := strings.Cut(rest, ", SignedHeaders=")
	list, signature, _ := strings.Cut(rest, ", Signature=")
	names := strings.Split(list, ";")
	canonical := r.Method + "\n" + escapedAgain(r.URL.EscapedPath()) + "\n" + r.URL.RawQuery + "\n"
	var headers strings.Builder
	for _, name := range names {
		value := r.Header.Get(name)
		switch name {
		case "host", ":authority": // the latter is that of HTTP/2
			value = r.Host
		case "content-length":
			value = r.Header.Get("Content-Length")
		}
		fmt.Fprintf(&headers, "%s:%s\n", name, value)
	}
	digest := sha256.Sum256(body)
	canonical += headers.String() + "\n" + list + "\n" + hex.EncodeToString(digest[:])
	digest = sha256.Sum256([]byte(canonical))
	key := []byte("AWS4" + awsSecret)
	for _, part := range append(strings.Split(scope, "/"), "AWS4-HMAC-SHA256\n"+r.Header.Get("X-Amz-Date")+"\n"+scope+"\n"+hex.EncodeToString(digest[:])) {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(part))
		key = mac.Sum(nil)
	}
	return ok && strings.HasSuffix(scope, "/us-east-1/bedrock/aws4_request") &&
		hmac.Equal([]byte(signature), []byte(hex.EncodeToString(key)))
}

// escapedAgain returns the path of a signature: that of the request, escaped once more. The
// client of Anthropic leaves colons as they are, which are escaped once then.
func escapedAgain(path string) string {
	return strings.ReplaceAll(strings.ReplaceAll(path, "%", "%25"), ":", "%3A")
}

func (b *bedrockFake) check(c *gatewaytest.Call) string {
	r := c.Request
	raw, _ := io.ReadAll(r.Body)
	r.Header.Set("Content-Length", strings.TrimSpace(jsonNumber(len(raw))))
	amazon := func(status int, name, message string) string {
		c.ResponseWriter.Header().Set("X-Amzn-Errortype", name+":http://internal.amazon.com/coral/")
		body, _ := json.Marshal(map[string]string{"message": message}) // strings
		return refuse(c, status, string(body))
	}
	signed := r.Header.Get("X-Amz-Date") != ""
	switch {
	case signed && (!verified(r, raw) || r.Header.Get("X-Amz-Security-Token") != b.session):
		return amazon(403, "InvalidSignatureException", "The request signature we calculated does not match. Credential "+awsKeyID+", token "+r.Header.Get("X-Amz-Security-Token"))
	case !signed && r.Header.Get("Authorization") != "Bearer "+bedrockKey:
		return amazon(403, "UnrecognizedClientException", "The security token included in the request is invalid.")
	}
	if endpoint, ok := strings.CutPrefix(r.URL.EscapedPath(), "/openai"); ok {
		return b.openAI(c, endpoint, raw, amazon)
	}
	name, method, ok := strings.Cut(strings.TrimPrefix(r.URL.EscapedPath(), "/model/"), "/")
	if strings.Contains(name, "throttled") {
		return amazon(429, "ThrottlingException", "Too many requests, please wait before trying again.")
	}
	if ok && r.URL.RawQuery == "" && !strings.Contains(name, ":") && strings.Count(r.URL.EscapedPath(), "/") == 3 {
		switch why, known := b.converse(c, name, method, raw); {
		case why != "":
			return amazon(400, "ValidationException", why)
		case known:
			return ""
		}
	}
	var body map[string]json.RawMessage
	why := ""
	switch err := json.Unmarshal(raw, &body); {
	case err != nil:
		why = "no JSON"
	case !ok || r.URL.RawQuery != "" || !strings.Contains(name, "anthropic.") && !strings.Contains(name, "inference-profile") || method != "invoke" && method != "invoke-with-response-stream":
		return amazon(404, "UnknownOperationException", "")
	case !slices.Contains([]string{`"bedrock-2023-05-31"`, newVersion}, string(body["anthropic_version"])):
		why = "anthropic_version: Field required"
	case body["model"] != nil || body["stream"] != nil:
		why = "model: Extra inputs are not permitted"
	case strings.Contains(string(body["anthropic_beta"]), "unknown"):
		why = "invalid beta flag"
	case body["messages"] == nil || body["max_tokens"] == nil:
		why = "Malformed input request"
	}
	if why != "" {
		return amazon(400, "ValidationException", why)
	}
	b.answer(c, body, method != "invoke")
	return ""
}

// openAI answers below /openai as OpenAI does, for the models that the service has there.
func (b *bedrockFake) openAI(c *gatewaytest.Call, endpoint string, raw []byte, amazon func(status int, name, message string) string) string {
	c.Request.Body = io.NopCloser(bytes.NewReader(raw))
	var body struct{ Model string }
	_ = json.Unmarshal(raw, &body) // without a model if it is no JSON
	model := strings.TrimPrefix(strings.TrimPrefix(body.Model, "us."), "global.")
	c.ResponseWriter.Header().Set("X-Amzn-Requestid", "aws-request-1")
	switch {
	case endpoint != "/v1/responses" && endpoint != "/v1/chat/completions" || c.Request.Method != http.MethodPost || c.Request.URL.RawQuery != "":
		return amazon(404, "UnknownOperationException", "")
	case strings.Contains(model, "throttled"):
		return amazon(429, "ThrottlingException", "Too many tokens, please wait before trying again.")
	case strings.Contains(model, "denied"):
		return amazon(403, "AccessDeniedException", "You don't have access to the model with the specified model ID.")
	case strings.Contains(model, "wrapped"):
		return amazon(400, "ValidationException", openAIError("unsupported_parameter", "Unsupported parameter: 'max_tokens' is not supported with this model."))
	case strings.Contains(model, "gpt-oss") && endpoint == "/v1/responses", !strings.HasPrefix(model, "openai.gpt-"), strings.Contains(model, "absent"):
		return refuse(c, 404, openAIError("model_not_found", "The model '"+body.Model+"' does not exist or you do not have access to it."))
	}
	return endpoint
}

func jsonNumber(n int) string {
	text, _ := json.Marshal(n)
	return string(text)
}

// answer has the engine of the demo provider answer, and puts its events into messages.
func (b *bedrockFake) answer(c *gatewaytest.Call, body map[string]json.RawMessage, stream bool) {
	delete(body, "anthropic_version")
	delete(body, "anthropic_beta")
	body["model"] = json.RawMessage(`"m"`)
	body["stream"], _ = json.Marshal(stream)
	raw, _ := json.Marshal(body)
	inner := httptest.NewRequest(http.MethodPost, "/v1/messages", bytes.NewReader(raw))
	inner.Header.Set("Content-Type", "application/json")
	inner.Header.Set("Anthropic-Version", "2023-06-01")
	recorder := httptest.NewRecorder()
	c.Engine.ServeHTTP(recorder, inner)
	if !stream || recorder.Code != http.StatusOK {
		refuse(c, recorder.Code, recorder.Body.String())
		return
	}
	c.ResponseWriter.Header().Set("Content-Type", "application/vnd.amazon.eventstream")
	for event := range strings.SplitSeq(strings.TrimSuffix(recorder.Body.String(), "\n\n"), "\n\n") {
		_, data, _ := strings.Cut(event, "data: ")
		if strings.Contains(data, `"message_stop"`) {
			data = `{"type":"message_stop","amazon-bedrock-invocationMetrics":{"inputTokenCount":8,"outputTokenCount":9}}`
		}
		_, _ = c.ResponseWriter.Write(frame("event", "event", "chunk", `{"bytes":"`+base64.StdEncoding.EncodeToString([]byte(data))+`","p":"abc"}`))
	}
}

// frame returns a message of an event stream, written without the SDK.
func frame(kind, typed, name, payload string) []byte {
	var headers []byte
	for _, pair := range [][2]string{{":message-type", kind}, {":" + typed + "-type", name}} {
		headers = append(append(headers, byte(len(pair[0]))), pair[0]...)
		headers = append(binary.BigEndian.AppendUint16(append(headers, 7), uint16(len(pair[1]))), pair[1]...)
	}
	m := binary.BigEndian.AppendUint32(nil, uint32(16+len(headers)+len(payload)))
	m = binary.BigEndian.AppendUint32(m, uint32(len(headers)))
	m = binary.BigEndian.AppendUint32(m, crc32.ChecksumIEEE(m))
	m = append(append(m, headers...), payload...)
	return binary.BigEndian.AppendUint32(m, crc32.ChecksumIEEE(m))
}

func TestK052ClaudeOnBedrockIsInvoked(t *testing.T) {
	const arn = "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-sonnet-4-5-20250929-v1:0"
	b := newBedrock(t)
	s := site.Start(t, b.block("bedrock"), "model claude {\nto bedrock/"+arn+"\n}")
	for _, path := range []string{site.MessagesPath, site.ChatPath, site.ResponsesPath} {
		reply := s.Ask(path+map[string]string{site.MessagesPath: "?beta=true"}[path], site.BodyFor(path, "claude", "hello", false))
		require.Equal(t, http.StatusOK, reply.Status, reply.Body)
		reply = s.Ask(path, site.BodyFor(path, "claude", "hello", true), "Anthropic-Beta", "context-1m-2025-08-07,unknown-2026-01-01")
		require.Equal(t, http.StatusOK, reply.Status, reply.Body)
		assert.True(t, reply.Read(t, path).Complete)
		assert.NotContains(t, reply.Body, "invocationMetrics", "K060")
		record := s.Record(reply.ID())
		assert.Equal(t, "answered", record["outcome"])
		assert.NotNil(t, record["usage.output_tokens"])
	}
	body := b.LastJSON(t)
	assert.NotContains(t, body, "model")
	assert.NotContains(t, body, "stream")
	s.AssertNoEntry(awsSession)
}

func TestK053OnlyKnownBetasReachBedrock(t *testing.T) {
	b := newBedrock(t)
	s := site.Start(t, b.block("bedrock"))
	reply := s.Ask(site.MessagesPath, site.BodyFor(site.MessagesPath, "anthropic.m", "hello", false), "Anthropic-Beta", "context-1m-2025-08-07 , unknown-2026-01-01")
	require.Equal(t, http.StatusOK, reply.Status, reply.Body)
	assert.Equal(t, []any{"context-1m-2025-08-07"}, b.LastJSON(t)["anthropic_beta"])
	assert.Equal(t, "anthropic-beta", reply.Header.Get("X-Gateway-Dropped"))
	assert.Empty(t, b.Requests()[b.Count()-1].Header.Get("Anthropic-Beta"))
}

// A client that had asked for the later version got the answers of the first one.
func TestTheVersionOfTheClientReachesClouds(t *testing.T) {
	b, v := newBedrock(t), newVertex(t)
	s := site.Start(t, b.block("bedrock", "models anthropic.*"), v.account("vertex", "models v-*"))
	for model, fake := range map[string]*cloud{"anthropic.b": b.cloud, "v-1": v.cloud} {
		for version, want := range map[string]string{"2023-06-01": map[string]string{"anthropic.b": "bedrock-2023-05-31", "v-1": "vertex-2023-10-16"}[model], "2026-10-21": "2026-10-21"} {
			reply := s.Ask(site.MessagesPath, site.BodyFor(site.MessagesPath, model, "hello", false), "Anthropic-Version", version)
			require.Equal(t, http.StatusOK, reply.Status, reply.Body)
			assert.Equal(t, want, fake.LastJSON(t)["anthropic_version"])
		}
	}
}

func TestK051AnAPIKeyOfBedrockIsABearerToken(t *testing.T) {
	b := newBedrock(t)
	s := site.Start(t, b.block("bedrock {env.BEDROCK_KEY}"))
	reply := ask(s, site.MessagesPath, "anthropic.m")
	require.Equal(t, http.StatusOK, reply.Status, reply.Body)
	last := b.Requests()[b.Count()-1]
	assert.Equal(t, "Bearer "+bedrockKey, last.Header.Get("Authorization"))
	assert.Empty(t, last.Header.Get("X-Amz-Date"))
}

func TestK060InvocationMetricsReachNoClient(t *testing.T) {
	b := newBedrock(t)
	s := site.Start(t, b.block("bedrock"))
	reply := s.Ask(site.MessagesPath, site.BodyFor(site.MessagesPath, "anthropic.m", "hello", true))
	assert.True(t, reply.Read(t, site.MessagesPath).Complete)
	assert.True(t, strings.HasSuffix(reply.Body, "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"), reply.Body)
}

func TestK058ExceptionsInAStreamOfBedrock(t *testing.T) {
	b, other := newBedrock(t), gatewaytest.NewProvider(t)
	s := site.Start(t, b.block("bedrock", "models off"), site.Direct.Provider("other", other, "models off"), "model anthropic.m {\nto bedrock\nto other\n}")
	throttled := frame("exception", "exception", "throttlingException", `{"message":"Too many tokens"}`)
	b.Always(gatewaytest.Body(http.StatusOK, "application/vnd.amazon.eventstream", throttled))
	reply := s.Ask(site.MessagesPath, site.BodyFor(site.MessagesPath, "anthropic.m", "hello", true))
	assert.True(t, reply.Read(t, site.MessagesPath).Complete, "another target answers before the first content")
	assert.Equal(t, 1, other.Count())

	var begun []byte
	for _, data := range []string{
		`{"type":"message_start","message":{"id":"msg_bdrk_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":3,"output_tokens":1}}}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hel"}}`,
	} {
		begun = append(begun, frame("event", "event", "chunk", `{"bytes":"`+base64.StdEncoding.EncodeToString([]byte(data))+`"}`)...)
	}
	broken := bytes.Clone(throttled)
	broken[len(broken)-1] ^= 1
	for name, stream := range map[string][]byte{
		"an exception": append(bytes.Clone(begun), throttled...), "a checksum": append(bytes.Clone(begun), broken...), "an end": append(bytes.Clone(begun), throttled[:len(throttled)-5]...),
		"an end between messages": begun,
	} {
		b.Always(gatewaytest.Body(http.StatusOK, "application/vnd.amazon.eventstream", stream))
		reply = s.Ask(site.MessagesPath, site.BodyFor(site.MessagesPath, "anthropic.m", "hello", true))
		read := reply.Read(t, site.MessagesPath)
		assert.False(t, read.Complete, name)
		require.NotNil(t, read.Failure, name)
		if name == "an exception" {
			assert.Equal(t, "rate_limit_error", read.Failure.Type)
		}
	}
}

func TestErrorsOfBedrockAreTheClients(t *testing.T) {
	b := newBedrock(t)
	s := site.Start(t, b.block("bedrock"))
	for _, path := range []string{site.MessagesPath, site.ChatPath} {
		reply := ask(s, path, "throttled")
		assert.Equal(t, http.StatusTooManyRequests, reply.Status, reply.Body)
		assert.Contains(t, reply.Body, "Too many requests, please wait")
	}
	assert.Equal(t, http.StatusNotFound, ask(s, site.MessagesPath, "..").Status)
}

// The error of a bad signature quotes the request.
func TestARefusedSignatureIsHidden(t *testing.T) {
	b := newBedrock(t)
	b.Always(func(c *gatewaytest.Call) {
		c.ResponseWriter.Header().Set("X-Amzn-Errortype", "ValidationException")
		refuse(c, http.StatusBadRequest, `{"message":"canonical: x-amz-security-token:`+c.Request.Header.Get("X-Amz-Security-Token")+` `+awsKeyID+`"}`)
	})
	s := site.Start(t, b.block("bedrock"))
	reply := ask(s, site.MessagesPath, "anthropic.m")
	assert.Equal(t, http.StatusBadRequest, reply.Status)
	assert.NotContains(t, reply.Body, awsSession)
	assert.NotContains(t, reply.Body, awsKeyID)
	b.Always(func(c *gatewaytest.Call) {
		c.ResponseWriter.Header().Set("X-Amzn-Errortype", "ExpiredTokenException")
		refuse(c, http.StatusForbidden, `{"message":"expired"}`)
	})
	reply = ask(s, site.MessagesPath, "anthropic.m")
	assert.Equal(t, http.StatusBadGateway, reply.Status, reply.Body)
	assert.Contains(t, reply.Body, "did not accept the gateway's credential")
}

// Credentials in a file may be replaced before the gateway reads them again.
func TestK045RefusedCredentialsOfAWSAreReadAgainOnce(t *testing.T) {
	b := newBedrock(t)
	b.session = "another-session-" + rand.Text() // credentials outlive a test
	s := site.Start(t, b.block("bedrock"))
	assert.Equal(t, http.StatusBadGateway, ask(s, site.MessagesPath, "anthropic.m").Status)
	assert.Equal(t, 2, b.Count(), "the request, and once more")
	t.Setenv("AWS_SESSION_TOKEN", b.session)
	reply := ask(s, site.MessagesPath, "anthropic.m")
	assert.Equal(t, http.StatusOK, reply.Status, reply.Body)
}

// Behind reverse_proxy, the base URL is a path, by default /v1. A signature contains the host
// to which the request is sent.
func TestCloudsAreReachedThroughReverseProxy(t *testing.T) {
	b, v, a := newBedrock(t), newVertex(t), newAzure(t)
	trusting := func(c *cloud, head string, lines ...string) string {
		return strings.Replace(c.provider(head, append(lines, "to "+c.Address())...), "transport http {\n", "transport http {\ntls\n", 1)
	}
	s := site.Start(t, trusting(b.cloud, "bedrock", "region us-east-1", "models anthropic.*"),
		trusting(v.cloud, "vertex", "project my-project", "location us-east5", "models vertex-*", "api_key {file."+accountFile()+"}"),
		trusting(a.cloud, "azure {env.AZURE_KEY}", "api_version 2024-10-21", "models my-*"))
	for _, model := range []string{"anthropic.x", "vertex-x", "my-deployment"} {
		reply := ask(s, site.MessagesPath, model)
		assert.Equal(t, http.StatusOK, reply.Status, reply.Body)
	}
}

// Requests for the models of OpenAI were translated to Converse, so that Codex lost its reasoning and its tools.
func TestTheModelsOfOpenAIOnBedrockAreAskedInTheirFormats(t *testing.T) {
	for name, head := range map[string]string{"signed": "bedrock", "with an API key": "bedrock {env.BEDROCK_KEY}"} {
		t.Run(name, func(t *testing.T) {
			b := newBedrock(t)
			s := site.Start(t, b.block(head), "model gpt {\nto bedrock/global.openai.gpt-6.2-sol\n}")
			for path, endpoint := range map[string]string{site.ResponsesPath: "/openai/v1/responses", site.ChatPath: "/openai/v1/chat/completions", site.MessagesPath: "/openai/v1/responses"} {
				body := site.BodyFor(path, "gpt", "hello", false)
				reply := s.Ask(path, body)
				require.Equal(t, http.StatusOK, reply.Status, reply.Body)
				assert.Equal(t, endpoint, b.lastPath())
				if path != site.MessagesPath {
					assert.Equal(t, strings.Replace(body, `"gpt"`, `"global.openai.gpt-6.2-sol"`, 1), b.lastBody(), "the bytes of the client")
				}
				reply = s.Ask(path, site.BodyFor(path, "gpt", "hello", true))
				require.Equal(t, http.StatusOK, reply.Status, reply.Body)
				assert.True(t, reply.Read(t, path).Complete)
				record := s.Record(reply.ID())
				assert.Equal(t, "answered", record["outcome"])
				assert.NotNil(t, record["usage.output_tokens"])
			}
			counted := s.Ask("/v1/messages/count_tokens", `{"model":"gpt","messages":[{"role":"user","content":"hello"}]}`)
			assert.Equal(t, http.StatusOK, counted.Status, counted.Body)
			assert.NotEmpty(t, counted.Header.Get("X-Gateway-Estimate"))
			for _, path := range []string{site.ResponsesPath, site.ChatPath} {
				require.Equal(t, http.StatusOK, ask(s, path, "openai.gpt-oss-120b-1:0").Status)
				assert.Equal(t, "/model/openai.gpt-oss-120b-1:0/converse", b.lastPath(), "the open models")
			}
		})
	}
}

func TestTheOpenModelsOfOpenAIOnBedrockAreAskedByChatOnDemand(t *testing.T) {
	b := newBedrock(t)
	s := site.Start(t, b.block("bedrock", "format chat"))
	body := site.BodyFor(site.ChatPath, "openai.gpt-oss-120b-1:0", "hello", false)
	reply := s.Ask(site.ChatPath, body)
	require.Equal(t, http.StatusOK, reply.Status, reply.Body)
	assert.Equal(t, []string{"/openai/v1/chat/completions", body}, []string{b.lastPath(), b.lastBody()}, "as the client wrote it")
	reply = s.Ask(site.MessagesPath, site.BodyFor(site.MessagesPath, "openai.gpt-oss-120b-1:0", "hello", true))
	require.Equal(t, http.StatusOK, reply.Status, reply.Body)
	assert.True(t, reply.Read(t, site.MessagesPath).Complete)
}

// A model that the service does not have was answered 500 by one lane, and an exception of the service was no
// error in the format of the client.
func TestErrorsOfTheModelsOfOpenAIOnBedrock(t *testing.T) {
	b := newBedrock(t)
	s := site.Start(t, b.block("bedrock"))
	for _, path := range []string{site.ResponsesPath, site.ChatPath, site.MessagesPath} {
		for model, want := range map[string]struct {
			status  int
			message string
		}{
			"openai.gpt-absent":       {404, "The model 'openai.gpt-absent' does not exist or you do not have access to it."},
			"us.openai.gpt-throttled": {429, "Too many tokens, please wait before trying again."},
			"openai.gpt-wrapped":      {400, "Unsupported parameter: 'max_tokens' is not supported with this model."},
			"openai.gpt-denied":       {403, "You don't have access to the model with the specified model ID."},
		} {
			for _, stream := range []bool{false, true} {
				reply := s.Ask(path, site.BodyFor(path, model, "hello", stream))
				assert.Equal(t, want.status, reply.Status, "%s %s: %s", path, model, reply.Body)
				assert.Equal(t, want.message, reply.Failure(t).Message)
			}
		}
	}
	b.Always(func(c *gatewaytest.Call) { refuse(c, http.StatusServiceUnavailable, "<html>") })
	reply := ask(s, site.ResponsesPath, "openai.gpt-6-sol")
	assert.Equal(t, http.StatusServiceUnavailable, reply.Status, reply.Body)
}

// What Codex sends reaches Bedrock byte for byte, but for the name of the model.
func TestCodexOnBedrock(t *testing.T) {
	b := newBedrock(t)
	s := site.Start(t, b.block("bedrock", "models off"), "model mock-model {\nto bedrock/us.openai.gpt-6.2-sol\n}")
	raw, err := os.ReadFile(filepath.Join(site.Root(t), "testdata", "captures", "codex", "first-turn.json"))
	require.NoError(t, err)
	var captured struct{ Body json.RawMessage }
	require.NoError(t, json.Unmarshal(raw, &captured))
	var sent bytes.Buffer
	require.NoError(t, json.Compact(&sent, captured.Body))
	reply := s.Ask(site.ResponsesPath, sent.String())
	require.Equal(t, http.StatusOK, reply.Status, reply.Body)
	assert.True(t, reply.Read(t, site.ResponsesPath).Complete)
	assert.Equal(t, strings.Replace(sent.String(), `"model":"mock-model"`, `"model":"us.openai.gpt-6.2-sol"`, 1), b.lastBody())
}

// Requests beside text went to the format of the models of OpenAI, and then to Converse, which ended in 500.
func TestBedrockHasNothingBesideText(t *testing.T) {
	b := newBedrock(t)
	s := site.Start(t, b.block("bedrock"))
	for _, model := range []string{"amazon.nova-x", "openai.gpt-6.2-sol", "us.anthropic.claude-x"} {
		for path, body := range map[string]string{"/v1/embeddings": `"input":"a"`, "/v1/audio/speech": `"input":"a"`, "/v1/responses/compact": `"input":"a"`, "/v1/moderations": `"input":"a"`} {
			reply := s.Ask(path, `{"model":"`+model+`",`+body+`}`)
			assert.Equal(t, http.StatusNotFound, reply.Status, "%s %s: %s", path, model, reply.Body)
		}
	}
	assert.Zero(t, b.Count())
}
