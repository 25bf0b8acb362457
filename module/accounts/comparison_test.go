package accounts

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// 100 streams of the target "a", of which 10 fell back to "b", and the copies of 20 of them, all of
// which failed but one. The expected intervals are computed by other programs.
func TestTargetsAreComparedByTheirRecords(t *testing.T) {
	at := time.Date(2026, 11, 21, 13, 30, 0, 0, time.UTC)
	priced := func(provider string, nanos int64) accounting.Call {
		return accounting.Call{
			Provider: provider, Model: "m", Format: "chat", Status: 200, Source: accounting.SourceProvider, Tokens: token.Counts{Fresh: 10, CacheRead: 5, Answer: 3},
			Price: "x", Cost: aigateway.Cost{Nanos: nanos, Currency: "USD"},
		}
	}
	var records []accounting.Record
	for i := range 100 {
		r := accounting.Record{
			ID: int64(1000 - i), Admitted: at, Operation: "generate", Stream: true, Outcome: "answered", Status: 200,
			FirstByte: time.Duration(i+1) * time.Millisecond, Duration: time.Second, Calls: []accounting.Call{priced("a", int64(1000+i%2*1000))},
		}
		r.Calls[0].Finish = accounting.FinishStop
		if i%10 == 0 {
			r.Calls[0].Finish = accounting.FinishLength
		}
		if i >= 90 {
			r.Attempts = []accounting.Attempt{
				{Provider: "c", Model: "m", End: "rests"},
				{Provider: "a", Model: "m", Format: "chat", End: "overloaded", Status: 529, Duration: time.Millisecond},
				{Provider: "a", Model: "m", Format: "chat", End: "timeout", Duration: time.Millisecond},
				{Provider: "b", Model: "m", Format: "chat", End: "answered", Status: 200, Duration: time.Second},
			}
			r.Calls, r.Choice = []accounting.Call{{Provider: "a", Model: "m"}, priced("b", 7000)}, "fallback"
			r.Calls[1].Finish = accounting.FinishTools
		}
		records = append(records, r)
	}
	kept := accounting.Record{ID: 600, Admitted: at, Operation: "generate", Outcome: "answered", Duration: time.Second, Calls: []accounting.Call{priced("a", 0)}}
	kept.Calls[0].Source = accounting.SourceCached // the target was not asked, and had failed here
	records = append(records, kept)
	for i := range 20 {
		r := accounting.Record{ID: int64(500 - i), Admitted: at, Key: accounting.MirrorKey, Operation: "generate", Outcome: "failed"}
		r.Attempts = []accounting.Attempt{{Provider: "a", Model: "m", Format: "chat", End: "refused", Status: 400, Duration: time.Second}}
		if i == 0 {
			r.Outcome, r.Attempts, r.Duration, r.Calls = "answered", nil, 3*time.Second, []accounting.Call{priced("a", 1000)}
			r.Calls[0].Price = "" // the cost is unknown
		}
		records = append(records, r)
	}
	s, search := withRecords(t, records...)
	s.user("boss", aigateway.RoleAdmin)
	ask := func(query string) testAnswer {
		return s.ask(testRequest{call: "GET /api/v1/records/comparison?" + query, token: s.token("boss")})
	}
	assert.JSONEq(t, `{"from":"2026-11-21T14:00:00+01:00","to":"2026-11-21T16:00:00+01:00","scanned_since":"","items":[
		{"provider":"a","upstream_model":"m","mirror":false,"choices":{},"requests":100,"failed":10,"failed_percent":{"value":10,"low":5.52,"high":17.44},
			"first_byte_p50_ms":45,"first_byte_p95_ms":86,"duration_p50_ms":1000,"input_tokens":1350,"output_tokens":270,
			"priced":100,"cost_micro":{"value":1.35,"low":1.22,"high":1.48},"currency":"USD",
			"finish_percent":{"length":{"value":10,"low":5.35,"high":17.92},"stop":{"value":90,"low":82.08,"high":94.65}}},
		{"provider":"b","upstream_model":"m","mirror":false,"choices":{"fallback":10},"requests":10,"failed":0,"failed_percent":{"value":0,"low":0,"high":27.75},
			"first_byte_p50_ms":0,"first_byte_p95_ms":0,"duration_p50_ms":1000,"input_tokens":150,"output_tokens":30,
			"priced":10,"cost_micro":{"value":7,"low":7,"high":7},"currency":"USD","finish_percent":{"tools":{"value":100,"low":72.25,"high":100}}},
		{"provider":"a","upstream_model":"m","mirror":true,"choices":{},"requests":20,"failed":19,"failed_percent":{"value":95,"low":76.39,"high":99.11},
			"first_byte_p50_ms":0,"first_byte_p95_ms":0,"duration_p50_ms":3000,"input_tokens":15,"output_tokens":3,
			"priced":19,"cost_micro":{"value":0,"low":0,"high":0},"currency":"USD","finish_percent":{}}]}`,
		ask("from=2026-11-21T13:00:00Z&to=2026-11-21T15:00:00Z&model=m").body)
	assert.Equal(t, "m", search.Model)
	assert.Equal(t, "generate", search.Operation, "counts of tokens have no copies")
	for _, wrong := range []string{"from=-1h&to=-2h", "from=x"} {
		assert.Equal(t, http.StatusBadRequest, ask(wrong).status, wrong)
	}
}
