package fault

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

const (
	badKey = `{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT","details":[
		{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID","domain":"googleapis.com"},{"@type":"type.googleapis.com/google.rpc.LocalizedMessage"}]}}`
	slow = `{"error":{"code":429,"message":"You exceeded your current quota.","status":"RESOURCE_EXHAUSTED","details":[
		{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"GenerateRequestsPerMinutePerProjectPerModel"}]},
		{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.4s"}]}}`
	usedUp = `{"error":{"code":429,"message":"You exceeded your current quota.","status":"RESOURCE_EXHAUSTED","details":[
		{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]},
		{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.4s"}]}}`
)

// A key that Google does not accept is answered with 400, which blames the request.
func TestK038KeysThatGoogleRefusesAreTroubleWithTheAccount(t *testing.T) {
	for _, body := range []string{badKey, "[" + badKey + "]"} {
		f := Read(400, "application/json", []byte(body))
		assert.Equal(t, CredentialRefused, f.Kind)
		assert.NotContains(t, f.Message, "API key not valid")
	}
	// A project without billing, or without the API, was answered as if the client had no permission.
	for reason, kind := range map[string]Kind{"BILLING_DISABLED": AccountExhausted, "SERVICE_DISABLED": CredentialRefused, "CONSUMER_SUSPENDED": CredentialRefused} {
		f := Read(403, "application/json", []byte(`{"error":{"code":403,"message":"Enable it on project #my-project","status":"PERMISSION_DENIED","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"`+reason+`"}]}}`))
		assert.Equal(t, kind, f.Kind, reason)
		assert.NotContains(t, f.Message, "project")
	}
	f := Read(502, "text/html", []byte("<html>no</html>"))
	assert.Equal(t, BadGateway, f.Kind)
	assert.NotContains(t, f.Message, "html")
}

// The time to wait is in the details, and not in a header; a quota of the day is not back after
// it.
func TestK039QuotasOfGoogleAreRead(t *testing.T) {
	f := Read(429, "application/json", []byte(slow))
	assert.Equal(t, RateLimited, f.Kind)
	assert.Equal(t, 35, f.RetryAfter)
	f = Read(429, "application/json", []byte(usedUp))
	assert.Equal(t, AccountExhausted, f.Kind)
	for _, other := range []string{
		`{"error":{"message":"a","details":{"@type":"x"}}}`, `{"error":{"message":"a","details":[1,{"@type":2},{"violations":[]}]}}`,
		`{"error":{"message":"a","details":[{"@type":"google.rpc.QuotaFailure","violations":[1,{"quotaId":3}]},{"@type":"RetryInfo","retryDelay":"soon"}]}}`, `[]`, `{"error":"a"}`,
	} {
		assert.Equal(t, rpcDetails{}, readDetail("", []byte(other)).rpc, other)
	}
}
