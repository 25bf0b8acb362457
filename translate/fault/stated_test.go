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
