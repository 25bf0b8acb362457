package accounts

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// withRecords returns a site whose ledger contains records, the newest first.
func withRecords(t *testing.T, records ...accounting.Record) (*site, *accounting.RecordQuery) {
	s := newSite(t, nil)
	search := new(accounting.RecordQuery)
	s.people.Store = &recorded{Store: s.people.Store, records: records, search: search}
	return s, search
}

// numbered returns records with the ids from n to 1.
func numbered(n int) (records []accounting.Record) {
	for id := n; id > 0; id-- {
		records = append(records, accounting.Record{ID: int64(id), Model: fmt.Sprint("m", id)})
	}
	return records
}

// The answer for the record of another user is that for a record that does not exist.
func TestUsersSeeTheirOwnRecordsAndAdministratorsThoseOfAll(t *testing.T) {
	s, search := withRecords(t)
	alice := s.user("alice", aigateway.RoleUser)
	s.user("boss", aigateway.RoleAdmin)
	for _, test := range []struct {
		who, call string
		status    int
		user      string
	}{
		{"alice", "GET /api/v1/records", http.StatusOK, "alice"},
		{"alice", "GET /api/v1/records?user=alice", http.StatusOK, "alice"},
		{"alice", "GET /api/v1/records?request=req_of_boss&key=key_9", http.StatusOK, "alice"},
		{"alice", "GET /api/v1/records?user=boss", http.StatusForbidden, ""},
		{"alice", "GET /api/v1/records?user=nobody", http.StatusForbidden, ""},
		{"boss", "GET /api/v1/records", http.StatusOK, ""},
		{"boss", "GET /api/v1/records?user=alice&format=csv", http.StatusOK, "alice"},
	} {
		*search = accounting.RecordQuery{}
		assert.Equal(t, test.status, s.ask(testRequest{call: test.call, token: s.token(test.who)}).status, test.call)
		assert.Equal(t, test.user, search.User, test.call)
		if test.who == "alice" && test.status == http.StatusOK {
			assert.Equal(t, alice.Created.UTC(), search.From.UTC(), "records of an earlier account with the same name are not shown")
		}
	}
	assert.Equal(t, http.StatusUnauthorized, s.ask(testRequest{call: "GET /api/v1/records"}).status)
	assert.Equal(t, http.StatusOK, s.admin("GET /api/v1/records?user=alice", "").status)
}

func TestRecordsAreSelectedByEachParameter(t *testing.T) {
	s, search := withRecords(t)
	s.user("boss", aigateway.RoleAdmin)
	s.ask(testRequest{call: "GET /api/v1/records?user=u&key=k&model=m&outcome=o&request=r&from=2026-10-25&to=2026-10-26&limit=5000&after=7", token: s.token("boss")})
	assert.Equal(t, 25*time.Hour, search.To.Sub(search.From), "a day in autumn, in the zone of the ledger")
	search.From, search.To = time.Time{}, time.Time{}
	assert.Equal(t, accounting.RecordQuery{User: "u", Key: "k", Model: "m", Outcome: "o", Request: "r", Limit: largestRecords, Before: 7}, *search)
	s.ask(testRequest{call: "GET /api/v1/records?limit_name=l&operation=generate&client_format=chat&provider=p&upstream_model=um&status=429&stream=false&tag=team=search&customer=c&min_duration_ms=1500&min_cost_micro=20", token: s.token("boss")})
	assert.Equal(t, accounting.RecordQuery{Limit: usualRecords, RecordFilter: accounting.RecordFilter{
		KeyLimit: "l", Operation: "generate", Format: "chat", Provider: "p", Upstream: "um", Status: 429, Stream: new(false),
		Tag: aigateway.Tag{Name: "team", Value: "search"}, Customer: "c", MinDuration: 1500 * time.Millisecond, MinCost: 20_000,
	}}, *search)
	s.ask(testRequest{call: "GET /api/v1/records?from=-7d&to=-90m", token: s.token("boss")})
	assert.WithinDuration(t, time.Now().AddDate(0, 0, -7), search.From, time.Minute)
	assert.WithinDuration(t, time.Now().Add(-90*time.Minute), search.To, time.Minute)
	for _, wrong := range []string{"stream=1", "status=ok", "tag=team", "tag=team=", "tag=Team=x", "from=yesterday", "to=2026", "limit=x", "after=x", "after=0", "after=-1", "format=xlsx",
		"from=-day", "from=--1h", "min_duration_ms=-1", "min_duration_ms=9300000000000", "min_cost_micro=1.5", "sort=key", "sort=cost&after=7"} {
		assert.Equal(t, http.StatusBadRequest, s.ask(testRequest{call: "GET /api/v1/records?" + wrong, token: s.token("boss")}).status, wrong)
	}
}

func TestPagesOfRecordsHaveNoGap(t *testing.T) {
	s, _ := withRecords(t, numbered(25)...)
	s.user("boss", aigateway.RoleAdmin)
	token, after, ids := s.token("boss"), "", []string(nil)
	for {
		var page struct {
			Items []struct{ ID string }
			Next  string
		}
		body := s.ask(testRequest{call: "GET /api/v1/records?limit=10&after=" + after, token: token}).body
		require.NoError(t, json.Unmarshal([]byte(body), &page))
		for _, item := range page.Items {
			ids = append(ids, item.ID)
		}
		if after = page.Next; after == "" {
			break
		}
	}
	require.Len(t, ids, 25)
	assert.Equal(t, "25", ids[0])
	assert.Equal(t, "1", ids[24])
}

var fullRecord = accounting.Record{
	ID: 912529198789165313, Admitted: time.Date(2026, 11, 21, 23, 0, 0, 5e6, time.UTC), Request: "req_1", Key: "key_1", User: "alice", Limit: "small",
	Model: "=cmd()", Operation: "generate", Format: "messages", Stream: true, Status: 200, Outcome: "answered",
	FirstByte: 250 * time.Millisecond, Duration: 2 * time.Second,
	Calls: []accounting.Call{
		{Provider: "p", Model: "up", Format: "chat", Status: 503, Held: aigateway.Cost{Nanos: 77, Currency: "EUR"}, Source: accounting.SourceReserved},
		{
			Provider: "q", Model: "up", Answered: "up-2026", Format: "messages", Status: 200, Source: accounting.SourceProvider,
			Tokens: token.Counts{Fresh: 1, CacheRead: 2, CacheWrite: 3, CacheWriteLong: 4, Answer: 5, Reasoning: 6, Searches: 7},
			Units:  token.Units{Images: 8, Seconds: 9, Characters: 10, Queries: 11, ImageTokens: token.MediaTokens{Input: 2, CacheRead: 1, Output: 3}, AudioTokens: token.MediaTokens{Input: 5, CacheRead: 4, Output: 6}},
			Finish: accounting.FinishLength, Price: "q up 1/2", Cost: aigateway.Cost{Nanos: 1234, Currency: "USD"}, Corrected: true,
		},
	},
	Attempts: []accounting.Attempt{
		{Provider: "z", Model: "up", End: "rests"},
		{Provider: "p", Model: "up", Format: "chat", End: "overloaded", Status: 503, Duration: 120 * time.Millisecond},
		{Provider: "q", Model: "up", Format: "responses", End: "refused", Status: 400, Duration: 80 * time.Millisecond},
		{Provider: "q", Model: "up", Format: "messages", End: "answered", Status: 200, Duration: 1700 * time.Millisecond},
	},
	Choice: "fallback", Losses: []string{"top_k", "?"}, Labels: aigateway.Labels{Tags: []aigateway.Tag{{Name: "env", Value: "prod"}, {Name: "team", Value: "search"}}, Customer: "acme"},
}

func TestARecordShowsEachCallWithItsCost(t *testing.T) {
	s, _ := withRecords(t, fullRecord)
	s.user("boss", aigateway.RoleAdmin)
	assert.JSONEq(t, `{"next":"","behind_seconds":null,"items":[{
		"id":"912529198789165313","at":"2026-11-22T00:00:00.005+01:00","request":"req_1","key":"key_1","user":"alice","limit":"small",
		"model":"=cmd()","operation":"generate","format":"messages","stream":true,"status":200,"outcome":"answered","first_byte_ms":250,"duration_ms":2000,
		"calls":[
			{"provider":"p","upstream_model":"up","answered_model":"","format":"chat","status":503,"source":"reserved","finish":"","input_tokens":0,"cache_read_tokens":0,
				"cache_write_tokens":0,"cache_write_1h_tokens":0,"output_tokens":0,"reasoning_tokens":0,"searches":0,
				"images":0,"seconds":0,"characters":0,"queries":0,"image_input_tokens":0,"image_cache_read_tokens":0,"image_output_tokens":0,"audio_input_tokens":0,"audio_cache_read_tokens":0,"audio_output_tokens":0,
				"price":"","cost_source":"unknown","cost_nano":0,"currency":"EUR","held_nano":77,"corrected":false},
			{"provider":"q","upstream_model":"up","answered_model":"up-2026","format":"messages","status":200,"source":"provider","finish":"length","input_tokens":1,"cache_read_tokens":2,
				"cache_write_tokens":7,"cache_write_1h_tokens":4,"output_tokens":11,"reasoning_tokens":6,"searches":7,
				"images":8,"seconds":9,"characters":10,"queries":11,"image_input_tokens":2,"image_cache_read_tokens":1,"image_output_tokens":3,"audio_input_tokens":5,"audio_cache_read_tokens":4,"audio_output_tokens":6,
				"price":"q up 1/2","cost_source":"price","cost_nano":1234,"currency":"USD","held_nano":0,"corrected":true}],
		"choice":"fallback","attempts":[
			{"provider":"z","upstream_model":"up","format":"","end":"rests","status":0,"duration_ms":0,"repeated":false},
			{"provider":"p","upstream_model":"up","format":"chat","end":"overloaded","status":503,"duration_ms":120,"repeated":false},
			{"provider":"q","upstream_model":"up","format":"responses","end":"refused","status":400,"duration_ms":80,"repeated":false},
			{"provider":"q","upstream_model":"up","format":"messages","end":"answered","status":200,"duration_ms":1700,"repeated":true}],
		"losses":["top_k","?"],"answer_losses":[],"unchecked":[],"tags":[{"name":"env","value":"prod"},{"name":"team","value":"search"}],"customer":"acme","reason":""}]}`,
		s.ask(testRequest{call: "GET /api/v1/records", token: s.token("boss")}).body)
}

// A spreadsheet adds up the costs of calls, so each call has a row of its own.
func TestATableOfRecordsHasARowForEachCall(t *testing.T) {
	s, search := withRecords(t, append([]accounting.Record{fullRecord}, numbered(largestRecords+1)...)...)
	s.user("boss", aigateway.RoleAdmin)
	rows := strings.Split(strings.TrimSpace(s.ask(testRequest{call: "GET /api/v1/records?format=csv", token: s.token("boss")}).body), "\n")
	require.Len(t, rows, 1+2+largestRecords+1)
	assert.Equal(t, "at,id,request,key,user,limit,model,operation,format,stream,status,outcome,first_byte_ms,duration_ms,"+
		"provider,upstream_model,answered_model,upstream_status,source,input_tokens,cache_read_tokens,cache_write_tokens,cache_write_1h_tokens,"+
		"output_tokens,reasoning_tokens,searches,images,seconds,characters,queries,image_input_tokens,image_cache_read_tokens,image_output_tokens,audio_input_tokens,audio_cache_read_tokens,audio_output_tokens,price,cost_source,cost_nano,currency,held_nano,saved_nano,corrected,tags,customer,choice,finish", rows[0])
	assert.Equal(t, "2026-11-22T00:00:00.005+01:00,912529198789165313,req_1,key_1,alice,small,'=cmd(),generate,messages,true,200,answered,250,2000,"+
		"q,up,up-2026,200,provider,1,2,7,4,11,6,7,8,9,10,11,2,1,3,5,4,6,q up 1/2,price,1234,USD,0,0,true,env=prod team=search,acme,fallback,length", rows[2])
	assert.Contains(t, rows[len(rows)-1], ",m1,")
	assert.Equal(t, largestRecords, search.Limit, "the table is read page by page")

	s.people.Store.(*recorded).fails = aigateway.ErrUnavailable
	assert.PanicsWithValue(t, http.ErrAbortHandler, func() {
		s.ask(testRequest{call: "GET /api/v1/records?format=csv", token: s.token("boss")})
	})
}

// The records that cost most are found in all pages of the range, whatever their times.
func TestRecordsAreSortedByEachMeasure(t *testing.T) {
	records := numbered(2500)
	for i := range records {
		n := int64(i*7919) % 2500 // each number once
		records[i].Duration, records[i].FirstByte = time.Duration(n)*time.Millisecond, time.Duration(2500-n)*time.Millisecond
		records[i].Calls = []accounting.Call{{Price: "p", Cost: aigateway.Cost{Nanos: n * 1000, Currency: "USD"}}}
	}
	s, _ := withRecords(t, records...)
	s.user("boss", aigateway.RoleAdmin)
	for order, want := range map[string][]int64{"duration": {2499, 2498, 2497}, "first_byte": {2500, 2499, 2498}, "cost": {2499, 2498, 2497}} {
		var page struct {
			Items []struct {
				Duration  int64 `json:"duration_ms"`
				FirstByte int64 `json:"first_byte_ms"`
				Calls     []struct {
					Cost int64 `json:"cost_nano"`
				}
			}
			Next, ScannedSince string
		}
		require.NoError(t, json.Unmarshal([]byte(s.ask(testRequest{call: "GET /api/v1/records?limit=3&sort=" + order, token: s.token("boss")}).body), &page))
		var got []int64
		for _, item := range page.Items {
			got = append(got, map[string]int64{"duration": item.Duration, "first_byte": item.FirstByte, "cost": item.Calls[0].Cost / 1000}[order])
		}
		assert.Equal(t, want, got, order)
		assert.Empty(t, page.Next)
	}
}

func TestRecordsAreExportedAsJSONLines(t *testing.T) {
	s, search := withRecords(t, append([]accounting.Record{fullRecord}, numbered(largestRecords+1)...)...)
	s.user("boss", aigateway.RoleAdmin)
	lines := strings.Split(strings.TrimSpace(s.ask(testRequest{call: "GET /api/v1/records?format=jsonl", token: s.token("boss")}).body), "\n")
	require.Len(t, lines, 1+largestRecords+1)
	assert.Contains(t, lines[0], `"id":"912529198789165313"`)
	assert.Contains(t, lines[len(lines)-1], `"model":"m1"`)
	assert.Equal(t, largestRecords, search.Limit, "the lines are read page by page")
}

func TestAHistogramCountsHowExchangesEnded(t *testing.T) {
	start := time.Date(2026, 11, 21, 13, 0, 0, 0, time.UTC)
	var records []accounting.Record
	for i, outcome := range []string{"crashed", "failed", "cut", "refused", "client_closed", "imported"} {
		records = append(records, accounting.Record{ID: int64(200 - i), Admitted: start.Add(70 * time.Minute), Outcome: outcome})
	}
	for i := range 100 {
		records = append(records, accounting.Record{ID: int64(100 - i), Admitted: start.Add(time.Minute), Outcome: "answered", FirstByte: time.Duration(1+i) * time.Millisecond})
	}
	s, search := withRecords(t, records...)
	s.user("boss", aigateway.RoleAdmin)
	ask := func(query string) testAnswer {
		return s.ask(testRequest{call: "GET /api/v1/records/histogram?" + query, token: s.token("boss")})
	}
	assert.JSONEq(t, `{"from":"2026-11-21T14:00:00+01:00","to":"2026-11-21T16:00:00+01:00","step_seconds":3600,"scanned_since":"","items":[
		{"from":"2026-11-21T14:00:00+01:00","answered":100,"refused":0,"failed":0,"other":0,"first_byte_p50_ms":50,"first_byte_p95_ms":95},
		{"from":"2026-11-21T15:00:00+01:00","answered":0,"refused":1,"failed":3,"other":2,"first_byte_p50_ms":0,"first_byte_p95_ms":0}]}`,
		ask("from=2026-11-21T13:00:00Z&to=2026-11-21T15:00:00Z&bars=2&model=m").body)
	assert.Equal(t, "m", search.Model)
	for _, wrong := range []string{"bars=0", "bars=241", "bars=x", "from=-1h&to=-2h", "from=1900-01-01", "from=x"} {
		assert.Equal(t, http.StatusBadRequest, ask(wrong).status, wrong)
	}
}

// A reader of a busy gateway could keep it busy with a range of years.
func TestAHistogramIsBounded(t *testing.T) {
	records := numbered(25_000)
	for i := range records {
		records[i].Admitted = time.Now().Add(-time.Duration(i) * time.Second)
	}
	s, _ := withRecords(t, records...)
	s.user("boss", aigateway.RoleAdmin)
	var found struct {
		Since time.Time `json:"scanned_since"`
		Items []struct{ Failed int }
	}
	require.NoError(t, json.Unmarshal([]byte(s.ask(testRequest{call: "GET /api/v1/records/histogram", token: s.token("boss")}).body), &found))
	counted := 0
	for _, item := range found.Items {
		counted += item.Failed
	}
	assert.Equal(t, 20_000, counted)
	assert.WithinDuration(t, time.Now().Add(-20_000*time.Second), found.Since, time.Minute)
}
