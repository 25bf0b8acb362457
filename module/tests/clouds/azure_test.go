package clouds_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

const azureKey = "azure-resource-key-0123456789"

// azureFake refuses what a resource refuses. It gives tokens for the secret clientSecret.
type azureFake struct {
	*cloud
	fetched atomic.Int32
	valid   atomic.Pointer[string] // the token that is accepted
	down    atomic.Bool            // the server of tokens
	secret  string                 // of the application
}

func newAzure(t *testing.T) *azureFake {
	a := &azureFake{secret: "client-secret-" + t.Name()} // tokens outlive a test
	a.cloud = newCloud(t, a.check)
	t.Setenv("AZURE_KEY", azureKey)
	t.Setenv("AZURE_SECRET", a.secret)
	return a
}

func (a *azureFake) check(c *gatewaytest.Call) string {
	r, path := c.Request, c.Request.URL.EscapedPath()
	if strings.HasSuffix(path, "/oauth2/v2.0/token") {
		return a.giveToken(c)
	}
	token := a.valid.Load()
	switch {
	case r.Header.Get("Api-Key") == azureKey && r.Header.Get("Authorization") == "" && !strings.HasPrefix(path, "/anthropic"):
	case r.Header.Get("X-Api-Key") == azureKey && strings.HasPrefix(path, "/anthropic"):
	case token != nil && r.Header.Get("Authorization") == "Bearer "+*token && r.Header.Get("Api-Key") == "":
	default:
		return refuse(c, http.StatusUnauthorized, openAIError("401", "Access denied due to invalid subscription key or wrong API endpoint."))
	}
	version := r.URL.Query().Get("api-version")
	switch {
	case strings.HasPrefix(path, "/openai/v1/") && version == "":
		return strings.TrimPrefix(path, "/openai")
	case path == "/anthropic/v1/messages":
		return "/v1/messages"
	case path == "/openai/responses" && version == "2025-04-01-preview":
		return "/v1/responses"
	case strings.HasPrefix(path, "/openai/deployments/my-deployment/") && version == "2024-10-21":
		return "/v1/" + strings.TrimPrefix(path, "/openai/deployments/my-deployment/")
	case strings.HasPrefix(path, "/openai/deployments/"):
		return refuse(c, http.StatusNotFound, openAIError("DeploymentNotFound", "The API deployment for this resource does not exist."))
	}
	return refuse(c, http.StatusNotFound, openAIError("404", "Resource not found"))
}

func (a *azureFake) giveToken(c *gatewaytest.Call) string {
	r := c.Request
	switch {
	case a.down.Load():
		return refuse(c, http.StatusServiceUnavailable, "")
	case r.URL.Path != "/my-tenant/oauth2/v2.0/token" || r.FormValue("grant_type") != "client_credentials" || r.FormValue("client_id") != "my-client",
		r.FormValue("scope") != "https://cognitiveservices.azure.com/.default":
		return refuse(c, http.StatusBadRequest, `{"error":"invalid_request"}`)
	case r.FormValue("client_secret") != a.secret:
		return refuse(c, http.StatusUnauthorized, `{"error":"invalid_client","error_description":"AADSTS7000215: Invalid client secret provided: `+r.FormValue("client_secret")+`"}`)
	}
	token := fmt.Sprintf("entra-token-%d-of-%s", a.fetched.Add(1), a.secret)
	a.valid.Store(&token)
	return refuse(c, http.StatusOK, `{"token_type":"Bearer","expires_in":3599,"access_token":"`+token+`"}`)
}

func (a *azureFake) entra(lines ...string) string {
	return a.provider("azure {env.AZURE_SECRET}", append(lines,
		"base_url "+a.URL+"/openai/v1", "entra my-tenant my-client {\nauthority "+a.URL+"\n}")...)
}

func TestK072AzureV1HasTheDeploymentInTheBody(t *testing.T) {
	a := newAzure(t)
	s := site.Start(t, a.provider("azure {env.AZURE_KEY}", "base_url "+a.URL+"/openai/v1"), "model gpt {\nto azure/my-deployment\n}")
	for _, path := range []string{site.ChatPath, site.ResponsesPath, site.MessagesPath} {
		reply := ask(s, path, "gpt")
		require.Equal(t, http.StatusOK, reply.Status, reply.Body)
		assert.Equal(t, "my-deployment", a.LastJSON(t)["model"])
	}
	assert.Equal(t, "/openai/v1/responses", a.lastPath(), "messages clients are translated")
}

func TestK072AzureDeploymentsAreInThePath(t *testing.T) {
	a := newAzure(t)
	for _, base := range []string{"", "/openai"} {
		t.Run("base"+base, func(t *testing.T) {
			s := site.Start(t, a.provider("azure {env.AZURE_KEY}", "base_url "+a.URL+base, "api_version 2024-10-21"), "model gpt {\nto azure/my-deployment\n}")
			for _, path := range []string{site.ChatPath, site.CompletionsPath, site.MessagesPath} {
				reply := ask(s, path, "gpt")
				require.Equal(t, http.StatusOK, reply.Status, reply.Body)
			}
			assert.Equal(t, "/openai/deployments/my-deployment/chat/completions?api-version=2024-10-21", a.lastPath())
		})
	}
}

func TestK072AzureResponsesHaveNoDeploymentInThePath(t *testing.T) {
	a := newAzure(t)
	s := site.Start(t, a.provider("azure {env.AZURE_KEY}", "base_url "+a.URL, "api_version 2025-04-01-preview", "format responses"))
	reply := ask(s, site.ResponsesPath, "my-deployment")
	require.Equal(t, http.StatusOK, reply.Status, reply.Body)
	assert.Equal(t, "/openai/responses?api-version=2025-04-01-preview", a.lastPath())
}

// The client's name of the model must not choose another path of the resource.
func TestAzureDeploymentsStayOneSegment(t *testing.T) {
	a := newAzure(t)
	s := site.Start(t, a.provider("azure {env.AZURE_KEY}", "base_url "+a.URL, "api_version 2024-10-21"))
	reply := ask(s, site.ChatPath, "x?y=1&api-version=z")
	assert.Equal(t, http.StatusNotFound, reply.Status)
	requests := a.Requests()
	assert.Equal(t, "api-version=2024-10-21", requests[len(requests)-1].Query)
	before := a.Count()
	reply = ask(s, site.ChatPath, "..")
	assert.Equal(t, http.StatusNotFound, reply.Status, reply.Body)
	assert.Equal(t, before, a.Count(), "the request was sent")
}

func TestK074ClaudeInAzure(t *testing.T) {
	a := newAzure(t)
	s := site.Start(t, a.provider("azure_claude {env.AZURE_KEY}", "base_url "+a.URL+"/anthropic"), "model claude {\nto azure_claude/my-claude\n}")
	reply := s.Ask(site.MessagesPath, site.BodyFor(site.MessagesPath, "claude", "hello", false), "Anthropic-Beta", "beta-1")
	require.Equal(t, http.StatusOK, reply.Status, reply.Body)
	requests := a.Requests()
	last := requests[len(requests)-1]
	assert.Equal(t, "/anthropic/v1/messages", last.Path)
	assert.Equal(t, "my-claude", a.LastJSON(t)["model"])
	assert.Equal(t, "beta-1", last.Header.Get("Anthropic-Beta"))
	assert.NotEmpty(t, last.Header.Get("Anthropic-Version"))
	assert.Equal(t, http.StatusOK, ask(s, site.ChatPath, "claude").Status)
}

func TestK073ARedirectDoesNotGetTheKey(t *testing.T) {
	a, elsewhere := newAzure(t), gatewaytest.NewProvider(t)
	a.Always(gatewaytest.Status(http.StatusTemporaryRedirect, "Location", elsewhere.URL))
	s := site.Start(t, a.provider("azure {env.AZURE_KEY}", "base_url "+a.URL+"/openai/v1"))
	assert.Equal(t, http.StatusBadGateway, ask(s, site.ChatPath, "gpt").Status)
	assert.Zero(t, elsewhere.Count())
}

func TestEntraTokensAreFetchedOnceForAllRequests(t *testing.T) {
	a := newAzure(t)
	s := site.Start(t, a.entra())
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() { assert.Equal(t, http.StatusOK, ask(s, site.ChatPath, "gpt").Status) })
	}
	all.Wait()
	assert.EqualValues(t, 1, a.fetched.Load())
	require.NoError(t, s.Reload(site.Block("", a.entra("idle_timeout 1m"))))
	assert.Equal(t, http.StatusOK, ask(s, site.ChatPath, "gpt").Status)
	assert.EqualValues(t, 1, a.fetched.Load())
}

func TestK045ARefusedTokenIsRenewedOnce(t *testing.T) {
	a := newAzure(t)
	s := site.Start(t, a.entra())
	assert.Equal(t, http.StatusOK, ask(s, site.ChatPath, "gpt").Status)
	revoked := "another"
	a.valid.Store(&revoked)
	assert.Equal(t, http.StatusOK, ask(s, site.ChatPath, "gpt").Status)
	assert.EqualValues(t, 2, a.fetched.Load())

	a.Always(func(c *gatewaytest.Call) {
		if strings.HasSuffix(c.Request.URL.Path, "/token") {
			a.giveToken(c)
			return
		}
		refuse(c, http.StatusUnauthorized, openAIError("401", "denied: "+c.Request.Header.Get("Authorization")))
	})
	before := a.Count()
	reply := ask(s, site.ChatPath, "gpt")
	assert.Equal(t, http.StatusBadGateway, reply.Status, reply.Body)
	assert.Equal(t, 3, a.Count()-before, "the request, a token, and the request once more")
	assert.NotContains(t, reply.Body, "entra-token")
}

// The client's key is not the cause of a missing token: a client that reads 401 discards it.
func TestK046MissingTokensAreFailuresOfTheProvider(t *testing.T) {
	a, other := newAzure(t), gatewaytest.NewProvider(t)
	a.down.Store(true)
	s := site.Start(t, a.entra("models off"), site.Direct.Provider("other", other, "models off"),
		"model gpt {\nto azure\n}\nmodel both {\nto azure\nto other\n}")
	reply := ask(s, site.ChatPath, "gpt")
	assert.Contains(t, []int{http.StatusBadGateway, http.StatusServiceUnavailable}, reply.Status, reply.Body)
	assert.NotContains(t, reply.Body, a.Address())
	assert.Equal(t, http.StatusOK, ask(s, site.ChatPath, "both").Status, "another target answers")
}

func TestARefusedSecretIsARefusedCredential(t *testing.T) {
	a := newAzure(t)
	t.Setenv("AZURE_SECRET", "wrong-"+a.secret)
	s := site.Start(t, a.entra())
	reply := ask(s, site.ChatPath, "gpt")
	assert.Equal(t, http.StatusBadGateway, reply.Status, reply.Body)
	assert.Contains(t, reply.Body, "did not accept the gateway's credential")
	s.AssertNoEntry("wrong-" + a.secret)
	before := a.Count()
	assert.Equal(t, http.StatusBadGateway, ask(s, site.ChatPath, "gpt").Status)
	assert.LessOrEqual(t, a.Count()-before, 1)
}

func TestATokenInAnErrorOfAzureIsHidden(t *testing.T) {
	a := newAzure(t)
	s := site.Start(t, a.entra())
	assert.Equal(t, http.StatusOK, ask(s, site.ChatPath, "gpt").Status)
	a.Always(func(c *gatewaytest.Call) {
		refuse(c, http.StatusBadRequest, openAIError("bad", "your header was "+c.Request.Header.Get("Authorization")))
	})
	reply := ask(s, site.ChatPath, "gpt")
	assert.Equal(t, http.StatusBadRequest, reply.Status)
	assert.NotContains(t, reply.Body, "entra-token")
	s.AssertNoEntry("entra-token")
}

// filtered is a stream with the results of Azure's filters: first an event without ids and
// choices, then results in the choices, and asynchronous ones behind the finish.
const filtered = `data: {"choices":[],"created":0,"id":"","model":"","object":"","prompt_filter_results":[{"prompt_index":0,"content_filter_results":{"hate":{"filtered":false,"severity":"safe"},"jailbreak":{"filtered":false,"detected":false}}}]}

data: {"choices":[{"content_filter_results":{},"delta":{"content":"","refusal":null,"role":"assistant"},"finish_reason":null,"index":0,"logprobs":null}],"created":1763900000,"id":"chatcmpl-az1","model":"gpt-4o-2024-11-20","object":"chat.completion.chunk","system_fingerprint":"fp_1","obfuscation":"x"}

data: {"choices":[{"content_filter_results":{"hate":{"filtered":false,"severity":"safe"}},"delta":{"content":"Hello"},"finish_reason":null,"index":0,"logprobs":null}],"created":1763900000,"id":"chatcmpl-az1","model":"gpt-4o-2024-11-20","object":"chat.completion.chunk"}

data: {"choices":[{"content_filter_offsets":{"check_offset":44,"start_offset":44,"end_offset":49},"content_filter_results":{"hate":{"filtered":false,"severity":"safe"}},"finish_reason":null,"index":0}],"created":0,"id":"","model":"","object":""}

data: {"choices":[{"content_filter_results":{},"delta":{},"finish_reason":"stop","index":0,"logprobs":null}],"created":1763900000,"id":"chatcmpl-az1","model":"gpt-4o-2024-11-20","object":"chat.completion.chunk"}

data: {"choices":[{"content_filter_offsets":{"check_offset":44,"start_offset":44,"end_offset":60},"content_filter_results":{"violence":{"filtered":false,"severity":"safe"}},"finish_reason":null,"index":0}],"created":0,"id":"","model":"","object":""}

data: {"choices":[],"created":1763900000,"id":"chatcmpl-az1","model":"gpt-4o-2024-11-20","object":"chat.completion.chunk","usage":{"completion_tokens":3,"prompt_tokens":9,"total_tokens":12}}

data: [DONE]

`

func TestK069K070FilterResultsAreNoContent(t *testing.T) {
	a := newAzure(t)
	a.Always(gatewaytest.Body(http.StatusOK, "text/event-stream", []byte(filtered)))
	s := site.Start(t, a.provider("azure {env.AZURE_KEY}", "base_url "+a.URL+"/openai/v1", "format chat"))
	for _, path := range []string{site.ChatPath, site.MessagesPath, site.ResponsesPath} {
		reply := s.Ask(path, site.BodyFor(path, "gpt", "hello", true))
		require.Equal(t, http.StatusOK, reply.Status, reply.Body)
		if path == site.ChatPath {
			assert.Contains(t, reply.Body, "prompt_filter_results", "the client has the provider's bytes")
			assert.Contains(t, reply.Body, "[DONE]")
		} else {
			read := reply.Read(t, path)
			assert.Equal(t, "Hello", read.Text(), path)
			assert.True(t, read.Complete, path)
			assert.NotContains(t, reply.Body, "filter")
		}
		record := s.Record(reply.ID())
		assert.Equal(t, "answered", record["outcome"], path)
		assert.EqualValues(t, 3, record["usage.output_tokens"], path)
		assert.Empty(t, record["answer_losses"], "filter results are no loss")
		if path == site.MessagesPath {
			start := strings.Index(reply.Body, "message_start")
			assert.Contains(t, reply.Body[start:], `"id":"msg_`)
		}
	}
}

func TestK071ARefusalOfTheFilterIsTheClientsError(t *testing.T) {
	a, other := newAzure(t), gatewaytest.NewProvider(t)
	a.Always(gatewaytest.Body(http.StatusBadRequest, "application/json", []byte(`{"error":{"message":"The response was filtered due to the prompt triggering Azure OpenAI's content management policy.","type":null,"param":"prompt","code":"content_filter","status":400,"innererror":{"code":"ResponsibleAIPolicyViolation","content_filter_result":{"hate":{"filtered":true,"severity":"high"}}}}}`)))
	s := site.Start(t, a.provider("azure {env.AZURE_KEY}", "base_url "+a.URL+"/openai/v1", "format chat", "models off"),
		site.Direct.Provider("other", other, "models off"), "model gpt {\nto azure\nto other\n}")
	reply := ask(s, site.MessagesPath, "gpt")
	assert.Equal(t, http.StatusBadRequest, reply.Status)
	assert.Equal(t, "invalid_request_error", reply.Failure(t).Type)
	reply = ask(s, site.ChatPath, "gpt")
	assert.Equal(t, http.StatusBadRequest, reply.Status)
	assert.Contains(t, reply.Body, "ResponsibleAIPolicyViolation", "the provider's own error")
	assert.Zero(t, other.Count(), "another target was asked")
}
