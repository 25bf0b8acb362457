package answer_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/gemini/answer"
)

// TestErrorsSteerClients ensures that clients stop or wait as the fault asks for: gemini-cli
// decides by the status and the details alone, and repeats a request ten times in three minutes
// unless they keep it from doing so.
func TestErrorsSteerClients(t *testing.T) {
	const google = `{"@type":"type.googleapis.com/google.rpc.`
	quota := google + `QuotaFailure","violations":[{"quotaId":"GatewayLimitPerDay"}]}`
	tests := []struct {
		name  string
		fault *fault.Fault
		want  string
	}{
		{"a field", fault.InvalidField("contents[0].parts[1]", "must be an object"), `{"error":{"code":400,"message":"contents[0].parts[1]: must be an object","status":"INVALID_ARGUMENT","details":[` +
			google + `BadRequest","fieldViolations":[{"field":"contents[0].parts[1]","description":"contents[0].parts[1]: must be an object"}]}]}}`},
		{"a key", fault.BadKey(), `{"error":{"code":401,"message":"the API key is not valid","status":"UNAUTHENTICATED","details":[` +
			google + `ErrorInfo","reason":"API_KEY_INVALID","domain":"googleapis.com"}]}}`},
		{"Y041 a limit", &fault.Fault{Kind: fault.RateLimited, Message: "m", RetryAfter: 7}, `{"error":{"code":429,"message":"m","status":"RESOURCE_EXHAUSTED","details":[` +
			google + `RetryInfo","retryDelay":"7s"}]}}`},
		{"Y041 a budget", &fault.Fault{Kind: fault.Exhausted, Message: "m", Final: true, RetryAfter: 60}, `{"error":{"code":429,"message":"m","status":"RESOURCE_EXHAUSTED","details":[` +
			quota + `,` + google + `RetryInfo","retryDelay":"60s"}]}}`},
		{"a request beyond the whole limit", fault.RequestTooCostly(9, 3, fault.Assumed{}, "this key"), `{"error":{"code":429,"message":"this request alone may use 9 tokens, more than the token rate limit of 3 for this key: send less, or lower the bound of its answer","status":"RESOURCE_EXHAUSTED","details":[` + quota + `]}}`},
		{"Y042 the gateway's credential", &fault.Fault{Kind: fault.CredentialRefused, Message: "m"}, `{"error":{"code":400,"message":"m","status":"FAILED_PRECONDITION"}}`},
		{"Y042 the gateway's account", &fault.Fault{Kind: fault.AccountExhausted, Message: "m", Final: true}, `{"error":{"code":400,"message":"m","status":"FAILED_PRECONDITION"}}`},
		{"Y043 an overflow", &fault.Fault{Kind: fault.Invalid, Message: "too long", Code: fault.CodeOverflow},
			`{"error":{"code":400,"message":"The input token count exceeds the maximum number of tokens allowed: too long","status":"INVALID_ARGUMENT"}}`},
		{"an overflow in the vendor's words", &fault.Fault{Kind: fault.Invalid, Message: "The input token count (9) exceeds the maximum number of tokens allowed (3)", Code: fault.CodeOverflow},
			`{"error":{"code":400,"message":"The input token count (9) exceeds the maximum number of tokens allowed (3)","status":"INVALID_ARGUMENT"}}`},
		{"a model", fault.UnknownModel("x"), `{"error":{"code":404,"message":"model: 'x' is not known","status":"NOT_FOUND"}}`},
		{"an overloaded provider", &fault.Fault{Kind: fault.Overloaded, Message: "m"}, `{"error":{"code":503,"message":"m","status":"UNAVAILABLE"}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, string(answer.AppendError(nil, tt.fault, "id")))
			assert.Equal(t, "data: "+tt.want+"\n\n", string(answer.AppendErrorEvent(nil, tt.fault, "id")))
		})
	}
}

func TestCountsOfTokens(t *testing.T) {
	assert.Equal(t, `{"totalTokens":12}`, string(answer.AppendTokenCount(nil, 12)))
}
