package usage_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

const batchesPath = site.MessagesPath + "/batches"

// halfDollars is a price of a dollar for each token of the answer, and half of it in batches.
const halfDollars = "price m input 0 output 1000000 batch 0.5"

// lines are those of a site with the vendor, whose key alice has a budget of 100 dollars.
func (b *batching) lines(more ...string) []string {
	return append([]string{
		site.Direct.ProviderAt("p", strings.TrimPrefix(b.URL, "http://"), halfDollars, "format messages", "batches sealed"),
		"limit pocket {\nbudget 100/month\n}", "key alice {env.KEY_ALICE} {\nlimit pocket\n}", "key bob {env.KEY_BOB}",
	}, more...)
}

// batchOf returns a batch of requests with these parameters beside their messages.
func batchOf(requests ...string) string {
	var all []string
	for i, params := range requests {
		all = append(all, fmt.Sprintf(`{"custom_id":"r%d","params":{"messages":[{"role":"user","content":"hi"}],%s}}`, i, params))
	}
	return `{"requests":[` + strings.Join(all, ",") + `]}`
}

// shortAnswers returns the parameters of as many requests for answers of 20 tokens.
func shortAnswers(n int) (all []string) {
	for range n {
		all = append(all, `"model":"m","max_tokens":20`)
	}
	return all
}

// clientBatch is what clients read of a batch.
type clientBatch struct {
	ID         string
	Type       string
	Status     string `json:"processing_status"`
	ResultsURL string `json:"results_url"`
}

func readBatch(t testing.TB, r site.Reply) (b clientBatch) {
	t.Helper()
	require.Equal(t, http.StatusOK, r.Status, r.Body)
	require.NoError(t, json.Unmarshal([]byte(r.Body), &b), r.Body)
	return b
}

// ask sends a request about batches with a key.
func (b *batching) ask(t testing.TB, address, key, method, path, body string, headers ...string) site.Reply {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, "http://"+address+path, strings.NewReader(body))
	require.NoError(t, err)
	request.Header.Set("X-Api-Key", key)
	request.Header.Set("Anthropic-Version", "2023-06-01")
	request.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
		if headers[i] == "Host" {
			request.Host = headers[i+1]
		}
	}
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	return site.ReadReply(response)
}

// Batches of other gateways were charged at each poll, or never, and as if each answer were one of the
// usual tier. Who sees the results first settles them, once: a client that downloads them, the
// gateway after a client has seen the end, or the gateway by itself.
func TestX032X035X036X040ABatchIsSettledOnce(t *testing.T) {
	for name, see := range map[string][]string{
		"downloaded": {"GET /results", "GET /results"},
		"read":       {"GET "},
		"both":       {"GET ", "GET ", "GET /results"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := startBatching(t)
			s := site.StartProcess(t, "", withLedger(t, b.lines()...)...)
			ask := func(method, path, body string) site.Reply {
				return b.ask(t, s.Address, site.AliceKey, method, path, body)
			}
			created := readBatch(t, ask(http.MethodPost, batchesPath, batchOf(shortAnswers(6)...)))
			assert.Equal(t, "message_batch", created.Type)
			assert.Regexp(t, `^msgbatch_1[\w-]+$`, created.ID)
			assert.Less(t, len(created.ID), 256)
			held := settledCalls(t, s.AdminURL, "reserved")
			assert.EqualValues(t, 60e9, held.Calls[0].Held, "X040: 6 answers of 20 tokens at half of the price")
			refused := ask(http.MethodPost, batchesPath, batchOf(shortAnswers(5)...))
			assert.Equal(t, http.StatusTooManyRequests, refused.Status, "60 of 100 dollars are reserved: %s", refused.Body)

			path := batchesPath + "/" + created.ID
			running := readBatch(t, ask(http.MethodGet, path, ""))
			assert.Equal(t, clientBatch{ID: created.ID, Type: "message_batch", Status: "in_progress"}, running)
			settledCalls(t, s.AdminURL, "reserved")

			results := b.end(succeeded("r3", 7, 3), unsuccessful("r0", "errored"), succeeded("r1", 9, 7),
				unsuccessful("r2", "canceled"), unsuccessful("r4", "expired"), unsuccessful("r5", "expired"))
			for _, request := range see {
				method, below, _ := strings.Cut(request, " ")
				seen := ask(method, path+below, "")
				require.Equal(t, http.StatusOK, seen.Status, seen.Body)
				if below != "" {
					assert.Equal(t, results, seen.Body, "X035: the bytes of the vendor")
					assert.Equal(t, "application/x-jsonl", seen.Header.Get("Content-Type"))
				}
			}
			done := settledCalls(t, s.AdminURL, "provider")
			assert.EqualValues(t, 10, done.Calls[0].Output)
			assert.EqualValues(t, 5e9, done.Calls[0].Cost, "10 tokens at half of the price")
			assert.Zero(t, done.Calls[0].Held)
			assert.Equal(t, &batchCounts{Succeeded: 2, Errored: 1, Canceled: 1, Expired: 2}, done.Batch)
			for range 10 {
				require.Equal(t, http.StatusOK, ask(http.MethodGet, path, "").Status)
			}
			require.Equal(t, http.StatusOK, ask(http.MethodGet, path+"/results", "").Status)
			assert.Equal(t, done, settledCalls(t, s.AdminURL, "provider"), "X036: it is charged once")
			assert.Equal(t, http.StatusTooManyRequests, ask(http.MethodPost, batchesPath, batchOf(shortAnswers(10)...)).Status, "5 of 100 dollars are spent")
			assert.Equal(t, http.StatusOK, ask(http.MethodPost, batchesPath, batchOf(shortAnswers(9)...)).Status)
		})
	}
}

// rawBatch is an id of the vendor.
const rawBatch = "msgbatch_000000000000000000000001"

// In other gateways, who knew the id of a batch could read its results, with any key.
func TestABatchIsThatOfItsClientAlone(t *testing.T) {
	site.SetKeys(t)
	b := startBatching(t)
	s := site.Start(t, withLedger(t, b.lines()...)...)
	address := strings.TrimPrefix(s.URL("site", ""), "http://")
	own := func(method, path string) site.Reply { return b.ask(t, address, site.AliceKey, method, path, "") }
	id := readBatch(t, b.ask(t, address, site.AliceKey, http.MethodPost, batchesPath, batchOf(shortAnswers(1)...))).ID
	b.end(succeeded("r0", 1, 1))
	before := len(b.requests())
	for name, try := range map[string][2]string{
		"of another key":       {site.BobKey, id},
		"the id of the vendor": {site.AliceKey, rawBatch},
		"changed":              {site.AliceKey, id[:len(id)-1] + string(id[len(id)-1]^1)},
		"of another kind":      {site.AliceKey, "resp_" + strings.TrimPrefix(id, "msgbatch_")},
		"long":                 {site.AliceKey, "msgbatch_1" + strings.Repeat("A", 5000)},
	} {
		for _, request := range []string{"GET ", "DELETE ", "POST /cancel", "GET /results"} {
			method, below, _ := strings.Cut(request, " ")
			refused := b.ask(t, address, try[0], method, batchesPath+"/"+try[1]+below, "")
			assert.Equal(t, http.StatusNotFound, refused.Status, "%s, %s: %s", name, request, refused.Body)
			assert.Contains(t, refused.Body, "not found", name)
		}
	}
	assert.Len(t, b.requests(), before, "nothing is sent")
	list := own(http.MethodGet, batchesPath)
	assert.Equal(t, http.StatusNotFound, list.Status)
	assert.Equal(t, "path: this gateway lists no batches, since the provider's list has those of all clients", list.Failure(t).Message)
	assert.Len(t, b.requests(), before, "nothing is sent")

	require.Equal(t, http.StatusOK, own(http.MethodPost, batchesPath+"/"+id+"/cancel?beta=true").Status)
	assert.Equal(t, "POST /v1/messages/batches/"+rawBatch+"/cancel?beta=true", b.requests()[before])
	deleted := readBatch(t, own(http.MethodDelete, batchesPath+"/"+id))
	assert.Equal(t, clientBatch{ID: id, Type: "message_batch_deleted"}, deleted)
	gone := own(http.MethodGet, batchesPath+"/"+id)
	assert.Equal(t, http.StatusNotFound, gone.Status)
	assert.NotContains(t, gone.Body, rawBatch)
	assert.Contains(t, gone.Body, id)
}

// SDKs download results from the address in the answer: that of the vendor would have got the key of
// the gateway, and one with the host of the request that of whoever has sent it.
func TestX033TheAddressOfTheResultsIsThatOfTheGateway(t *testing.T) {
	site.SetKeys(t)
	for name, c := range map[string]struct{ line, want string }{
		"configured": {"public_url https://ai.example.com/base/", "https://ai.example.com/base/v1"},
		"unknown":    {"", "/v1"},
	} {
		t.Run(name, func(t *testing.T) {
			b := startBatching(t)
			anyHost := strings.Replace(site.Block("", withLedger(t, b.lines(c.line)...)...), "127.0.0.1:", ":", 1)
			s := site.StartCaddyfile(t, anyHost)
			address := strings.TrimPrefix(s.URL("site", ""), "http://")
			id := readBatch(t, b.ask(t, address, site.AliceKey, http.MethodPost, batchesPath, batchOf(shortAnswers(1)...))).ID
			b.end(succeeded("r0", 1, 1))
			read := readBatch(t, b.ask(t, address, site.AliceKey, http.MethodGet, batchesPath+"/"+id, "", "Host", "evil.example.com", "X-Forwarded-Host", "evil.example.com"))
			assert.Equal(t, c.want+"/messages/batches/"+id+"/results", read.ResultsURL)
		})
	}
}

// A batch was the way around the models of a key, its budget, and its guards.
func TestX038EachRequestOfABatchIsChecked(t *testing.T) {
	site.SetKeys(t)
	b, other := startBatching(t), startBatching(t)
	provider := func(name, url, models string) string {
		return site.Direct.ProviderAt(name, strings.TrimPrefix(url, "http://"), "format messages", "batches sealed", "models "+models)
	}
	s := site.Start(t, withLedger(t,
		provider("p", b.URL, "up-one up-two m-free"), provider("q", other.URL, "q-one"),
		site.Direct.ProviderAt("plain", strings.TrimPrefix(b.URL, "http://"), "format messages", "models plain-one"),
		"model one {\nto q/q-one\nto p/up-one\n}", "model two {\nto p/up-two\n}", "model secret {\nto p/up-two\n}", "model q {\nto q/q-one\n}", "model long {\nto p/up-one {\nif \"{request.max_tokens} > 100\"\n}\n}",
		"limit pocket {\nbudget 100/month\n}", "key alice {env.KEY_ALICE} {\nmodels one two q long plain-* m-free\n}", "key bob {env.KEY_BOB} {\nlimit pocket\n}")...)
	address := strings.TrimPrefix(s.URL("site", ""), "http://")
	request := func(model string) string { return `"model":"` + model + `","max_tokens":20` }
	for name, c := range map[string]struct {
		key, body, message string
		status             int
	}{
		"a model that the key may not use": {site.AliceKey, batchOf(request("one"), request("secret")), "requests.1.params: this key may not use model 'secret'", 403},
		"an unknown model":                 {site.AliceKey, batchOf(request("x")), "requests.0.params.model: 'x' is not known", 404},
		"models of two providers":          {site.AliceKey, batchOf(request("q"), request("two")), "requests.1.params.model: 'two' cannot be in this batch: all models of a batch must be of one provider, which has batches", 400},
		"a provider without batches":       {site.AliceKey, batchOf(request("plain-one")), "requests.0.params.model: 'plain-one' cannot be in this batch: all models of a batch must be of one provider, which has batches", 400},
		"a condition":                      {site.AliceKey, batchOf(request("long")), "requests.0.params.model: 'long' has no target that takes this request", 400},
		"a stream":                         {site.AliceKey, batchOf(request("one") + `,"stream":true`), "requests.0.params.stream: must be false in a batch", 400},
		"an invalid request":               {site.AliceKey, batchOf(request("one"), `"model":"one"`), "requests.1.params.max_tokens: required", 400},
		"a repeated member":                {site.AliceKey, batchOf(request("one") + `,"model":"secret"`), "requests.0.params.model: must appear once, letter case ignored", 400},
		"other models":                     {site.AliceKey, batchOf(request("one") + `,"fallbacks":["secret"]`), "requests.0.params.fallbacks: must not be sent with this key, because it lets the provider use other models", 403},
		"other parameters":                 {site.AliceKey, `{"requests":[{"custom_id":"a","params":{` + request("one") + `,"messages":[{"role":"user","content":"hi"}]},"Params":{}}]}`, "requests.0.params: must appear once, letter case ignored", 400},
		"odd parameters":                   {site.AliceKey, `{"requests":[{"Params":{}}]}`, "requests.0.params: must be written in lower case", 400},
		"no parameters":                    {site.AliceKey, `{"requests":[{"custom_id":"a"}]}`, "requests.0.params: required", 400},
		"other requests":                   {site.AliceKey, `{"requests":[],"REQUESTS":[]}`, "requests: must appear once, letter case ignored", 400},
		"no requests":                      {site.AliceKey, `{"requests":[]}`, "requests: must hold at least one request", 400},
		"a text":                           {site.AliceKey, `{"requests":"all"}`, "requests: must be an array of objects", 400},
		"no body":                          {site.AliceKey, "", "request body: empty, must be a JSON object", 400},
		"half a body":                      {site.AliceKey, `{"requests":[{"params":`, "request body: not valid JSON at byte 23", 400},
		"a budget without a price":         {site.BobKey, batchOf(request("m-free")), "requests.0.params.model: the price of 'm-free' is unknown, and a budget needs it: an administrator can set a price", 403},
	} {
		refused := b.ask(t, address, c.key, http.MethodPost, batchesPath, c.body)
		assert.Equal(t, c.status, refused.Status, "%s: %s", name, refused.Body)
		assert.Equal(t, c.message, refused.Failure(t).Message, name)
	}
	assert.Empty(t, b.requests())
	assert.Empty(t, other.requests())

	created := readBatch(t, b.ask(t, address, site.AliceKey, http.MethodPost, batchesPath, batchOf(request("one"), request("two"), request("m-free"))))
	assert.NotEmpty(t, created.ID)
	assert.Empty(t, other.requests(), "the first provider that has all models")
	sent := batchOf(request("up-one"), request("up-two"), request("m-free"))
	assert.Equal(t, []string{"POST /v1/messages/batches " + sent}, b.requests(), "the provider's names of the models, and no other change")
}

// Requests of a batch whose price has an edge were all long if their sum was.
func TestX050EachAnswerOfABatchHasAPriceOfItsOwn(t *testing.T) {
	t.Parallel()
	b := startBatching(t)
	price := "price m input 1000 output 0 edge >=100 input_above 2000 output_above 0 batch 0.5"
	s := site.StartProcess(t, "", withLedger(t, site.Direct.ProviderAt("p", strings.TrimPrefix(b.URL, "http://"), price, "format messages", "batches sealed"))...)
	created := readBatch(t, b.ask(t, s.Address, site.ClientKey, http.MethodPost, batchesPath, batchOf(shortAnswers(3)...)))
	b.end(succeeded("r0", 60, 1), succeeded("r1", 60, 1), succeeded("r2", 100, 1))
	require.Equal(t, http.StatusOK, b.ask(t, s.Address, site.ClientKey, http.MethodGet, batchesPath+"/"+created.ID+"/results", "").Status)
	// per token: 0.0005 dollars of the short ones, and 0.001 of the long one
	assert.EqualValues(t, (120*0.0005+100*0.001)*1e9, settledCalls(t, s.AdminURL, "provider").cost())
}

// A batch counted for the tokens of the minute in which it was created, so that large ones were never
// admitted, and live requests after them were not.
func TestX051ABatchUsesNoTokensOfItsMinute(t *testing.T) {
	site.SetKeys(t)
	b := startBatching(t)
	s := site.Start(t, withLedger(t, site.Direct.ProviderAt("p", strings.TrimPrefix(b.URL, "http://"), "format messages", "batches sealed"),
		"limit few {\ntokens 200/1m\nrequests 3/1m\n}", "key alice {env.KEY_ALICE} {\nlimit few\n}")...)
	address := strings.TrimPrefix(s.URL("site", ""), "http://")
	require.Equal(t, http.StatusOK, b.ask(t, address, site.AliceKey, http.MethodPost, batchesPath, batchOf(shortAnswers(1000)...)).Status)
	live := `{"model":"m","max_tokens":20,"messages":[{"role":"user","content":"hi"}]}`
	for _, want := range []int{http.StatusOK, http.StatusOK, http.StatusTooManyRequests} {
		assert.Equal(t, want, b.ask(t, address, site.AliceKey, http.MethodPost, site.MessagesPath, live).Status, "the batch is one request")
	}
}

// What was created before a crash was charged by nobody.
func TestX037X041ABatchOutlivesAKill(t *testing.T) {
	t.Parallel()
	b := startBatching(t)
	lines := withLedger(t, b.lines("seal_keys {env.KEY_BOB}")...)
	s := site.StartProcess(t, "", lines...)
	created := readBatch(t, b.ask(t, s.Address, site.AliceKey, http.MethodPost, batchesPath, batchOf(shortAnswers(6)...)))
	s.Kill()
	s = site.StartProcess(t, "", lines...)
	assert.EqualValues(t, 60e9, settledCalls(t, s.AdminURL, "reserved").Calls[0].Held)
	assert.Equal(t, http.StatusTooManyRequests, b.ask(t, s.Address, site.AliceKey, http.MethodPost, batchesPath, batchOf(shortAnswers(5)...)).Status)
	path := batchesPath + "/" + created.ID
	canceling := readBatch(t, b.ask(t, s.Address, site.AliceKey, http.MethodPost, path+"/cancel", ""))
	assert.Equal(t, "canceling", canceling.Status)
	settledCalls(t, s.AdminURL, "reserved")
	b.end(succeeded("r0", 1, 8), unsuccessful("r1", "canceled"), unsuccessful("r2", "canceled"))
	require.Equal(t, http.StatusOK, b.ask(t, s.Address, site.AliceKey, http.MethodGet, path, "").Status)
	assert.EqualValues(t, 4e9, settledCalls(t, s.AdminURL, "provider").cost(), "X037: what has ended before the cancellation")
	assert.Equal(t, http.StatusOK, b.ask(t, s.Address, site.AliceKey, http.MethodPost, batchesPath, batchOf(shortAnswers(9)...)).Status)
}

// changeDeferred changes the deferred charges of a ledger.
func changeDeferred(t *testing.T, lines []string, change string) {
	t.Helper()
	path := strings.TrimSuffix(strings.TrimPrefix(lines[0], "store sqlite "), ".db") + "-ledger.db"
	db, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	defer db.Close()
	_, err = db.Exec("PRAGMA busy_timeout = 5000; UPDATE gateway_ledger_deferred SET " + change)
	require.NoError(t, err)
}

// A batch that no client looks at is settled as well, by its results, or at last by what was
// reserved. One whose end was seen at the last look cost what was reserved, if that was written
// before its results were read.
func TestX049ABatchThatNobodyReadsIsSettled(t *testing.T) {
	for name, c := range map[string]struct {
		results    []string // nil if the batch never ends
		change     string
		source     string
		cost, held int64
		downloads  int
	}{
		"ended":             {[]string{succeeded("r0", 1, 8)}, "due = 0", "provider", 4e9, 0, 1},
		"ended, seen late":  {[]string{succeeded("r0", 1, 8)}, "due = 0, expires = 0", "provider", 4e9, 0, 1},
		"nothing succeeded": {[]string{unsuccessful("r0", "expired")}, "due = 0", "none", 0, 0, 1},
		"broken results":    {[]string{}, "due = 0, expires = 0", "reserved", 0, 10e9, 1},
		"without an end":    {nil, "due = 0, expires = 0", "reserved", 0, 10e9, 0},
		"without usage":     {[]string{strings.Replace(succeeded("r0", 1, 8), `"usage"`, `"used"`, 1)}, "due = 0", "reserved", 0, 10e9, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := startBatching(t)
			lines := withLedger(t, b.lines()...)
			s := site.StartProcess(t, "", lines...)
			readBatch(t, b.ask(t, s.Address, site.AliceKey, http.MethodPost, batchesPath, batchOf(shortAnswers(1)...)))
			if c.results != nil {
				b.end(c.results...)
			}
			changeDeferred(t, lines, c.change)
			if c.source == "reserved" {
				s.Wait("reserved, since")
			}
			r := settledCalls(t, s.AdminURL, c.source)
			assert.Equal(t, c.cost, r.cost())
			assert.Equal(t, c.held, r.Calls[0].Held)
			assert.Equal(t, c.downloads, b.downloads())
		})
	}
}

// A batch of messages whose results were not there yet was free, or cost what was reserved.
func TestABatchWaitsForItsResults(t *testing.T) {
	for name, early := range map[string]bool{"without an address": true, "without lines": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := startBatching(t)
			s := site.StartProcess(t, "", withLedger(t, b.lines()...)...)
			ask := func(path string) site.Reply { return b.ask(t, s.Address, site.AliceKey, http.MethodGet, path, "") }
			path := batchesPath + "/" + readBatch(t, b.ask(t, s.Address, site.AliceKey, http.MethodPost, batchesPath, batchOf(shortAnswers(1)...))).ID
			b.endEarly(early)
			readBatch(t, ask(path))
			if !early {
				require.Equal(t, http.StatusOK, ask(path+"/results").Status)
				require.Eventually(t, func() bool { return b.downloads() == 2 }, site.Patience, site.PollEvery, "the client and the gateway")
			}
			settledCalls(t, s.AdminURL, "reserved")
			b.end(succeeded("r0", 1, 8))
			readBatch(t, ask(path))
			assert.EqualValues(t, 4e9, settledCalls(t, s.AdminURL, "provider").cost())
		})
	}
}

// A guard that could not check the requests of a batch let them pass.
func TestABatchThatAGuardCannotCheckIsRefused(t *testing.T) {
	site.SetKeys(t)
	b := startBatching(t)
	s := site.Start(t, withLedger(t, b.lines("guard words regex {\nblock email\n}")...)...)
	refused := b.ask(t, strings.TrimPrefix(s.URL("site", ""), "http://"), site.AliceKey, http.MethodPost, batchesPath, batchOf(shortAnswers(1)...))
	assert.Equal(t, http.StatusForbidden, refused.Status)
	assert.Equal(t, "this key may not create batches: the guard 'words' cannot check them", refused.Failure(t).Message)
	assert.Empty(t, b.requests())
}

// A request of a batch could name the file of another client by the id that the vendor has for it, and none
// by the id that the client has.
func TestABatchNamesTheFilesOfItsClientAlone(t *testing.T) {
	site.SetKeys(t)
	b := startBatching(t)
	s := site.Start(t, withLedger(t, site.Direct.ProviderAt("p", strings.TrimPrefix(b.URL, "http://"), "format messages", "batches sealed", "files_state sealed", "models m"))...)
	address := strings.TrimPrefix(s.URL("site", ""), "http://")
	for _, id := range []string{"file_011CNha8iCJcU1wXNR6q4V8w", "file_1AAAA"} {
		body := strings.Replace(batchOf(shortAnswers(1)...), `"hi"`, `[{"type":"document","source":{"type":"file","file_id":"`+id+`"}}]`, 1)
		refused := b.ask(t, address, site.ClientKey, http.MethodPost, batchesPath, body)
		assert.Equal(t, http.StatusNotFound, refused.Status, refused.Body)
		assert.Equal(t, "requests.0.params: File with id '"+id+"' not found.", refused.Failure(t).Message)
	}
	assert.Empty(t, b.requests())
}

// The vendor would have called an address in a batch with its own names of the batch.
func TestABatchHasNoAddressToCall(t *testing.T) {
	site.SetKeys(t)
	b := startBatching(t)
	s := site.Start(t, withLedger(t, b.lines()...)...)
	for _, body := range []string{
		strings.Replace(batchOf(shortAnswers(1)...), `{"requests"`, `{"notification_url":"https://e","requests"`, 1),
		batchOf(`"model":"m","max_tokens":20,"notification_url":"https://e"`),
	} {
		refused := b.ask(t, strings.TrimPrefix(s.URL("site", ""), "http://"), site.AliceKey, http.MethodPost, batchesPath, body)
		assert.Equal(t, http.StatusBadRequest, refused.Status, refused.Body)
		assert.Contains(t, refused.Failure(t).Message, "notification_url: must not be sent: the provider would call this address")
	}
	assert.Empty(t, b.requests())
}

// Without a provider that has batches, their paths are not served.
func TestBatchesAreOffByDefault(t *testing.T) {
	site.SetKeys(t)
	b := startBatching(t)
	s := site.Start(t, site.Direct.ProviderAt("p", strings.TrimPrefix(b.URL, "http://"), "format messages"))
	for _, request := range []string{"POST ", "GET ", "GET /msgbatch_1", "DELETE /msgbatch_1", "POST /msgbatch_1/cancel", "GET /msgbatch_1/results"} {
		method, below, _ := strings.Cut(request, " ")
		refused := b.ask(t, strings.TrimPrefix(s.URL("site", ""), "http://"), site.ClientKey, method, batchesPath+below, "")
		assert.Equal(t, http.StatusNotFound, refused.Status, request)
		assert.Contains(t, refused.Body, "the gateway does not serve /v1/messages/batches", request)
	}
	assert.Empty(t, b.requests())
}
