package accounts

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// recorded is a store with sums of usage, which differ in their models.
type recorded struct {
	aigateway.Store
	aigateway.IdentityStore // nil unless a test needs it
	sums                    []accounting.Usage
	asked                   *accounting.UsageQuery // the last query
	fails                   error                  // of the queries for all pages but the first

	records []accounting.Record     // the newest first
	search  *accounting.RecordQuery // the last query
	watched chan []accounting.Record
	full    bool // there are too many watches
}

func (r *recorded) Watch() (<-chan []accounting.Record, func(), error) {
	if r.full {
		return nil, nil, accounting.ErrManyWatches
	}
	return r.watched, func() {}, nil
}

func (r *recorded) Usage(_ context.Context, q accounting.UsageQuery) ([]accounting.Usage, error) {
	*r.asked = q
	rest := r.sums
	if q.After != nil {
		at := slices.IndexFunc(rest, func(sum accounting.Usage) bool { return sum.Model == q.After.Model })
		rest = rest[at+1:]
	}
	if q.After != nil && r.fails != nil {
		return nil, r.fails
	}
	return rest[:min(q.Limit, len(rest))], nil
}

func (r *recorded) Records(_ context.Context, q accounting.RecordQuery) (page accounting.RecordPage, err error) {
	*r.search = q
	if q.Before != 0 && r.fails != nil {
		return page, r.fails
	}
	for _, record := range r.records {
		switch {
		case q.Before != 0 && record.ID >= q.Before:
		case q.User != "" && record.User != q.User:
		case len(page.Records) == q.Limit:
			page.Before, page.Since = page.Records[q.Limit-1].ID, page.Records[q.Limit-1].Admitted
			return page, nil
		default:
			page.Records = append(page.Records, record)
		}
	}
	return page, nil
}

func (*recorded) Location(context.Context) (*time.Location, error) {
	return time.LoadLocation("Europe/Berlin")
}

// lagging is a store whose ledger is behind.
type lagging struct {
	*recorded
	age time.Duration
}

func (l lagging) Behind() (time.Duration, bool) { return l.age, l.age >= 0 }

// During an outage of the database, answers looked as if they were complete.
func TestUsageAndRecordsReportHowFarTheLedgerIsBehind(t *testing.T) {
	s, _ := withUsage(t, models(1)...)
	s.user("boss", aigateway.RoleAdmin)
	usages := s.people.Store.(*recorded)
	usages.search = new(accounting.RecordQuery)
	for age, want := range map[time.Duration]any{0: 0.0, 999 * time.Millisecond: 0.0, 176900 * time.Millisecond: 176.0, -1: nil} {
		s.people.Store = lagging{usages, age}
		for _, path := range []string{"/api/v1/usage", "/api/v1/records"} {
			answer := s.ask(testRequest{call: "GET " + path, token: s.token("boss")})
			data := answer.data(t)
			require.Contains(t, data, "behind_seconds")
			assert.Equal(t, want, data["behind_seconds"])
			assert.Equal(t, want, s.admin("GET "+path, "").data(t)["behind_seconds"])
			table := s.ask(testRequest{call: "GET " + path + "?format=csv", token: s.token("boss")})
			header := ""
			if want != nil {
				header = fmt.Sprint(want)
			}
			assert.Equal(t, header, table.header.Get("X-Gateway-Behind-Seconds"))
		}
	}
}

func withUsage(t *testing.T, sums ...accounting.Usage) (*site, *accounting.UsageQuery) {
	s := newSite(t, nil)
	asked := new(accounting.UsageQuery)
	s.people.Store = &recorded{Store: s.people.Store, sums: sums, asked: asked}
	return s, asked
}

// models returns sums of as many models.
func models(n int) []accounting.Usage {
	sums := make([]accounting.Usage, n)
	for i := range sums {
		sums[i].Model = fmt.Sprintf("m%05d", i)
	}
	return sums
}

func TestL065UsersSeeTheirOwnUsageAndAdministratorsThatOfAll(t *testing.T) {
	s, query := withUsage(t)
	s.user("alice", aigateway.RoleUser)
	s.user("boss", aigateway.RoleAdmin)
	for _, test := range []struct {
		who, call string
		status    int
		user      string
	}{
		{"alice", "GET /api/v1/usage", http.StatusOK, "alice"},
		{"alice", "GET /api/v1/usage?user=alice", http.StatusOK, "alice"},
		{"alice", "GET /api/v1/usage?user=boss", http.StatusForbidden, ""},
		{"boss", "GET /api/v1/usage", http.StatusOK, ""},
		{"boss", "GET /api/v1/usage?user=alice&key=key_1", http.StatusOK, "alice"},
	} {
		*query = accounting.UsageQuery{}
		assert.Equal(t, test.status, s.ask(testRequest{call: test.call, token: s.token(test.who)}).status, test.call)
		assert.Equal(t, test.user, query.Only[accounting.ByUser], test.call)
	}
	assert.Equal(t, "key_1", query.Only[accounting.ByKey])
	s.ask(testRequest{call: "GET /api/v1/usage?model=m&provider=p&upstream_model=u&outcome=failed", token: s.token("alice")})
	assert.Equal(t, map[accounting.Dimension]string{
		accounting.ByKey: "", accounting.ByUser: "alice", accounting.ByModel: "m", accounting.ByProvider: "p", accounting.ByUpstream: "u", accounting.ByOutcome: "failed",
	}, query.Only)
}

// A user once saw the usage of an earlier account with the same name.
func TestUsageOfAnEarlierAccountIsNotShown(t *testing.T) {
	s, query := withUsage(t)
	alice := s.user("alice", aigateway.RoleUser)
	s.user("boss", aigateway.RoleAdmin)
	long := "GET /api/v1/usage?from=2020-01-01&to=2099-01-01&user=alice"
	s.ask(testRequest{call: long, token: s.token("alice")})
	assert.Equal(t, alice.Created.UTC(), query.From.UTC())
	s.ask(testRequest{call: long, token: s.token("boss")})
	assert.Equal(t, 2020, query.From.Add(24*time.Hour).Year())
	s.ask(testRequest{call: "GET /api/v1/usage?from=2098-01-01&to=2099-01-01", token: s.token("alice")})
	assert.Equal(t, 2098, query.From.Add(24*time.Hour).Year(), "a later beginning counts")
}

func TestUsageIsAskedInTheZoneOfTheLedger(t *testing.T) {
	s, query := withUsage(t)
	s.user("boss", aigateway.RoleAdmin)
	s.ask(testRequest{call: "GET /api/v1/usage?from=2026-10-25&to=2026-10-26&by=day,model", token: s.token("boss")})
	assert.Equal(t, 25*time.Hour, query.To.Sub(query.From))
	assert.Equal(t, []accounting.Dimension{accounting.ByDay, accounting.ByModel}, query.By)
	s.ask(testRequest{call: "GET /api/v1/usage", token: s.token("boss")})
	assert.Equal(t, usualRange, query.To.Sub(query.From))
	for _, wrong := range []string{"by=colour", "by=day,hour", "by=key,model,key", "by=label,label", "by=label,customer", "by=tag:team,label", "by=label&tag=team=search", "from=yesterday", "to=2026", "limit=x", "after=***",
		"by=day,model&largest=x", "by=day,model&largest=-1", "by=day,model&largest=251", "by=day&largest=6", "by=model&largest=6&measure=beauty"} {
		assert.Equal(t, http.StatusBadRequest, s.ask(testRequest{call: "GET /api/v1/usage?" + wrong, token: s.token("boss")}).status, wrong)
	}
}

func TestTheLargestSumsHaveTheOthersInOne(t *testing.T) {
	s, query := withUsage(t, accounting.Usage{Model: "dear", Requests: 1}, accounting.Usage{Model: accounting.Others, Others: 298, Requests: 7})
	s.user("boss", aigateway.RoleAdmin)
	answer := s.ask(testRequest{call: "GET /api/v1/usage?by=day,model&largest=1", token: s.token("boss")})
	assert.Equal(t, &accounting.Largest{Number: 1, Measure: accounting.MeasureCost}, query.Largest)
	assert.Contains(t, answer.body, `{"model":"dear","requests":1,`)
	assert.Contains(t, answer.body, `{"others":298,"requests":7,`)
	s.ask(testRequest{call: "GET /api/v1/usage?by=tag:team&largest=6&measure=tokens", token: s.token("boss")})
	assert.Equal(t, accounting.MeasureTokens, query.Largest.Measure)
}

func TestUsageNamesWhatIsUnknown(t *testing.T) {
	at := time.Date(2026, 11, 21, 23, 0, 0, 0, time.UTC)
	s, _ := withUsage(t, accounting.Usage{
		At: at, Model: "claude", Requests: 3, Calls: 4, Estimated: 1, Unpriced: 1,
		Tokens: token.Counts{Fresh: 10, CacheRead: 20, CacheWrite: 30, CacheWriteLong: 5, Answer: 40, Reasoning: 7},
		Cost:   aigateway.Cost{Nanos: 1500, Currency: "USD"},
	})
	s.user("boss", aigateway.RoleAdmin)
	answer := s.ask(testRequest{call: "GET /api/v1/usage?by=day,model", token: s.token("boss")})
	assert.JSONEq(t, `{"next":"","behind_seconds":null,"items":[{
		"from":"2026-11-22T00:00:00+01:00","model":"claude","requests":3,"calls":4,
		"input_tokens":10,"cache_read_tokens":20,"cache_write_tokens":35,"output_tokens":47,"reasoning_tokens":7,"searches":0,
		"cost_micro":2,"currency":"USD","estimated":1,"unpriced":1,"floor":true}]}`, answer.body)
}

// A page begins behind the last item of the one before, whatever was added meanwhile.
func TestPagesOfUsageHaveNoGap(t *testing.T) {
	sums := models(25)
	s, _ := withUsage(t, sums...)
	s.user("boss", aigateway.RoleAdmin)
	token, after, models := s.token("boss"), "", []string(nil)
	for {
		var page struct {
			Items []struct{ Model string }
			Next  string
		}
		body := s.ask(testRequest{call: "GET /api/v1/usage?limit=10&after=" + after, token: token}).body
		require.NoError(t, json.Unmarshal([]byte(body), &page))
		for _, item := range page.Items {
			models = append(models, item.Model)
		}
		if after = page.Next; after == "" {
			break
		}
	}
	require.Len(t, models, len(sums))
	for i, sum := range sums {
		assert.Equal(t, sum.Model, models[i])
	}
}

// A table once was in memory as a whole, and so were all sums.
func TestTablesAreReadPageByPage(t *testing.T) {
	const rows = 2*tablePage + 1
	s, query := withUsage(t, models(rows)...)
	s.user("boss", aigateway.RoleAdmin)
	body := s.ask(testRequest{call: "GET /api/v1/usage?by=model&format=csv", token: s.token("boss")}).body
	lines := strings.Split(strings.TrimSpace(body), "\n")
	require.Len(t, lines, 1+rows)
	for i, line := range lines[1:] {
		assert.True(t, strings.HasPrefix(line, fmt.Sprintf("m%05d,", i)), line)
	}
	assert.Equal(t, tablePage, query.Limit)
}

// The rows of the first page are no whole table.
func TestATableThatBreaksOffIsNotShownAsWhole(t *testing.T) {
	s, _ := withUsage(t, models(tablePage+1)...)
	s.people.Store.(*recorded).fails = aigateway.ErrUnavailable
	s.user("boss", aigateway.RoleAdmin)
	assert.PanicsWithValue(t, http.ErrAbortHandler, func() {
		s.ask(testRequest{call: "GET /api/v1/usage?by=model&format=csv", token: s.token("boss")})
	})
}

// L066: spreadsheets once ran what a client had chosen as the name of a model.
func TestL066NamesInATableAreNoFormulas(t *testing.T) {
	s, _ := withUsage(t,
		accounting.Usage{Model: "=cmd()", Requests: 1, Cost: aigateway.Cost{Nanos: 2000, Currency: "USD"}},
		accounting.Usage{Model: `a "quoted", name`}, accounting.Usage{Model: "-1"}, accounting.Usage{Model: "+1"}, accounting.Usage{Model: "@x"})
	s.user("boss", aigateway.RoleAdmin)
	const table = "model,requests,calls,input_tokens,cache_read_tokens,cache_write_tokens,output_tokens,reasoning_tokens,searches,cost_micro,currency,estimated,unpriced,saved_micro\n" +
		"'=cmd(),1,0,0,0,0,0,0,0,2,USD,0,0,0\n" +
		"\"a \"\"quoted\"\", name\",0,0,0,0,0,0,0,0,0,,0,0,0\n" +
		"'-1,0,0,0,0,0,0,0,0,0,,0,0,0\n'+1,0,0,0,0,0,0,0,0,0,,0,0,0\n'@x,0,0,0,0,0,0,0,0,0,,0,0,0\n"
	for _, request := range []testRequest{
		{call: "GET /api/v1/usage?by=model&format=csv", token: s.token("boss")},
		{call: "GET /api/v1/usage?by=model", token: s.token("boss"), header: http.Header{"Accept": {"text/csv;q=0.9, */*"}}},
	} {
		answer := s.ask(request)
		assert.Equal(t, http.StatusOK, answer.status)
		assert.Equal(t, table, answer.body)
	}
	answer := s.admin("GET /api/v1/usage?by=model&format=csv", "")
	assert.Equal(t, table, answer.body, "the admin API once answered {}")
	answer = s.ask(testRequest{call: "GET /api/v1/usage?by=model&format=json", token: s.token("boss"), header: http.Header{"Accept": {"text/csv"}}})
	assert.Contains(t, answer.body, `"items"`)
	answer = s.ask(testRequest{call: "GET /api/v1/usage?format=xlsx", token: s.token("boss")})
	assert.Equal(t, http.StatusBadRequest, answer.status, "an unknown format was answered with JSON")
	assert.Contains(t, answer.body, "format must be json or csv")
}

// discounts is a state with the discount of a model.
type discounts struct{ aigateway.State }

func (discounts) CacheDiscount(asked, provider, model string) (picos int64, currency string) {
	if asked == "fast" && provider == "p" && model == "m-1" {
		return 2_700_000, "USD" // 3 and 0.3 for a million tokens
	}
	return 0, ""
}

// Only administrators could see what caches had saved, since only they see prices.
func TestUsersSeeWhatCachesHaveSaved(t *testing.T) {
	sum := func(model string, read int64) accounting.Usage {
		return accounting.Usage{Model: model, Provider: "p", Upstream: "m-1", Requests: 1, Tokens: token.Counts{CacheRead: read}}
	}
	for name, c := range map[string]struct {
		sums []accounting.Usage
		want string
	}{
		"no reads":           {[]accounting.Usage{sum("fast", 0), sum("unknown", 0)}, `{"items":[],"floor":false}`},
		"reads with a price": {[]accounting.Usage{sum("fast", 1_000_000)}, `{"items":[{"saved_micro":2700000,"answers_micro":0,"currency":"USD"}],"floor":false}`},
		"one without":        {[]accounting.Usage{sum("fast", 1_000_000), sum("unknown", 5)}, `{"items":[{"saved_micro":2700000,"answers_micro":0,"currency":"USD"}],"floor":true}`},
		"cached answers":     {[]accounting.Usage{{Model: "fast", Saved: 140_000, Cost: aigateway.Cost{Currency: "USD"}}, sum("fast", 1_000_000)}, `{"items":[{"saved_micro":2700000,"answers_micro":140,"currency":"USD"}],"floor":false}`},
		"others":             {[]accounting.Usage{{Model: "fast", Provider: "p", Upstream: "m-1", Others: 3, Tokens: token.Counts{CacheRead: 9}}}, `{"items":[],"floor":true}`},
	} {
		t.Run(name, func(t *testing.T) {
			s, asked := withUsage(t, c.sums...)
			s.UseState(discounts{})
			alice := s.user("alice", aigateway.RoleUser)
			answer := s.ask(testRequest{call: "GET /api/v1/usage/savings?model=fast&user=alice", token: s.token("alice")})
			assert.Equal(t, http.StatusOK, answer.status)
			assert.JSONEq(t, c.want, answer.body)
			assert.Equal(t, "alice", asked.Only[accounting.ByUser])
			assert.Equal(t, "fast", asked.Only[accounting.ByModel])
			assert.Equal(t, alice.Created.Truncate(time.Millisecond), asked.From.Truncate(time.Millisecond), "the usage of an earlier user with the name")
		})
	}
	s, _ := withUsage(t)
	s.user("alice", aigateway.RoleUser)
	assert.Equal(t, http.StatusNotFound, s.ask(testRequest{call: "GET /api/v1/usage/savings", token: s.token("alice")}).status, "without a gateway")
}
