package usage_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

const fileBatchesPath = "/v1/batches"

// requestLine is a request of a batch in a line of a file.
func requestLine(body string) string {
	return `{"custom_id":"r","method":"POST","url":"/v1/chat/completions","body":{` + body + `}}` + "\n"
}

// chatLines are as many requests for answers of 20 tokens of a model.
func chatLines(model string, n int) string {
	return strings.Repeat(requestLine(`"model":"`+model+`","max_tokens":20,"messages":[{"role":"user","content":"hi"}]`), n)
}

// store stores requests of a batch, and returns the id of the file.
func (f filer) store(key, lines string) string {
	f.Helper()
	return idIn(f, f.upload(key, filesPath, file(lines), purpose("batch"))) // as the official client for Node sends them
}

// create sends a request that creates a batch.
func (f filer) create(key, file string) site.Reply {
	f.Helper()
	return f.ask(key, http.MethodPost, fileBatchesPath, strings.NewReader(`{"input_file_id":"`+file+`","endpoint":"/v1/chat/completions","completion_window":"24h","metadata":{"a":"b"}}`), "application/json")
}

// startFileBatches starts a process with the vendor. Alice has a budget of 100 dollars, and a token of an
// answer in a batch costs half of one.
func startFileBatches(t *testing.T, lines ...string) (filer, *site.Process) {
	f := startFiling(t)
	all := withLedger(t, append([]string{
		site.Direct.ProviderAt("p", strings.TrimPrefix(f.URL, "http://"), halfDollars, "price cheap input 0 output 500000 batch 0.5", "format chat responses", "files_state sealed", "batches sealed"),
		"seal_keys {env.KEY_BOB}", "limit pocket {\nbudget 100/month\n}", "key alice {env.KEY_ALICE} {\nlimit pocket\n}", "key bob {env.KEY_BOB}",
	}, lines...)...)
	s := site.StartProcess(t, "", all...)
	return filer{f, t, s.Address}, s
}

// shownBatch is what clients read of a batch of a file.
type shownBatch struct {
	ID, Object, Status string

	Input  string `json:"input_file_id"`
	Output string `json:"output_file_id"`
	Error  string `json:"error_file_id"`
}

func readFileBatch(t testing.TB, r site.Reply) (b shownBatch) {
	t.Helper()
	require.Equal(t, http.StatusOK, r.Status, r.Body)
	assert.NotRegexp(t, rawIDs, r.Body)
	require.NoError(t, json.Unmarshal([]byte(r.Body), &b), r.Body)
	return b
}

// settledBatch returns the record of the only batch, once it is settled.
func settledBatch(t *testing.T, admin func(string) string) (r record) {
	t.Helper()
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		var page struct{ Items []record }
		get(c, admin("/api/v1/records?limit=100"), &page)
		i := slices.IndexFunc(page.Items, func(r record) bool { return len(r.Calls) > 0 })
		if assert.GreaterOrEqual(c, i, 0) && assert.Equal(c, "provider", page.Items[i].Calls[0].Source) {
			r = page.Items[i]
		}
	}, site.Patience, 50e6)
	return r
}

// In other gateways a batch of a file was charged at each poll, or never, and its output was a file of
// everybody.
func TestX042X043X044X045ABatchOfAFileIsSettledOnce(t *testing.T) {
	t.Parallel()
	f, s := startFileBatches(t)
	id := f.store(site.AliceKey, chatLines("m", 2)+chatLines("cheap", 1))
	assert.Equal(t, chatLines("m", 2)+chatLines("cheap", 1), f.stored()[rawFile(1)].content)
	for name, of := range map[string][2]string{"another key": {site.BobKey, id}, "the vendor": {site.AliceKey, rawFile(1)}, "nobody": {site.AliceKey, "file-1AAAA"}} {
		refused := f.create(of[0], of[1])
		assert.Equal(t, http.StatusNotFound, refused.Status, "X042: %s: %s", name, refused.Body)
	}
	created := readFileBatch(t, f.create(site.AliceKey, id))
	assert.Equal(t, "batch", created.Object)
	assert.Regexp(t, `^batch_1[\w-]+$`, created.ID)
	assert.Equal(t, id, created.Input, "the form that the client has")
	assert.Equal(t, `POST /v1/batches {"input_file_id":"`+rawFile(1)+`","endpoint":"/v1/chat/completions","completion_window":"24h","metadata":{"a":"b"}}`, f.requests()[len(f.requests())-1], "X043")
	held := settledCalls(t, s.AdminURL, "reserved")
	assert.EqualValues(t, 25e9, held.Calls[0].Held, "X040: 2 answers of 20 tokens at half a dollar, and one at a quarter")
	second := f.store(site.AliceKey, chatLines("m", 8))
	refused := f.create(site.AliceKey, second)
	assert.Equal(t, http.StatusTooManyRequests, refused.Status, "25 of 100 dollars are reserved: %s", refused.Body)

	path := fileBatchesPath + "/" + created.ID
	assert.Equal(t, "validating", readFileBatch(t, f.read(site.AliceKey, http.MethodGet, path)).Status)
	output := f.end("completed", [3]int{3, 2, 1}, resultLine("m", 3), resultLine("cheap", 4))
	for range 3 {
		ended := readFileBatch(t, f.read(site.AliceKey, http.MethodGet, path))
		assert.Equal(t, "completed", ended.Status)
		assert.Regexp(t, `^file-1[\w-]+$`, ended.Output, "X044")
		assert.Regexp(t, `^file-1[\w-]+$`, ended.Error, "X044")
		assert.Equal(t, f.stored()[output].content, f.read(site.AliceKey, http.MethodGet, filesPath+"/"+ended.Output+"/content").Body)
		assert.Equal(t, http.StatusNotFound, f.read(site.BobKey, http.MethodGet, filesPath+"/"+ended.Output+"/content").Status)
		done := settledBatch(t, s.AdminURL)
		assert.EqualValues(t, 2.5e9, done.cost(), "X045: 3 tokens at half a dollar, and 4 at a quarter")
		assert.Equal(t, &batchCounts{Succeeded: 2, Errored: 1}, done.Batch)
	}
	assert.Equal(t, http.StatusOK, f.create(site.AliceKey, second).Status, "2.50 of 100 dollars are spent")
	for _, request := range []string{"GET ", "POST /cancel"} {
		method, below, _ := strings.Cut(request, " ")
		assert.Equal(t, http.StatusNotFound, f.read(site.BobKey, method, path+below).Status, request)
	}
	list := f.read(site.AliceKey, http.MethodGet, fileBatchesPath)
	assert.Equal(t, http.StatusNotFound, list.Status)
	assert.Contains(t, list.Body, "this gateway lists no batches")
}

// What the requests in a file may cost, and the charge of the batch, are known after a crash; what has
// ended before a cancellation is charged.
func TestX037X041ABatchOfAFileOutlivesAKill(t *testing.T) {
	t.Parallel()
	f := startFiling(t)
	lines := withLedger(t,
		site.Direct.ProviderAt("p", strings.TrimPrefix(f.URL, "http://"), halfDollars, "format chat", "files_state sealed", "batches sealed"),
		"seal_keys {env.KEY_BOB}", "limit pocket {\nbudget 100/month\n}", "key alice {env.KEY_ALICE} {\nlimit pocket\n}")
	s := site.StartProcess(t, "", lines...)
	id := filer{f, t, s.Address}.store(site.AliceKey, chatLines("m", 6))
	s.Kill()
	s = site.StartProcess(t, "", lines...)
	created := readFileBatch(t, filer{f, t, s.Address}.create(site.AliceKey, id))
	s.Kill()
	s = site.StartProcess(t, "", lines...)
	client := filer{f, t, s.Address}
	assert.EqualValues(t, 60e9, settledCalls(t, s.AdminURL, "reserved").Calls[0].Held)
	path := fileBatchesPath + "/" + created.ID
	assert.Equal(t, "cancelling", readFileBatch(t, client.ask(site.AliceKey, http.MethodPost, path+"/cancel", nil, "")).Status)
	f.end("cancelled", [3]int{6, 1, 0}, resultLine("m", 8))
	readFileBatch(t, client.read(site.AliceKey, http.MethodGet, path))
	done := settledCalls(t, s.AdminURL, "provider")
	assert.EqualValues(t, 4e9, done.cost())
	assert.Equal(t, &batchCounts{Succeeded: 1, Canceled: 5}, done.Batch)
}

// A batch without an answer has no file with results.
func TestABatchOfAFileWithoutAnswersCostsNothing(t *testing.T) {
	t.Parallel()
	f, s := startFileBatches(t)
	created := readFileBatch(t, f.create(site.AliceKey, f.store(site.AliceKey, chatLines("m", 1))))
	f.end("failed", [3]int{1, 0, 1})
	readFileBatch(t, f.read(site.AliceKey, http.MethodGet, fileBatchesPath+"/"+created.ID))
	assert.Zero(t, settledCalls(t, s.AdminURL, "none").cost())
}

// A batch that was final before its file showed, or before the file had a line, cost nothing for good
// (BerriAI/litellm#37715). It is looked at again, until what was reserved counts.
func TestABatchOfAFileWaitsForItsResults(t *testing.T) {
	for name, c := range map[string]struct {
		status  string
		lines   []string // that the file has at first; nil without a file
		expires bool
	}{
		"completed": {"completed", nil, false},
		"expired":   {"expired", nil, false},
		"cancelled": {"cancelled", nil, false},
		"failed":    {"failed", nil, false},
		"empty":     {"completed", []string{}, false},
		"never":     {"completed", nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := startFiling(t)
			lines := withLedger(t,
				site.Direct.ProviderAt("p", strings.TrimPrefix(f.URL, "http://"), halfDollars, "format chat", "files_state sealed", "batches sealed"),
				"seal_keys {env.KEY_BOB}", "limit pocket {\nbudget 100/month\n}", "key alice {env.KEY_ALICE} {\nlimit pocket\n}")
			s := site.StartProcess(t, "", lines...)
			client := filer{f, t, s.Address}
			created := readFileBatch(t, client.create(site.AliceKey, client.store(site.AliceKey, chatLines("m", 2))))
			output := f.end(c.status, [3]int{2, 1, 0}, c.lines...)
			path := fileBatchesPath + "/" + created.ID
			readFileBatch(t, client.read(site.AliceKey, http.MethodGet, path))
			if c.expires {
				changeDeferred(t, lines, "due = 0, expires = 0")
				s.Wait("reserved, since")
				assert.EqualValues(t, 20e9, settledCalls(t, s.AdminURL, "reserved").Calls[0].Held)
				return
			}
			if c.lines != nil {
				require.Eventually(t, func() bool { return slices.Contains(f.requests(), "GET /v1/files/"+output+"/content") }, site.Patience, site.PollEvery)
				f.rewrite(output, resultLine("m", 3))
			} else {
				settledCalls(t, s.AdminURL, "reserved")
				f.end(c.status, [3]int{2, 1, 0}, resultLine("m", 3))
			}
			readFileBatch(t, client.read(site.AliceKey, http.MethodGet, path))
			done := settledBatch(t, s.AdminURL)
			assert.EqualValues(t, 1.5e9, done.cost(), "3 tokens at half a dollar")
		})
	}
}

// One line without usage, or that was missing, discarded what was known of the others.
func TestWhatIsKnownOfABatchIsItsFloor(t *testing.T) {
	for name, line := range map[string]string{
		"without usage": strings.Replace(resultLine("m", 1), `"usage"`, `"used"`, 1),
		"without body":  `{"custom_id":"r","response":{"status_code":200,"body":null},"error":null}`,
		"missing":       "",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, s := startFileBatches(t)
			created := readFileBatch(t, f.create(site.AliceKey, f.store(site.AliceKey, chatLines("m", 3))))
			f.end("completed", [3]int{3, 3, 0}, resultLine("m", 3), line, resultLine("m", 4))
			readFileBatch(t, f.read(site.AliceKey, http.MethodGet, fileBatchesPath+"/"+created.ID))
			r := settledBatch(t, s.AdminURL)
			require.Len(t, r.Calls, 2)
			assert.EqualValues(t, 7, r.Calls[0].Output)
			assert.EqualValues(t, 3.5e9, r.Calls[0].Cost)
			assert.Equal(t, "reserved", r.Calls[1].Source)
			assert.EqualValues(t, 30e9-3.5e9, r.Calls[1].Held)
			assert.Equal(t, http.StatusOK, f.create(site.AliceKey, f.store(site.AliceKey, chatLines("m", 7))).Status, "30 of 100 dollars count")
			assert.Equal(t, http.StatusTooManyRequests, f.create(site.AliceKey, f.store(site.AliceKey, chatLines("m", 1))).Status)
		})
	}
}

// The requests in a file were the way around the models of a key, its budget and the names of models. A
// file that is refused is not stored: the provider never gets its end.
func TestX038X046EachLineOfAFileIsChecked(t *testing.T) {
	site.SetKeys(t)
	f, other := startFiling(t), startFiling(t)
	provider := func(name string, of *filing, models string) string {
		return site.Direct.ProviderAt(name, strings.TrimPrefix(of.URL, "http://"), "format chat responses", "files_state sealed", "batches sealed", "price free input 0 output 0 batch 1", "models "+models)
	}
	s := site.Start(t, withLedger(t, provider("first", other, "q-one"), provider("p", f, "up-one two free"),
		"model one {\nto p/up-one\n}", "model secret {\nto p/two\n}",
		"limit pocket {\nbudget 100/month\n}", "max_body 8KiB",
		"key alice {env.KEY_ALICE} {\nmodels one two free\n}", "key bob {env.KEY_BOB} {\nlimit pocket\n}")...)
	client := filer{f, t, strings.TrimPrefix(s.URL("site", ""), "http://")}
	one := chatLines("one", 1)
	for name, c := range map[string]struct {
		lines, message string
		status         int
	}{
		"a model that the key may not use": {one + chatLines("secret", 1), "line 2: body: this key may not use model 'secret'", 403},
		"a blank line":                     {one + "\r\n" + chatLines("secret", 1), "line 3: body: this key may not use model 'secret'", 403},
		"an unknown model":                 {chatLines("x", 1), "line 1: body.model: 'x' is not known", 404},
		"another endpoint":                 {one + strings.Replace(one, "/v1/chat/completions", "/v1/responses", 1), "line 2: url: must be '/v1/chat/completions', as in the lines before", 400},
		"an address":                       {strings.Replace(one, "/v1/chat", "https://evil.example.com/v1/chat", 1), "line 1: url: must be '/v1/chat/completions', '/v1/responses', '/v1/completions' or '/v1/embeddings'", 400},
		"a method":                         {strings.Replace(one, "POST", "GET", 1), "line 1: method: must be 'POST'", 400},
		"no id":                            {strings.Replace(one, `"custom_id":"r",`, "", 1), "line 1: custom_id: required", 400},
		"two bodies":                       {strings.Replace(one, `"body":`, `"body":{"model":"secret"},"Body":`, 1), "line 1: body: must", 400},
		"two lines in one":                 {strings.TrimSpace(one) + one, "line 1: request body: not valid JSON", 400},
		"a stream":                         {requestLine(`"model":"one","stream":true,"messages":[{"role":"user","content":"hi"}]`), "line 1: body.stream: must be false in a batch", 400},
		"an address to call":               {requestLine(`"model":"one","webhook_url":"https://e","messages":[{"role":"user","content":"hi"}]`), "line 1: webhook_url: must not be sent: the provider would call this address", 400},
		"an invalid request":               {one + requestLine(`"model":"one"`), "line 2: body.messages: required", 400},
		"a long line":                      {one + requestLine(`"model":"one","messages":[{"role":"user","content":"`+strings.Repeat("a", 64<<10)+`"}]`), "line 2: line: must have at most 8192 bytes", 400},
		"no lines":                         {"\n", "file: must have a request of a batch in each line", 400},
	} {
		for order, parts := range map[string][]formPart{"": {purpose("batch"), file(c.lines)}, ", purpose last": {file(c.lines), purpose("batch")}} {
			refused := client.upload(site.AliceKey, filesPath, parts...)
			assert.Equal(t, c.status, refused.Status, "%s%s: %s", name, order, refused.Body)
			assert.Contains(t, refused.Failure(t).Message, c.message, name+order)
		}
	}
	priceless := client.upload(site.BobKey, filesPath, purpose("batch"), file(chatLines("two", 1)))
	assert.Equal(t, http.StatusForbidden, priceless.Status, priceless.Body)
	assert.Contains(t, priceless.Body, "line 1: body.model: the price of 'two' is unknown")
	assert.Contains(t, client.upload(site.AliceKey, filesPath, file(one), purpose("fine-tune")).Body, "purpose: must be sent before the file")
	assert.Contains(t, client.upload(site.AliceKey, filesPath, file(one)).Body, "purpose: must be sent before the file")
	assert.Empty(t, f.stored())

	id := client.store(site.AliceKey, one+chatLines("two", 1)+strings.TrimSpace(one))
	want := chatLines("up-one", 1) + chatLines("two", 1) + strings.TrimSpace(chatLines("up-one", 1))
	assert.Equal(t, want, f.stored()[rawFile(1)].content, "the provider's names of the models, and no other change")
	assert.Empty(t, other.stored(), "the provider that has the models gets the file")
	assert.Equal(t, http.StatusOK, client.create(site.AliceKey, id).Status)
	for body, message := range map[string]string{
		`{"endpoint":"/v1/chat/completions"}`:                                                    "input_file_id: required",
		`{"input_file_id":7,"endpoint":"/v1/chat/completions"}`:                                  "input_file_id: must be a string",
		`{"input_file_id":"` + id + `","endpoint":"/v1/videos"}`:                                 "endpoint: must be",
		`{"input_file_id":"` + id + `","Input_File_Id":"` + rawFile(1) + `"}`:                    "input_file_id",
		`{"input_file_id":"` + id + `","endpoint":"/v1/chat/completions","webHook":"https://e"}`: "webHook: must not be sent: the provider would call this address",
		"": "request body: empty",
	} {
		refused := client.ask(site.AliceKey, http.MethodPost, fileBatchesPath, strings.NewReader(body), "application/json")
		assert.Equal(t, http.StatusBadRequest, refused.Status, body)
		assert.Contains(t, refused.Body, message)
	}
	unscanned := idIn(t, client.upload(site.AliceKey, filesPath, purpose("user_data"), file(one)))
	refused := client.create(site.AliceKey, unscanned)
	assert.Equal(t, http.StatusForbidden, refused.Status, refused.Body)
	assert.Contains(t, refused.Body, "this key may not create a batch of this file")
}

// A long file of requests is checked line by line.
func TestAFileOfRequestsIsNotKept(t *testing.T) {
	f := startFiler(t, site.Direct)
	line := strings.TrimSpace(requestLine(fmt.Sprintf(`"model":"m","messages":[{"role":"user","content":"%s"}]`, strings.Repeat("a", 2000)))) + "\r\n"
	id := f.store(site.AliceKey, strings.Repeat(line, 20000))
	assert.EqualValues(t, 20000*len(line), f.stored()[rawFile(1)].size)
	created := f.create(site.AliceKey, id)
	assert.Equal(t, http.StatusOK, created.Status, "%s %q", created.Body, f.requests())
}

// Requests of other endpoints than chat are answered in their own formats.
func TestABatchOfAFileMayBeOfOtherEndpoints(t *testing.T) {
	for path, c := range map[string]struct {
		body, answer string
		output       int64
	}{
		"/v1/responses":  {`"model":"m","max_output_tokens":20,"input":"hi"`, `{"id":"resp_1","object":"response","status":"completed","model":"m","output":[],"usage":{"input_tokens":5,"output_tokens":3,"total_tokens":8}}`, 3},
		"/v1/embeddings": {`"model":"m","input":"hi"`, `{"object":"list","model":"m","data":[{"object":"embedding","index":0,"embedding":[0.1]}],"usage":{"prompt_tokens":5,"total_tokens":5}}`, 0},
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			f, s := startFileBatches(t)
			line := strings.Replace(requestLine(c.body), "/v1/chat/completions", path, 1)
			created := readFileBatch(t, f.create(site.BobKey, f.store(site.BobKey, line)))
			f.end("completed", [3]int{1, 1, 0}, regexp.MustCompile(`"body":\{.*\}\}`).ReplaceAllLiteralString(resultLine("m", 1), `"body":`+c.answer+`}`))
			readFileBatch(t, f.read(site.BobKey, http.MethodGet, fileBatchesPath+"/"+created.ID))
			r := settledBatch(t, s.AdminURL)
			assert.EqualValues(t, c.output, r.Calls[0].Output)
			assert.EqualValues(t, c.output*5e8, r.cost())
		})
	}
}

// A batch that was deleted before its results were read cost what was reserved.
func TestADeletedBatchIsSettledBefore(t *testing.T) {
	t.Parallel()
	b := startBatching(t)
	s := site.StartProcess(t, "", withLedger(t, b.lines()...)...)
	created := readBatch(t, b.ask(t, s.Address, site.AliceKey, http.MethodPost, batchesPath, batchOf(shortAnswers(6)...)))
	b.end(succeeded("r0", 1, 8))
	require.Equal(t, http.StatusOK, b.ask(t, s.Address, site.AliceKey, http.MethodDelete, batchesPath+"/"+created.ID, "").Status)
	assert.EqualValues(t, 4e9, settledCalls(t, s.AdminURL, "provider").cost())
}

// A batch of a file was refused with 503 at max_running, where other requests wait in the queue.
func TestABatchOfAFileWaitsInTheQueue(t *testing.T) {
	t.Parallel()
	f, _ := startFileBatches(t, "max_running 1", "queue 1 1ms")
	id := f.store(site.AliceKey, chatLines("m", 1))
	form, contentType := formOf(file(strings.Repeat("x", 1<<20)))
	body, sent := io.Pipe()
	uploaded := make(chan site.Reply, 1)
	before := len(f.requests())
	go func() { uploaded <- f.ask(site.BobKey, http.MethodPost, filesPath, body, contentType) }()
	_, err := io.CopyN(sent, form, 1<<19)
	require.NoError(t, err)
	require.Eventually(t, func() bool { return len(f.requests()) > before }, site.Patience, site.PollEvery, "the upload has the slot")
	waited := f.create(site.AliceKey, id)
	assert.Equal(t, http.StatusTooManyRequests, waited.Status)
	assert.Contains(t, waited.Body, "too many requests wait for the gateway")
	_, err = io.Copy(sent, form)
	require.NoError(t, err)
	require.NoError(t, sent.Close())
	assert.Equal(t, http.StatusOK, (<-uploaded).Status)
	require.EventuallyWithT(t, func(c *assert.CollectT) { // the slot is free a little behind the answer
		assert.Equal(c, http.StatusOK, f.create(site.AliceKey, id).Status)
	}, site.Patience, site.PollEvery)
}

// The output of a batch had the vendor's ids, which the gateway refuses in the next request, and by which nobody
// could fetch a file that a tool had made. Those of chat completions stayed behind those of responses.
func TestTheOutputOfABatchHasTheIDsOfItsClient(t *testing.T) {
	t.Parallel()
	f := startFiling(t)
	s := site.StartProcess(t, "", withLedger(t,
		site.Direct.ProviderAt("p", strings.TrimPrefix(f.URL, "http://"), halfDollars, "format chat responses", "files_state sealed", "batches sealed", "responses_state sealed"),
		"seal_keys {env.KEY_BOB}", "key alice {env.KEY_ALICE}", "key bob {env.KEY_BOB}")...)
	client := filer{f, t, s.Address}
	created := readFileBatch(t, client.create(site.AliceKey, client.store(site.AliceKey, chatLines("m", 2))))
	const cited = `"annotations":[{"type":"container_file_citation","container_id":"cntr_7","file_id":"cfile_8","text":"file_id: cfile_8"}]`
	line := `{"id": "batch_req_1","custom_id":"r","response":{"status_code":200,"body":{"id":"resp_5","object":"response","status":"completed","model":"m","output":[{"type":"message","id":"msg_1","content":[{"type":"output_text","text":"resp_5",` + cited + `}]}],"usage":{"input_tokens":5,"output_tokens":3,"total_tokens":8}}},"error":null}`
	f.end("completed", [3]int{2, 2, 0}, line, resultLine("m", 3))
	ended := readFileBatch(t, client.read(site.AliceKey, http.MethodGet, fileBatchesPath+"/"+created.ID))
	got := client.read(site.AliceKey, http.MethodGet, filesPath+"/"+ended.Output+"/content").Body
	want := `^\{"id": "batch_req_1","custom_id":"r","response":\{"status_code":200,"body":\{"id":"resp_1[\w-]{30,}",.*"id":"msg_1".*"text":"resp_5".*"container_id":"cntr_1[\w-]{30,}","file_id":"cfile_1[\w-]{30,}","text":"file_id: cfile_8".*\n` + strings.Replace(regexp.QuoteMeta(resultLine("m", 3)), "chatcmpl-1", `chatcmpl-1[\w-]{30,}`, 1) + `\n$`
	assert.Regexp(t, want, got)
}
