package health_test

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/health"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

func failed(status int, f *fault.Fault) *exchange.Result {
	return &exchange.Result{Status: status, Fault: f, State: exchange.Broken}
}

func answered(status int, body string) *exchange.Result {
	return failed(status, fault.Read(status, "application/json", []byte(body)))
}

var lost = exchange.Reading{Lost: true}

// One client could let a target rest for all others: by five prompts that a moderation
// refuses with a 403, or by five conversations that the template of the model refuses
// with a 500.
func TestOutcomes(t *testing.T) {
	for name, test := range map[string]struct {
		result *exchange.Result
		want   health.Class
	}{
		"whole":                       {&exchange.Result{State: exchange.Finished}, health.Healthy},
		"client left before content":  {&exchange.Result{}, health.Unknown},
		"client left a stream":        {&exchange.Result{State: exchange.Content}, health.Healthy},
		"not asked":                   {&exchange.Result{State: exchange.Unasked, Fault: fault.NoUpstream("m")}, health.Unknown},
		"unreachable":                 {failed(0, fault.Unreachable(nil)), health.Failed},
		"no address is healthy":       {failed(0, fault.NoUpstream("m")), health.Overloaded},
		"timeout":                     {failed(0, fault.UpstreamTimeout(nil)), health.TimedOut},
		"timeout of a stream":         {failed(200, fault.UpstreamTimeout(nil)), health.TimedOut},
		"lost to a hedge":             {&exchange.Result{Reading: lost}, health.TimedOut},
		"lost, with content":          {&exchange.Result{Reading: lost, State: exchange.Content}, health.Healthy},
		"stream cut":                  {failed(200, fault.Truncated(nil)), health.Failed},
		"unusable answer":             {failed(200, fault.Unusable(nil)), health.Failed},
		"fault of the gateway itself": {failed(0, fault.InternalError(errors.New("x"))), health.Unknown},
		"the same after content":      {failed(200, fault.InternalError(errors.New("x"))), health.Unknown},
		"301":                         {answered(301, ""), health.Failed},
		"400":                         {answered(400, `{"error":{"message":"bad"}}`), health.Unknown},
		"400 without credit":          {answered(400, `{"error":{"message":"Your credit balance is too low to access"}}`), health.AccountExhausted},
		"401":                         {answered(401, ""), health.CredentialRefused},
		"402":                         {answered(402, ""), health.AccountExhausted},
		"402 for the size":            {answered(402, `{"error":{"message":"This request requires more credits, or fewer max_tokens. You requested up to 65536 tokens, but can only afford 3919.","code":402}}`), health.Unknown},
		"402 without any credit":      {answered(402, `{"error":{"message":"This request requires more credits, or fewer max_tokens. You requested up to 65536 tokens, but can only afford 0."}}`), health.AccountExhausted},
		"403":                         {answered(403, ""), health.Unknown},
		"403 of a moderation":         {answered(403, `{"error":{"message":"your input was flagged","code":403}}`), health.Unknown},
		"404":                         {answered(404, ""), health.Unknown},
		"405":                         {answered(405, ""), health.Unknown},
		"408":                         {answered(408, ""), health.TimedOut},
		"409":                         {answered(409, ""), health.Unknown},
		"413":                         {answered(413, ""), health.Unknown},
		"415":                         {answered(415, ""), health.Unknown},
		"422":                         {answered(422, ""), health.Unknown},
		"429":                         {answered(429, ""), health.RateLimited},
		"429 without quota":           {answered(429, `{"error":{"code":"insufficient_quota","message":"x"}}`), health.AccountExhausted},
		"500":                         {answered(500, ""), health.Failed},
		"500 for the roles":           {answered(500, `{"error":{"message":"Conversation roles must alternate user/assistant"}}`), health.Unknown},
		"500 for an image":            {answered(500, `{"error":{"message":"image input is not supported - hint: if this is unexpected, you may need to provide the mmproj"}}`), health.Unknown},
		"500 for the context":         {answered(500, `{"error":{"message":"prompt is too long: the input exceeds the maximum context length"}}`), health.Unknown},
		"502":                         {answered(502, ""), health.Failed},
		"503":                         {answered(503, ""), health.Overloaded},
		"504":                         {answered(504, ""), health.TimedOut},
		"529":                         {answered(529, ""), health.Overloaded},
		"498":                         {answered(498, ""), health.Unknown},
	} {
		a := &exchange.Attempt{Exchange: &exchange.Exchange{Request: exchange.Request{Operation: translate.Generate}}}
		assert.Equal(t, test.want.String(), health.OutcomeOf(a, test.result).Class.String(), name)
		a.Exchange.Request.Operation = translate.CountTokens
		assert.Equal(t, health.Unknown, health.OutcomeOf(a, test.result).Class, "%s, of a count of tokens", name)
	}
}

// A hedge loses to a first target that was about to answer, which shows nothing of the target of the hedge.
func TestALostHedgeIsNoFailure(t *testing.T) {
	a := &exchange.Attempt{Exchange: &exchange.Exchange{Request: exchange.Request{Operation: translate.Generate}}, Choice: exchange.Hedged}
	assert.Equal(t, health.Outcome{}, health.OutcomeOf(a, &exchange.Result{Reading: lost}))
}

func TestOnlyRefusalsForLackOfRoomHaveARetryAfter(t *testing.T) {
	a := &exchange.Attempt{Exchange: &exchange.Exchange{Request: exchange.Request{Operation: translate.Generate}}}
	for status, want := range map[int]time.Duration{429: 9 * time.Second, 503: 9 * time.Second, 529: 9 * time.Second, 500: 0, 401: 0} {
		r := answered(status, "")
		r.Head.Header = http.Header{"Retry-After": {"9"}}
		assert.Equal(t, want, health.OutcomeOf(a, r).RetryAfter, status)
	}
}
