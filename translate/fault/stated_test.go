package fault_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

// Services that answer errors with status 200 have shapes of their own. An exhausted account
// became "the upstream returned an unusable answer", which clients repeat.
func TestErrorsOfStatus200AreReadInEveryShape(t *testing.T) {
	for _, c := range []struct {
		body string
		kind fault.Kind
		code string
	}{
		{`{"choices":null,"base_resp":{"status_code":1008,"status_msg":"insufficient balance"}}`, fault.AccountExhausted, "insufficient_quota"},
		{`{"base_resp":{"status_code":1002,"status_msg":"rate limit"}}`, fault.RateLimited, "rate_limit_exceeded"},
		{`{"base_resp":{"status_code":2049,"status_msg":"invalid api key"}}`, fault.CredentialRefused, "upstream_auth"},
		{`{"base_resp":{"status_code":2013,"status_msg":"invalid params, context window exceeds limit"}}`, fault.Invalid, "context_length_exceeded"},
		{`{"base_resp":{"status_code":1033,"status_msg":"system error"}}`, fault.BadGateway, "upstream_invalid_response"},
		{`{"code":500,"msg":"404 NOT_FOUND","success":false}`, fault.Internal, ""},
		{`{"code":429,"message":"busy","data":null}`, fault.RateLimited, "rate_limit_exceeded"},
		{`{"code":"1113","message":"no balance"}`, fault.AccountExhausted, "insufficient_quota"},
		{`{"code":20012,"message":"Model does not exist","data":null}`, fault.BadGateway, "upstream_invalid_response"},
		{`{"success":false,"errors":[{"code":401,"message":"no key"}],"result":null}`, fault.CredentialRefused, "upstream_auth"},
		{`{"error_code":17,"error_msg":"daily limit"}`, fault.BadGateway, "upstream_invalid_response"},
	} {
		f := fault.Stated([]byte(c.body))
		require.NotNil(t, f, c.body)
		assert.Equal(t, c.kind, f.Kind, c.body)
		assert.Equal(t, c.code, f.Code, c.body)
		assert.NotEmpty(t, f.Message, c.body)
	}
	for _, body := range []string{
		`{"hello":"world"}`, `{"message":"hello"}`, `{"base_resp":{"status_code":0,"status_msg":"success"}}`, `{"base_resp":{"status_code":0,"status_msg":""}}`,
		`{"code":0,"msg":"success"}`, `{"code":200,"message":"ok"}`, `{"success":true}`, `{"errors":[]}`, `{"code":5}`, `[]`, `"code"`, `{`, ``,
	} {
		assert.Nil(t, fault.Stated([]byte(body)), body)
	}
}

// A body that is no answer had its reason in a shape that nobody knew: the client read that the answer
// is unusable, and not why.
func TestAnyMessageOfABodyThatIsNoAnswerIsItsReason(t *testing.T) {
	for _, body := range []string{
		`{"Response":{"Error":{"Code":"x","Message":"no"},"RequestId":"r"}}`, `{"ErrorMsg":{"Msg":"no","Code":2001}}`, `{"header":{"code":10007,"message":"no","sid":"s"}}`,
		`{"Message":"no"}`, `{"message":"no","id":"x"}`, `{"status":{"code":5,"description":"no"}}`, `{"result":{"error":"no"}}`, `{"data":{"err_msg":"no"},"code":3}`,
		`{"exception":{"class":"x","message":"no"}}`, `{"failure":"no"}`, `{"type":"about:blank","title":"no","status":500}`, `{"Reason":"no"}`,
	} {
		f := fault.Suspected([]byte(body))
		require.NotNil(t, f, body)
		assert.Equal(t, "no", f.Message, body)
		assert.Equal(t, "no", fault.Stray([]byte(body), nil).Message, body)
	}
	for _, body := range []string{
		`{"hello":"world"}`, `{"header":{"code":0,"message":"Success"}}`, `{"code":200,"message":"ok"}`, `{"response":"a text"}`, `{"data":"a text"}`,
		`{"message":{"role":"assistant","content":"a text"}}`, `{"status":"done"}`, `{}`, `[]`, `"no"`, `{`, ``,
	} {
		assert.Nil(t, fault.Suspected([]byte(body)), body)
	}
}

// Busy services have words of their own, which were an error of the gateway to clients that wait for a
// moment after too many requests.
func TestEventsOfBusyServicesAreKnownByTheirWords(t *testing.T) {
	for body, kind := range map[string]fault.Kind{
		`{"code":"Throttling.RateQuota","message":"no","request_id":"r"}`:                        fault.RateLimited,
		`{"error":{"code":"1302","message":"no"}}`:                                               fault.RateLimited,
		`{"Response":{"Error":{"Code":"RequestLimitExceeded.UinLimitExceeded","Message":"no"}}}`: fault.RateLimited,
		`{"Message":"ThrottlingException: no"}`:                                                  fault.RateLimited,
		`{"__type":"com.service#TooManyRequestsException","message":"no"}`:                       fault.RateLimited,
		`{"error":{"code":"rate-limit-reached","message":"no"}}`:                                 fault.RateLimited,
		`{"error":"no","error_type":"overloaded"}`:                                               fault.Overloaded,
		`{"error":{"type":"ServerOverloadedError","message":"no"}}`:                              fault.Overloaded,
		`{"error":{"code":"SERVICE_UNAVAILABLE","message":"no"}}`:                                fault.Overloaded,
		`{"error":{"code":"unknown","message":"the overloaded method: rate limit"}}`:             fault.BadGateway,
	} {
		assert.Equal(t, kind, fault.ReadAnswer([]byte(body)).Kind, body)
	}
}

// Services spell the members of errors in several ways: "Message" of AWS and "errorMessage" were no
// usable body, so that the client did not read why its request was refused.
func TestErrorsAreReadInEverySpelling(t *testing.T) {
	for _, body := range []string{
		`{"Message":"no"}`, `{"errorMessage":"no","errorCode":"x"}`, `{"ErrorMessage":"no"}`, `{"error_message":"no"}`, `{"errmsg":"no","errcode":3}`, `{"errorMsg":"no"}`,
		`{"Error":{"Code":"x","Message":"no"}}`, `{"error":{"errorMessage":"no"}}`, `{"ResponseMetadata":{"RequestId":"r","Error":{"Code":"x","Message":"no"}}}`,
		`{"fault":{"faultstring":"no","detail":{"errorcode":"x"}}}`, `{"error":"invalid_grant","error_description":"no"}`, `{"statusCode":400,"statusMessage":"no"}`,
		`{"title":"Bad Request","status":400,"detail":"no"}`, `{"Message":"other","message":"no"}`,
	} {
		assert.Equal(t, "no", fault.Read(400, jsonType, []byte(body)).Message, body)
	}
	for body, code := range map[string]string{
		`{"errcode":40001,"errmsg":"no"}`: "upstream_invalid_response", `{"errorCode":429,"errorMessage":"no"}`: "rate_limit_exceeded",
		`{"Success":false,"Message":"no"}`: "upstream_invalid_response", `{"BaseResp":{"StatusCode":1002,"StatusMsg":"no"}}`: "rate_limit_exceeded",
	} {
		f := fault.Stated([]byte(body))
		require.NotNil(t, f, body)
		assert.Equal(t, "no", f.Message, body)
		assert.Equal(t, code, f.Code, body)
	}
	assert.Nil(t, fault.Stated([]byte(`{"errcode":0,"errmsg":"ok"}`)))
}

// A gateway that lost its own provider states the code request_timeout beside the type of a request
// that is wrong (earendil-works/pi#9736), so that no other target was asked, and clients did not
// repeat the request. The code of a server's failure decides, in whatever words; one that blames a
// value does not.
func TestCodeOfAServersFailureDecidesBeforeTheType(t *testing.T) {
	for code, kind := range map[string]fault.Kind{
		"request_timeout":             fault.Timeout,
		"gateway_timeout":             fault.Timeout,
		"FUNCTION_INVOCATION_TIMEOUT": fault.Timeout,
		"ETIMEDOUT":                   fault.Timeout,
		"deadline_exceeded":           fault.Timeout,
		"stream_disconnected":         fault.BadGateway,
		"ECONNRESET":                  fault.BadGateway,
		"connection_refused":          fault.BadGateway,
		"too_many_requests":           fault.RateLimited,
		"model_overloaded":            fault.Overloaded,
		"invalid_timeout":             fault.Invalid,
		"unsupported_timeout":         fault.Invalid,
		"invalid_prompt":              fault.Invalid,
		"missing_field":               fault.Invalid,
	} {
		for _, body := range []string{
			`{"type":"error","error":{"code":"` + code + `","message":"no","param":null,"type":"invalid_request_error"},"sequence_number":3}`,
			`{"error":{"code":"` + code + `","message":"no","type":"BadRequestError"}}`,
		} {
			dialect := fault.Dialect{Unknown: 502}
			assert.Equal(t, kind, dialect.ReadEvent([]byte(body)).Kind, body)
		}
	}
}
