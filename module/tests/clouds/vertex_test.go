package clouds_test

import (
	"bytes"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// vertexFake refuses what Vertex AI refuses. It gives tokens for a service account.
type vertexFake struct {
	*cloud
	key     *rsa.PrivateKey
	fetched atomic.Int32
	valid   atomic.Pointer[string] // the token that is accepted
	down    atomic.Bool            // the server of tokens
}

func newVertex(t *testing.T) *vertexFake {
	v := new(vertexFake)
	v.cloud = newCloud(t, v.check)
	var err error
	v.key, err = rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	der, err := x509.MarshalPKCS8PrivateKey(v.key)
	require.NoError(t, err)
	account, err := json.Marshal(map[string]string{
		"type": "service_account", "project_id": "my-project", "client_email": "gateway@my-project.iam.gserviceaccount.com", "client_id": "1",
		"private_key_id": "k1", "private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})), "token_uri": v.URL + "/token",
	})
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "account.json")
	require.NoError(t, os.WriteFile(path, account, 0o600))
	t.Setenv("ACCOUNT", path)
	return v
}

// account returns the block of a provider with the service account.
func (v *vertexFake) account(name string, lines ...string) string {
	return v.provider(name+" vertex {file."+accountFile()+"}", append(lines, "base_url "+v.URL, "project my-project", "location us-east5")...)
}

// accountFile returns the path of the file of the last fake's service account.
func accountFile() string { return os.Getenv("ACCOUNT") }

const vertexPath = "/v1/projects/my-project/locations/us-east5/"

func (v *vertexFake) check(c *gatewaytest.Call) string {
	r, path := c.Request, c.Request.URL.EscapedPath()
	if path == "/token" {
		return v.giveToken(c)
	}
	if token := v.valid.Load(); token == nil || r.Header.Get("Authorization") != "Bearer "+*token || r.Header.Get("X-Api-Key") != "" {
		return refuse(c, http.StatusUnauthorized, `[{"error":{"code":401,"message":"Request had invalid authentication credentials.","status":"UNAUTHENTICATED"}}]`)
	}
	rest, ok := strings.CutPrefix(path, vertexPath)
	if name, isGoogle := strings.CutPrefix(rest, "publishers/google/models/"); ok && isGoogle {
		return answerGemini(c, name)
	}
	if !ok || r.URL.RawQuery != "" {
		return refuse(c, http.StatusNotFound, googleError(404, "NOT_FOUND", "not found"))
	}
	if rest == "endpoints/openapi/chat/completions" {
		return "/v1/chat/completions"
	}
	raw, _ := io.ReadAll(r.Body)
	var body map[string]json.RawMessage
	if json.Unmarshal(raw, &body) != nil {
		return refuse(c, http.StatusBadRequest, googleError(400, "INVALID_ARGUMENT", "no JSON"))
	}
	name, method, _ := strings.Cut(strings.TrimPrefix(rest, "publishers/anthropic/models/"), ":")
	why := ""
	switch {
	case !strings.HasPrefix(rest, "publishers/anthropic/models/") || method != "rawPredict" && method != "streamRawPredict":
		return refuse(c, http.StatusNotFound, googleError(404, "NOT_FOUND", "Publisher Model was not found"))
	case !slices.Contains([]string{`"vertex-2023-10-16"`, newVersion}, string(body["anthropic_version"])):
		why = "anthropic_version: Field required"
	case (body["model"] != nil) != (name == "count-tokens"):
		why = "model: Extra inputs are not permitted"
	case name == "count-tokens" && strings.Contains(string(body["model"]), "@latest"):
		why = "model: unknown"
	case (string(body["stream"]) == "true") != (method == "streamRawPredict"):
		why = "stream: does not fit the method"
	case bytes.Contains(body["tools"], []byte(`"strict"`)):
		why = "tools.0.custom.strict: Extra inputs are not permitted"
	case strings.Contains(r.Header.Get("Anthropic-Beta"), "scope"):
		why = "Unexpected value(s) `prompt-caching-scope-2026-01-05` for the `anthropic-beta` header"
	case body["context_management"] != nil && !strings.Contains(r.Header.Get("Anthropic-Beta"), "context-management"):
		why = "context_management: Extra inputs are not permitted"
	}
	if why != "" {
		return refuse(c, http.StatusBadRequest, `{"type":"error","error":{"type":"invalid_request_error","message":"`+why+`"}}`)
	}
	delete(body, "anthropic_version")
	if body["model"] == nil {
		body["model"], _ = json.Marshal(name)
	}
	raw, _ = json.Marshal(body)
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(raw)), int64(len(raw))
	r.Header.Set("Anthropic-Version", "2023-06-01")
	if name == "count-tokens" {
		return "/v1/messages/count_tokens"
	}
	return "/v1/messages"
}

// answerGemini answers as a model of Google does behind Vertex AI: with a text, or with a signed
// call if there are tools and no result. The name is the end of the path. It refuses what only
// the Gemini API knows, and the results of calls without the signature.
func answerGemini(c *gatewaytest.Call, name string) string {
	name, method, _ := strings.Cut(name, ":")
	raw, _ := io.ReadAll(c.Request.Body)
	var body map[string]json.RawMessage
	isStream := method == "streamGenerateContent" && c.Request.URL.RawQuery == "alt=sse"
	switch {
	case strings.Contains(name, "/") || !isStream && c.Request.URL.RawQuery != "":
		return refuse(c, http.StatusNotFound, googleError(404, "NOT_FOUND", "Publisher Model was not found"))
	case json.Unmarshal(raw, &body) != nil || body["contents"] == nil:
		return refuse(c, http.StatusBadRequest, googleError(400, "INVALID_ARGUMENT", "contents are required"))
	case bytes.Contains(raw, []byte("includeServerSideToolInvocations")):
		return refuse(c, http.StatusBadRequest, googleError(400, "INVALID_ARGUMENT", "includeServerSideToolInvocations is not supported"))
	case bytes.Contains(raw, []byte(`"functionResponse"`)) && !bytes.Contains(raw, []byte(`"thoughtSignature":"c2ln"`)):
		return refuse(c, http.StatusBadRequest, googleError(400, "INVALID_ARGUMENT", "function call look in the 2. content block is missing a thought_signature"))
	}
	known := []string{"contents", "systemInstruction", "tools", "toolConfig", "generationConfig", "safetySettings", "labels", "cachedContent"}
	if method == "countTokens" {
		known = []string{"contents", "systemInstruction", "tools", "generationConfig"}
	}
	for member := range body {
		if !slices.Contains(known, member) {
			return refuse(c, http.StatusBadRequest, googleError(400, "INVALID_ARGUMENT", `Unknown name "`+member+`": Cannot find field.`))
		}
	}
	if method == "countTokens" {
		return refuse(c, http.StatusOK, `{"totalTokens":7,"totalBillableCharacters":20}`)
	}
	part := `{"text":"hello"}`
	if body["tools"] != nil && !bytes.Contains(raw, []byte(`"functionResponse"`)) {
		part = `{"functionCall":{"name":"look","args":{"at":"it"}},"thoughtSignature":"c2ln"}`
	}
	answer := `{"candidates":[{"content":{"role":"model","parts":[` + part + `]},"finishReason":"STOP"}],` +
		`"usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":2,"totalTokenCount":7,"trafficType":"ON_DEMAND"},"modelVersion":"` + name + `","responseId":"r1"}`
	if isStream {
		c.ResponseWriter.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(c.ResponseWriter, `data: {"usageMetadata":{"trafficType":"ON_DEMAND"}}`+"\r\n\r\ndata: "+answer+"\r\n\r\n")
		return ""
	}
	return refuse(c, http.StatusOK, answer)
}

func googleError(code int, status, message string) string {
	return fmt.Sprintf(`{"error":{"code":%d,"message":%q,"status":%q}}`, code, message, status)
}

// giveToken checks the assertion of the service account.
func (v *vertexFake) giveToken(c *gatewaytest.Call) string {
	if v.down.Load() {
		return refuse(c, http.StatusNotFound, "")
	}
	parts := strings.Split(c.Request.FormValue("assertion"), ".")
	if len(parts) != 3 || c.Request.FormValue("grant_type") != "urn:ietf:params:oauth:grant-type:jwt-bearer" {
		return refuse(c, http.StatusBadRequest, `{"error":"invalid_request"}`)
	}
	claims, _ := base64.RawURLEncoding.DecodeString(parts[1])
	signature, _ := base64.RawURLEncoding.DecodeString(parts[2])
	digest := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	if rsa.VerifyPKCS1v15(&v.key.PublicKey, crypto.SHA256, digest[:], signature) != nil || !strings.Contains(string(claims), "auth/cloud-platform") {
		return refuse(c, http.StatusBadRequest, `{"error":"invalid_grant","error_description":"Invalid JWT Signature."}`)
	}
	return v.newToken(c, fmt.Sprintf("ya29.token-%d", v.fetched.Add(1)))
}

func (v *vertexFake) newToken(c *gatewaytest.Call, token string) string {
	v.valid.Store(&token)
	return refuse(c, http.StatusOK, `{"access_token":"`+token+`","expires_in":3599,"token_type":"Bearer"}`)
}

func TestK042ClaudeOnVertexHasTheModelInThePath(t *testing.T) {
	v := newVertex(t)
	s := site.Start(t, v.account("vertex"), "model claude {\nto vertex/claude-sonnet-4-5@20250929\n}")
	for _, path := range []string{site.MessagesPath, site.ChatPath, site.ResponsesPath} {
		reply := ask(s, path, "claude")
		require.Equal(t, http.StatusOK, reply.Status, reply.Body)
		assert.Equal(t, vertexPath+"publishers/anthropic/models/claude-sonnet-4-5@20250929:rawPredict", v.lastPath())

		reply = s.Ask(path, site.BodyFor(path, "claude", "hello", true))
		require.Equal(t, http.StatusOK, reply.Status, reply.Body)
		assert.True(t, reply.Read(t, path).Complete)
		assert.Equal(t, vertexPath+"publishers/anthropic/models/claude-sonnet-4-5@20250929:streamRawPredict", v.lastPath())
		body := v.LastJSON(t)
		assert.Equal(t, true, body["stream"])
		assert.Equal(t, "vertex-2023-10-16", body["anthropic_version"])
		assert.NotContains(t, body, "model")
	}
	requests := v.Requests()
	assert.Empty(t, requests[len(requests)-1].Header.Get("Anthropic-Version"))
	assert.EqualValues(t, 1, v.fetched.Load(), "one token for all requests")
}

func TestK043TokensAreCountedOnVertex(t *testing.T) {
	v := newVertex(t)
	s := site.Start(t, v.account("vertex"), "model claude {\nto vertex/claude-sonnet-4-6@latest\n}")
	reply := s.Ask("/v1/messages/count_tokens", `{"messages":[{"role":"user","content":"hello"}],"model":"claude"}`)
	require.Equal(t, http.StatusOK, reply.Status, reply.Body)
	assert.Contains(t, reply.Body, "input_tokens")
	assert.Equal(t, vertexPath+"publishers/anthropic/models/count-tokens:rawPredict", v.lastPath())
	assert.Equal(t, "claude-sonnet-4-6", v.LastJSON(t)["model"])
}

func TestK044UnknownBetasAreLeftOutWithWhatDependsOnThem(t *testing.T) {
	v := newVertex(t)
	s := site.Start(t, v.account("vertex"))
	const body = `{"model":"claude-x","max_tokens":10,"context_management":{"edits":[]},"messages":[{"role":"user","content":"hello"}]}`
	betas := func() string {
		requests := v.Requests()
		return requests[len(requests)-1].Header.Get("Anthropic-Beta")
	}

	reply := s.Ask(site.MessagesPath, body, "Anthropic-Beta", "context-management-2025-06-27, prompt-caching-scope-2026-01-05,")
	require.Equal(t, http.StatusOK, reply.Status, reply.Body)
	assert.Equal(t, "context-management-2025-06-27", betas())
	assert.Contains(t, v.LastJSON(t), "context_management")
	assert.Equal(t, "anthropic-beta", reply.Header.Get("X-Gateway-Dropped"))

	reply = s.Ask(site.MessagesPath, body, "Anthropic-Beta", "prompt-caching-scope-2026-01-05")
	require.Equal(t, http.StatusOK, reply.Status, reply.Body)
	assert.Empty(t, betas())
	assert.NotContains(t, v.LastJSON(t), "context_management")
	assert.Equal(t, "anthropic-beta,context_management", strings.ReplaceAll(reply.Header.Get("X-Gateway-Dropped"), ", ", ","))
}

// A request for fast mode lost its beta on the way to a cloud, but kept "speed", which no service
// takes without the beta. Each beta takes its members with it, in the body as the client has
// spelled it, and both are reported.
func TestMembersLeaveWithTheirBetas(t *testing.T) {
	v, b := newVertex(t), newBedrock(t)
	s := site.Start(t, v.account("vertex", "models claude-x"), b.block("bedrock", "models anthropic.claude-x"))
	for _, c := range []struct{ beta, member, lost, kept string }{
		{"fast-mode-2026-02-01", `"speed":"fast"`, "speed", ""},
		{"compact-2026-09-04", `"compaction":{"enabled":true}`, "compaction", ""},
		{"server-side-fallback-2026-07-01", `"fallbacks":[{"model":"a"}]`, "fallbacks", ""},
		{"cache-diagnosis-2026-04-07", `"diagnostics":{"previous_message_id":"m"}`, "diagnostics", ""},
		{"task-budgets-2026-03-13", `"output_config":{"task_budget":{"total":1},"effort":"low"}`, "output_config.task_budget", `"effort":"low"`},
		{"thinking-display-updates-2026-08-18", `"thinking":{"type":"adaptive","display":"updates"}`, "thinking.display", `"type":"adaptive"`},
		{"message-threads-2026-08-12", `"thread":{"type":"new"}`, "thread", ""},
		{"user-profiles-2026-08-18", `"user_profile_id":"u"`, "user_profile_id", ""},
		{"server-side-fallback-2027-01-01", `"fallback_credit_token":"t"`, "fallback_credit_token", ""},
	} {
		for model, provider := range map[string]interface {
			LastJSON(testing.TB) map[string]any
		}{"claude-x": v, "anthropic.claude-x": b} {
			reply := s.Ask(site.MessagesPath, `{"model":"`+model+`","max_tokens":10,`+c.member+`,"messages":[{"role":"user","content":"hello"}]}`, "Anthropic-Beta", c.beta)
			require.Equal(t, http.StatusOK, reply.Status, reply.Body)
			sent, err := json.Marshal(provider.LastJSON(t))
			require.NoError(t, err)
			name, value, _ := strings.Cut(c.member, ":")
			if c.kept != "" {
				value = `"updates"`
				assert.Contains(t, string(sent), c.kept, model)
			} else {
				assert.NotContains(t, string(sent), name, model)
			}
			assert.NotContains(t, string(sent), value, model)
			assert.NotContains(t, string(sent), "task_budget", model)
			dropped := strings.Split(strings.ReplaceAll(reply.Header.Get("X-Gateway-Dropped"), ", ", ","), ",")
			assert.ElementsMatch(t, []string{"anthropic-beta", c.lost}, dropped, model)
		}
	}
	// What needs no beta stays.
	reply := s.Ask(site.MessagesPath, `{"model":"claude-x","max_tokens":10,"thinking":{"type":"adaptive","display":"omitted"},"messages":[{"role":"user","content":"hello"}]}`)
	require.Equal(t, http.StatusOK, reply.Status, reply.Body)
	assert.Empty(t, reply.Header.Get("X-Gateway-Dropped"))
}

// The clouds refuse the breakpoint of a whole request ("cache_control: Extra inputs are not permitted"),
// which clients put there for the cache to move with the conversation. It was left out, so that each turn of such a
// client cost ten times as much as with its vendor.
func TestTheBreakpointOfARequestMovesToItsLastPartOnClouds(t *testing.T) {
	v, b := newVertex(t), newBedrock(t)
	s := site.Start(t, v.account("vertex", "models claude-x"), b.block("bedrock", "models anthropic.claude-x"))
	for model, provider := range map[string]interface {
		LastJSON(testing.TB) map[string]any
	}{"claude-x": v, "anthropic.claude-x": b} {
		const mark = `"cache_control":{"type":"ephemeral"}`
		reply := s.Ask(site.MessagesPath, `{"model":"`+model+`","max_tokens":10,`+mark+`,"system":[{"type":"text","text":"s",`+mark+`}],"messages":[{"role":"user","content":"hello"}]}`)
		require.Equal(t, http.StatusOK, reply.Status, reply.Body)
		sent := provider.LastJSON(t)
		assert.NotContains(t, sent, "cache_control", model)
		assert.Contains(t, sent["system"].([]any)[0], "cache_control", model)
		content, err := json.Marshal(sent["messages"].([]any)[0].(map[string]any)["content"])
		require.NoError(t, err)
		assert.JSONEq(t, `[{"type":"text","text":"hello",`+mark+`}]`, string(content), model)
		assert.Empty(t, reply.Header.Get("X-Gateway-Dropped"), model)
	}
}

func TestK048StrictToolsAreLeftOutOnVertex(t *testing.T) {
	v := newVertex(t)
	s := site.Start(t, v.account("vertex"))
	reply := s.Ask(site.MessagesPath, `{"model":"claude-x","max_tokens":10,"tools":[{"name":"f","strict":true,"input_schema":{"type":"object","properties":{"strict":{"type":"string"}}}}],"messages":[{"role":"user","content":"hello"}]}`)
	// The property with the same name remains, so that the fake refuses the request.
	sent := v.Requests()[v.Count()-1].Body
	assert.Contains(t, string(sent), `"tools":[{"name":"f","input_schema":{"type":"object","properties":{"strict":{"type":"string"}}}}]`)
	assert.Equal(t, http.StatusBadRequest, reply.Status)
	reply = s.Ask(site.MessagesPath, `{"model":"claude-x","max_tokens":10,"tools":[{"strict":true,"name":"f","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":"hello"}]}`)
	require.Equal(t, http.StatusOK, reply.Status, reply.Body)
	assert.Equal(t, "tools.*.strict", reply.Header.Get("X-Gateway-Dropped"))
}

func TestVertexHasAnEndpointForChat(t *testing.T) {
	v := newVertex(t)
	s := site.Start(t, v.account("maas", "format chat"), "model gemini {\nto maas/google/gemini-2.5-pro\n}")
	reply := ask(s, site.ChatPath, "gemini")
	require.Equal(t, http.StatusOK, reply.Status, reply.Body)
	assert.Equal(t, vertexPath+"endpoints/openapi/chat/completions", v.lastPath())
	for path, body := range map[string]string{"/v1/embeddings": `{"model":"gemini","input":"a"}`, "/v1/audio/speech": `{"model":"gemini","input":"a","voice":"b"}`} {
		reply = s.Ask(path, body)
		assert.Equal(t, http.StatusNotFound, reply.Status)
		assert.Contains(t, reply.Body, "model: 'gemini' is not available at "+path)
	}
	assert.Equal(t, "google/gemini-2.5-pro", v.LastJSON(t)["model"])
}

// startVertexGemini starts a site with a model of Google in Vertex AI.
func startVertexGemini(t *testing.T) (*site.Site, *vertexFake) {
	v := newVertex(t)
	return site.Start(t, v.account("google", "format gemini"), "model flash {\nto google/gemini-3-flash-preview\n}"), v
}

const vertexGemini = vertexPath + "publishers/google/models/gemini-3-flash-preview:"

func TestGeminiOnVertexHasTheModelAndTheMethodInThePath(t *testing.T) {
	s, v := startVertexGemini(t)
	for _, path := range []string{site.MessagesPath, site.ChatPath, site.CompletionsPath, site.ResponsesPath} {
		reply := ask(s, path, "flash")
		require.Equal(t, http.StatusOK, reply.Status, reply.Body)
		assert.Contains(t, reply.Body, "hello")
		assert.Equal(t, vertexGemini+"generateContent", v.lastPath())

		reply = s.Ask(path, site.BodyFor(path, "flash", "hello", true))
		require.Equal(t, http.StatusOK, reply.Status, reply.Body)
		assert.True(t, reply.Read(t, path).Complete, reply.Body)
		assert.Equal(t, vertexGemini+"streamGenerateContent?alt=sse", v.lastPath())
	}
	assert.EqualValues(t, 1, v.fetched.Load(), "one token for all requests")
}

// The Gemini API counts the request in a member generateContentRequest, with the name of its
// model, which Vertex AI does not know.
func TestTokensOfGeminiAreCountedOnVertex(t *testing.T) {
	s, v := startVertexGemini(t)
	reply := s.Ask("/v1/messages/count_tokens", `{"messages":[{"role":"user","content":"hello"}],"model":"flash","system":"Be short.","tools":[{"name":"look","input_schema":{"type":"object"}}]}`)
	require.Equal(t, http.StatusOK, reply.Status, reply.Body)
	assert.JSONEq(t, `{"input_tokens":7}`, reply.Body)
	assert.Equal(t, vertexGemini+"countTokens", v.lastPath())
	for _, member := range []string{"contents", "systemInstruction", "tools"} {
		assert.Contains(t, v.LastJSON(t), member)
	}
}

func TestK048GeminiHasNoTierInTheBodyOnVertex(t *testing.T) {
	s, v := startVertexGemini(t)
	reply := s.Ask(site.ChatPath, `{"model":"flash","service_tier":"flex","messages":[{"role":"user","content":"hello"}]}`)
	require.Equal(t, http.StatusOK, reply.Status, reply.Body)
	assert.NotContains(t, v.LastJSON(t), "serviceTier")
	assert.Equal(t, "serviceTier", reply.Header.Get("X-Gateway-Dropped"))
}

// A model refuses the result of its call without the signature that came with the call.
func TestGeminiOnVertexGetsItsSignatureBack(t *testing.T) {
	s, _ := startVertexGemini(t)
	returnsTheSignature(t, s)
}

func TestK047ErrorsOfGeminiOnVertexAreRead(t *testing.T) {
	s, v := startVertexGemini(t)
	assert.Equal(t, http.StatusOK, ask(s, site.MessagesPath, "flash").Status)
	for _, body := range []string{googleError(429, "RESOURCE_EXHAUSTED", "Quota exceeded"), "[" + googleError(429, "RESOURCE_EXHAUSTED", "Quota exceeded") + "]"} {
		v.Always(gatewaytest.Body(http.StatusTooManyRequests, "application/json", []byte(body)))
		reply := ask(s, site.MessagesPath, "flash")
		assert.Equal(t, http.StatusTooManyRequests, reply.Status, reply.Body)
		assert.Equal(t, "rate_limit_error", reply.Failure(t).Type)
		assert.Contains(t, reply.Body, "Quota exceeded")
	}
}

// oddModels are names of models that some servers read as another path: those that decode a path
// before they route, perhaps twice.
var oddModels = []string{
	"..", ".", "a/b", "z-1/../../model/evil", "a\\..\\b", "a%2Fb", "a%2f..%2fb", "a%252Fb", "%2e%2e", "%252e%252e", "a%5Cb", "..:x", "a%25b", "/a", "a/",
}

// A name of a deployment with /../ in it was sent as %2F..%2F: servers that decode before they route
// leave the deployment, with a key that allows only names that begin like this one.
func TestNoModelLeadsToAnotherPath(t *testing.T) {
	t.Setenv("AZURE_KEY", "azure-key-0123456789")
	t.Setenv("GEMINI_API_KEY", "gemini-key-0123456789")
	answered := 0
	g := newCloud(t, func(c *gatewaytest.Call) string {
		answered++
		return refuse(c, http.StatusNotFound, googleError(404, "NOT_FOUND", "not found"))
	})
	v, b := newVertex(t), newBedrock(t)
	for name, block := range map[string]string{
		"azure":      "provider azure {env.AZURE_KEY} {\nbase_url " + g.URL + "/openai\napi_version 2024-10-21\nmodels *\n}",
		"gemini":     "provider gemini {env.GEMINI_API_KEY} {\nbase_url " + g.URL + "/v1beta\nmodels *\n}",
		"compatible": "provider openai_compatible {env.GEMINI_API_KEY} {\nformat gemini\nbase_url " + g.URL + "/v1beta\nmodels *\n}",
		"vertex":     v.account("vertex", "format gemini"), "bedrock": b.block("bedrock", "models *"),
	} {
		t.Run(name, func(t *testing.T) {
			s := site.Start(t, block)
			for _, model := range append(slices.Clone(oddModels), "arn:aws:bedrock:us-east-1:1:x/../y", "arn:aws:bedrock:us-east-1:1:x\\y", "arn:a%2Fb", "arn:aws:bedrock:us-east-1:1:x/%2e%2e/y") {
				reply := ask(s, site.ChatPath, model)
				assert.Equal(t, http.StatusNotFound, reply.Status, "%s %s", model, reply.Body)
				assert.Contains(t, reply.Body, "model: ", model)
			}
		})
	}
	assert.Equal(t, int(v.fetched.Load()), answered+v.Count()+b.Count(), "only tokens were asked for")
}

// The client's name of the model must not choose another method or model of the project.
func TestVertexModelsStayOneSegment(t *testing.T) {
	v := newVertex(t)
	s := site.Start(t, v.account("vertex"))
	assert.Equal(t, http.StatusOK, ask(s, site.MessagesPath, "x").Status)
	for _, model := range []string{"m:predict", "a?b=c#d", "a..b"} {
		ask(s, site.MessagesPath, model)
		path := strings.TrimPrefix(v.lastPath(), vertexPath+"publishers/anthropic/models/")
		assert.True(t, strings.HasSuffix(path, ":rawPredict"), path)
	}
	before := v.Count()
	for _, model := range oddModels {
		reply := ask(s, site.MessagesPath, model)
		assert.Equal(t, http.StatusNotFound, reply.Status, model)
		assert.Contains(t, reply.Body, "model: ", model)
	}
	assert.Equal(t, before, v.Count())
}

func TestK045ARefusedTokenOfGoogleIsRenewedOnce(t *testing.T) {
	for _, format := range []string{"messages", "gemini"} {
		t.Run(format, func(t *testing.T) {
			v := newVertex(t)
			s := site.Start(t, v.account("vertex", "format "+format))
			assert.Equal(t, http.StatusOK, ask(s, site.MessagesPath, "model-x").Status)
			revoked := "another"
			v.valid.Store(&revoked)
			assert.Equal(t, http.StatusOK, ask(s, site.MessagesPath, "model-x").Status)
			assert.EqualValues(t, 2, v.fetched.Load())
		})
	}
}

func TestK046WithoutAServerOfTokensVertexHasFailed(t *testing.T) {
	for _, format := range []string{"messages", "gemini"} {
		t.Run(format, func(t *testing.T) {
			v := newVertex(t)
			v.down.Store(true)
			s := site.Start(t, v.account("vertex", "format "+format))
			reply := ask(s, site.MessagesPath, "model-x")
			assert.GreaterOrEqual(t, reply.Status, 500, reply.Body)
			assert.Equal(t, "api_error", reply.Failure(t).Type)
		})
	}
}

func TestK047ErrorsOfGooglesEdgeAreRead(t *testing.T) {
	v := newVertex(t)
	s := site.Start(t, v.account("vertex"))
	assert.Equal(t, http.StatusOK, ask(s, site.MessagesPath, "claude-x").Status)
	for _, body := range []string{googleError(429, "RESOURCE_EXHAUSTED", "Quota exceeded"), "[" + googleError(429, "RESOURCE_EXHAUSTED", "Quota exceeded") + "]"} {
		v.Always(gatewaytest.Body(http.StatusTooManyRequests, "application/json", []byte(body)))
		reply := ask(s, site.MessagesPath, "claude-x")
		assert.Equal(t, http.StatusTooManyRequests, reply.Status, reply.Body)
		assert.Equal(t, "rate_limit_error", reply.Failure(t).Type)
		assert.Contains(t, reply.Body, "Quota exceeded")
	}
	const own = `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long"},"request_id":"req_vrtx_1"}`
	v.Always(gatewaytest.Body(http.StatusBadRequest, "application/json", []byte(own)))
	assert.Equal(t, own, ask(s, site.MessagesPath, "claude-x").Body)
}

// Without an API key, the credentials are those of the machine: here, of a virtual machine or
// of a pod with workload identity.
func TestVertexTakesTheCredentialsOfTheMachine(t *testing.T) {
	v, token := newVertex(t), "ya29.of-the-machine-"+rand.Text() // tokens outlive a test
	machine := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Metadata-Flavor") != "Google" || !strings.HasSuffix(r.URL.Path, "/service-accounts/default/token") {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.Header().Set("Metadata-Flavor", "Google")
		v.newToken(&gatewaytest.Call{ResponseWriter: w, Request: r}, token)
	}))
	t.Cleanup(machine.Close)
	t.Setenv("GCE_METADATA_HOST", strings.TrimPrefix(machine.URL, "http://"))
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", "")
	t.Setenv("HOME", t.TempDir())
	s := site.Start(t, v.provider("vertex", "base_url "+v.URL, "project my-project", "location us-east5"))
	reply := ask(s, site.MessagesPath, "claude-x")
	require.Equal(t, http.StatusOK, reply.Status, reply.Body)
	requests := v.Requests()
	assert.Equal(t, "Bearer "+token, requests[len(requests)-1].Header.Get("Authorization"))
}
