package fault_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
)

const jsonType = "application/json"

func TestUpstreamStatusesFollowTheTable(t *testing.T) {
	tests := []struct {
		upstream           int
		messages           int
		messagesType       string
		chat               int
		chatType, chatCode string
	}{
		{400, 400, "invalid_request_error", 400, "invalid_request_error", "theirs"},
		{401, 502, "api_error", 502, "server_error", "upstream_auth"},
		{402, 429, "rate_limit_error", 429, "insufficient_quota", "insufficient_quota"},
		{403, 403, "permission_error", 403, "invalid_request_error", "permission_denied"},
		{404, 404, "not_found_error", 404, "invalid_request_error", "model_not_found"},
		{405, 502, "api_error", 502, "server_error", ""},
		{406, 502, "api_error", 502, "server_error", ""},
		{415, 502, "api_error", 502, "server_error", ""},
		{408, 504, "timeout_error", 504, "server_error", "upstream_timeout"},
		{409, 409, "conflict_error", 409, "invalid_request_error", ""},
		{413, 413, "request_too_large", 413, "invalid_request_error", "request_too_large"},
		{418, 400, "invalid_request_error", 400, "invalid_request_error", "theirs"},
		{422, 400, "invalid_request_error", 400, "invalid_request_error", "theirs"},
		{429, 429, "rate_limit_error", 429, "rate_limit_error", "rate_limit_exceeded"},
		{498, 529, "overloaded_error", 503, "server_error", "overloaded"},
		{500, 500, "api_error", 500, "server_error", ""},
		{501, 502, "api_error", 502, "server_error", ""},
		{502, 502, "api_error", 502, "server_error", ""},
		{503, 529, "overloaded_error", 503, "server_error", "overloaded"},
		{504, 504, "timeout_error", 504, "server_error", "upstream_timeout"},
		{529, 529, "overloaded_error", 503, "server_error", "overloaded"},
		{599, 502, "api_error", 502, "server_error", ""},
		{302, 502, "api_error", 502, "server_error", ""},
		{101, 502, "api_error", 502, "server_error", ""},
	}
	body := []byte(`{"error":{"message":"what happened","type":"their_error","code":"theirs"}}`)
	for _, tt := range tests {
		t.Run(strconv.Itoa(tt.upstream), func(t *testing.T) {
			fault := fault.Read(tt.upstream, jsonType, body)
			assert.Equal(t, tt.messages, formats.Of(translate.Messages).Errors.Status(fault))
			assert.Equal(t, tt.messagesType, typeOf(t, fault, translate.Messages))
			assert.Equal(t, tt.chat, formats.Of(translate.Chat).Errors.Status(fault))
			assert.Equal(t, tt.chatType, typeOf(t, fault, translate.Chat))
			assert.Equal(t, tt.chatCode, fault.Code)
			assert.NotContains(t, string(formats.Of(translate.Chat).Errors.Append(nil, fault, "")), "their_error")
		})
	}
}

func TestUpstreamMessagesAreFoundInEveryShape(t *testing.T) {
	tests := []struct{ name, body, message string }{
		{"error.message", `{"type":"error","error":{"type":"invalid_request_error","message":"bad"},"request_id":"r"}`, "bad"},
		{"error as a text", `{"error":"bad"}`, "bad"},
		{"message", `{"object":"error","message":"bad","type":"BadRequestError","param":null,"code":400}`, "bad"},
		{"error.message before message", `{"message":"outer","error":{"message":"inner"}}`, "inner"},
		{"detail as a text", `{"detail":"bad"}`, "bad"},
		{"detail as a list", `{"detail":[{"loc":["body","messages",0,"role"],"msg":"field required","type":"missing"},{"loc":["body"],"msg":"too short"}]}`, "body.messages.0.role: field required; body: too short"},
		{"detail without a place", `{"detail":[{"msg":"bad"}]}`, "bad"},
		{"the first of an array", `[{"error":{"code":400,"message":"bad"}},{"error":{"message":"other"}}]`, "bad"},
		{"errors", `{"errors":[{"message":"bad"},{"message":"other"}]}`, "bad"},
		{"errors as texts", `{"errors":["bad"]}`, "bad"},
		{"an error in an error", `{"error":{"type":"x","error":{"message":"bad"}}}`, "bad"},
		{"a message that is an object", `{"object":"error","message":{"detail":[{"type":"missing","loc":["body","model"],"msg":"field required"}]},"type":"invalid_request_error"}`, "body.model: field required"},
		{"a detail that is an object", `{"detail":{"error":{"message":"bad"}}}`, "bad"},
		{"a detail that holds a text", `{"detail":{"error":"bad"}}`, "bad"},
		{"the text of an error as its message", `{"error":{"message":"{\"error\":{\"message\":\"bad\",\"code\":\"x\"}}"}}`, "bad"},
		{"the text of an error as an error", `{"error":"{\"detail\":\"bad\"}"}`, "bad"},
		{"a text of JSON without a message", `{"error":"{\"a\":1}"}`, `{"a":1}`},
		{"a whole body as a text", `"{\"message\":\"bad\"}"`, "bad"},
		{"errors by field", `{"errors":{"model":["unknown"]}}`, generic},
		{"too deep", strings.Repeat(`{"error":`, 7) + `"bad"` + strings.Repeat(`}`, 7), generic},
		{"plain text", "bad\n", "bad"},
		{"plain text that begins like JSON", "400 bad", "400 bad"},
		{"control characters", `{"error":{"message":"a\u0000b\u001b[31mc\nd\u0085"}}`, "ab[31mc d"},
		{"bad UTF-8", "bad \xff", "bad \ufffd"},
		{"nothing usable", `{"error":{"code":5}}`, generic},
		{"a null error", `{"error":null}`, generic},
		{"an empty object", `{}`, generic},
		{"an empty array", `[]`, generic},
		{"a number", `5`, generic},
		{"an empty message", `{"error":{"message":""}}`, generic},
		{"no body", "", generic},
		{"white space", "  \n", generic},
		{"HTML", "<html><body>502 Bad Gateway</body></html>", generic},
		{"HTML behind white space", "\n <!doctype html>", generic},
		{"long text", strings.Repeat("x", 513), generic},
		{"text that is not too long", strings.Repeat("x", 512), strings.Repeat("x", 512)},
		{"broken JSON that is short", `{"error":`, `{"error":`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.message, fault.Read(400, jsonType, []byte(tt.body)).Message)
		})
	}
}

const generic = "the upstream answered with status 400 and no usable error body"

// A bug was here: byte order marks hid a page.
func TestMarkupIsNeverAMessage(t *testing.T) {
	for _, page := range []struct{ contentType, body string }{
		{"text/html; charset=utf-8", "Bad Gateway"},
		{"Text/HTML", "Bad Gateway"},
		{"application/xml", "\ufeff<x xmlns=xhtml><script>"},
		{jsonType, "\ufeff\ufeff \n<html>"},
		{"text/plain", "\xff\xfe<\x00h\x00t\x00m\x00l\x00>\x00"},
		{"text/plain", "\x00<html>"},
	} {
		f := fault.Read(400, page.contentType, []byte(page.body))
		assert.Equal(t, generic, f.Message, page.body)
		assert.False(t, fault.IsJSON([]byte(page.body)), page.body)
	}
	assert.Equal(t, "a < b", fault.Read(400, "text/plain", []byte("a < b")).Message)
	assert.Equal(t, "bad", fault.Read(400, "text/html", []byte(`{"error":"bad"}`)).Message, "JSON, whatever it is called")
}

func TestLongMessagesAreCutBetweenCharacters(t *testing.T) {
	for lead := range 4 {
		message := strings.Repeat("x", lead) + strings.Repeat("☂", 1000)
		body, err := json.Marshal(map[string]any{"error": map[string]any{"message": message}})
		require.NoError(t, err)
		got := fault.Read(400, jsonType, body).Message
		assert.LessOrEqual(t, len(got), 2048)
		assert.Greater(t, len(got), 2048-utf8.UTFMax)
		assert.True(t, strings.HasPrefix(message, got))
	}
}

// TestAccountTroubleIsNotTheClients ensures that a fault of the gateway's own
// account cannot make a client believe that its key is bad.
func TestAccountTroubleIsNotTheClients(t *testing.T) {
	tests := []struct {
		status           int
		body, code, text string
	}{
		{401, `{"error":{"message":"Incorrect API key provided: sk-abc"}}`, "upstream_auth", "the upstream did not accept the gateway's credential"},
		{402, `{"error":{"message":"pay up"}}`, "insufficient_quota", "the gateway's account with the upstream is exhausted"},
		{429, `{"error":{"message":"quota","type":"insufficient_quota","code":"insufficient_quota"}}`, "insufficient_quota", "the gateway's account with the upstream is exhausted"},
		{429, `{"error":{"message":"quota","code":"insufficient_quota"}}`, "insufficient_quota", "the gateway's account with the upstream is exhausted"},
		// These were once reported as errors of the client.
		{403, `{"error":{"message":"quota","code":"billing_not_active"}}`, "insufficient_quota", "the gateway's account with the upstream is exhausted"},
		{400, `{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the API."}}`, "insufficient_quota", "the gateway's account with the upstream is exhausted"},
		{500, `{"error":{"message":"{\"error\":{\"message\":\"pay up\",\"code\":\"insufficient_quota\"}}"}}`, "insufficient_quota", "the gateway's account with the upstream is exhausted"},
		{403, `{"error":{"message":"bad key","type":"authentication_error"}}`, "upstream_auth", "the upstream did not accept the gateway's credential"},
		{400, `[{"error":{"message":"bad key","code":"invalid_api_key"}}]`, "upstream_auth", "the upstream did not accept the gateway's credential"},
	}
	for _, tt := range tests {
		fault := fault.Read(tt.status, jsonType, []byte(tt.body))
		status := map[string]int{"upstream_auth": 502, "insufficient_quota": 429}[tt.code]
		assert.Equal(t, status, formats.Of(translate.Messages).Errors.Status(fault))
		assert.Equal(t, status, formats.Of(translate.Chat).Errors.Status(fault))
		assert.True(t, fault.Final, "clients repeat 429 and 502 for minutes, unless they are final")
		assert.Equal(t, tt.code, fault.Code)
		assert.Equal(t, tt.text, fault.Message)
		assert.False(t, formats.Of(translate.Chat).Errors.Relayable(tt.status, []byte(tt.body)))
	}
}

func TestStatusesOfTheSameFormatAreRelayed(t *testing.T) {
	for _, status := range []int{400, 403, 404, 413, 422, 429, 500, 503, 529} {
		assert.True(t, formats.Of(translate.Chat).Errors.Relayable(status, []byte(`{"error":{"message":"x"}}`)), status)
	}
	assert.True(t, formats.Of(translate.Chat).Errors.Relayable(400, []byte("no")))
	assert.True(t, formats.Of(translate.Chat).Errors.Relayable(500, nil))
	for _, status := range []int{600, 700, 999} { // those were once relayed
		assert.False(t, formats.Of(translate.Chat).Errors.Relayable(status, []byte(`{"error":{"message":"x"}}`)), status)
		assert.Equal(t, 502, fault.Read(status, jsonType, []byte(`{"error":{"message":"x"}}`)).Status())
	}
	assert.False(t, formats.Of(translate.Chat).Errors.Relayable(307, []byte(`{"error":{"message":"x"}}`)))
}

func TestRedactRemovesWhatRepeatsASecret(t *testing.T) {
	fault := fault.Read(400, jsonType, []byte(`{"error":{"message":"key sk-secret at https://host.example","code":"c-sk-secret"}}`))
	fault.Redact("", "sk-other")
	assert.Contains(t, fault.Message, "sk-secret")
	fault.Redact("", "sk-secret")
	assert.Equal(t, "the upstream reported an error", fault.Message)
	assert.Empty(t, fault.Code)
	assert.NotContains(t, fault.Unwrap().Error(), "sk-secret")
}

// The log once repeated messages of providers, which may quote the request.
func TestTheLogContainsNoMessageOfAProvider(t *testing.T) {
	const prompt = "the prompt's own words"
	f := fault.Read(400, jsonType, []byte(`{"error":{"message":"cannot read: `+prompt+`","type":"`+prompt+`","code":"bad_prompt"}}`))
	assert.Contains(t, f.Message, prompt, "the client reads it")
	assert.Equal(t, "the upstream's own words, 35 bytes", f.LogMessage())
	assert.EqualError(t, f.Cause, `upstream error: status 400, type "", code "bad_prompt", message of 35 bytes`)
	for _, own := range []*fault.Fault{
		fault.Read(401, jsonType, []byte(`{"error":{"message":"x"}}`)), fault.Read(402, jsonType, []byte(`{"error":{"message":"x"}}`)),
		fault.Read(500, jsonType, nil), fault.Read(302, jsonType, []byte(`{"error":{"message":"x"}}`)), fault.BadKey(),
	} {
		assert.Equal(t, own.Message, own.LogMessage())
	}
	f.Redact(prompt)
	assert.Equal(t, "the upstream reported an error", f.LogMessage())
}

// Types and codes of a provider were once logged whatever they were.
func TestTheLogGetsTypesAndCodesThatAreNames(t *testing.T) {
	for name, logged := range map[string]bool{
		"invalid_request_error": true, "BadRequestError": true, "brand_new_code": true, "model_not_found": true,
		"sk-secret": false, "SecretWords": false, "secret12345": false, "two words": false, "": false,
	} {
		body, err := json.Marshal(map[string]any{"error": map[string]string{"message": "m", "type": name, "code": name}})
		require.NoError(t, err)
		want := name
		if !logged {
			want = ""
		}
		assert.EqualError(t, fault.Read(400, jsonType, body).Cause,
			fmt.Sprintf("upstream error: status 400, type %q, code %q, message of 1 bytes", want, want))
	}
}

// Misplaced input of a client, such as a prompt or a key, once appeared in the log.
func TestTheLogRepeatsNothingOfARequest(t *testing.T) {
	info := &core.RequestInfo{Model: "m"}
	for want, fault := range map[string]*fault.Fault{
		"messages[0].role: must be 'user'":                                                fault.InvalidValue("messages[0].role", "must be 'user'", ", got 'secret'"),
		"n: must be an integer":                                                           fault.InvalidField("n", "must be an integer"),
		"metadata.?: must appear once":                                                    fault.Repeated("metadata.secret", "secret", true),
		"?: must appear once, letter case ignored":                                        fault.Repeated("secret", "secret", false),
		"anthropic-version: is not a date of the form YYYY-MM-DD":                         fault.VersionInvalid("secret"),
		"anthropic-version: must be 2023-01-01 or later":                                  fault.VersionTooOld("secret"),
		"x: cannot be translated for model 'm' (upstream format chat)":                    info.Refuse(translate.Chat, "x", "'secret'"),
		"n: cannot be translated for model 'm' (upstream format chat): more than 8 calls": info.RefuseCalls(translate.Chat, "n", "secret", 8),
	} {
		assert.Equal(t, want, fault.LogMessage())
		if want != fault.Message {
			assert.Contains(t, fault.Message, "secret", "the client reads it")
		}
	}
}

func TestStreamErrorsAreReadByTheirWords(t *testing.T) {
	tests := []struct {
		name   string
		format translate.Format
		data   string
		status int
		code   string
	}{
		{"overloaded", translate.Messages, `{"type":"error","error":{"type":"overloaded_error","message":"m"}}`, 529, "overloaded"},
		{"rate limit", translate.Messages, `{"type":"error","error":{"type":"rate_limit_error","message":"m"}}`, 429, "rate_limit_exceeded"},
		{"timeout", translate.Messages, `{"type":"error","error":{"type":"timeout_error","message":"m"}}`, 504, "upstream_timeout"},
		{"authentication", translate.Messages, `{"type":"error","error":{"type":"authentication_error","message":"m"}}`, 502, "upstream_auth"},
		{"billing", translate.Messages, `{"type":"error","error":{"type":"billing_error","message":"m"}}`, 429, "insufficient_quota"},
		{"invalid", translate.Messages, `{"type":"error","error":{"type":"invalid_request_error","message":"m"}}`, 400, ""},
		{"api error", translate.Messages, `{"type":"error","error":{"type":"api_error","message":"m"}}`, 500, ""},
		{"unknown type", translate.Messages, `{"type":"error","error":{"type":"new_error","message":"m"}}`, 500, ""},
		{"chat integer code", translate.Chat, `{"error":{"message":"m","code":429}}`, 429, "rate_limit_exceeded"},
		{"chat outer integer code", translate.Chat, `{"object":"error","message":"m","code":400}`, 400, "400"},
		{"chat code as text", translate.Chat, `{"error":{"message":"m","code":"503"}}`, 503, "overloaded"},
		{"chat code out of range", translate.Chat, `{"error":{"message":"m","code":200}}`, 502, ""},
		{"chat rate limit", translate.Chat, `{"error":{"message":"m","type":"rate_limit_error"}}`, 429, "rate_limit_exceeded"},
		{"chat quota", translate.Chat, `{"error":{"message":"m","code":"insufficient_quota"}}`, 429, "insufficient_quota"},
		{"chat overloaded", translate.Chat, `{"error":{"message":"m","code":"server_is_overloaded"}}`, 503, "overloaded"},
		{"chat context length", translate.Chat, `{"error":{"message":"m","type":"invalid_request_error","code":"context_length_exceeded"}}`, 400, "context_length_exceeded"},
		{"chat unknown", translate.Chat, `{"error":{"message":"m","type":"server_error"}}`, 502, ""},
		{"chat text", translate.Chat, `{"error":"m"}`, 502, ""},
		{"a failed response", translate.Responses, `{"type":"response.failed","sequence_number":3,"response":{"id":"r","status":"failed","error":{"code":"server_is_overloaded","message":"m"},"output":[]}}`, 503, "overloaded"},
		{"a response that failed by its rate", translate.Responses, `{"type":"response.failed","response":{"error":{"code":"rate_limit_exceeded","message":"m"}}}`, 429, "rate_limit_exceeded"},
		{"a response whose account is exhausted", translate.Responses, `{"type":"response.failed","response":{"error":{"code":"insufficient_quota","message":"m"}}}`, 429, "insufficient_quota"},
		{"a response whose plan has no usage", translate.Responses, `{"type":"response.failed","response":{"error":{"code":"usage_not_included","message":"m"}}}`, 429, "insufficient_quota"},
		{"a response whose prompt was refused", translate.Responses, `{"type":"response.failed","response":{"error":{"code":"invalid_prompt","message":"m"}}}`, 400, "invalid_prompt"},
		{"a response with reasoning of others", translate.Responses, `{"type":"error","code":"invalid_encrypted_content","message":"m","param":null}`, 400, "invalid_encrypted_content"},
		{"a response to a long prompt", translate.Responses, `{"type":"error","code":"context_length_exceeded","message":"m"}`, 400, "context_length_exceeded"},
		{"a response about an image", translate.Responses, `{"error":{"code":"image_too_large","message":"m"}}`, 400, "image_too_large"},
		{"a response from elsewhere", translate.Responses, `{"type":"error","code":"data_residency_mismatch","message":"m"}`, 403, "permission_denied"},
		{"a response that failed without a known code", translate.Responses, `{"type":"response.failed","response":{"error":{"code":"server_error","message":"m"}}}`, 500, ""},
		{"a response that failed without a code", translate.Responses, `{"type":"response.failed","response":{"error":null}}`, 500, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			fault := formats.Of(tt.format).Errors.ReadEvent([]byte(tt.data))
			assert.Equal(t, tt.status, formats.Of(tt.format).Errors.Status(fault))
			assert.Equal(t, tt.code, fault.Code)
			assert.NotEmpty(t, fault.Message)
		})
	}
}

func TestErrorEventsThatResponsesClientsKnowAreRelayed(t *testing.T) {
	for _, c := range []struct {
		name, data string
		known      bool
	}{
		{"response.failed", `{"type":"response.failed","response":{"error":{"code":"server_error","message":"m"}}}`, true},
		{"", `{"type":"response.failed","response":{"error":null}}`, true},
		{"error", `{"type":"error","code":null,"message":"m"}`, true},
		{"", `{"type":"error","message":"m"}`, true},
		{"response.failed", `{"response":{"error":{"code":"insufficient_quota","message":"m"}}}`, false},
		{"error", `{"code":"invalid_api_key","message":"m"}`, false},
		{"error", `plain words`, false},
		{"", `{"error":{"message":"m"}}`, false},
		{"response.completed", `{"error":{"message":"m"}}`, false},
	} {
		assert.Equal(t, c.known, formats.Of(translate.Responses).Errors.RelayableEvent([]byte(c.name), []byte(c.data)), "%s %s", c.name, c.data)
	}
}

func TestErrorEventsThatClientsOfTheSameFormatKnowAreRelayed(t *testing.T) {
	const plain, account = `{"error":{"message":"m","type":"overloaded_error"}}`, `{"error":{"message":"m","type":"billing_error"}}`
	for _, c := range []struct {
		name, data string
		messages   bool
		chat       bool
	}{
		{"error", plain, true, true},
		{"", plain, false, true},
		{"error", account, false, false},
		{"", account, false, false},
		{"error", `plain words`, false, false},
		{"", `{"error":"m"}`, false, true},
		{"", `{"error":null}`, false, false},
		{"", `{"object":"error","message":"m","code":429}`, false, false},
		{"", `{"choices":[{"index":0,"delta":{},"finish_reason":"error"}]}`, false, false},
	} {
		assert.Equal(t, c.messages, formats.Of(translate.Messages).Errors.RelayableEvent([]byte(c.name), []byte(c.data)), "%s %s", c.name, c.data)
		assert.Equal(t, c.chat, formats.Of(translate.Chat).Errors.RelayableEvent([]byte(c.name), []byte(c.data)), "%s %s", c.name, c.data)
		assert.Equal(t, c.chat, formats.Of(translate.Completions).Errors.RelayableEvent([]byte(c.name), []byte(c.data)), "%s %s", c.name, c.data)
	}
}

// Known types were ignored except in the responses format, so that the same error had another
// status there.
func TestErrorsInsideAnswersTakeTheirStatusFromTypeAndCode(t *testing.T) {
	f := fault.ReadAnswer([]byte(`{"error":{"message":"m","code":503}}`))
	assert.Equal(t, 503, formats.Of(translate.Chat).Errors.Status(f))
	assert.Equal(t, "m", f.Message)
	f = fault.ReadAnswer([]byte(`{"error":{"type":"rate_limit_error","message":"m"}}`))
	assert.Equal(t, 429, formats.Of(translate.Chat).Errors.Status(f))
	f = fault.ReadAnswer([]byte(`{"error":{"type":"x","message":"m"}}`))
	assert.Equal(t, 502, formats.Of(translate.Chat).Errors.Status(f))
	assert.Equal(t, "upstream_invalid_response", f.Code)
	f = fault.ReadAnswer([]byte(`{"error":{"code":"insufficient_quota","message":"m"}}`))
	assert.Equal(t, "insufficient_quota", f.Code)
	assert.Equal(t, "the upstream reported an error", fault.ReadAnswer([]byte(`{"error":{}}`)).Message)
}

// FuzzReadFault checks that no answer of a provider can break the body that a
// client is sent, whatever it holds.
func FuzzReadFault(f *testing.F) {
	f.Add(400, jsonType, []byte(`{"error":{"message":"bad","code":7}}`))
	f.Add(422, jsonType, []byte(`{"detail":[{"loc":["a",1],"msg":"b"}]}`))
	f.Add(502, "text/html", []byte(`<html>`))
	f.Add(503, "", []byte("plain \xff"))
	f.Fuzz(func(t *testing.T, status int, contentType string, body []byte) {
		for _, format := range formats.Names() {
			for _, fault := range []*fault.Fault{
				fault.Read(status, contentType, body),
				formats.Of(format).Errors.ReadEvent(body),
				fault.ReadAnswer(body),
			} {
				require.GreaterOrEqual(t, formats.Of(format).Errors.Status(fault), 400)
				require.NotEmpty(t, fault.Message)
				require.LessOrEqual(t, len(fault.Message), 2048)
				data := lastData(t, formats.Of(format).Errors.AppendEvent(nil, fault, "R"))
				require.True(t, json.Valid([]byte(data)))
				require.NotContains(t, data, "\n")
			}
		}
	})
}

// typeOf returns the error.type that a client of the format reads.
func typeOf(t *testing.T, fault *fault.Fault, format translate.Format) string {
	t.Helper()
	var body struct {
		Error struct{ Type string }
	}
	require.NoError(t, json.Unmarshal(formats.Of(format).Errors.Append(nil, fault, ""), &body))
	return body.Error.Type
}
