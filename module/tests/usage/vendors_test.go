package usage_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// vendorAnswer is an answer of a vendor, to be given next.
type vendorAnswer struct {
	status      int
	contentType string
	body        string
}

// startVendors starts a site with a preset for each vendor, whose models have the names of the presets, and a
// key with a budget. The models with "spare" in their names have a second target; asked counts the calls of the
// vendors.
func startVendors(t *testing.T, models map[string]string) (s *site.Site, next *atomic.Pointer[vendorAnswer], asked *atomic.Int64) {
	site.SetKeys(t)
	next, asked = new(atomic.Pointer[vendorAnswer]), new(atomic.Int64)
	vendor := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		a := next.Load()
		if asked.Add(1); strings.HasPrefix(r.URL.Path, "/spare/") {
			asked.Add(-1)
			a = &vendorAnswer{200, "application/json", chatAnswer(`{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}`)}
		}
		w.Header().Set("Content-Type", a.contentType)
		w.WriteHeader(a.status)
		_, _ = io.WriteString(w, a.body)
	}))
	t.Cleanup(vendor.Close)
	lines := []string{
		"limit pocket {\nbudget 100/month\n}", "key alice {env.KEY_ALICE} {\nlimit pocket\n}",
		"provider spare openai_compatible {\nbase_url " + vendor.URL + "/spare\nmodels off\nprice s input 1 output 1\n}",
	}
	for preset, model := range models {
		lines = append(lines, "provider "+preset+" "+preset+" {env.KEY_BOB} {\nbase_url "+vendor.URL+"/"+preset+"\nmodels off\nformat chat\ncooldown off\n}",
			"model "+preset+" {\nto "+preset+"/"+model+"\n}", "model "+preset+"-spare {\nto "+preset+"/"+model+"\nto spare/s\n}")
	}
	return site.Start(t, withLedger(t, lines...)...), next, asked
}

// chatAnswer is an answer with what it has used.
func chatAnswer(usage string) string {
	return `{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}],"usage":` + usage + `}`
}

// The vendors of chat report what was read from a cache in other members than OpenAI, and one of them reports the
// usage of a stream in the choice: other gateways charged the whole prompt, or nothing.
func TestTheWordsOfVendorsForUsageHaveTheirPrice(t *testing.T) {
	const common = `"prompt_tokens":1000,"completion_tokens":100,"total_tokens":1100`
	const details = `,"prompt_tokens_details":{"cached_tokens":400},"completion_tokens_details":{"reasoning_tokens":40}`
	models := map[string]string{
		"moonshot": "kimi-k3", "dashscope": "qwen3.8-max", "zai": "glm-5.3", "minimax": "MiniMax-M3", "siliconflow": "moonshotai/Kimi-K3",
		"fireworks": "accounts/fireworks/models/kimi-k3", "deepinfra": "zai-org/GLM-5.3", "cerebras": "gpt-oss-120b", "cohere": "command-a-03-2025",
	}
	s, next, _ := startVendors(t, models)
	for name, c := range map[string]struct {
		preset, usage string
		micros        int64 // 600 tokens of input, 400 of a cache, and 100 of output, if nothing else is named
	}{
		"moonshot":                  {"moonshot", common + `,"cached_tokens":400`, 1800 + 120 + 1500},
		"moonshot, as OpenAI":       {"moonshot", common + `,"cached_tokens":400` + details, 1800 + 120 + 1500},
		"dashscope":                 {"dashscope", common + details, 1200 + 100 + 600},
		"dashscope, writes":         {"dashscope", common + `,"prompt_tokens_details":{"cached_tokens":400,"cache_creation_input_tokens":100,"cache_creation":{"ephemeral_5m_input_tokens":100},"cache_type":"ephemeral"}`, 1000 + 100 + 250 + 600},
		"zai":                       {"zai", common + details, 840 + 104 + 440},
		"minimax":                   {"minimax", common + `,"total_characters":0` + details, 180 + 24 + 120},
		"siliconflow":               {"siliconflow", common + `,"prompt_cache_hit_tokens":400,"prompt_cache_miss_tokens":600`, 1620 + 108 + 1350},
		"siliconflow, as OpenAI":    {"siliconflow", common + `,"prompt_cache_hit_tokens":400,"prompt_cache_miss_tokens":600` + details, 1620 + 108 + 1350},
		"fireworks":                 {"fireworks", common + details, 1800 + 120 + 1500},
		"deepinfra states the cost": {"deepinfra", common + `,"estimated_cost":0.0012`, 1200},
		"cerebras":                  {"cerebras", common + details, 350 + 75},
		"cohere":                    {"cohere", common, 2500 + 1000},
	} {
		usage := "{" + c.usage + "}"
		delta := `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"hi"},"finish_reason":null}]}` + "\n\n"
		end := `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"%s}]%s}` + "\n\n"
		answers := map[string]vendorAnswer{
			"whole":               {200, "application/json", chatAnswer(usage)},
			"at the end":          {200, "text/event-stream", delta + fmt.Sprintf(end, "", `,"usage":`+usage) + "data: [DONE]\n\n"},
			"behind the end":      {200, "text/event-stream", delta + fmt.Sprintf(end, "", "") + `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[],"usage":` + usage + "}\n\ndata: [DONE]\n\n"},
			"in each event":       {200, "text/event-stream", strings.Replace(delta, `"choices"`, `"usage":`+usage+`,"choices"`, 1) + fmt.Sprintf(end, "", `,"usage":`+usage) + "data: [DONE]\n\n"},
			"in the choice alone": {200, "text/event-stream", delta + fmt.Sprintf(end, `,"usage":`+usage, "") + "data: [DONE]\n\n"},
		}
		for place, answer := range answers {
			if place == "in the choice alone" && c.preset != "moonshot" {
				continue
			}
			next.Store(&answer)
			reply := s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, c.preset, "hello", place != "whole"), "Authorization", "Bearer "+site.AliceKey)
			require.Equal(t, http.StatusOK, reply.Status, "%s: %s", name, reply.Body)
			assert.Equal(t, c.micros*1000, recordOf(t, s, reply).cost(), "%s, %s", name, place)
		}
	}
}

// The account of a vendor is empty, or has reached its quota: clients of other gateways repeated the request for
// minutes, or got an error that blames them, although another target could answer.
func TestTheWordsOfVendorsForAnEmptyAccountLeadToAnotherTarget(t *testing.T) {
	s, next, asked := startVendors(t, map[string]string{
		"moonshot": "kimi-k3", "dashscope": "qwen3.8-max", "zai": "glm-5.3", "minimax": "MiniMax-M3", "siliconflow": "moonshotai/Kimi-K3", "cerebras": "gpt-oss-120b",
		"fireworks": "accounts/fireworks/models/kimi-k3", "deepinfra": "zai-org/GLM-5.3", "cohere": "command-a-03-2025",
	})
	for name, c := range map[string]struct {
		preset string
		status int
		body   string
	}{
		"MiniMax-M2#62":        {"minimax", 500, `{"type":"error","error":{"type":"api_error","message":"insufficient balance (1008)"},"request_id":"0"}`},
		"modelscope#1691":      {"minimax", 429, `{"error":{"http_code":"429","message":"insufficient balance (1008)","type":"insufficient_balance_error"},"request_id":"x"}`},
		"a code in 200":        {"minimax", 200, `{"id":"","choices":null,"base_resp":{"status_code":1008,"status_msg":"insufficient balance"}}`},
		"a limit in 200":       {"minimax", 200, `{"id":"","choices":null,"base_resp":{"status_code":1002,"status_msg":"rate limit"}}`},
		"zai-org/feedback#789": {"zai", 429, `{"error":{"code":"1113","message":"Insufficient balance or no resource package. Please recharge."}}`},
		"continue#13195":       {"zai", 429, `{"error":{"code":"1308","message":"Usage limit reached for 5 hour. Your limit will reset at 2026-08-27 21:31:39"}}`},
		"ccs#402":              {"zai", 429, `{"error":{"code":"1302","message":"High concurrency usage of this API, please reduce concurrency or contact customer service to increase limits"}}`},
		"continue#11823":       {"zai", 429, `{"error":{"code":"1113","message":"余额不足或无可用资源包,请充值。"}}`},
		"supersonic#1572":      {"dashscope", 400, `{"error":{"code":"Arrearage","param":null,"message":"Access denied, please make sure your account is in good standing.","type":"Arrearage"},"id":"x"}`},
		"synthadoc#215":        {"dashscope", 403, `{"error":{"message":"The free quota has been exhausted. To continue accessing the model on a paid basis, please complete your payment information","type":"AllocationQuota.FreeTierOnly","param":null,"code":"AllocationQuota.FreeTierOnly"}}`},
		"opencode#23722":       {"dashscope", 429, `{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","code":"insufficient_quota"}}`},
		"continue#9800":        {"cerebras", 429, `{"message":"Tokens per minute limit exceeded - too many tokens processed.","type":"too_many_tokens_error","param":"quota","code":"token_quota_exceeded"}`},
		"a suspended account":  {"moonshot", 403, `{"error":{"message":"Your account org-1 <ak-1> is suspended due to insufficient balance, please recharge your account","type":"exceeded_current_quota_error"}}`},
		"an overloaded engine": {"moonshot", 429, `{"error":{"message":"The engine is currently overloaded, please try again later","type":"engine_overloaded_error"}}`},
		"SiliconFlow":          {"siliconflow", 403, `{"code":30001,"message":"Sorry, your account balance is insufficient","data":null}`},
		"SiliconFlow, busy":    {"siliconflow", 503, `{"code":50505,"message":"Model service overloaded. Please try again later.","data":null}`},
		"Fireworks":            {"fireworks", 412, `{"error":{"object":"error","type":"invalid_request_error","code":"failed_precondition","message":"Account x is suspended, possibly due to reaching the monthly spending limit or failure to pay past invoices."}}`},
		"DeepInfra":            {"deepinfra", 402, `{"detail":{"error":"Balance exceeded. Please add funds."}}`},
		"Cohere's trial":       {"cohere", 429, `{"id":"x","message":"You are using a Trial key, which is limited to 1000 API calls / month."}`},
	} {
		before := asked.Load()
		next.Store(&vendorAnswer{c.status, "application/json", c.body})
		reply := s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, c.preset+"-spare", "hello", false), "Authorization", "Bearer "+site.AliceKey)
		assert.Equal(t, http.StatusOK, reply.Status, "%s: %s", name, reply.Body)
		assert.EqualValues(t, 1, asked.Load()-before, "%s: once", name)
	}
}

// recordOf returns the record of an answer.
func recordOf(t *testing.T, s *site.Site, reply site.Reply) (found *record) {
	t.Helper()
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		var page struct {
			Items []struct {
				Request string
				record
			}
		}
		get(c, s.AdminURL("/api/v1/records?limit=5"), &page)
		found = nil
		for i := range page.Items {
			if page.Items[i].Request == reply.ID() {
				found = &page.Items[i].record
			}
		}
		assert.NotNil(c, found)
	}, site.Patience, site.PollEvery)
	return found
}
