package usage_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// generating is a provider that generates responses in the background: each is queued until the
// test ends it.
type generating struct {
	way site.Way // to it
	*httptest.Server

	mu    sync.Mutex
	ended map[string]string // the members of a response that has ended, by id
	gets  int
	last  int
}

func startGenerating(t *testing.T) *generating {
	g := &generating{way: site.Direct, ended: make(map[string]string)}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/responses", g.create)
	mux.HandleFunc("GET /v1/responses/{id}", func(w http.ResponseWriter, r *http.Request) {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.gets++
		g.write(w, r.PathValue("id"))
	})
	mux.HandleFunc("POST /v1/responses/{id}/cancel", func(w http.ResponseWriter, r *http.Request) {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.ended[r.PathValue("id")] = `"status":"cancelled","usage":` + tokensUsed(10)
		g.write(w, r.PathValue("id"))
	})
	mux.HandleFunc("GET /v1/responses/{id}/input_items", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprint(w, `{"object":"list","data":[],"first_id":null,"last_id":null,"has_more":false}`)
	})
	g.Server = httptest.NewServer(mux)
	t.Cleanup(g.Close)
	return g
}

// tokensUsed is the usage of a response with so many tokens.
func tokensUsed(n int) string {
	return fmt.Sprintf(`{"input_tokens":5,"input_tokens_details":{"cached_tokens":0},"output_tokens":%d,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":%d}`, n, n+5)
}

func (g *generating) create(w http.ResponseWriter, r *http.Request) {
	var request struct{ Stream bool }
	_ = json.NewDecoder(r.Body).Decode(&request)
	g.mu.Lock()
	g.last++
	id := fmt.Sprintf("resp_%032d", g.last)
	g.mu.Unlock()
	if !request.Stream {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.write(w, id)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for i, event := range []string{
		`response.created","response":{"id":"` + id + `","object":"response","created_at":1,"status":"in_progress","model":"m","output":[]}`,
		`response.output_text.delta","item_id":"msg_1","output_index":0,"content_index":0,"delta":"Hel"`,
	} {
		_, _ = fmt.Fprintf(w, "event: %s\ndata: {\"sequence_number\":%d,\"type\":\"%s}\n\n", event[:strings.Index(event, `"`)], i, event)
	}
	w.(http.Flusher).Flush()
	<-r.Context().Done()
}

// write writes a response. The caller holds mu.
func (g *generating) write(w http.ResponseWriter, id string) {
	members, ok := g.ended[id]
	if !ok {
		members = `"status":"queued","usage":null`
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"id":"%s","object":"response","created_at":1,"model":"m","background":true,"output":[],%s}`, id, members)
}

// end ends the last response.
func (g *generating) end(members string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ended[fmt.Sprintf("resp_%032d", g.last)] = members
}

// lines are those of a site with the provider, whose key alice has a budget.
func (g *generating) lines(more ...string) []string {
	return append([]string{
		g.way.ProviderAt("p", strings.TrimPrefix(g.URL, "http://"), dollars, "format responses", "responses_state sealed"),
		"limit pocket {\nbudget 100/month\n}", "key alice {env.KEY_ALICE} {\nlimit pocket\n}",
	}, more...)
}

// inBackground returns a request for an answer of at most so many tokens.
func inBackground(limit int, more string) string {
	return fmt.Sprintf(`{"model":"m","input":"hello","background":true,"max_output_tokens":%d%s}`, limit, more)
}

// asAlice are the headers of a client with a key.
var asAlice = []string{"Authorization", "Bearer " + site.AliceKey}

// settledCalls returns the calls of the only record with calls, once they have a source.
func settledCalls(t *testing.T, admin func(string) string, source string) (r *record) {
	t.Helper()
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		var page struct{ Items []record }
		get(c, admin("/api/v1/records?limit=100"), &page)
		var charged []record
		for _, r := range page.Items {
			if len(r.Calls) > 0 {
				charged = append(charged, r)
			}
		}
		if assert.Len(c, charged, 1) && assert.Len(c, charged[0].Calls, 1) {
			r = &charged[0]
			assert.Equal(c, source, r.Calls[0].Source)
		}
	}, site.Patience, 50e6)
	return r
}

// The cost of an answer in the background was unknown, so keys with a budget were refused; for other
// keys, the ledger had an estimate of the acknowledgement. Whoever sees the end settles the cost,
// once, however often it is seen.
func TestX055X058X059AnAnswerInTheBackgroundIsSettledOnce(t *testing.T) {
	for name, see := range map[string]struct {
		state string // at the end
		path  string // of what the client asks for; empty if it asks for nothing
	}{
		"read":      {`"status":"completed","usage":` + tokensUsed(10), "GET /v1/responses/*"},
		"cancelled": {"", "POST /v1/responses/*/cancel"},
		"polled":    {`"status":"completed","usage":` + tokensUsed(10), ""},
		"cut short": {`"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"usage":` + tokensUsed(10), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := startGenerating(t)
			if see.path == "" { // reverse_proxy panicked at a request without a client, which ended the process
				g.way = site.Proxied
			}
			s := site.StartProcess(t, "", withLedger(t, g.lines()...)...)
			created := s.Ask(site.ResponsesPath, inBackground(60, ""), asAlice...)
			require.Equal(t, http.StatusOK, created.Status, created.Body)
			var response struct{ ID string }
			require.NoError(t, json.Unmarshal([]byte(created.Body), &response))
			held := settledCalls(t, s.AdminURL, "reserved")
			assert.EqualValues(t, 60e9, held.Calls[0].Held)
			refused := s.Ask(site.ResponsesPath, inBackground(60, ""), asAlice...)
			assert.Equal(t, http.StatusTooManyRequests, refused.Status, "the highest cost is reserved: %s", refused.Body)
			manage := func(path string) site.Reply {
				method, path, _ := strings.Cut(strings.Replace(path, "*", response.ID, 1), " ")
				return call(t, s, method, path, site.AliceKey)
			}
			assert.Contains(t, manage("GET /v1/responses/*").Body, `"queued"`)
			assert.Equal(t, http.StatusOK, manage("GET /v1/responses/*/input_items").Status)
			settledCalls(t, s.AdminURL, "reserved")

			if see.state != "" {
				g.end(see.state)
			}
			if see.path != "" {
				require.Equal(t, http.StatusOK, manage(see.path).Status)
			}
			done := settledCalls(t, s.AdminURL, "provider")
			assert.EqualValues(t, 10, done.Calls[0].Output)
			assert.EqualValues(t, 10e9, done.Calls[0].Cost)
			assert.Zero(t, done.Calls[0].Held)
			for range 3 {
				require.Equal(t, http.StatusOK, manage("GET /v1/responses/*").Status)
			}
			assert.Equal(t, done, settledCalls(t, s.AdminURL, "provider"), "X055: reading it again costs nothing")
			refused = s.Ask(site.ResponsesPath, inBackground(91, ""), asAlice...)
			assert.Equal(t, http.StatusTooManyRequests, refused.Status, "10 of 100 dollars are spent")
			assert.Equal(t, http.StatusOK, s.Ask(site.ResponsesPath, inBackground(90, ""), asAlice...).Status)
		})
	}
}

// call sends a request without a body with a key.
func call(t *testing.T, s *site.Process, method, path, key string) site.Reply {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, "http://"+s.Address+path, nil)
	require.NoError(t, err)
	request.Header.Set("Authorization", "Bearer "+key)
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	return site.ReadReply(response)
}

// A process that was killed before the end of the answer knew nothing of it afterwards: what was
// reserved counts until the next one has settled it.
func TestX060AnAnswerInTheBackgroundOutlivesAKill(t *testing.T) {
	t.Parallel()
	g := startGenerating(t)
	lines := withLedger(t, g.lines()...)
	s := site.StartProcess(t, "", lines...)
	require.Equal(t, http.StatusOK, s.Ask(site.ResponsesPath, inBackground(60, ""), asAlice...).Status)
	s.Kill()
	s = site.StartProcess(t, "", lines...)
	settledCalls(t, s.AdminURL, "reserved")
	assert.Equal(t, http.StatusTooManyRequests, s.Ask(site.ResponsesPath, inBackground(60, ""), asAlice...).Status)
	g.end(`"status":"completed","usage":` + tokensUsed(10))
	assert.EqualValues(t, 10e9, settledCalls(t, s.AdminURL, "provider").cost())
	assert.Equal(t, http.StatusTooManyRequests, s.Ask(site.ResponsesPath, inBackground(91, ""), asAlice...).Status)
	assert.Equal(t, http.StatusOK, s.Ask(site.ResponsesPath, inBackground(90, ""), asAlice...).Status)
}

// A client that leaves the stream of an answer in the background does not end it: the provider goes
// on, and charges all of it.
func TestX065AStreamThatTheClientLeavesIsSettledAtItsEnd(t *testing.T) {
	t.Parallel()
	g := startGenerating(t)
	s := site.StartProcess(t, "", withLedger(t, g.lines()...)...)
	stream := s.Open(site.ResponsesPath, inBackground(60, `,"stream":true`), asAlice...)
	stream.NextUntil(`"Hel"`)
	stream.Cancel()
	assert.EqualValues(t, 60e9, settledCalls(t, s.AdminURL, "reserved").Calls[0].Held)
	g.end(`"status":"completed","usage":` + tokensUsed(10))
	assert.EqualValues(t, 10e9, settledCalls(t, s.AdminURL, "provider").cost())
}

// What is charged is as for other answers, unless nothing shows it: a failure costs what the provider
// reports, and an end without usage leaves what was reserved.
func TestTheEndOfAnAnswerInTheBackgroundDecidesItsCost(t *testing.T) {
	for name, want := range map[string]struct {
		state, source string
		cost, held    int64
	}{
		"failed":              {`"status":"failed","usage":null,"error":{"code":"server_error","message":"x"}`, "none", 0, 0},
		"failed, with usage":  {`"status":"failed","error":{"code":"server_error","message":"x"},"usage":` + tokensUsed(3), "provider", 3e9, 0},
		"cancelled, no usage": {`"status":"cancelled","usage":null`, "reserved", 0, 60e9},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := startGenerating(t)
			s := site.StartProcess(t, "", withLedger(t, g.lines()...)...)
			created := s.Ask(site.ResponsesPath, inBackground(60, ""), asAlice...)
			var response struct{ ID string }
			require.NoError(t, json.Unmarshal([]byte(created.Body), &response))
			g.end(want.state)
			require.Equal(t, http.StatusOK, call(t, s, http.MethodGet, "/v1/responses/"+response.ID, site.AliceKey).Status)
			r := settledCalls(t, s.AdminURL, want.source)
			assert.Equal(t, want.cost, r.Calls[0].Cost)
			assert.Equal(t, want.held, r.Calls[0].Held)
			g.mu.Lock()
			asked := g.gets
			g.mu.Unlock()
			assert.Equal(t, 1, asked, "nobody asks for what is settled")
		})
	}
}

// Two gateways see the end of the same answer.
func TestTwoGatewaysSettleAnAnswerInTheBackgroundOnce(t *testing.T) {
	t.Parallel()
	g := startGenerating(t)
	dir := t.TempDir()
	var gateways []*site.Process
	for i := range 2 {
		gateways = append(gateways, site.StartProcess(t, "", append(g.lines("seal_keys {env.KEY_BOB}"),
			"store sqlite "+dir+"/gateway.db", fmt.Sprintf("ledger {\njournal %s/journal%d\n}", dir, i))...))
	}
	created := gateways[0].Ask(site.ResponsesPath, inBackground(60, ""), asAlice...)
	var response struct{ ID string }
	require.NoError(t, json.Unmarshal([]byte(created.Body), &response), created.Body)
	settledCalls(t, gateways[1].AdminURL, "reserved")
	g.end(`"status":"completed","usage":` + tokensUsed(10))
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() { call(t, gateways[i%2], http.MethodGet, "/v1/responses/"+response.ID, site.AliceKey) })
	}
	all.Wait()
	assert.EqualValues(t, 10e9, settledCalls(t, gateways[1].AdminURL, "provider").cost())
	var page struct{ Items []sum }
	get(t, gateways[0].AdminURL("/api/v1/usage?by=key"), &page)
	require.Len(t, page.Items, 1)
	assert.EqualValues(t, 10e6, page.Items[0].Cost)
}

// Without the state of the provider, nothing can be asked for later.
func TestAnAnswerInTheBackgroundNeedsWhatSettlesIt(t *testing.T) {
	g := startGenerating(t)
	site.SetKeys(t)
	s := site.Start(t, withLedger(t, g.lines()...)...)
	refused := s.Ask(site.ResponsesPath, inBackground(60, `,"store":false`), asAlice...)
	assert.Equal(t, http.StatusForbidden, refused.Status)
	assert.Equal(t, "background: must not be sent with this key, because the cost of the answer remains unknown", refused.Failure(t).Message)
}
