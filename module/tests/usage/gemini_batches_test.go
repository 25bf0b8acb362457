package usage_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

const (
	batchMethod      = "/v1beta/models/m:batchGenerateContent"
	embedBatchMethod = "/v1beta/models/m:asyncBatchEmbedContent"
)

// oneRequest is a request for an answer of at most 20 tokens, with further members.
func oneRequest(members string) string {
	return `{"contents":[{"role":"user","parts":[{"text":"hi"}]}],"generationConfig":{"maxOutputTokens":20}` + members + `}`
}

// inlineBatch is a batch of requests.
func inlineBatch(requests ...string) string {
	for i := range requests {
		requests[i] = fmt.Sprintf(`{"request":%s,"metadata":{"key":"r%d"}}`, requests[i], i)
	}
	return `{"batch":{"displayName":"d","inputConfig":{"requests":{"requests":[` + strings.Join(requests, ",") + `]}}}}`
}

// shortRequests are as many requests for answers of 20 tokens.
func shortRequests(n int) (all []string) {
	for range n {
		all = append(all, oneRequest(""))
	}
	return all
}

// googleLines are those of a site with the vendor, whose key alice has a budget of 100 dollars.
func googleLines(t *testing.T, g *google, more ...string) []string {
	return withLedger(t, append([]string{
		site.Direct.ProviderAt("p", strings.TrimPrefix(g.URL, "http://"), halfDollars, "format gemini", "batches sealed", "files_state sealed"),
		"limit pocket {\nbudget 100/month\n}", "key alice {env.KEY_ALICE} {\nlimit pocket\n}", "key bob {env.KEY_BOB}", "seal_keys {env.KEY_BOB}",
	}, more...)...)
}

// shownOperation is what clients read of a batch.
type shownOperation struct {
	Name     string
	Done     bool
	Metadata struct {
		Name, State string
		Output      struct{ ResponsesFile string }
		InputConfig struct{ FileName string }
	}
	Response struct{ ResponsesFile string }
}

func operationIn(t testing.TB, r site.Reply) (o shownOperation) {
	t.Helper()
	require.Equal(t, http.StatusOK, r.Status, r.Body)
	assert.NotRegexp(t, rawGoogles, r.Body)
	require.NoError(t, json.Unmarshal([]byte(r.Body), &o), r.Body)
	assert.Regexp(t, `^batches/1[0-9a-v]+$`, o.Name)
	assert.Equal(t, o.Name, o.Metadata.Name)
	return o
}

// Batches of Gemini clients were charged at each poll by other gateways, or never: their results are in the
// batch itself, or in a file.
func TestX183ABatchOfAGeminiClientIsSettledOnce(t *testing.T) {
	for name, inFile := range map[string]bool{"in the batch": false, "in a file": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			vendor := startGoogle(t)
			s := site.StartProcess(t, "", googleLines(t, vendor)...)
			g := googler{vendor, t, s.Address}
			created := operationIn(t, g.post(site.AliceKey, batchMethod, inlineBatch(shortRequests(6)...)))
			assert.EqualValues(t, 60e9, settledCalls(t, s.AdminURL, "reserved").Calls[0].Held, "6 answers of 20 tokens at half of the price")
			assert.Equal(t, http.StatusTooManyRequests, g.post(site.AliceKey, batchMethod, inlineBatch(shortRequests(5)...)).Status, "60 of 100 dollars are reserved")
			path := "/v1beta/" + created.Name
			assert.Equal(t, created, operationIn(t, g.read(site.AliceKey, http.MethodGet, path)))
			settledCalls(t, s.AdminURL, "reserved")
			g.end("BATCH_STATE_SUCCEEDED", inFile, generated(3), failedResult, generated(7))
			ended := operationIn(t, g.read(site.AliceKey, http.MethodGet, path))
			assert.True(t, ended.Done)
			done := settledCalls(t, s.AdminURL, "provider")
			assert.EqualValues(t, 10, done.Calls[0].Output)
			assert.EqualValues(t, 5e9, done.Calls[0].Cost, "10 tokens at half of the price")
			assert.Zero(t, done.Calls[0].Held)
			assert.Equal(t, &batchCounts{Succeeded: 2, Errored: 1}, done.Batch)
			for range 3 {
				operationIn(t, g.read(site.AliceKey, http.MethodGet, path))
			}
			assert.Equal(t, done, settledCalls(t, s.AdminURL, "provider"), "it is charged once")
			assert.Equal(t, http.StatusTooManyRequests, g.post(site.AliceKey, batchMethod, inlineBatch(shortRequests(10)...)).Status, "5 of 100 dollars are spent")
			if !inFile {
				return
			}
			assert.Regexp(t, `^files/1[0-9a-v]+$`, ended.Response.ResponsesFile)
			assert.Equal(t, ended.Response.ResponsesFile, ended.Metadata.Output.ResponsesFile)
			download := "/v1beta/" + ended.Response.ResponsesFile + ":download?alt=media"
			assert.Equal(t, generated(3)+"\n"+failedResult+"\n"+generated(7)+"\n", g.read(site.AliceKey, http.MethodGet, download).Body)
			assert.Equal(t, http.StatusNotFound, g.read(site.BobKey, http.MethodGet, download).Status)
			for _, version := range []string{"/v1beta", "/v1"} {
				other := "/download" + version + "/" + ended.Response.ResponsesFile + ":download"
				assert.Equal(t, g.read(site.AliceKey, http.MethodGet, download).Body, g.read(site.AliceKey, http.MethodGet, other).Body, "as the documentation of Google has it")
				assert.Equal(t, http.StatusNotFound, g.read(site.BobKey, http.MethodGet, other).Status)
			}
		})
	}
}

// The members of what a function returns are its own: file_id was taken for the id of a file that is not
// stored.
func TestResultsOfFunctionsInABatchOfAGeminiClientHaveNoIDs(t *testing.T) {
	t.Parallel()
	vendor := startGoogle(t)
	s := site.StartProcess(t, "", googleLines(t, vendor)...)
	g := googler{vendor, t, s.Address}
	operationIn(t, g.post(site.AliceKey, batchMethod, inlineBatch(`{"contents":[{"role":"user","parts":[{"text":"hi"}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}}]},`+
		`{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"file_id":"file_1"}}}]}],"generationConfig":{"maxOutputTokens":20}}`)))
}

// Vectors have results of their own, which count what was used in another member.
func TestABatchOfVectorsOfAGeminiClientIsSettled(t *testing.T) {
	t.Parallel()
	vendor := startGoogle(t)
	lines := googleLines(t, vendor)
	s := site.StartProcess(t, "", append(lines, "provider q vllm {\nbase_url "+vendor.URL+"\nformat gemini\nbatches sealed\nmodels e\nprice e input 1000000 output 0 batch 0.5\n}")...)
	g := googler{vendor, t, s.Address}
	vector := `{"content":{"parts":[{"text":"hello"}]},"taskType":"CLUSTERING"}`
	created := operationIn(t, g.post(site.AliceKey, "/v1beta/models/e:asyncBatchEmbedContent", `{"batch":{"input_config":{"requests":{"requests":[{"request":`+vector+`}]}}}}`))
	g.end("BATCH_STATE_SUCCEEDED", false, `{"response":{"embedding":{"values":[0.5]},"tokenCount":"4"}}`)
	operationIn(t, g.read(site.AliceKey, http.MethodGet, "/v1beta/"+created.Name))
	done := settledCalls(t, s.AdminURL, "provider")
	assert.EqualValues(t, 2e9, done.Calls[0].Cost, "4 tokens at half of the price")
}

// A batch was the way around the models of a key, its budget, and its guards.
func TestX184EachRequestOfABatchOfAGeminiClientIsChecked(t *testing.T) {
	site.SetKeys(t)
	vendor := startGoogle(t)
	address := strings.TrimPrefix(vendor.URL, "http://")
	s := site.Start(t, withLedger(t,
		site.Direct.ProviderAt("p", address, "format gemini", "batches sealed", "models up m-free"), site.Direct.ProviderAt("plain", address, "format gemini", "models plain-one"),
		"model m {\nto p/up\n}", "model secret {\nto p/up\n}", "limit pocket {\nbudget 100/month\n}",
		"key alice {env.KEY_ALICE} {\nmodels m plain-*\n}", "key bob {env.KEY_BOB} {\nlimit pocket\n}")...)
	g := googler{vendor, t, strings.TrimPrefix(s.URL("site", ""), "http://")}
	const first = "batch.inputConfig.requests.requests[0].request"
	for name, c := range map[string]struct {
		key, model, body, message string
		status                    int
	}{
		"a model that the key may not use": {site.AliceKey, "secret", inlineBatch(oneRequest("")), first + ": this key may not use model 'secret'", 403},
		"an unknown model":                 {site.BobKey, "x", inlineBatch(oneRequest("")), first + ".model: 'x' is not known", 404},
		"another model in a request":       {site.AliceKey, "m", inlineBatch(oneRequest(""), oneRequest(`,"model":"models/secret"`)), strings.Replace(first, "[0]", "[1]", 1) + ".model: must be that of the path", 400},
		"a provider without batches":       {site.AliceKey, "plain-one", inlineBatch(oneRequest("")), first + ".model: 'plain-one' cannot be in this batch: all models of a batch must be of one provider, which has batches", 400},
		"an invalid request":               {site.AliceKey, "m", inlineBatch(`{"contents":"hi"}`), first + ".contents: must be an array, got string", 400},
		"what the provider keeps":          {site.AliceKey, "m", inlineBatch(oneRequest(`,"cachedContent":"cachedContents/1"`)), first + ".cachedContent: this gateway cannot verify whose object this is: send its content instead", 400},
		"a budget without a price":         {site.BobKey, "m-free", inlineBatch(oneRequest("")), first + ".model: the price of 'm-free' is unknown, and a budget needs it: an administrator can set a price", 403},
		"two lists":                        {site.AliceKey, "m", `{"batch":{"inputConfig":{"requests":{"requests":[]}},"input_config":{}}}`, "batch.inputConfig: must be sent in one spelling only", 400},
		"another case":                     {site.AliceKey, "m", `{"batch":{"InputConfig":{"requests":{"requests":[]}}}}`, "batch.inputConfig: must be written in one of the two spellings of the API", 400},
		"a list twice":                     {site.AliceKey, "m", `{"batch":{"inputConfig":{"requests":{"requests":[]},"requests":{"requests":[]}}}}`, "batch: must have no member twice, letter case ignored", 400},
		"a file as well":                   {site.AliceKey, "m", strings.Replace(inlineBatch(oneRequest("")), `"inputConfig":{`, `"inputConfig":{"fileName":"files/1a",`, 1), "batch.inputConfig: must have either requests or fileName", 400},
		"an address to call":               {site.AliceKey, "m", strings.Replace(inlineBatch(oneRequest("")), `"displayName"`, `"webhook_config":{"uris":["https://client.example"]},"displayName"`, 1), "batch.webhookConfig: must not be sent: the provider would call this address with names of objects that the gateway does not know", 400},
		"no requests":                      {site.AliceKey, "m", `{"batch":{"inputConfig":{"requests":{"requests":[]}}}}`, "batch.inputConfig: must have either requests or fileName", 400},
		"an empty one":                     {site.AliceKey, "m", `{"batch":{"inputConfig":{"requests":{"requests":[{}]}}}}`, first + ": required", 400},
		"a text":                           {site.AliceKey, "m", `{"batch":{"inputConfig":{"requests":{"requests":"all"}}}}`, "batch.inputConfig.requests.requests: must be an array of objects", 400},
		"no batch":                         {site.AliceKey, "m", `{}`, "batch: required", 400},
		"no body":                          {site.AliceKey, "m", ``, "request body: empty, must be a JSON object", 400},
		"a file that is none":              {site.AliceKey, "m", `{"batch":{"inputConfig":{"fileName":"files/1a"}}}`, "File with id 'files/1a' not found.", 404},
	} {
		refused := g.post(c.key, "/v1beta/models/"+c.model+":batchGenerateContent", c.body)
		assert.Equal(t, c.status, refused.Status, "%s: %s", name, refused.Body)
		assert.Equal(t, c.message, refused.Failure(t).Message, name)
	}
	assert.Empty(t, g.requests())
	operationIn(t, g.post(site.AliceKey, "/v1/models/m:batchGenerateContent", inlineBatch(oneRequest(`,"model":"models/m"`), oneRequest(""))))
	assert.Equal(t, "POST /v1beta/models/up:batchGenerateContent "+inlineBatch(oneRequest(`,"model":"models/up"`), oneRequest("")), g.requests()[0], "the provider's name of the model, and no other change")
}

// In other gateways, who knew the name of a batch could read its results, with any key. In a batch, a request
// could name a file of another client, by the name that the vendor has for it.
func TestX185ABatchOfAGeminiClientIsThatOfItsClientAlone(t *testing.T) {
	site.SetKeys(t)
	vendor := startGoogle(t)
	s := site.Start(t, googleLines(t, vendor, "public_url https://ai.example.com")...)
	g := googler{vendor, t, strings.TrimPrefix(s.URL("site", ""), "http://")}
	whole := g.ask(site.AliceKey, http.MethodPost, uploadsOfGoogle, strings.NewReader("--b\r\n\r\n{}\r\n--b\r\n\r\nhello\r\n--b--"), "X-Goog-Upload-Protocol", "multipart", "Content-Type", "multipart/related; boundary=b")
	file := fileOf(t, whole)
	assert.Regexp(t, `^https://ai\.example\.com/v1beta/files/1`, file.URI)
	withFile := func(uri string) string {
		return inlineBatch(strings.Replace(oneRequest(""), `{"text":"hi"}`, `{"fileData":{"fileUri":"`+uri+`"}}`, 1))
	}
	created := operationIn(t, g.post(site.AliceKey, batchMethod, withFile(file.URI)))
	assert.Contains(t, g.requests()[1], `"fileUri":"`+vendor.URL+`/v1beta/files/`+rawGoogle(1)+`"`)
	ofVectors := func(uri string) string {
		return inlineBatch(`{"content":{"parts":[{"fileData":{"fileUri":"` + uri + `"}}]}}`)
	}
	operationIn(t, g.post(site.AliceKey, embedBatchMethod, ofVectors(file.URI)))
	assert.Contains(t, g.requests()[2], `"fileUri":"`+vendor.URL+`/v1beta/files/`+rawGoogle(1)+`"`, "also of vectors")
	before := len(g.requests())
	stores := g.post(site.AliceKey, batchMethod, inlineBatch(oneRequest(`,"tools":[{"fileSearch":{"fileSearchStoreNames":["fileSearchStores/s"]}}]`)))
	assert.Equal(t, http.StatusNotFound, stores.Status, stores.Body)
	for key, uri := range map[string]string{site.BobKey: file.URI, site.AliceKey: vendor.URL + "/v1beta/files/" + rawGoogle(1)} {
		refused := g.post(key, batchMethod, withFile(uri))
		assert.Equal(t, http.StatusNotFound, refused.Status, refused.Body)
		assert.Contains(t, refused.Failure(t).Message, "not found")
		assert.Equal(t, http.StatusNotFound, g.post(key, embedBatchMethod, ofVectors(uri)).Status, "of vectors")
	}
	id := strings.TrimPrefix(created.Name, "batches/")
	for name, try := range map[string][2]string{
		"of another key":       {site.BobKey, id},
		"the id of the vendor": {site.AliceKey, rawGoogle(2)},
		"changed":              {site.AliceKey, id[:len(id)-1] + string(id[len(id)-1]^1)},
		"a file":               {site.AliceKey, strings.TrimPrefix(file.Name, "files/")},
		"long":                 {site.AliceKey, "1" + strings.Repeat("a", 5000)},
	} {
		for _, request := range []string{"GET ", "DELETE ", "POST :cancel"} {
			method, below, _ := strings.Cut(request, " ")
			refused := g.read(try[0], method, "/v1beta/batches/"+try[1]+below)
			assert.Equal(t, http.StatusNotFound, refused.Status, "%s, %s: %s", name, request, refused.Body)
			assert.Contains(t, refused.Body, `"status":"NOT_FOUND"`, name)
		}
	}
	list := g.read(site.AliceKey, http.MethodGet, "/v1beta/batches?pageSize=5")
	assert.Equal(t, http.StatusNotFound, list.Status)
	assert.Equal(t, "path: this gateway lists no batches, since the provider's list has those of all clients", list.Failure(t).Message)
	assert.Len(t, g.requests(), before, "nothing is sent")
	path := "/v1beta/" + created.Name
	assert.JSONEq(t, `{}`, g.post(site.AliceKey, path+":cancel", `{}`).Body)
	assert.Equal(t, "BATCH_STATE_CANCELLED", operationIn(t, g.read(site.AliceKey, http.MethodGet, path)).Metadata.State)
	assert.JSONEq(t, `{}`, g.read(site.AliceKey, http.MethodDelete, path).Body)
	gone := g.read(site.AliceKey, http.MethodGet, path)
	assert.Equal(t, http.StatusNotFound, gone.Status)
	assert.NotRegexp(t, rawGoogles, gone.Body)
	assert.Contains(t, gone.Body, created.Name)
}

// What was created before a crash was charged by nobody, and neither was a batch that no client looks at.
func TestX186ABatchOfAGeminiClientOutlivesAKill(t *testing.T) {
	for name, c := range map[string]struct {
		state      string
		results    []string
		change     string
		source     string
		cost, held int64
		counts     batchCounts
	}{
		"ended":             {"BATCH_STATE_SUCCEEDED", []string{generated(8)}, "due = 0", "provider", 4e9, 0, batchCounts{Succeeded: 1}},
		"failed":            {"BATCH_STATE_FAILED", nil, "due = 0", "none", 0, 0, batchCounts{}},
		"without usage":     {"BATCH_STATE_SUCCEEDED", []string{strings.Replace(generated(8), "usageMetadata", "usage", 1)}, "due = 0", "reserved", 0, 10e9, batchCounts{Succeeded: 1}},
		"results to come":   {"BATCH_STATE_SUCCEEDED", nil, "due = 0, expires = 0", "reserved", 0, 10e9, batchCounts{}},
		"without an end":    {"BATCH_STATE_RUNNING", nil, "due = 0, expires = 0", "reserved", 0, 10e9, batchCounts{}},
		"an unknown answer": {"BATCH_STATE_SUCCEEDED", []string{`{"response":{}}`}, "due = 0", "reserved", 0, 10e9, batchCounts{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			vendor := startGoogle(t)
			lines := googleLines(t, vendor)
			s := site.StartProcess(t, "", lines...)
			g := googler{vendor, t, s.Address}
			operationIn(t, g.post(site.AliceKey, batchMethod, inlineBatch(oneRequest(""))))
			s.Kill()
			s = site.StartProcess(t, "", lines...)
			assert.EqualValues(t, 10e9, settledCalls(t, s.AdminURL, "reserved").Calls[0].Held)
			vendor.end(c.state, false, c.results...)
			changeDeferred(t, lines, c.change)
			if c.source == "reserved" {
				s.Wait("reserved, since")
			}
			r := settledCalls(t, s.AdminURL, c.source)
			assert.Equal(t, c.cost, r.cost())
			assert.Equal(t, c.held, r.Calls[0].Held)
		})
	}
}

// A guard that could not check the requests of a batch let them pass.
func TestABatchOfAGeminiClientThatAGuardCannotCheckIsRefused(t *testing.T) {
	g := startGoogler(t, site.Direct, "guard words regex {\nblock email\n}")
	refused := g.post(site.AliceKey, batchMethod, inlineBatch(oneRequest("")))
	assert.Equal(t, http.StatusForbidden, refused.Status)
	assert.Equal(t, "this key may not create batches: the guard 'words' cannot check them", refused.Failure(t).Message)
	assert.Empty(t, g.requests())
}

// Without a provider that has batches, their paths are not served.
func TestBatchesOfGeminiClientsAreOffByDefault(t *testing.T) {
	site.SetKeys(t)
	g := startGoogle(t)
	s := site.Start(t, site.Direct.ProviderAt("p", strings.TrimPrefix(g.URL, "http://"), "format gemini", "models m"))
	for _, request := range []string{"POST " + batchMethod, "POST " + embedBatchMethod, "GET /v1beta/batches", "GET /v1beta/batches/1a", "DELETE /v1beta/batches/1a", "POST /v1beta/batches/1a:cancel"} {
		method, path, _ := strings.Cut(request, " ")
		refused := s.Call(method, s.URL("site", path), "", "X-Goog-Api-Key", site.ClientKey)
		assert.Equal(t, http.StatusNotFound, refused.Status, request)
		assert.Contains(t, refused.Body, "the gateway does not serve", request)
	}
	assert.Empty(t, g.requests())
}

// promptLines are as many requests for answers of 20 tokens, each in a line.
func promptLines(n int) string {
	return strings.Repeat(`{"key":"r","request":`+oneRequest("")+"}\n", n)
}

// batchOfFile sends a request of Alice that creates a batch of a file.
func (g googler) batchOfFile(file string) site.Reply {
	g.Helper()
	return g.post(site.AliceKey, batchMethod, `{"batch":{"inputConfig":{"fileName":"`+file+`"}}}`)
}

// upload stores a file in pieces, and returns the answer to the last one.
func (g googler) upload(key string, pieces ...string) (r site.Reply) {
	g.Helper()
	session, offset := g.start(key, uploadsOfGoogle, len(strings.Join(pieces, ""))), 0
	for i, piece := range pieces {
		command := "upload"
		if i == len(pieces)-1 {
			command = "upload, finalize"
		}
		r = g.piece(key, session, command, offset, piece)
		offset += len(piece)
	}
	return r
}

// A key with models or a budget could create no batch of a file at all, because its requests had not been read:
// it arrives in pieces, and names no model.
func TestX187ABatchOfAFileOfAGeminiClientIsReserved(t *testing.T) {
	const embedding = `{"key":"r","request":{"content":{"parts":[{"text":"hi"}]}}}` + "\n"
	lines := promptLines(6)
	for name, c := range map[string]struct {
		pieces []string
		held   int64
	}{
		"in one piece":          {[]string{lines}, 60e9},
		"in pieces of lines":    {[]string{lines[:120], lines[120:130], lines[130:]}, 60e9},
		"without a last end":    {[]string{strings.TrimSpace(lines)}, 60e9},
		"without a bound":       {[]string{promptLines(1) + `{"request":{"contents":[{"parts":[{"text":"hi"}]}],"generation_config":{"candidate_count":2}}}`}, 10e9 + 2*10*500e6},
		"several answers":       {[]string{strings.Replace(promptLines(1), `"maxOutputTokens"`, `"candidateCount":3,"maxOutputTokens"`, 1)}, 30e9},
		"vectors cost no token": {[]string{embedding}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			vendor := startGoogle(t)
			s := site.StartProcess(t, "", append(googleLines(t, vendor), "model m {\nto p/m {\nmax_output_tokens 10\n}\n}")...)
			g := googler{vendor, t, s.Address}
			file := fileOf(t, g.upload(site.AliceKey, c.pieces...))
			assert.Equal(t, strings.Join(c.pieces, ""), g.stored(2).content, "every byte")
			operationIn(t, g.batchOfFile(file.Name))
			assert.Equal(t, c.held, settledCalls(t, s.AdminURL, "reserved").Calls[0].Held)
			if c.held == 60e9 {
				assert.Equal(t, http.StatusTooManyRequests, g.batchOfFile(file.Name).Status, "60 of 100 dollars are reserved")
			}
		})
	}
}

// What the requests of a file may cost is known after a crash, and the batch is charged once.
func TestX187ABatchOfAFileOfAGeminiClientOutlivesAKill(t *testing.T) {
	t.Parallel()
	vendor := startGoogle(t)
	lines := googleLines(t, vendor)
	s := site.StartProcess(t, "", lines...)
	file := fileOf(t, googler{vendor, t, s.Address}.upload(site.AliceKey, promptLines(2)[:50], promptLines(2)[50:]))
	s.Kill()
	s = site.StartProcess(t, "", lines...)
	g := googler{vendor, t, s.Address}
	created := operationIn(t, g.batchOfFile(file.Name))
	assert.EqualValues(t, 20e9, settledCalls(t, s.AdminURL, "reserved").Calls[0].Held)
	g.end("BATCH_STATE_SUCCEEDED", true, generated(3), failedResult)
	operationIn(t, g.read(site.AliceKey, http.MethodGet, "/v1beta/"+created.Name))
	done := settledCalls(t, s.AdminURL, "provider")
	assert.EqualValues(t, 1.5e9, done.cost())
	assert.Equal(t, &batchCounts{Succeeded: 1, Errored: 1}, done.Batch)
}

// The lines of a file were the way around the models of a key and its budget. What is refused is not stored.
func TestX188EachLineOfAFileOfAGeminiClientIsChecked(t *testing.T) {
	site.SetKeys(t)
	vendor := startGoogle(t)
	address := strings.TrimPrefix(vendor.URL, "http://")
	s := site.Start(t, withLedger(t,
		site.Direct.ProviderAt("p", address, "format gemini", "batches sealed", "files_state sealed", "models m m-free"), "limit pocket {\nbudget 100/month\n}", "max_body 8KiB",
		"key alice {env.KEY_ALICE} {\nmodels m\n}", "key bob {env.KEY_BOB} {\nlimit pocket\n}", "model other {\nto p/m-free\n}")...)
	g := googler{vendor, t, strings.TrimPrefix(s.URL("site", ""), "http://")}
	one := promptLines(1)
	withMember := func(member string) string { return one + `{"request":` + oneRequest(member) + "}\n" }
	for name, c := range map[string]struct{ lines, message string }{
		"a model":               {withMember(`,"model":"models/secret"`), "line 2: request.model: must not be sent in a file: the batch of it names the model of all requests"},
		"a stored file":         {strings.Replace(one, `{"text":"hi"}`, `{"fileData":{"fileUri":"files/1a"}}`, 1), "line 1: request.fileUri: must not name a stored file in a file: send the requests in the body of the batch"},
		"a raw address":         {strings.Replace(one, `{"text":"hi"}`, `{"fileData":{"fileUri":"`+vendor.URL+`/v1beta/files/g1"}}`, 1), "line 1: request.fileUri: must not name a stored file in a file: send the requests in the body of the batch"},
		"what the vendor keeps": {withMember(`,"cachedContent":"cachedContents/1"`), "line 2: request.cachedContent: this gateway cannot verify whose object this is: send its content instead"},
		"no request":            {one + `{"key":"r"}`, "line 2: request: required"},
		"no JSON":               {one + `{"key":`, "line 2: request: required"},
		"two requests":          {one + `{"request":` + oneRequest("") + `,"Request":{}}`, "line 2: request: must be sent once, letter case ignored"},
		"a request twice":       {`{"request":` + oneRequest("") + `,"request":` + oneRequest("") + `}`, "line 1: request: must be sent once, letter case ignored"},
		"a text":                {one + `{"request":"all"}`, "line 2: request: must be an object"},
		"an invalid request":    {`{"request":{"contents":"hi"}}`, "line 1: request.contents: must be an array, got string"},
		"a long line":           {one + withMember(`,"labels":{"a":"`+strings.Repeat("a", 8<<10)+`"}`), "line 3: line: must have at most 8192 bytes"},
	} {
		for _, key := range []string{site.AliceKey, site.BobKey} {
			refused := g.upload(key, c.lines)
			assert.Equal(t, http.StatusBadRequest, refused.Status, "%s: %s", name, refused.Body)
			assert.Equal(t, c.message, refused.Failure(t).Message, name)
			half := len(c.lines) / 2
			refused = g.upload(key, c.lines[:half], c.lines[half:])
			assert.Equal(t, c.message, refused.Failure(t).Message, name)
			whole := g.ask(key, http.MethodPost, uploadsOfGoogle, strings.NewReader("--b\r\n\r\n{}\r\n--b\r\n\r\n"+c.lines+"\r\n--b--"), "X-Goog-Upload-Protocol", "multipart", "Content-Type", "multipart/related; boundary=b")
			assert.Equal(t, c.message, whole.Failure(t).Message, name)
		}
		assert.Equal(t, http.StatusOK, g.upload(site.ClientKey, c.lines).Status, "a key without limits stores any file")
	}
	mine := fileOf(t, g.upload(site.AliceKey, one)).Name
	whole := fileOf(t, g.ask(site.AliceKey, http.MethodPost, uploadsOfGoogle, strings.NewReader("--b\r\n\r\n{}\r\n--b\r\n\r\n"+one+"\r\n--b--"), "X-Goog-Upload-Protocol", "multipart", "Content-Type", "multipart/related; boundary=b")).Name
	for name, c := range map[string]struct {
		key, path, file, message string
		status                   int
	}{
		"a model that the key may not use": {site.AliceKey, "/v1beta/models/other:batchGenerateContent", mine, "this key may not use model 'other'", 403},
		"without a price":                  {site.BobKey, "/v1beta/models/other:batchGenerateContent", fileOf(t, g.upload(site.BobKey, one)).Name, "the price of 'other' is unknown", 403},
		"of another key":                   {site.BobKey, batchMethod, mine, "File with id '" + mine + "' not found.", 404},
		"another kind of file":             {site.AliceKey, batchMethod, fileOf(t, g.upload(site.AliceKey, "hello\n"+one)).Name, "this key may not create a batch of this file, whose requests the gateway has not checked for it: store the file again with this key, all pieces of it through one gateway", 403},
		"a document":                       {site.AliceKey, batchMethod, fileOf(t, g.upload(site.AliceKey, `{"a":"`+strings.Repeat("a", 9<<10)+`"}`)).Name, "this key may not create a batch of this file, whose requests the gateway has not checked for it: store the file again with this key, all pieces of it through one gateway", 403},
		"its own":                          {site.AliceKey, batchMethod, mine, "", 200},
		"sent at once":                     {site.AliceKey, batchMethod, whole, "", 200},
	} {
		answer := g.post(c.key, c.path, `{"batch":{"inputConfig":{"fileName":"`+c.file+`"}}}`)
		assert.Equal(t, c.status, answer.Status, "%s: %s", name, answer.Body)
		if c.message != "" {
			assert.Contains(t, answer.Failure(t).Message, c.message, name)
		}
	}
}

// A piece that was refused could be replaced by another one, while the provider had the first.
func TestTheLinesOfAFileCannotBeReplaced(t *testing.T) {
	site.SetKeys(t)
	vendor := startGoogle(t)
	s := site.Start(t, googleLines(t, vendor)...)
	g := googler{vendor, t, strings.TrimPrefix(s.URL("site", ""), "http://")}
	one := promptLines(1)
	for name, first := range map[string]string{"refused": strings.Replace(one, `"contents"`, `"model":"x","contents"`, 1), "stored": one + one} {
		session := g.start(site.AliceKey, uploadsOfGoogle, len(one))
		g.piece(site.AliceKey, session, "upload", 0, first)
		g.forget()
		file := fileOf(t, g.piece(site.AliceKey, session, "upload, finalize", 0, one))
		assert.Equal(t, http.StatusForbidden, g.batchOfFile(file.Name).Status, name)
	}
}

// A file whose last request has no bytes, as of clients that send what they read, was one of unknown requests.
func TestAnUploadMayEndWithoutBytes(t *testing.T) {
	site.SetKeys(t)
	vendor := startGoogle(t)
	s := site.Start(t, googleLines(t, vendor)...)
	g := googler{vendor, t, strings.TrimPrefix(s.URL("site", ""), "http://")}
	assert.Equal(t, http.StatusOK, g.batchOfFile(fileOf(t, g.upload(site.AliceKey, promptLines(2), "")).Name).Status)
	half := promptLines(1)
	cut := g.upload(site.AliceKey, half+half[:len(half)/2], "")
	assert.Equal(t, "line 2: request: required", cut.Failure(t).Message)
}

// A gateway does not know the lines of a piece that another one has passed on: the batch of such a file is refused
// by its reason, and not as if the file were of another kind.
func TestAFileInPiecesIsReadByOneGateway(t *testing.T) {
	site.SetKeys(t)
	vendor := startGoogle(t)
	s := site.Start(t, googleLines(t, vendor)...)
	g := googler{vendor, t, strings.TrimPrefix(s.URL("site", ""), "http://")}
	one := promptLines(1)
	session := g.start(site.AliceKey, uploadsOfGoogle, 2*len(one))
	elsewhere := googler{vendor, t, strings.TrimPrefix(vendor.URL, "http://")}
	first := elsewhere.piece("up", uploadsOfGoogle+"?upload_id="+g.session(), "upload", 0, one)
	require.Equal(t, http.StatusOK, first.Status, first.Body)
	file := fileOf(t, g.piece(site.AliceKey, session, "upload, finalize", len(one), one))
	refused := g.batchOfFile(file.Name)
	assert.Equal(t, http.StatusForbidden, refused.Status)
	assert.Contains(t, refused.Failure(t).Message, "store the file again with this key, all pieces of it through one gateway")
}
