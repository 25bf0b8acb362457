package endpoints_test

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// storing is a site whose provider stores responses, with the keys of two clients.
type storing struct {
	*site.Site
	vendor *vendor
}

const otherKey = "sk-another-0123456789abcdef"

func startStoring(t *testing.T, w site.Way, lines ...string) storing {
	v := startVendor(t)
	t.Setenv("OTHER_KEY", otherKey)
	t.Setenv("UP_1", "sk-up-1")
	t.Setenv("UP_2", "sk-up-2")
	if lines == nil {
		lines = []string{"responses_state sealed"}
	}
	if !slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, "format ") }) {
		lines = append(lines, "format responses")
	}
	lines = append(lines, "models gpt", "api_key {env.UP_1}")
	return storing{site.Start(t, "key other {env.OTHER_KEY}", w.ProviderAt("up", strings.TrimPrefix(v.URL, "http://"), lines...)), v}
}

// manage sends a request about a stored object with a key.
func (s storing) manage(key, method, path string) site.Reply {
	return s.Call(method, s.URL("site", path), "", "Authorization", "Bearer "+key)
}

// create asks for a response with members, and returns its id.
func (s storing) create(t *testing.T, members string, headers ...string) string {
	t.Helper()
	answer := s.Ask(site.ResponsesPath, `{"model":"gpt","input":"hi"`+members+`}`, headers...)
	require.Equal(t, http.StatusOK, answer.Status, answer.Body)
	return idOf(t, answer.Body)
}

func idOf(t *testing.T, body string) string {
	t.Helper()
	var r struct{ ID string }
	require.NoError(t, json.Unmarshal([]byte(body), &r), body)
	return r.ID
}

var rawID = regexp.MustCompile(`resp_[0-9a-f]{48}`)

// Clients of other gateways could read what other clients had stored, since all of them share an
// account at the vendor, and had the vendor's ids.
func TestX001X002X004X005X006X013X054AStoredResponseIsThatOfItsClientAlone(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		s := startStoring(t, w)
		id := s.create(t, "")
		assert.NotRegexp(t, rawID, id)

		own := s.manage(site.ClientKey, http.MethodGet, "/v1/responses/"+id)
		require.Equal(t, http.StatusOK, own.Status, own.Body)
		assert.Equal(t, id, idOf(t, own.Body), "X001: the same id each time")
		assert.NotRegexp(t, rawID, own.Body)
		assert.Equal(t, "application/json", own.Header.Get("Content-Type"))

		before := len(s.vendor.requests())
		raw := rawID.FindString(strings.Join(s.answered(t), ""))
		for name, try := range map[string][2]string{
			"of another key":       {otherKey, id},
			"the id of the vendor": {site.ClientKey, raw},
			"changed":              {site.ClientKey, id[:len(id)-1] + string(id[len(id)-1]^1)},
			"cut":                  {site.ClientKey, id[:20]},
			"of another kind":      {site.ClientKey, "conv_" + strings.TrimPrefix(id, "resp_")},
			"long":                 {site.ClientKey, "resp_1" + strings.Repeat("A", 5000)},
			"nobody's":             {site.ClientKey, "resp_1"},
		} {
			for _, request := range []string{"GET /v1/responses/", "DELETE /v1/responses/", "POST /v1/responses/*/cancel", "GET /v1/responses/*/input_items"} {
				method, path, _ := strings.Cut(request, " ")
				if path += try[1]; strings.Contains(path, "*") {
					path = strings.Replace(strings.TrimSuffix(path, try[1]), "*", try[1], 1)
				}
				refused := s.manage(try[0], method, path)
				assert.Equal(t, http.StatusNotFound, refused.Status, "%s, %s: %s", name, request, refused.Body)
				assert.Contains(t, refused.Body, "not found", name)
			}
			answer := s.Ask(site.ResponsesPath, `{"model":"gpt","input":"hi","previous_response_id":"`+try[1]+`"}`, "Authorization", "Bearer "+try[0])
			assert.Equal(t, http.StatusBadRequest, answer.Status, "%s: %s", name, answer.Body)
			assert.Contains(t, answer.Body, `"code":"previous_response_not_found"`, name)
		}
		assert.Len(t, s.vendor.requests(), before, "nothing is sent")
	})
}

// answered returns the answers of the vendor, by asking it with its own credential.
func (s storing) answered(t *testing.T) (all []string) {
	t.Helper()
	s.vendor.mu.Lock()
	defer s.vendor.mu.Unlock()
	for _, account := range s.vendor.accounts {
		for id := range account {
			all = append(all, id)
		}
	}
	return all
}

// Where the provider counts no tokens, a request that continues a response of its client, or of another one, was
// answered that the gateway keeps none.
func TestTokensBehindAStoredResponseAreThoseOfItsProvider(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		s := startStoring(t, w)
		id := s.create(t, "")
		count := func(key string) site.Reply {
			return s.Ask(site.ResponsesPath+"/input_tokens", `{"model":"gpt","input":"hi","previous_response_id":"`+id+`"}`, "Authorization", "Bearer "+key)
		}
		counted := count(site.ClientKey)
		assert.Equal(t, http.StatusOK, counted.Status, counted.Body)
		assert.Contains(t, counted.Body, `"input_tokens":3`)
		assert.Regexp(t, rawID, s.vendor.lastRequest(t))
		s.vendor.fail(http.StatusNotFound)
		for _, message := range []string{"try later", "token counting is not available for model 'gpt'"} { // asked once an hour
			refused := count(site.ClientKey)
			assert.Equal(t, http.StatusNotFound, refused.Status, refused.Body)
			assert.Contains(t, refused.Failure(t).Message, message)
		}
		assert.Contains(t, count(otherKey).Body, `"code":"previous_response_not_found"`)
	})
}

// A conversation goes on at the provider by the id of the answer before.
func TestX053AResponseContinuesAnEarlierOne(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		s := startStoring(t, w)
		id := s.create(t, "")
		answer := s.Ask(site.ResponsesPath, `{"model":"gpt", "previous_response_id" : "`+id+`" ,"input":"go on"}`)
		require.Equal(t, http.StatusOK, answer.Status, answer.Body)
		sent := s.vendor.lastRequest(t)
		raw := rawID.FindString(sent)
		assert.Equal(t, `POST /v1/responses {"model":"gpt", "previous_response_id" : "`+raw+`" ,"input":"go on"}`, sent)
		assert.Contains(t, answer.Body, `"previous_response_id":"`+id+`"`, "as the client has it")
		assert.NotRegexp(t, rawID, answer.Body)
	})
}

// All events of a stream have one id, and those without one are the provider's bytes.
func TestX052AStreamHasOneSealedID(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		s := startStoring(t, w)
		first := s.create(t, "")
		answer := s.Ask(site.ResponsesPath, `{"model":"gpt","input":"hi","stream":true,"previous_response_id":"`+first+`"}`)
		require.Equal(t, http.StatusOK, answer.Status, answer.Body)
		assert.NotRegexp(t, rawID, answer.Body)
		ids := make(map[string]int)
		for _, found := range regexp.MustCompile(`"id":"(resp_[^"]*)"`).FindAllStringSubmatch(answer.Body, -1) {
			ids[found[1]]++
		}
		assert.Len(t, ids, 1)
		for id, n := range ids {
			assert.Equal(t, 3, n)
			assert.Equal(t, http.StatusOK, s.manage(site.ClientKey, http.MethodGet, "/v1/responses/"+id).Status)
		}
		assert.Contains(t, answer.Body, "event: response.output_text.delta\ndata: {\"content_index\":0,\"delta\":\"Hel\"")
		assert.Equal(t, 3, strings.Count(answer.Body, `"previous_response_id":"`+first+`"`))
	})
}

// A stream that breaks off ends with an event of the gateway, which repeats the id of the response.
func TestTheEventOfAFailedStreamHasTheSealedID(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	s := site.Start(t, site.Direct.Provider("up", p, "models gpt", "responses_state sealed", "format responses"))
	p.Script(gatewaytest.InOrder(gatewaytest.Chunks(gatewaytest.EventStream, gatewaytest.FrameResponseEvents(
		`response.created ,"response":{"id":"resp_000000000000000000000000000000000000000000000001","object":"response","created_at":1,"status":"in_progress","model":"gpt","output":[]}`,
		`response.output_text.delta ,"item_id":"m","output_index":0,"content_index":0,"delta":"x"`)...), gatewaytest.Reset()))
	answer := s.Ask(site.ResponsesPath, `{"model":"gpt","input":"hi","stream":true}`)
	assert.Contains(t, answer.Body, "event: response.failed")
	assert.NotRegexp(t, rawID, answer.Body)
	ids := regexp.MustCompile(`"id":"(resp_1[^"]*)"`).FindAllStringSubmatch(answer.Body, -1)
	require.Len(t, ids, 2, answer.Body)
	assert.Equal(t, ids[0], ids[1])
}

// A provider may state in a stream that it does not know the id, which is its own there.
func TestX064AnErrorEventHasNotTheProvidersID(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	s := site.Start(t, site.Direct.Provider("up", p, "models gpt", "responses_state sealed", "format responses"))
	const raw = "resp_000000000000000000000000000000000000000000000001"
	p.Script(gatewaytest.Body(http.StatusOK, "application/json", []byte(`{"id":"`+raw+`","object":"response","status":"completed","output":[]}`)))
	id := idOf(t, s.Ask(site.ResponsesPath, `{"model":"gpt","input":"hi"}`).Body)
	begin := `response.output_text.delta ,"item_id":"m","output_index":0,"content_index":0,"delta":"x"`
	failed := `error ,"code":"previous_response_not_found","message":"Previous response with id '` + raw + `' not found.","param":null`
	for _, events := range [][]string{{failed}, {begin, failed}} {
		p.Script(gatewaytest.ResponseStream(events...))
		answer := s.Ask(site.ResponsesPath, `{"model":"gpt","input":"hi","stream":true,"previous_response_id":"`+id+`"}`)
		assert.Contains(t, answer.Body, "the upstream reported an error", events)
		assert.NotContains(t, answer.Body, raw, events)
	}
}

// The address of the provider in the text of an answer is no reason to withhold the answer.
func TestAnAnswerMayContainTheAddressOfTheProvider(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	s := site.Start(t, site.Direct.Provider("up", p, "models gpt", "responses_state sealed", "format responses"))
	answer := `{"id":"resp_1","object":"response","status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"see http://` + p.Address() + `/v1?key=1"}]}]}`
	p.Script(gatewaytest.Body(http.StatusOK, "application/json", []byte(answer)), gatewaytest.Body(http.StatusOK, "application/json", []byte(answer)))
	created := s.Ask(site.ResponsesPath, `{"model":"gpt","input":"hi"}`)
	read := s.Call(http.MethodGet, s.URL("site", "/v1/responses/"+idOf(t, created.Body)), "", "Authorization", "Bearer "+site.ClientKey)
	assert.Equal(t, http.StatusOK, read.Status, read.Body)
	assert.Equal(t, created.Body, read.Body)
}

// SDKs ask for a response in the background again after the time that the provider names. It was left
// out with all other headers of the provider.
func TestClientsLearnWhenToAskForAResponseAgain(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	s := site.Start(t, site.Direct.Provider("up", p, "models gpt", "responses_state sealed", "format responses"))
	queued := []byte(`{"id":"resp_0001","object":"response","status":"queued","output":[],"usage":null}`)
	for _, wait := range []string{"1500", "for ever"} {
		step := gatewaytest.Body(http.StatusOK, "application/json", queued, "Openai-Poll-After-Ms", wait, "X-Ratelimit-Limit-Requests", "5")
		p.Script(step, step)
		created := s.Ask(site.ResponsesPath, `{"model":"gpt","input":"hi","background":true}`)
		read := s.Call(http.MethodGet, s.URL("site", "/v1/responses/"+idOf(t, created.Body)), "", "Authorization", "Bearer "+site.ClientKey)
		for _, answer := range []site.Reply{created, read} {
			assert.Equal(t, http.StatusOK, answer.Status, answer.Body)
			assert.Equal(t, map[string]string{"1500": "1500"}[wait], answer.Header.Get("Openai-Poll-After-Ms"))
			assert.Empty(t, answer.Header.Get("X-Ratelimit-Limit-Requests"))
		}
	}
}

// Requests of gemini clients that refer to contents in the account passed with sealed state: the
// name of such contents does not show whose they are.
func TestSealedStateRefusesCachedContents(t *testing.T) {
	// Without any state, the refusal named the member store, which the format does not have.
	for _, state := range []string{"responses_state sealed", "responses_state off"} {
		t.Run(state, func(t *testing.T) {
			p := gatewaytest.NewProvider(t)
			s := site.Start(t, site.Direct.Provider("up", p, "models gpt", state, "format gemini"))
			answer := s.Ask("/v1beta/models/gpt:generateContent", `{"contents":[{"role":"user","parts":[{"text":"hi"}]}],"cachedContent":"cachedContents/1"}`)
			assert.Equal(t, http.StatusBadRequest, answer.Status, answer.Body)
			assert.Contains(t, answer.Body, "cachedContent: this gateway cannot verify whose object this is: send its content instead")
			assert.Zero(t, p.Count())
		})
	}
}

func TestX061AResponseThatIsNotStoredHasTheProvidersID(t *testing.T) {
	s := startStoring(t, site.Direct)
	assert.Regexp(t, rawID, s.create(t, `,"store":false`))
}

func TestX012X056X057X064StoredResponsesAreManaged(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		s := startStoring(t, w)
		id := s.create(t, "")
		items := s.manage(site.ClientKey, http.MethodGet, "/v1/responses/"+id+"/input_items?limit=5&after=msg_0&order=asc&api_key=x")
		assert.Equal(t, http.StatusOK, items.Status, items.Body)
		assert.Contains(t, items.Body, `"first_id":"msg_in"`, "X056: ids of items stay")
		assert.Regexp(t, `^GET /v1/responses/resp_[0-9a-f]{48}/input_items\?after=msg_0&limit=5&order=asc $`, s.vendor.lastRequest(t))

		cancelled := s.manage(site.ClientKey, http.MethodPost, "/v1/responses/"+id+"/cancel")
		assert.Equal(t, http.StatusOK, cancelled.Status, cancelled.Body)
		assert.Contains(t, cancelled.Body, `"status":"cancelled"`)
		assert.Equal(t, id, idOf(t, cancelled.Body))

		deleted := s.manage(site.ClientKey, http.MethodDelete, "/v1/responses/"+id)
		assert.Equal(t, http.StatusOK, deleted.Status, deleted.Body)
		assert.JSONEq(t, `{"id":"`+id+`","object":"response.deleted","deleted":true}`, deleted.Body)

		gone := s.manage(site.ClientKey, http.MethodGet, "/v1/responses/"+id)
		assert.Equal(t, http.StatusNotFound, gone.Status)
		assert.NotRegexp(t, rawID, gone.Body, "X012: the text of the vendor has its own id")
		unknown := s.manage(site.ClientKey, http.MethodGet, "/v1/responses/resp_unknown")
		assert.JSONEq(t, strings.Replace(unknown.Body, "resp_unknown", id, 1), gone.Body, "a deleted response had the code model_not_found")

		answer := s.Ask(site.ResponsesPath, `{"model":"gpt","input":"hi","previous_response_id":"`+id+`"}`)
		assert.Equal(t, http.StatusBadRequest, answer.Status, answer.Body)
		assert.NotRegexp(t, rawID, answer.Body, "X064")
		assert.Contains(t, answer.Body, `Previous response with id '`+id+`' not found.`)
	})
}

// A fault once named the first id of the request, although the second was the unknown one.
func TestTheFaultNamesTheUnknownID(t *testing.T) {
	s := startStoring(t, site.Direct)
	id := s.create(t, "")
	answer := s.Ask(site.ResponsesPath, `{"model":"gpt","input":"hi","previous_response_id":"`+id+`","conversation":{"id":"conv_unknown"}}`)
	assert.Equal(t, http.StatusNotFound, answer.Status, answer.Body)
	assert.Contains(t, answer.Body, `"message":"Conversation with id 'conv_unknown' not found.","type":"invalid_request_error","param":"conversation"`)
}

// What a request names by an id that does not show its owner could be anybody's.
func TestSealedStateRefusesWhatHasNoOwner(t *testing.T) {
	s := startStoring(t, site.Direct)
	for member, path := range map[string]string{
		`,"prompt":{"id":"pmpt_1"}`: "prompt",
		`,"input":[{"role":"user","content":"a"},{"type":"item_reference","id":"msg_1"}]`: "input[1].type",
	} {
		answer := s.Ask(site.ResponsesPath, strings.Replace(`{"model":"gpt","input":"hi"`+member+`}`, `"input":"hi",`, "", strings.Count(member, "input")))
		assert.Equal(t, http.StatusBadRequest, answer.Status, answer.Body)
		assert.Contains(t, answer.Body, path+": this gateway cannot verify whose object this is")
	}
	assert.Empty(t, s.vendor.requests())
}

// Each API key may be of an account of its own, whose objects no other account has.
func TestX008AnObjectStaysWithItsAPIKey(t *testing.T) {
	s := startStoring(t, site.Direct, "responses_state sealed", "api_key {env.UP_2}")
	for range 8 {
		id := s.create(t, "")
		for range 3 {
			id = s.create(t, `,"previous_response_id":"`+id+`"`)
			assert.Equal(t, http.StatusOK, s.manage(site.ClientKey, http.MethodGet, "/v1/responses/"+id).Status)
		}
	}
}

// The objects of a provider that is gone from the configuration are not found.
func TestX007TheProviderOfAnObjectIsGone(t *testing.T) {
	s := startStoring(t, site.Direct)
	id := s.create(t, "")
	address := strings.TrimPrefix(s.vendor.URL, "http://")
	require.NoError(t, s.Reload(site.Block("", "key other {env.OTHER_KEY}",
		site.Direct.ProviderAt("renamed", address, "responses_state sealed", "models gpt", "format responses"))))
	assert.Equal(t, http.StatusNotFound, s.manage(site.ClientKey, http.MethodGet, "/v1/responses/"+id).Status)
	assert.Equal(t, http.StatusBadRequest, s.Ask(site.ResponsesPath, `{"model":"gpt","input":"hi","previous_response_id":"`+id+`"}`).Status)
}

// Without responses_state sealed, no path of an object is served: its id would be anybody's.
func TestPathsOfObjectsNeedSealedState(t *testing.T) {
	for _, state := range []string{"off", "passthrough"} {
		t.Run(state, func(t *testing.T) {
			s := startStoring(t, site.Direct, "responses_state "+state)
			id := s.create(t, "")
			refused := s.manage(site.ClientKey, http.MethodGet, "/v1/responses/"+id)
			assert.Equal(t, http.StatusNotFound, refused.Status)
			assert.Contains(t, refused.Body, "path: this gateway keeps no responses")
			assert.Len(t, s.vendor.requests(), 1)
		})
	}
}

// The order of the keys that seal changes when they are replaced; ids of clients stay valid.
func TestX009IDsOutliveTheKeyThatSealedThem(t *testing.T) {
	t.Setenv("OLDER", "an older key of the seals")
	t.Setenv("NEWER", "a newer key of the seals")
	v := startVendor(t)
	up := site.Direct.ProviderAt("up", strings.TrimPrefix(v.URL, "http://"), "responses_state sealed", "models gpt", "format responses")
	s := storing{site.Start(t, up, "seal_keys {env.OLDER}"), v}
	id := s.create(t, "")
	require.NoError(t, s.Reload(site.Block("", up, "seal_keys {env.NEWER} {env.OLDER}")))
	assert.Equal(t, id, idOf(t, s.manage(site.ClientKey, http.MethodGet, "/v1/responses/"+id).Body))
	again := s.Ask(site.ResponsesPath, `{"model":"gpt","input":"hi","previous_response_id":"`+id+`"}`)
	assert.Contains(t, again.Body, `"previous_response_id":"`+id+`"`)
	require.NoError(t, s.Reload(site.Block("", up, "seal_keys {env.NEWER}")))
	assert.Equal(t, http.StatusNotFound, s.manage(site.ClientKey, http.MethodGet, "/v1/responses/"+id).Status)
}

// What another provider has stored is in no answer of this one.
func TestX062AStoredResponseIsContinuedWhereItIs(t *testing.T) {
	v, p := startVendor(t), gatewaytest.NewProvider(t)
	s := storing{site.Start(t,
		site.Direct.ProviderAt("up", strings.TrimPrefix(v.URL, "http://"), "responses_state sealed", "format responses", "models off"),
		site.Direct.Provider("other", p, "responses_state sealed", "format responses", "models off"),
		"model gpt {\nto up\nto other\n}"), v}
	id := s.create(t, "")
	v.fail(http.StatusServiceUnavailable)
	fresh := s.Ask(site.ResponsesPath, `{"model":"gpt","input":"hi"}`)
	assert.Equal(t, http.StatusOK, fresh.Status, "another target answers: %s", fresh.Body)
	before := p.Count()
	for range 3 { // the provider rests by then
		answer := s.Ask(site.ResponsesPath, `{"model":"gpt","input":"hi","previous_response_id":"`+id+`"}`)
		assert.Equal(t, http.StatusServiceUnavailable, answer.Status, answer.Body)
	}
	assert.Equal(t, before, p.Count())
	v.fail(0)
	answer := s.Ask(site.ResponsesPath, `{"model":"gpt","input":"hi","previous_response_id":"`+id+`"}`)
	assert.Equal(t, http.StatusOK, answer.Status, answer.Body)
}

// A guard that masks answers would be avoided by reading the answer again.
func TestAGuardHidesWhatIsStored(t *testing.T) {
	v := startVendor(t)
	s := storing{site.Start(t, "guard pii regex {\nblock card\nmodels other\n}",
		site.Direct.ProviderAt("up", strings.TrimPrefix(v.URL, "http://"), "responses_state sealed", "models gpt", "format responses")), v}
	id := s.create(t, "")
	conversation := s.send(site.ClientKey, http.MethodPost, conversationsPath, `{"items":[{"role":"user","content":"4111 1111 1111 1111"}]}`)
	assert.Equal(t, http.StatusBadRequest, conversation.Status)
	assert.Contains(t, conversation.Body, "the guard 'pii' cannot check")
	for _, request := range []string{"GET /v1/responses/" + id, "GET /v1/responses/" + id + "/input_items", "POST /v1/responses/" + id + "/cancel"} {
		method, path, _ := strings.Cut(request, " ")
		refused := s.manage(site.ClientKey, method, path)
		assert.Equal(t, http.StatusBadRequest, refused.Status, request)
		assert.Contains(t, refused.Body, "the guard 'pii' cannot check")
	}
	assert.Equal(t, http.StatusOK, s.manage(site.ClientKey, http.MethodDelete, "/v1/responses/"+id).Status)
}

// Requests about objects count as requests, and leave a record without a cost.
func TestRequestsAboutObjectsAreLimitedAndRecorded(t *testing.T) {
	v := startVendor(t)
	t.Setenv("KEY_ALICE", site.AliceKey)
	s := storing{site.Start(t, "limit two {\nrequests 2/1h\n}", "key alice {env.KEY_ALICE} {\nlimit two\n}",
		site.Direct.ProviderAt("up", strings.TrimPrefix(v.URL, "http://"), "responses_state sealed", "models gpt", "format responses")), v}
	id := s.create(t, "", "Authorization", "Bearer "+site.AliceKey)
	read := s.manage(site.AliceKey, http.MethodGet, "/v1/responses/"+id)
	assert.Equal(t, http.StatusOK, read.Status)
	record := s.Record(read.ID())
	assert.Equal(t, "answered", record["outcome"])
	assert.Equal(t, http.StatusTooManyRequests, s.manage(site.AliceKey, http.MethodGet, "/v1/responses/"+id).Status)
}

// Streams of stored responses were refused, and a request about one was ended after a minute.
func TestAStoredResponseIsResumedAsAStream(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		s := startStoring(t, w)
		id := s.create(t, "")
		resumed := s.manage(site.ClientKey, http.MethodGet, "/v1/responses/"+id+"?stream=true&starting_after=3&api_key=x")
		require.Equal(t, http.StatusOK, resumed.Status, resumed.Body)
		assert.Equal(t, "text/event-stream", resumed.Header.Get("Content-Type"))
		assert.Regexp(t, `^GET /v1/responses/resp_[0-9a-f]{48}\?starting_after=3&stream=true $`, s.vendor.lastRequest(t))
		assert.Regexp(t, `^event: response.output_text.delta\ndata: .*"sequence_number":4.*\n\nevent: response.completed\ndata: .*"id":"`+id+`".*\n\n$`, resumed.Body)
		assert.NotRegexp(t, rawID, resumed.Body)
		record := s.Record(resumed.ID())
		assert.Equal(t, "answered", record["outcome"])
		assert.NotContains(t, record, "usage", "its tokens were charged before")
		last := s.manage(site.ClientKey, http.MethodGet, "/v1/responses/"+id+"?stream=true&starting_after=4")
		assert.Regexp(t, `^event: response.completed\n`, last.Body, "without content")
	})
}

// A provider that ignores the parameter answers with the whole response, which is no stream.
func TestAResponseInPlaceOfItsStreamIsNoAnswer(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	s := site.Start(t, site.Direct.Provider("up", p, "models gpt", "responses_state sealed", "format responses"))
	stored := gatewaytest.Body(http.StatusOK, "application/json", []byte(`{"id":"resp_1","object":"response","status":"completed","output":[]}`))
	p.Script(stored, stored)
	id := idOf(t, s.Ask(site.ResponsesPath, `{"model":"gpt","input":"hi"}`).Body)
	read := s.Call(http.MethodGet, s.URL("site", "/v1/responses/"+id+"?stream=true"), "", "Authorization", "Bearer "+site.ClientKey)
	assert.Equal(t, http.StatusBadGateway, read.Status, read.Body)
}
