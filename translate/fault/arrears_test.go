package fault_test

import (
	"encoding/json"
	"maps"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
)

// accountTroubles are bodies of providers that are about the gateway's account, with the kind.
var accountTroubles = map[string]fault.Kind{
	// By a type or a code.
	`{"error":{"code":"Arrearage","message":"make sure your account is in good standing","type":"Arrearage"}}`:             fault.AccountExhausted,
	`{"code":"Arrearage","message":"make sure your account is in good standing","request_id":"r"}`:                         fault.AccountExhausted,
	`{"code":"AllocationQuota.FreeTierOnly","message":"the free tier is used up"}`:                                         fault.AccountExhausted,
	`{"error":{"code":"AccountOverdueError","message":"the account is overdue","type":"Forbidden"}}`:                       fault.AccountExhausted,
	`{"error":{"type":"exceeded_current_quota_error","message":"please check your plan"}}`:                                 fault.AccountExhausted,
	`{"error":{"type":"insufficient_funds","message":"add more"}}`:                                                         fault.AccountExhausted,
	`{"error":{"code":"account_overdue","message":"no"}}`:                                                                  fault.AccountExhausted,
	`{"error":{"code":"pre_consume_token_quota_failed","message":"no","type":"new_api_error"}}`:                            fault.AccountExhausted,
	`{"error":{"code":"blocked_api_access","message":"no","type":"invalid_request_error"}}`:                                fault.AccountExhausted,
	`{"type":"error","error":{"type":"CreditsError","message":"no"}}`:                                                      fault.AccountExhausted,
	`{"code":"InvalidApiKey","message":"no","request_id":"r"}`:                                                             fault.CredentialRefused,
	`{"error":{"code":"invalid_api_key","message":"no"}}`:                                                                  fault.CredentialRefused,
	`{"error":{"code":"organization_restricted","message":"no","type":"invalid_request_error"}}`:                           fault.CredentialRefused,
	`{"error":{"code":400,"message":"no","details":[{"@type":"google.rpc.ErrorInfo","reason":"API_KEY_INVALID"}]}}`:        fault.CredentialRefused,
	`{"error":{"code":403,"message":"no","details":[{"@type":"google.rpc.ErrorInfo","reason":"BILLING_DISABLED"}]}}`:       fault.AccountExhausted,
	`{"error":{"message":"{\"error\":{\"message\":\"Insufficient Balance\",\"code\":\"invalid_request_error\"}}"}}`:        fault.AccountExhausted,
	`{"error":{"message":"Insufficient Balance","type":"unknown_error","param":null,"code":"invalid_request_error"}}`:      fault.AccountExhausted,
	`{"code":30001,"message":"Sorry, your account balance is insufficient","data":null}`:                                   fault.AccountExhausted,
	`{"code":"permission-denied","error":"Your newly created team doesn't have any credits or licenses yet. See x"}`:       fault.AccountExhausted,
	`{"object":"error","message":"Insufficient balance. Manage your billing here","type":"invalid_request_error"}`:         fault.AccountExhausted,
	`{"type":"error","error":{"type":"invalid_request_error","message":"This organization has been disabled."}}`:           fault.CredentialRefused,
	`[{"error":{"code":400,"message":"API key expired. Please renew the API key.","status":"INVALID_ARGUMENT"}}]`:          fault.CredentialRefused,
	`{"code":"Client specified an invalid argument","error":"Incorrect API key provided: xa***. You can obtain one at x"}`: fault.CredentialRefused,
}

// accountSentences are messages of providers about the gateway's account, with the kind.
var accountSentences = map[fault.Kind][]string{
	fault.AccountExhausted: {
		"Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.",
		"You have reached your specified API usage limits. You will regain access on 2026-07-01 at 00:00 UTC.",
		"You have reached your specified workspace API usage limits. You will regain access on 2026-07-01 at 00:00 UTC.",
		"INSUFFICIENT BALANCE", "insufficient balance", "Insufficient account balance", "Insufficient funds",
		"Insufficient balance or no resource package. Please recharge.",
		"Your account balance is insufficient. Please recharge your account to continue using the API. (tid: 1)",
		"Account acme-1 is suspended, possibly due to reaching the monthly spending limit or failure to pay past invoices.",
		"Your account org-de5241b31b0345aca34d854a6743eacf <ak-f7azbgd8toki11ce3e1i> is suspended due to insufficient balance, please recharge your account",
		"Your team 16f2151a-40f4-4a80-8ad0-cae00c27e8dd has either used all available credits or reached its monthly spending limit.",
		"Your newly created teams doesn't have any credits yet. You can purchase credits on https://console.x.ai/team/1.",
		"You have run out of credits or need a Grok subscription.",
		"You have exceeded your monthly included credits for Inference Providers.", "You have depleted your monthly included credits.",
		"This request requires more credits, or fewer max_tokens. You requested up to 65536 tokens, but can only afford 3919.",
		"More credits are required to run this request.", "Insufficient credits. Add more using https://openrouter.ai/settings/credits",
		"Key limit exceeded (total limit). Manage it using https://openrouter.ai/settings/keys", "Credit limit exceeded, please navigate to x",
		"Your project has exceeded its monthly spending cap.", "You've reached your monthly spend limit.", "Your organization has reached its configured spend limit",
		"The request failed because your account has an overdue balance.", "Access denied, please make sure your account is in good standing.",
		"Your account is not active, please check your billing details on our website.", "Billing hard limit has been reached",
		"This API method requires billing to be enabled. Please enable billing on project #1", "Your prepayment credits are depleted.",
		"Gemini API free tier is not available in your country. Please enable billing on your project",
		"Model access is denied due to INVALID_PAYMENT_INSTRUMENT:A valid payment instrument must be provided.",
		"You are using a Trial key, which is limited to 1000 API calls / month.", "user quota is not enough",
		"token quota is not enough, token remain quota: 1, need quota: 2", "user [3446] quota [-20847155]preConsumedQuota [743]is not enough",
		"该令牌额度已用尽", "用户额度不足, 剩余额度: 0", "余额不足或无可用资源包,请充值。", "您的账户余额不足", "抱歉，您的账户已欠费", "预扣费额度失败, 用户剩余额度: 1",
		"Not enough credits", "Out of credits", "Insufficient user quota", "You don't have enough credits.", "Your account has insufficient funds", "Your account has no remaining credits.",
		"Account acme.example.com is suspended due to an unpaid invoice", "Budget has been exceeded! Current cost: 1.2, Max budget: 1.0",
		"402 Insufficient Balance", "Error code: 402 - Insufficient Balance", "Error from provider: Insufficient Balance", "Upstream error from DeepSeek: Insufficient Balance",
		"litellm.BadRequestError: DeepseekException - Insufficient Balance", "Provider returned error: 余额不足",
	},
	fault.CredentialRefused: {
		"This organization has been disabled.", "Your account has been deactivated, please contact us", "Organization has been restricted. Please reach out to support",
		"This workspace was suspended after a review", "API key not valid. Please pass a valid API key.", "API key expired. Please renew the API key.",
		"Your API key is invalid", "Incorrect API key provided: xa***.", "invalid api key", "invalid x-api-key", "Invalid API Key",
		"Permission denied: Consumer 'api_key:abc' has been suspended.",
	},
}

// rows returns accountTroubles with a body for each of accountSentences.
func rows(t *testing.T) map[string]fault.Kind {
	t.Helper()
	all := maps.Clone(accountTroubles)
	for kind, messages := range accountSentences {
		for _, message := range messages {
			all[errorOf(t, message)] = kind
		}
	}
	return all
}

// errorOf is a body that blames the request, with a message.
func errorOf(t *testing.T, message string) string {
	t.Helper()
	body, err := json.Marshal(map[string]any{"error": map[string]any{"type": "invalid_request_error", "message": message}})
	require.NoError(t, err)
	return string(body)
}

// An account in arrears was refused with 400: clients read a sentence about the operator's account,
// and took their own requests for wrong.
func TestTroubleWithTheAccountIsKnownWhateverItsStatus(t *testing.T) {
	for body, kind := range rows(t) {
		for _, status := range []int{400, 401, 402, 403, 412, 429, 500, 503} {
			f := fault.Read(status, jsonType, []byte(body))
			assert.Equal(t, kind, f.Kind, "%d %s", status, body)
			assert.True(t, f.Final, body)
			assert.False(t, f.Quoted, "the sentence is about the operator's account: %s", body)
			assert.False(t, f.BlamesRequest(), body)
			for _, format := range formats.Names() {
				assert.False(t, formats.Of(format).Errors.Relayable(status, []byte(body)), body)
			}
		}
		assert.Equal(t, kind, fault.ReadAnswer([]byte(body)).Kind, "with status 200: %s", body)
		for _, format := range formats.Names() {
			assert.Equal(t, kind, formats.Of(format).Errors.ReadEvent([]byte(body)).Kind, "in a stream: %s", body)
			assert.False(t, formats.Of(format).Errors.RelayableEvent([]byte("error"), []byte(body)), body)
		}
	}
}

// A client that could provoke these sentences would make an API key rest.
func TestOtherErrorsAreNoTroubleWithTheAccount(t *testing.T) {
	for message, status := range map[string]int{
		"You exceeded your current quota, please check your plan and billing details. Please retry in 38.29s.": 429,
		"You exceeded your current quota, please check your plan and billing details.":                         429,
		"Rate limit reached for gpt-5 in organization org-1: Limit 3, Used 3. Please try again in 20s.":        429,
		"Your account org-1 request reached organization max RPM: 3, please try again after 1 seconds":         429,
		"Insufficient credits for this minute. Please try again in 20s.":                                       429,
		"You are using a Trial key, which is limited to 20 API calls / minute.":                                429,
		"This request would exceed your account's rate limit. Please try again later.":                         429,
		"Insufficient capacity, your account balance is not the cause":                                         503,
		"Invalid value: 'Insufficient Balance'. Supported values are: 'low' and 'high'.":                       400,
		"messages.0.content: your credit balance is too low":                                                   400,
		"The model `insufficient balance` does not exist":                                                      404,
		"Unknown model: insufficient balance":                                                                  404,
		"Error: unknown model insufficient balance":                                                            404,
		"models/余额不足 is not found for API version v1beta":                                                      404,
		"模型余额不足不存在":                                                                                            404,
		"tools.0.name: this organization has been disabled":                                                    400,
		"Your input was flagged: 'API key not valid'":                                                          400,
		"Your organization is restricted from the use of this model":                                           403,
		"Your organization must be verified to use the model `gpt-5`":                                          403,
		"Insufficient tool messages following tool_calls message":                                              400,
		"You do not have permission to use the model `out of credits`":                                         403,
		"You are not allowed to sample from this model":                                                        403,
		"Insufficient permissions for this operation":                                                          403,
		"Your request was suspended. The prompt mentions the account, its balance and its spending":            400,
	} {
		for _, prefix := range []string{"", "Error from provider: "} {
			f := fault.Read(status, jsonType, []byte(errorOf(t, prefix+message)))
			assert.NotContains(t, []fault.Kind{fault.AccountExhausted, fault.CredentialRefused}, f.Kind, prefix+message)
		}
	}
}

// A client could let the key of a provider rest for all others, by one request that the rest of the credit does
// not pay for.
func TestCreditForSmallerRequestsIsLeft(t *testing.T) {
	for message, left := range map[string]bool{
		"This request requires more credits, or fewer max_tokens. You requested up to 65536 tokens, but can only afford 3919.": true,
		"This request requires more credits, or fewer max_tokens. You requested up to 100 tokens, but can only afford 0.":      false,
		"token quota is not enough, token remain quota: 12, need quota: 200":                                                   true,
		"token quota is not enough, token remain quota: ＄0.001200, need quota: ＄0.02":                                          true,
		"token quota is not enough, token remain quota: ＄0.000000, need quota: ＄0.02":                                          false,
		"token quota is not enough, token remain quota: -5, need quota: 200":                                                   false,
		"user [1] quota [700]preConsumedQuota [743]is not enough":                                                              true,
		"user [3446] quota [-20847155]preConsumedQuota [743]is not enough":                                                     false,
		"user [3446] quota [0]preConsumedQuota [743]is not enough":                                                             false,
		"预扣费额度失败, 用户剩余额度: ＄0.020000, 需要预扣费额度: ＄0.5":                                                                            true,
		"预扣费额度失败, 用户剩余额度: ＄0.000000, 需要预扣费额度: ＄0.5":                                                                            false,
		"Insufficient Balance": false,
	} {
		body, err := json.Marshal(map[string]any{"error": map[string]string{"message": message}})
		require.NoError(t, err)
		f := fault.Read(402, "application/json", body)
		assert.Equal(t, fault.AccountExhausted, f.Kind, message)
		assert.Equal(t, left, f.Blame.Costly, message)
	}
	assert.False(t, fault.Read(400, "application/json", []byte(`{"error":{"message":"max_tokens can only afford 5"}}`)).Blame.Costly)
}
