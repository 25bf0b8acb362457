package fault_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
)

// TestOwnFaultsHaveExactBodies holds the body that each of the gateway's own
// faults has in the two families of clients.
func TestOwnFaultsHaveExactBodies(t *testing.T) {
	keyHeaders := map[translate.Format]string{translate.Messages: "x-api-key"}
	cause := errors.New("dial tcp 10.0.0.7:443: refused, key sk-secret")
	tests := []struct {
		name     string
		fault    func(translate.Format) *fault.Fault
		status   int // for chat clients
		messages string
		chat     string
	}{
		{
			"no key", func(format translate.Format) *fault.Fault {
				return fault.NoCredential(keyHeaders[format])
			}, 401,
			`{"type":"error","error":{"type":"authentication_error","message":"no credential: send 'Authorization: Bearer <key>' or 'x-api-key: <key>'"},"request_id":"R"}`,
			`{"error":{"message":"no credential: send 'Authorization: Bearer <key>'","type":"invalid_request_error","param":null,"code":null}}`,
		},
		{
			"bad key", is(fault.BadKey()), 401,
			`{"type":"error","error":{"type":"authentication_error","message":"the API key is not valid"},"request_id":"R"}`,
			`{"error":{"message":"the API key is not valid","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}`,
		},
		{
			"credential twice", is(fault.CredentialRepeated("authorization")), 400,
			`{"type":"error","error":{"type":"invalid_request_error","message":"authorization: must be sent once, with one value"},"request_id":"R"}`,
			`{"error":{"message":"authorization: must be sent once, with one value","type":"invalid_request_error","param":null,"code":null}}`,
		},
		{
			"model not allowed", is(fault.ModelNotAllowed("m1")), 403,
			`{"type":"error","error":{"type":"permission_error","message":"this key may not use model 'm1'"},"request_id":"R"}`,
			`{"error":{"message":"this key may not use model 'm1'","type":"invalid_request_error","param":"model","code":"permission_denied"}}`,
		},
		{
			"other models", is(fault.OtherModels("fallbacks")), 403,
			`{"type":"error","error":{"type":"permission_error","message":"fallbacks: must not be sent with this key, because it lets the provider use other models"},"request_id":"R"}`,
			`{"error":{"message":"fallbacks: must not be sent with this key, because it lets the provider use other models","type":"invalid_request_error","param":"fallbacks","code":"permission_denied"}}`,
		},
		{
			"background", is(fault.Background()), 403,
			`{"type":"error","error":{"type":"permission_error","message":"background: must not be sent with this key, because the cost of the answer remains unknown"},"request_id":"R"}`,
			`{"error":{"message":"background: must not be sent with this key, because the cost of the answer remains unknown","type":"invalid_request_error","param":"background","code":"permission_denied"}}`,
		},
		{
			"unknown model", is(fault.UnknownModel("m9")), 404,
			`{"type":"error","error":{"type":"not_found_error","message":"model: 'm9' is not known"},"request_id":"R"}`,
			`{"error":{"message":"model: 'm9' is not known","type":"invalid_request_error","param":"model","code":"model_not_found"}}`,
		},
		{
			"no version", is(fault.VersionMissing()), 400,
			`{"type":"error","error":{"type":"invalid_request_error","message":"anthropic-version: this header is required"},"request_id":"R"}`,
			`{"error":{"message":"anthropic-version: this header is required","type":"invalid_request_error","param":null,"code":null}}`,
		},
		{
			"bad version", is(fault.VersionInvalid("latest")), 400,
			`{"type":"error","error":{"type":"invalid_request_error","message":"anthropic-version: 'latest' is not a date of the form YYYY-MM-DD"},"request_id":"R"}`,
			`{"error":{"message":"anthropic-version: 'latest' is not a date of the form YYYY-MM-DD","type":"invalid_request_error","param":null,"code":null}}`,
		},
		{
			"bad version that is long", is(fault.VersionInvalid(strings.Repeat("x", 65))), 400,
			`{"type":"error","error":{"type":"invalid_request_error","message":"anthropic-version: is not a date of the form YYYY-MM-DD"},"request_id":"R"}`,
			`{"error":{"message":"anthropic-version: is not a date of the form YYYY-MM-DD","type":"invalid_request_error","param":null,"code":null}}`,
		},
		{
			"old version", is(fault.VersionTooOld("2022-12-31")), 400,
			`{"type":"error","error":{"type":"invalid_request_error","message":"anthropic-version: '2022-12-31' must be 2023-01-01 or later"},"request_id":"R"}`,
			`{"error":{"message":"anthropic-version: '2022-12-31' must be 2023-01-01 or later","type":"invalid_request_error","param":null,"code":null}}`,
		},
		{
			"bad on-loss", is(fault.OnLossInvalid()), 400,
			`{"type":"error","error":{"type":"invalid_request_error","message":"x-gateway-on-loss: must be 'warn' or 'reject'"},"request_id":"R"}`,
			`{"error":{"message":"x-gateway-on-loss: must be 'warn' or 'reject'","type":"invalid_request_error","param":null,"code":null}}`,
		},
		{
			"not JSON", is(fault.NotJSON()), 415,
			`{"type":"error","error":{"type":"invalid_request_error","message":"content-type: must be application/json"},"request_id":"R"}`,
			`{"error":{"message":"content-type: must be application/json","type":"invalid_request_error","param":null,"code":null}}`,
		},
		{
			"unknown coding", is(fault.CodingUnsupported()), 415,
			`{"type":"error","error":{"type":"invalid_request_error","message":"content-encoding: must be gzip, zstd, deflate or br","details":{"error_code":"request_body_encoding_unsupported"}},"request_id":"R"}`,
			`{"error":{"message":"content-encoding: must be gzip, zstd, deflate or br","type":"invalid_request_error","param":null,"code":null}}`,
		},
		{
			"broken coding", is(fault.CodingBroken("gzip", cause)), 400,
			`{"type":"error","error":{"type":"invalid_request_error","message":"request body: broken gzip data","details":{"error_code":"request_body_encoding_invalid"}},"request_id":"R"}`,
			`{"error":{"message":"request body: broken gzip data","type":"invalid_request_error","param":null,"code":null}}`,
		},
		{
			"too large", is(fault.BodyTooLarge(33554432)), 413,
			`{"type":"error","error":{"type":"request_too_large","message":"request body: larger than the limit of 33554432 bytes"},"request_id":"R"}`,
			`{"error":{"message":"request body: larger than the limit of 33554432 bytes","type":"invalid_request_error","param":null,"code":"request_too_large"}}`,
		},
		{
			"too large once decoded", is(fault.DecodedBodyTooLarge(10)), 413,
			`{"type":"error","error":{"type":"request_too_large","message":"request body: larger than the limit of 10 bytes","details":{"error_code":"request_body_too_large_after_decoding"}},"request_id":"R"}`,
			`{"error":{"message":"request body: larger than the limit of 10 bytes","type":"invalid_request_error","param":null,"code":"request_too_large"}}`,
		},
		{
			"unreadable", is(fault.BodyUnreadable(cause)), 400,
			`{"type":"error","error":{"type":"invalid_request_error","message":"request body: could not be read to its end"},"request_id":"R"}`,
			`{"error":{"message":"request body: could not be read to its end","type":"invalid_request_error","param":null,"code":null}}`,
		},
		{
			"empty", is(fault.BodyEmpty()), 400,
			`{"type":"error","error":{"type":"invalid_request_error","message":"request body: empty, must be a JSON object"},"request_id":"R"}`,
			`{"error":{"message":"request body: empty, must be a JSON object","type":"invalid_request_error","param":null,"code":"invalid_json"}}`,
		},
		{
			"invalid JSON", is(fault.Malformed(17, cause)), 400,
			`{"type":"error","error":{"type":"invalid_request_error","message":"request body: not valid JSON at byte 17"},"request_id":"R"}`,
			`{"error":{"message":"request body: not valid JSON at byte 17","type":"invalid_request_error","param":null,"code":"invalid_json"}}`,
		},
		{
			"too deep", is(fault.NestedTooDeeply(17, 200)), 400,
			`{"type":"error","error":{"type":"invalid_request_error","message":"request body: nested more than 200 levels deep at byte 17"},"request_id":"R"}`,
			`{"error":{"message":"request body: nested more than 200 levels deep at byte 17","type":"invalid_request_error","param":null,"code":"invalid_value"}}`,
		},
		{
			"member twice", is(fault.Repeated("model", "model", false)), 400,
			`{"type":"error","error":{"type":"invalid_request_error","message":"model: must appear once, letter case ignored"},"request_id":"R"}`,
			`{"error":{"message":"model: must appear once, letter case ignored","type":"invalid_request_error","param":"model","code":"invalid_json"}}`,
		},
		{
			"field out of range", is(fault.InvalidField("n", "must be an integer of at least 1, got 0")), 400,
			`{"type":"error","error":{"type":"invalid_request_error","message":"n: must be an integer of at least 1, got 0"},"request_id":"R"}`,
			`{"error":{"message":"n: must be an integer of at least 1, got 0","type":"invalid_request_error","param":"n","code":"invalid_value"}}`,
		},
		{
			"thread", is(&fault.Fault{
				Kind: fault.Invalid, Message: "thread: cannot be translated for model 'm1' (upstream format chat)",
				Details: []byte(`{"error_code":"thread_unsupported_request","unsupported":["thread"]}`),
			}), 400,
			`{"type":"error","error":{"type":"invalid_request_error","message":"thread: cannot be translated for model 'm1' (upstream format chat)","details":{"error_code":"thread_unsupported_request","unsupported":["thread"]}},"request_id":"R"}`,
			`{"error":{"message":"thread: cannot be translated for model 'm1' (upstream format chat)","type":"invalid_request_error","param":null,"code":null}}`,
		},
		{
			"wrong method", is(fault.WrongMethod("POST")), 405,
			`{"type":"error","error":{"type":"invalid_request_error","message":"method: must be POST"},"request_id":"R"}`,
			`{"error":{"message":"method: must be POST","type":"invalid_request_error","param":null,"code":null}}`,
		},
		{
			"WebSocket", is(fault.NoWebSocket()), 426,
			`{"type":"error","error":{"type":"invalid_request_error","message":"upgrade: this endpoint has no WebSocket; use HTTP POST"},"request_id":"R"}`,
			`{"error":{"message":"upgrade: this endpoint has no WebSocket; use HTTP POST","type":"invalid_request_error","param":null,"code":null}}`,
		},
		{
			"misspelt path", is(fault.UnknownPath("", "/v1/messages")), 404,
			`{"type":"error","error":{"type":"not_found_error","message":"path: no such endpoint; did you mean /v1/messages? Check the base URL of the client"},"request_id":"R"}`,
			`{"error":{"message":"path: no such endpoint; did you mean /v1/messages? Check the base URL of the client","type":"invalid_request_error","param":null,"code":"not_found"}}`,
		},
		{
			"version twice", is(fault.VersionTwice()), 400,
			`{"type":"error","error":{"type":"invalid_request_error","message":"path: has /v1 twice; the base URL of this client must not end in /v1"},"request_id":"R"}`,
			`{"error":{"message":"path: has /v1 twice; the base URL of this client must not end in /v1","type":"invalid_request_error","param":null,"code":null}}`,
		},
		{
			"no accounts", is(fault.NoAccounts()), 404,
			`{"type":"error","error":{"type":"not_found_error","message":"path: accounts are switched off here"},"request_id":"R"}`,
			`{"error":{"message":"path: accounts are switched off here","type":"invalid_request_error","param":null,"code":"not_found"}}`,
		},
		{
			"unknown path", is(fault.UnknownPath("", "")), 404,
			`{"type":"error","error":{"type":"not_found_error","message":"path: no such endpoint; there are /v1/messages, /v1/messages/count_tokens, /v1/chat/completions, /v1/completions, /v1/responses, /v1/responses/input_tokens, /v1/models and /v1/capabilities"},"request_id":"R"}`,
			`{"error":{"message":"path: no such endpoint; there are /v1/messages, /v1/messages/count_tokens, /v1/chat/completions, /v1/completions, /v1/responses, /v1/responses/input_tokens, /v1/models and /v1/capabilities","type":"invalid_request_error","param":null,"code":"not_found"}}`,
		},
		{
			"limit", is(fault.LimitReached("request rate", "this key")), 429,
			`{"type":"error","error":{"type":"rate_limit_error","message":"request rate limit reached for this key"},"request_id":"R"}`,
			`{"error":{"message":"request rate limit reached for this key","type":"rate_limit_error","param":null,"code":"rate_limit_exceeded"}}`,
		},
		{
			"budget", is(fault.BudgetExhausted("50 USD per month", "the group 'team-a'", "2026-12-01 00:00 UTC")), 429,
			`{"type":"error","error":{"type":"rate_limit_error","message":"the budget of the group 'team-a' is used up: 50 USD per month; there is room again at 2026-12-01 00:00 UTC"},"request_id":"R"}`,
			`{"error":{"message":"the budget of the group 'team-a' is used up: 50 USD per month; there is room again at 2026-12-01 00:00 UTC","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}`,
		},
		{
			"too low a budget", is(fault.BudgetTooLow("2.5 USD", "50 USD per month", "this user", fault.Assumed{}, "2026-12-01 00:00 UTC")), 429,
			`{"type":"error","error":{"type":"rate_limit_error","message":"the budget of this user, 50 USD per month, has less left than this request may cost, 2.5 USD: send less, or lower the bound of its answer; there is room again at 2026-12-01 00:00 UTC"},"request_id":"R"}`,
			`{"error":{"message":"the budget of this user, 50 USD per month, has less left than this request may cost, 2.5 USD: send less, or lower the bound of its answer; there is room again at 2026-12-01 00:00 UTC","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}`,
		},
		{
			"too small a budget", is(fault.BudgetTooSmall("2.5 USD", "1 USD in total", "this key", fault.Assumed{Tokens: 4096, Field: "max_tokens"})), 429,
			`{"type":"error","error":{"type":"rate_limit_error","message":"this request alone may cost 2.5 USD, more than the budget of this key, 1 USD in total: send less, or set max_tokens, without which 4096 tokens are assumed for an answer"},"request_id":"R"}`,
			`{"error":{"message":"this request alone may cost 2.5 USD, more than the budget of this key, 1 USD in total: send less, or set max_tokens, without which 4096 tokens are assumed for an answer","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}`,
		},
		{
			"no price", is(fault.PriceUnknown("m1", "p/x")), 403,
			`{"type":"error","error":{"type":"permission_error","message":"model: the price of 'm1' is unknown, and a budget needs it: an administrator can set a price"},"request_id":"R"}`,
			`{"error":{"message":"model: the price of 'm1' is unknown, and a budget needs it: an administrator can set a price","type":"invalid_request_error","param":"model","code":"price_unknown"}}`,
		},
		{
			"limits unavailable", is(fault.LimitsUnavailable(cause)), 503,
			`{"type":"error","error":{"type":"overloaded_error","message":"limits cannot be checked right now"},"request_id":"R"}`,
			`{"error":{"message":"limits cannot be checked right now","type":"server_error","param":null,"code":"limits_unavailable"}}`,
		},
		{
			"timeout", is(fault.UpstreamTimeout(cause)), 504,
			`{"type":"error","error":{"type":"timeout_error","message":"the upstream did not answer in time"},"request_id":"R"}`,
			`{"error":{"message":"the upstream did not answer in time","type":"server_error","param":null,"code":"upstream_timeout"}}`,
		},
		{
			"unreachable", is(fault.Unreachable(cause)), 502,
			`{"type":"error","error":{"type":"api_error","message":"the upstream could not be reached"},"request_id":"R"}`,
			`{"error":{"message":"the upstream could not be reached","type":"server_error","param":null,"code":"upstream_unreachable"}}`,
		},
		{
			"all down", is(fault.NoUpstream("m1")), 503,
			`{"type":"error","error":{"type":"overloaded_error","message":"no upstream for model 'm1' is available"},"request_id":"R"}`,
			`{"error":{"message":"no upstream for model 'm1' is available","type":"server_error","param":null,"code":"upstream_unavailable"}}`,
		},
		{
			"unusable", is(fault.Unusable(cause)), 502,
			`{"type":"error","error":{"type":"api_error","message":"the upstream returned an unusable answer"},"request_id":"R"}`,
			`{"error":{"message":"the upstream returned an unusable answer","type":"server_error","param":null,"code":"upstream_invalid_response"}}`,
		},
		{
			"truncated", is(fault.Truncated(cause)), 502,
			`{"type":"error","error":{"type":"api_error","message":"the upstream closed the stream before completing the answer"},"request_id":"R"}`,
			`{"error":{"message":"the upstream closed the stream before completing the answer","type":"server_error","param":null,"code":"upstream_stream_truncated"}}`,
		},
		{
			"shutting down", is(fault.ShuttingDown()), 503,
			`{"type":"error","error":{"type":"overloaded_error","message":"the gateway is shutting down"},"request_id":"R"}`,
			`{"error":{"message":"the gateway is shutting down","type":"server_error","param":null,"code":"overloaded"}}`,
		},
		{
			"internal", is(fault.InternalError(cause)), 500,
			`{"type":"error","error":{"type":"api_error","message":"internal error"},"request_id":"R"}`,
			`{"error":{"message":"internal error","type":"server_error","param":null,"code":null}}`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			messages := string(formats.Of(translate.Messages).Errors.Append(nil, tt.fault(translate.Messages), "R"))
			assert.Equal(t, tt.messages, messages)
			assert.True(t, json.Valid([]byte(messages)))
			for _, format := range []translate.Format{translate.Chat, translate.Completions} {
				fault := tt.fault(format)
				assert.Equal(t, tt.chat, string(formats.Of(format).Errors.Append(nil, fault, "R")))
				assert.Equal(t, tt.status, formats.Of(format).Errors.Status(fault))
			}
		})
	}
}

// is makes a fault that is the same for all formats.
func is(f *fault.Fault) func(translate.Format) *fault.Fault {
	return func(translate.Format) *fault.Fault { return f }
}

func TestOverloadedHasItsOwnStatusForMessagesClients(t *testing.T) {
	fault := fault.NoUpstream("m")
	assert.Equal(t, 529, formats.Of(translate.Messages).Errors.Status(fault))
	assert.Equal(t, 503, formats.Of(translate.Chat).Errors.Status(fault))
}

func TestFaultEventsEndAStreamInItsFormat(t *testing.T) {
	fault := fault.Truncated(nil)
	assert.Equal(t,
		"event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"api_error\",\"message\":\"the upstream closed the stream before completing the answer\"},\"request_id\":\"req_1\"}\n\n",
		string(formats.Of(translate.Messages).Errors.AppendEvent(nil, fault, "req_1")))
	assert.Equal(t,
		"data: {\"error\":{\"message\":\"the upstream closed the stream before completing the answer\",\"type\":\"server_error\",\"param\":null,\"code\":\"upstream_stream_truncated\"}}\n\n",
		string(formats.Of(translate.Chat).Errors.AppendEvent(nil, fault, "req_1")))
}

// lastData returns the data of the last event.
func lastData(t testing.TB, events []byte) string {
	t.Helper()
	text, found := strings.CutSuffix(string(events), "\n\n")
	require.True(t, found)
	i := strings.LastIndex(text, "\ndata: ")
	if i < 0 {
		return strings.TrimPrefix(text, "data: ")
	}
	return text[i+len("\ndata: "):]
}

func TestMessagesOfFaultsCannotBreakTheBody(t *testing.T) {
	model := "m\"\n\\</script>\u2028\x00"
	for _, format := range formats.Names() {
		event := formats.Of(format).Errors.AppendEvent(nil, fault.UnknownModel(model), "R")
		data := lastData(t, event)
		assert.NotContains(t, data, "\n")
		type failure struct{ Error struct{ Message string } }
		var body struct {
			failure
			Response failure
		}
		require.NoError(t, json.Unmarshal([]byte(data), &body))
		assert.Equal(t, "model: '"+model+"' is not known", body.Error.Message+body.Response.Error.Message)
	}
}

func TestKeepAliveIsAPingOrAComment(t *testing.T) {
	assert.Equal(t, "event: ping\ndata: {\"type\": \"ping\"}\n\n", string(formats.Of(translate.Messages).Answers.KeepAlive))
	assert.Equal(t, ": keep-alive\n\n", string(formats.Of(translate.Chat).Answers.KeepAlive))
	assert.Equal(t, ": keep-alive\n\n", string(formats.Of(translate.Completions).Answers.KeepAlive))
}

func TestFaultShowsOnlyItsMessage(t *testing.T) {
	cause := errors.New("key sk-secret")
	fault := fault.Unreachable(cause)
	assert.Equal(t, "the upstream could not be reached", fault.Error())
	assert.ErrorIs(t, fault, cause)
}

func TestOperationsAreNamed(t *testing.T) {
	assert.Equal(t, "generate", translate.Generate.String())
	assert.Equal(t, "count_tokens", translate.CountTokens.String())
}
