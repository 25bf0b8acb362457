package endpoints_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// filed is a site in front of two accounts, which store objects for the clients: near, and far behind
// /pass/far. near has the models m and claude, and far the model n.
type filed struct {
	*site.Site
	near, far *depot
	ids       map[string]string // of alice at near, by their kinds
}

func startFiled(t *testing.T, w site.Way, lines ...string) filed {
	site.SetKeys(t)
	f := filed{near: startDepot(t, "0"), far: startDepot(t, "9")}
	provider := func(name string, d *depot, models string) string {
		return w.ProviderAt(name, strings.TrimPrefix(d.URL, "http://"), "format chat responses messages", "files_state sealed", "responses_state sealed", "batches sealed", models) +
			"pass /pass/" + name + "/* " + name + " {\nallow GET POST DELETE /v1/*\nids sealed\n}\n"
	}
	f.Site = site.Start(t, append(lines, "key alice {env.KEY_ALICE}", "key bob {env.KEY_BOB}", provider("near", f.near, "models m"), provider("far", f.far, "models n"),
		"model both {\nto near/m\nto far/n\n}")...)
	f.ids = f.stock(t, site.AliceKey, "near")
	return f
}

// send sends a request with a key. Paths of messages have the headers of Anthropic's clients.
func (f filed) send(key, method, path, body string, headers ...string) site.Reply {
	all := []string{"Authorization", "Bearer " + key}
	if strings.Contains(path, "/messages") && !strings.Contains(path, "completions") {
		all = append(all, "Anthropic-Version", "2023-06-01")
	}
	return f.Call(method, f.URL("site", path), body, append(all, headers...)...)
}

// stock returns the ids of new objects of a client at an account, one of each kind.
func (f filed) stock(t *testing.T, key, at string) map[string]string {
	ids, pass, model := make(map[string]string), "/pass/"+at, map[string]string{"near": "m", "far": "n"}[at]
	create := func(kind, path, body string, headers ...string) {
		t.Helper()
		answer := f.send(key, http.MethodPost, path, body, headers...)
		require.Equal(t, http.StatusOK, answer.Status, "%s: %s", path, answer.Body)
		ids[kind] = idOf(t, answer.Body)
		require.Regexp(t, "^"+kind+"1[A-Za-z0-9_-]{40,}$", ids[kind])
	}
	body, formType := form(t, "purpose=user_data", "file@a.txt=hello")
	create("file-", pass+"/v1/files", body, "Content-Type", formType)
	create("file_", pass+"/v1/files", body, "Content-Type", formType, "Anthropic-Version", "2023-06-01")
	for kind, path := range depotPaths {
		if kind != "msgbatch_" && kind != "batch_" {
			create(kind, pass+path, `{"name":"x"}`)
		}
	}
	create("vsfb_", pass+"/v1/vector_stores/"+ids["vs_"]+"/file_batches", "{}")
	create("cfile_", pass+"/v1/containers/"+ids["cntr_"]+"/files", `{"file_id":"`+ids["file-"]+`"}`)
	create("resp_", "/v1/responses", `{"model":"`+model+`","input":"hi"}`)
	create("chatcmpl-", "/v1/chat/completions", `{"model":"`+model+`","store":true,"messages":[{"role":"user","content":"hi"}]}`)
	create("msgbatch_", "/v1/messages/batches", `{"requests":[{"custom_id":"r","params":{"model":"`+model+`","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}}]}`)
	create("batch_", pass+"/v1/batches", `{"input_file_id":"`+ids["file-"]+`","endpoint":"/v1/responses","completion_window":"24h"}`)
	answer := f.send(key, http.MethodPost, "/v1/messages", `{"model":"`+model+`","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}`)
	ids["container_"] = regexp.MustCompile(`container_1[A-Za-z0-9_-]{40,}`).FindString(answer.Body)
	require.NotEmpty(t, ids["container_"], answer.Body)
	return ids
}

// The bodies around the places where ids can be in requests of models, with %s.
const (
	ofResponses = `{"model":"MODEL",%s}`
	inPart      = `"input":[{"role":"user","content":[{"type":"input_text","text":"x"},%s]}]`
	inItem      = `"input":[{"role":"user","content":"x"},%s]`
	inTool      = `"input":"x","tools":[%s]`
	ofChat      = `{"model":"MODEL","messages":[{"role":"user","content":[{"type":"text","text":"x"},%s]}]}`
	ofMessages  = `{"model":"MODEL","max_tokens":9,%s}`
	inBlock     = `"messages":[{"role":"user","content":[{"type":"text","text":"x"},%s]}]`
	inResult    = `"messages":[{"role":"user","content":"x"},{"role":"assistant","content":[%s]},{"role":"user","content":"y"}]`
	greeting    = `"messages":[{"role":"user","content":"x"}],`
)

// inputs are the places where ids can be in requests of models: the path, the kind in braces, and the
// bodies around it, from the outside to the inside.
var inputs = [][]string{
	{"/v1/responses", ofResponses, inPart, `{"type":"input_file","file_id":"{file-}"}`},
	{"/v1/responses", ofResponses, inPart, `{"type":"input_image","detail":"auto","file_id":"{file-}"}`},
	{"/v1/responses", ofResponses, inPart, `{"type":"input_file","f\u0069le_id":"{file-}"}`},
	{"/v1/responses", ofResponses, inItem, `{"type":"function_call_output","call_id":"c","output":[{"type":"input_image","file_id":"{file-}"}]}`},
	{"/v1/responses", ofResponses, inItem, `{"type":"computer_call_output","call_id":"c","output":{"type":"computer_screenshot","file_id":"{file-}"}}`},
	{"/v1/responses", ofResponses, inItem, `{"type":"file_search_call","id":"fs_1","status":"completed","queries":["q"],"results":[{"file_id":"{file-}","text":"x"}]}`},
	{"/v1/responses", ofResponses, inItem, `{"type":"code_interpreter_call","id":"ci_1","status":"completed","code":"x","outputs":null,"container_id":"{cntr_}"}`},
	{"/v1/responses", ofResponses, inItem, `{"type":"shell_call","call_id":"c","action":{"commands":["ls"]},"environment":{"type":"container_reference","container_id":"{cntr_}"}}`},
	{"/v1/responses", ofResponses, inItem, `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"x","annotations":[{"type":"file_citation","index":0,"file_id":"{file-}"}]}]}`},
	{"/v1/responses", ofResponses, inItem, `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"x","annotations":[{"type":"container_file_citation","container_id":"{cntr_}"}]}]}`},
	{"/v1/responses", ofResponses, inItem, `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"x","annotations":[{"type":"container_file_citation","file_id":"{cfile_}"}]}]}`},
	{"/v1/responses", ofResponses, inTool, `{"type":"file_search","vector_store_ids":["{vs_}"]}`},
	{"/v1/responses", ofResponses, inTool, `{"type":"code_interpreter","container":"{cntr_}"}`},
	{"/v1/responses", ofResponses, inTool, `{"type":"code_interpreter","container":{"type":"auto","file_ids":["{file-}"]}}`},
	{"/v1/responses", ofResponses, inTool, `{"type":"shell","environment":{"type":"container_reference","container_id":"{cntr_}"}}`},
	{"/v1/responses", ofResponses, inTool, `{"type":"shell","environment":{"type":"container_auto","file_ids":["{file-}"]}}`},
	{"/v1/responses", ofResponses, inTool, `{"type":"shell","environment":{"type":"container_auto","skills":[{"type":"skill_reference","skill_id":"{skill_}"}]}}`},
	{"/v1/responses", ofResponses, inTool, `{"type":"image_generation","input_image_mask":{"file_id":"{file-}"}}`},
	{"/v1/responses", ofResponses, `"input":"x","previous_response_id":"{resp_}"`},
	{"/v1/responses", ofResponses, `"input":"x","conversation":"{conv_}"`},
	{"/v1/responses", ofResponses, `"input":"x","conversation":{"id":"{conv_}"}`},
	{"/v1/responses", ofResponses, `"input":"x","prompt_cache_options":{"comparison_response_id":"{resp_}"}`},
	{"/v1/responses/input_tokens", ofResponses, inPart, `{"type":"input_file","file_id":"{file-}"}`},
	{"/v1/responses/compact", ofResponses, inPart, `{"type":"input_file","file_id":"{file-}"}`},
	{"/v1/chat/completions", ofChat, `{"type":"file","file":{"file_id":"{file-}"}}`},
	{"/v1/messages", ofMessages, inBlock, `{"type":"document","source":{"type":"file","file_id":"{file_}"}}`},
	{"/v1/messages", ofMessages, inBlock, `{"type":"image","source":{"type":"file","file_id":"{file_}"}}`},
	{"/v1/messages", ofMessages, inBlock, `{"type":"container_upload","file_id":"{file_}"}`},
	{"/v1/messages", ofMessages, inBlock, `{"type":"tool_result","tool_use_id":"toolu_1","content":[{"type":"image","source":{"type":"file","file_id":"{file_}"}}]}`},
	{"/v1/messages", ofMessages, inResult, `{"type":"code_execution_tool_result","tool_use_id":"s","content":{"type":"code_execution_result","content":[{"type":"code_execution_output","file_id":"{file_}"}]}}`},
	{"/v1/messages", ofMessages, inResult, `{"type":"text","text":"x","citations":[{"type":"char_location","cited_text":"a","file_id":"{file_}"}]}`},
	{"/v1/messages", ofMessages, greeting + `"container":"{container_}"`},
	{"/v1/messages", ofMessages, greeting + `"container":{"id":"{container_}"}`},
	{"/v1/messages", ofMessages, greeting + `"container":{"skills":[{"type":"custom","skill_id":"{skill_}","version":"latest"}]}`},
	{"/v1/messages/count_tokens", ofMessages, inBlock, `{"type":"document","source":{"type":"file","file_id":"{file_}"}}`},
	{"/v1/messages/batches", `{"requests":[{"custom_id":"r","params":%s}]}`, ofMessages, inBlock, `{"type":"document","source":{"type":"file","file_id":"{file_}"}}`},
	{"/v1/conversations", `{"items":[%s]}`, `{"type":"message","role":"user","content":[{"type":"input_file","file_id":"{file-}"}]}`},
}

// place is a place for the id of an object.
type place struct {
	method, path, body string
	kind               string // of the id
}

// with returns the place with an id.
func (p place) with(id, model string) place {
	fill := strings.NewReplacer("{"+p.kind+"}", id, "MODEL", model)
	p.path, p.body = fill.Replace(p.path), fill.Replace(p.body)
	return p
}

// inputPlaces returns the places of inputs.
func inputPlaces() (all []place) {
	for _, nested := range inputs {
		body := "%s"
		for _, around := range nested[1:] {
			body = strings.Replace(body, "%s", around, 1)
		}
		all = append(all, place{http.MethodPost, nested[0], body, regexp.MustCompile(`\{([a-z-_]+)\}`).FindStringSubmatch(body)[1]})
	}
	return all
}

// Clients of OpenAI's API could not name the files that they had stored, and every answer had the vendor's own
// ids of the containers and files that its tools had made: with those, any client of the account could go on.
func TestX047RequestsReferToStoredObjectsInAllPlaces(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		f := startFiled(t, w)
		for _, p := range inputPlaces() {
			p := p.with(f.ids[p.kind], map[bool]string{true: "m", false: "both"}[strings.Contains(p.path, "batches")])
			before := len(f.near.requests())
			answer := f.send(site.AliceKey, p.method, p.path, p.body)
			require.Equal(t, http.StatusOK, answer.Status, "%s %s: %s", p.path, p.body, answer.Body)
			assert.Len(t, f.near.requests(), before+1, p.body)
			for _, raw := range f.near.ids() {
				if !strings.HasPrefix(raw, "chatcmpl-") { // of an answer that nobody stores
					assert.NotContains(t, answer.Body, raw, p.path)
				}
			}
		}
		for _, request := range f.near.requests() {
			for _, sealed := range f.ids {
				assert.NotContains(t, request, sealed)
			}
		}
	})
}

// An error of the vendor names the ids that it has got.
func TestX012ErrorsAboutReferencesHaveTheIDsOfTheClient(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		f := startFiled(t, w)
		f.near.refuses.Store(true)
		for _, p := range inputPlaces() {
			p := p.with(f.ids[p.kind], "m")
			answer := f.send(site.AliceKey, p.method, p.path, p.body)
			assert.Equal(t, http.StatusBadRequest, answer.Status, "%s %s: %s", p.path, p.body, answer.Body)
			for _, raw := range f.near.ids() {
				assert.NotContains(t, answer.Body, raw, p.body)
			}
			assert.Contains(t, answer.Body, f.ids[p.kind], p.body)
		}
	})
}

// What an answer refers to is what its client has: the next request can use it, that of another client
// cannot, and neither can an earlier one of the client's own words.
func TestIDsInAnswersAreThoseOfTheClient(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		f := startFiled(t, w)
		for path, body := range map[string]string{
			"/v1/responses": `{"model":"m","input":"x"%s}`, "/v1/messages": `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"x"}]%s}`,
		} {
			for _, members := range []string{"", `,"stream":true`} {
				answer := f.send(site.AliceKey, http.MethodPost, path, fmt.Sprintf(body, members))
				require.Equal(t, http.StatusOK, answer.Status, answer.Body)
				for _, raw := range f.near.ids() {
					assert.NotContains(t, answer.Body, raw, path+members)
				}
				found := depotID.FindAllString(answer.Body, -1)
				assert.GreaterOrEqual(t, len(found), 3, answer.Body)
				if path == "/v1/messages" && members == "" {
					assert.Contains(t, answer.Body, `"input":{"file_id":"of the model"}`)
				}
				for _, id := range found {
					kind := depotID.FindStringSubmatch(id)[1]
					for _, p := range inputPlaces() {
						if p.kind == kind && p.path == path {
							p := p.with(id, "m")
							used := f.send(site.AliceKey, p.method, p.path, p.body)
							assert.Equal(t, http.StatusOK, used.Status, "%s: %s", p.body, used.Body)
							assert.NotEqual(t, http.StatusOK, f.send(site.BobKey, p.method, p.path, p.body).Status, p.body)
							break
						}
					}
				}
			}
		}
	})
}

// The results of batches had the vendor's ids of what the tools in each line had made.
func TestIDsInResultsOfBatchesAreSealed(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		f := startFiled(t, w)
		path := "/v1/messages/batches/" + f.ids["msgbatch_"] + "/results"
		first, again := f.send(site.AliceKey, http.MethodGet, path, ""), f.send(site.AliceKey, http.MethodGet, path, "")
		require.Equal(t, http.StatusOK, first.Status, first.Body)
		for _, raw := range f.near.ids() {
			assert.NotContains(t, first.Body+again.Body, raw)
		}
		lines := strings.Split(first.Body, "\n")
		require.Len(t, lines, 2)
		assert.Equal(t, `{"custom_id":"r","result":{"type":"errored"}}`, lines[0], "without an id, the bytes are the provider's")
		assert.Len(t, depotID.FindAllString(lines[1], -1), 3)
		used := f.send(site.AliceKey, http.MethodPost, "/v1/messages", `{"model":"m","max_tokens":9,`+greeting+`"container":"`+regexp.MustCompile(`container_1[\w-]+`).FindString(lines[1])+`"}`)
		assert.Equal(t, http.StatusOK, used.Status, used.Body)
	})
}

// The objects of a request decide which account gets it; no account has those of two.
func TestObjectsOfTwoAccountsAreRefused(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		f := startFiled(t, w)
		far := f.stock(t, site.AliceKey, "far")
		near, there := len(f.near.requests()), len(f.far.requests())
		two := func(kind, pattern string) string {
			return strings.NewReplacer("A", f.ids[kind], "B", far[kind]).Replace(pattern)
		}
		message := two("file_", `{"role":"user","content":[{"type":"container_upload","file_id":"A"},{"type":"container_upload","file_id":"B"}]}`)
		params := two("file_", `{"custom_id":"r","params":{"model":"both","max_tokens":9,"messages":[{"role":"user","content":[{"type":"container_upload","file_id":"A"}]}]}},`+
			`{"custom_id":"s","params":{"model":"both","max_tokens":9,"messages":[{"role":"user","content":[{"type":"container_upload","file_id":"B"}]}]}}`)
		items := two("file-", `{"role":"user","content":[{"type":"input_file","file_id":"A"},{"type":"input_file","file_id":"B"}]}`)
		for request, want := range map[string]string{
			`/v1/responses {"model":"both","input":[` + items + `]}`: "file_id: this file is in another account",
			`/v1/chat/completions {"model":"both","messages":[` + two("file-", `{"role":"user","content":[{"type":"file","file":{"file_id":"A"}},{"type":"file","file":{"file_id":"B"}}]}`) + `]}`: "file_id: this file is in another account",
			`/v1/messages {"model":"both","max_tokens":9,"messages":[` + message + `]}`:                                                                                                            "file_id: this file is in another account",
			`/v1/messages/batches {"requests":[` + params + `]}`:                                                                                                                                   "requests.1.params.file_id: this file is in another account",
			`/v1/conversations {"items":[` + items + `]}`:                                                                                                                                          "file_id: this file is in another account",
			`/v1/responses {"model":"both","previous_response_id":"` + f.ids["resp_"] + `","input":[` + two("file-", `{"role":"user","content":[{"type":"input_file","file_id":"B"}]}`) + `]}`:     "file_id: this file is in another account",
		} {
			path, body, _ := strings.Cut(request, " ")
			answer := f.send(site.AliceKey, http.MethodPost, path, body)
			assert.Equal(t, http.StatusBadRequest, answer.Status, "%s: %s", request, answer.Body)
			assert.Contains(t, answer.Body, want, request)
		}
		assert.Len(t, f.near.requests(), near, "nothing is sent")
		assert.Len(t, f.far.requests(), there)
		answer := f.send(site.AliceKey, http.MethodPost, "/v1/chat/completions", `{"model":"both","messages":[{"role":"user","content":[{"type":"file","file":{"file_id":"`+far["file-"]+`"}}]}]}`)
		assert.Equal(t, http.StatusOK, answer.Status, answer.Body)
		assert.Len(t, f.far.requests(), there+1, "the account of the file, not the first target")
		answer = f.send(site.AliceKey, http.MethodPost, "/v1/messages/batches", `{"requests":[{"custom_id":"s","params":{"model":"both","max_tokens":9,"messages":[{"role":"user","content":[{"type":"container_upload","file_id":"`+far["file_"]+`"}]}]}}]}`)
		assert.Equal(t, http.StatusOK, answer.Status, answer.Body)
		assert.Len(t, f.far.requests(), there+2)
	})
}

// Without sealed files, ids are the provider's own, and a client cannot choose targets by naming some.
func TestIDsStayWhereFilesAreNotSealed(t *testing.T) {
	site.SetKeys(t)
	d := startDepot(t, "0")
	d.given["file-"+strings.Repeat("0", 22)] = true
	s := site.Start(t, site.Direct.ProviderAt("p", strings.TrimPrefix(d.URL, "http://"), "format chat responses messages"), "key alice {env.KEY_ALICE}",
		"model m {\nto p/other {\nif \"{request.images} > 9\"\n}\nto p/m\n}")
	f := filed{Site: s}
	body := `{"model":"m","messages":[{"role":"user","content":[{"type":"file","file":{"file_id":"file-` + strings.Repeat("0", 22) + `"}}]}]}`
	answer := f.send(site.AliceKey, http.MethodPost, "/v1/chat/completions", body)
	require.Equal(t, http.StatusOK, answer.Status, answer.Body)
	assert.Equal(t, "POST /v1/chat/completions "+body, d.requests()[0])
	answer = f.send(site.AliceKey, http.MethodPost, "/v1/responses", `{"model":"m","input":"x","store":false}`)
	assert.Contains(t, answer.Body, d.newest("cntr_"), "as the provider has sent it")
}

// Files were checked in the last message alone (https://github.com/epam/ai-dial-core/pull/232).
func TestFilesInAllMessagesAreChecked(t *testing.T) {
	f := startFiled(t, site.Direct)
	own := f.stock(t, site.BobKey, "near")
	before := len(f.near.requests())
	part := func(id string) string {
		return `{"role":"user","content":[{"type":"file","file":{"file_id":"` + id + `"}}]}`
	}
	for _, messages := range []string{part(f.ids["file-"]) + "," + part(own["file-"]), part(own["file-"]) + `,{"role":"assistant","content":"ok"},` + part(f.ids["file-"])} {
		refused := f.send(site.BobKey, http.MethodPost, "/v1/chat/completions", `{"model":"m","messages":[`+messages+`]}`)
		assert.Equal(t, http.StatusNotFound, refused.Status, refused.Body)
		assert.Contains(t, refused.Body, "File with id '"+f.ids["file-"]+"' not found.")
	}
	assert.Len(t, f.near.requests(), before)
}

// A key with rules could not use its objects, since the names of models were looked for in ids or compared with
// the names of the provider (https://github.com/BerriAI/litellm/pull/28675, /29264), or its limits did not count
// files (https://github.com/Soju06/codex-lb/pull/515).
func TestKeysWithRulesUseTheirFiles(t *testing.T) {
	t.Setenv("THIRD_KEY", thirdKey)
	f := startFiled(t, site.Direct, "limit few {\nrequests 4/1h\n}", "key third {env.THIRD_KEY} {\nmodels alias\nlimit few\n}", "model alias {\nto near/m\n}")
	body, formType := form(t, "purpose=user_data", "file@a.txt=hello")
	created := f.send(thirdKey, http.MethodPost, "/v1/files", body, "Content-Type", formType)
	require.Equal(t, http.StatusOK, created.Status, created.Body)
	id := idOf(t, created.Body)
	assert.Equal(t, http.StatusOK, f.send(thirdKey, http.MethodGet, "/v1/files/"+id, "").Status)
	request := `{"model":"alias","messages":[{"role":"user","content":[{"type":"file","file":{"file_id":"` + id + `"}}]}]}`
	answer := f.send(thirdKey, http.MethodPost, "/v1/chat/completions", request)
	assert.Equal(t, http.StatusOK, answer.Status, answer.Body)
	lines, formType := form(t, "purpose=batch", `file@a.jsonl={"custom_id":"r","method":"POST","url":"/v1/chat/completions","body":`+request+`}`)
	answer = f.send(thirdKey, http.MethodPost, "/v1/files", lines, "Content-Type", formType)
	assert.Equal(t, http.StatusOK, answer.Status, answer.Body)
	sent := f.near.requests()[len(f.near.requests())-1]
	assert.Contains(t, sent, `"body":{"model":"m","messages"`)
	assert.NotContains(t, sent, id)
	other := f.send(thirdKey, http.MethodPost, "/v1/chat/completions", strings.Replace(request, "alias", "m", 1))
	assert.Equal(t, http.StatusForbidden, other.Status, other.Body)
	full := f.send(thirdKey, http.MethodPost, "/v1/files", body, "Content-Type", formType)
	assert.Equal(t, http.StatusTooManyRequests, full.Status, full.Body)
}
