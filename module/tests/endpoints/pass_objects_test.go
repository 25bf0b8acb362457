package endpoints_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// creations are the paths at which objects are created, by what their ids begin with.
var creations = map[string]string{
	"file-": "/v1/files", "upload_": "/v1/uploads", "vs_": "/v1/vector_stores", "vsfb_": "/v1/vector_stores/{vs_}/file_batches",
	"cntr_": "/v1/containers", "cfile_": "/v1/containers/{cntr_}/files", "ftjob-": "/v1/fine_tuning/jobs", "video_": "/v1/videos",
	"skill_": "/v1/skills", "batch_": "/v1/batches", "msgbatch_": "/v1/messages/batches", "conv_": "/v1/conversations", "resp_": "/v1/responses",
}

// owned are the requests about objects.
var owned = strings.Split(strings.TrimSpace(`
GET /v1/files/{file-}
DELETE /v1/files/{file-}
GET /v1/files/{file-}/content
POST /v1/uploads/{upload_}/parts
POST /v1/uploads/{upload_}/complete
POST /v1/uploads/{upload_}/cancel
GET /v1/vector_stores/{vs_}
POST /v1/vector_stores/{vs_}
DELETE /v1/vector_stores/{vs_}
POST /v1/vector_stores/{vs_}/search
GET /v1/vector_stores/{vs_}/files
POST /v1/vector_stores/{vs_}/files
GET /v1/vector_stores/{vs_}/files/{file-}
POST /v1/vector_stores/{vs_}/files/{file-}
DELETE /v1/vector_stores/{vs_}/files/{file-}
GET /v1/vector_stores/{vs_}/files/{file-}/content
POST /v1/vector_stores/{vs_}/file_batches
GET /v1/vector_stores/{vs_}/file_batches/{vsfb_}
POST /v1/vector_stores/{vs_}/file_batches/{vsfb_}/cancel
GET /v1/vector_stores/{vs_}/file_batches/{vsfb_}/files
GET /v1/containers/{cntr_}
DELETE /v1/containers/{cntr_}
GET /v1/containers/{cntr_}/files
POST /v1/containers/{cntr_}/files
GET /v1/containers/{cntr_}/files/{cfile_}
DELETE /v1/containers/{cntr_}/files/{cfile_}
GET /v1/containers/{cntr_}/files/{cfile_}/content
GET /v1/fine_tuning/jobs/{ftjob-}
POST /v1/fine_tuning/jobs/{ftjob-}/cancel
GET /v1/fine_tuning/jobs/{ftjob-}/events
GET /v1/fine_tuning/jobs/{ftjob-}/checkpoints
GET /v1/videos/{video_}
DELETE /v1/videos/{video_}
GET /v1/videos/{video_}/content
POST /v1/videos/{video_}/remix
GET /v1/skills/{skill_}
POST /v1/skills/{skill_}
DELETE /v1/skills/{skill_}
GET /v1/skills/{skill_}/versions/1/content
GET /v1/batches/{batch_}
POST /v1/batches/{batch_}/cancel
GET /v1/messages/batches/{msgbatch_}
DELETE /v1/messages/batches/{msgbatch_}
POST /v1/messages/batches/{msgbatch_}/cancel
GET /v1/messages/batches/{msgbatch_}/results
GET /v1/conversations/{conv_}
POST /v1/conversations/{conv_}
DELETE /v1/conversations/{conv_}
GET /v1/conversations/{conv_}/items
POST /v1/conversations/{conv_}/items
GET /v1/conversations/{conv_}/items/msg_1
GET /v1/responses/{resp_}
DELETE /v1/responses/{resp_}
POST /v1/responses/{resp_}/cancel
GET /v1/responses/{resp_}/input_items`), "\n")

// vault is an account that stores objects, and refuses every id that it has not given.
type vault struct {
	t     *testing.T
	mu    sync.Mutex
	given map[string]bool
	last  string // body of the last answer
}

// vendorID matches what begins as an id of the vendor.
var vendorID = regexp.MustCompile(`\b(file-|upload_|vsfb_|vs_|cntr_|cfile_|ftjob-|video_|skill_|batch_|msgbatch_|conv_|resp_)[A-Za-z0-9_-]{8,}`)

// ServeHTTP creates an object at a path of creations, and answers about the others with all ids that the
// request has.
func (v *vault) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	v.mu.Lock()
	defer v.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	w.Header().Set("Content-Type", "application/json")
	named := vendorID.FindAllString(r.RequestURI+string(body), -1)
	for _, id := range named {
		if !v.given[id] {
			v.t.Errorf("the vendor got %s", id)
		}
	}
	if strings.HasSuffix(r.URL.Path, "/content") || strings.HasSuffix(r.URL.Path, "/results") {
		_, _ = fmt.Fprintf(w, `{ "file_id":"%s" }`, named[0])
		return
	}
	for kind, path := range creations {
		pattern := regexp.MustCompile("^" + regexp.MustCompile(`\{[^}]*\}`).ReplaceAllString(path, "[^/]+") + "$")
		if r.Method == http.MethodPost && pattern.MatchString(r.URL.Path) {
			id := fmt.Sprintf("%s%024x", kind, len(v.given))
			v.given[id] = true
			named = append([]string{id}, named...)
			break
		}
	}
	list, _ := json.Marshal(named)
	v.last = fmt.Sprintf(`{"id":"%s","object":"x", "file_ids" : %s,"data":[{"id":"msg_1","file_id":"%s"}],"error":{"message":"about %s"},"metadata":{"file_id":"mine"},
 "results_url":"https://api.vendor.example/v1/messages/batches/%s/results","text":"{\"file_id\":\"x\"}"}`, named[0], list, named[0], strings.Join(named[1:], " "), named[0])
	if strings.HasPrefix(r.URL.Path, "/v1/messages/batches") == false {
		v.last = strings.Replace(v.last, "https://api.vendor.example/v1/messages/batches/"+named[0], "https://api.vendor.example/other", 1)
	}
	_, _ = io.WriteString(w, v.last)
}

// startVault starts a site that seals the ids of what it passes on, with an object of each kind.
func startVault(t *testing.T, w site.Way, lines ...string) (p passing, v *vault, ids map[string]string) {
	p = startPassing(t, w, "allow GET POST DELETE /v1/*\nids sealed", append(lines, "key other {env.OTHER_KEY}")...)
	v = &vault{t: t, given: make(map[string]bool)}
	p.account.answers(v.ServeHTTP)
	p.account.unread = true
	ids = make(map[string]string)
	for _, kind := range []string{"file-", "upload_", "vs_", "vsfb_", "cntr_", "cfile_", "ftjob-", "video_", "skill_", "batch_", "msgbatch_", "conv_", "resp_"} {
		answer := p.pass(http.MethodPost, withIDs(creations[kind], ids), `{"model":"m","input":"a","name":"x"}`)
		require.Equal(t, http.StatusOK, answer.Status, "%s: %s", kind, answer.Body)
		ids[kind] = idOf(t, answer.Body)
		assert.Regexp(t, "^"+kind+"1[A-Za-z0-9_-]{40,}$", ids[kind])
		assert.Less(t, len(ids[kind]), 256)
	}
	return p, v, ids
}

// withIDs returns a path with ids in the places of their kinds.
func withIDs(path string, ids map[string]string) string {
	for kind, id := range ids {
		path = strings.ReplaceAll(path, "{"+kind+"}", id)
	}
	return path
}

// Objects of an account that all clients share belong to the client that has created them. Other
// gateways pass the vendor's ids on, so that every key reads the files of all.
func TestX001X012X014ObjectsThatArePassedOnHaveSealedIDs(t *testing.T) {
	site.EachWay(t, func(t *testing.T, w site.Way) {
		p, v, ids := startVault(t, w)
		for _, line := range owned {
			method, path, _ := strings.Cut(line, " ")
			for range 2 {
				answer := p.pass(method, withIDs(path, ids)+"?after="+ids["file-"]+"&limit=2", `{"file_id":"`+ids["file-"]+`","metadata":{"file_id":"mine"}}`)
				require.Equal(t, http.StatusOK, answer.Status, "%s: %s", line, answer.Body)
				if strings.HasSuffix(path, "/results") {
					assert.Equal(t, `{ "file_id":"`+ids["msgbatch_"]+`" }`, answer.Body, line)
					continue
				}
				if strings.HasSuffix(path, "/content") {
					assert.Regexp(t, `^\{ "file_id":"[a-z-_]+[0-9a-f]{24}" \}$`, answer.Body, "%s: what was stored has its bytes", line)
					continue
				}
				for id := range v.given {
					assert.NotContains(t, answer.Body, id, line)
				}
				assert.Contains(t, answer.Body, ids["file-"], line)
				assert.Contains(t, answer.Body, `"metadata":{"file_id":"mine"}`, line)
				assert.Contains(t, answer.Body, `"text":"{\"file_id\":\"x\"}"`, line)
				assert.Contains(t, answer.Body, `,"object":"x", "file_ids" : [`, line)
				if strings.Contains(path, "messages/batches") {
					assert.Contains(t, answer.Body, `"results_url":"/v1/messages/batches/`+ids["msgbatch_"]+`/results"`, line)
				}
				if i := strings.LastIndex(path, "{"); method == http.MethodGet && strings.Count(path, "{") == 1 {
					assert.Equal(t, ids[path[i+1:strings.Index(path, "}")]], idOf(t, answer.Body), "the same id each time")
				}
			}
		}
		p.account.sends("application/json", `{"object":"list", "data":[ ]}`)
		answer := p.pass(http.MethodGet, withIDs("/v1/vector_stores/{vs_}/files", ids), "")
		assert.Equal(t, `{"object":"list", "data":[ ]}`, answer.Body, "without an id, the bytes are the provider's")
	})
}

// An attack by another client on each kind of id, in each place where an id can stand.
func TestX002X004X005X006X013AnotherClientUsesNoIDOfWhatIsPassedOn(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		p, v, ids := startVault(t, w)
		raw := make(map[string]string)
		for id := range v.given {
			raw[vendorID.FindStringSubmatch(id)[1]] = id
		}
		before, tried := len(p.account.lines()), 0
		try := func(method, path, body string, want ...int) {
			refused := p.pass(method, path, body, "Authorization", "Bearer "+otherKey)
			if !slices.Contains(want, refused.Status) {
				t.Errorf("%s %s %s: %d %s", method, path, body, refused.Status, refused.Body)
			}
			for id := range v.given {
				if !strings.Contains(path+body, id) {
					assert.NotContains(t, refused.Body, id)
				}
			}
			tried++
		}
		for kind, id := range ids {
			changed := id[:len(id)-1] + map[bool]string{true: "A", false: "B"}[id[len(id)-1] != 'A']
			for _, id := range []string{id, changed, raw[kind]} {
				for _, line := range owned {
					method, path, _ := strings.Cut(line, " ")
					path = regexp.MustCompile(`\{[^}]*\}`).ReplaceAllString(path, id)
					try(method, path, "{}", http.StatusNotFound)
				}
				for _, parameter := range []string{"after", "before", "file_id", "include[]"} {
					try(http.MethodGet, "/v1/models?"+parameter+"="+id, "", http.StatusNotFound)
				}
				for _, member := range []string{
					`"file_id":"%s"`, `"file_ids":["%s"]`, `"input_file_id":"%s"`, `"training_file":"%s"`, `"vector_store_ids":["%s"]`, `"container":"%s"`, `"container":{"id":"%s"}`,
					`"previous_response_id":"%s"`, `"conversation":"%s"`, `"conversation":{"id":"%s"}`, `"f\u0069le_id":"%s"`, `"FILE_ID":"%s"`, `"tools":[{"vector_store_ids":["%s"]}]`,
					`"messages":[{"role":"user","content":[{"type":"file","file":{"file_id":"%s"}}]}]`, `"video":{"id":"%s"}`, `"skills":[{"skill_id":"%s"}]`, `"input":[{"file_id":"%s"}]`, `"id":"%s"`,
				} {
					body := `{"model":"m",` + fmt.Sprintf(member, id) + `}`
					for _, path := range []string{"/v1/responses", "/v1/chat/completions", "/v1/batches", "/v1/brand/new"} {
						try(http.MethodPost, path, body, http.StatusNotFound, http.StatusBadRequest)
					}
				}
			}
		}
		try(http.MethodGet, "/v1/files/file-1"+strings.Repeat("A", 1<<12), "", http.StatusNotFound)
		for _, path := range []string{"/v1/files", "/v1/vector_stores", "/v1/batches", "/v1/chat/completions", "/v1/messages/batches"} {
			try(http.MethodGet, path, "", http.StatusNotFound)
		}
		assert.Len(t, p.account.lines(), before, "nothing is sent")
		assert.Greater(t, tried, 2000)
		t.Log(tried, "attempts")

		unknown := p.pass(http.MethodGet, "/v1/files/file-1"+strings.Repeat("A", 40), "")
		of := p.pass(http.MethodGet, "/v1/files/"+ids["file-"], "", "Authorization", "Bearer "+otherKey)
		hide := regexp.MustCompile(`file-[A-Za-z0-9_-]+|req_[A-Za-z0-9]+`)
		assert.Equal(t, hide.ReplaceAllString(unknown.Body, "x"), hide.ReplaceAllString(of.Body, "x"), "another client's id is as unknown as any")
	})
}

// What the gateway does not know to belong to a client is refused, as with ids off.
func TestX011WhatHasNoKnownIDsIsRefusedWhereIDsAreSealed(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		p, _, ids := startVault(t, w)
		before := len(p.account.lines())
		speech, formType := form(t, "file@a=x", "file_id="+ids["file-"])
		hook, hookType := form(t, "file@a=x", "webhook=https://client.example")
		for name, c := range map[string]struct {
			line, body, contentType string
			status                  int
			want                    string
		}{
			"a list":                   {"GET /v1/files", "", "", 404, "lists no stored objects"},
			"an unknown object":        {"GET /v1/widgets/1", "", "", 403, "stored objects"},
			"an unknown method":        {"DELETE /v1/uploads/" + ids["upload_"], "", "", 403, "stored objects"},
			"an item by a reference":   {"POST /v1/responses", `{"model":"m","input":[{"type":"item_reference","id":"msg_1"}]}`, "", 400, "whose object this is"},
			"a response of tomorrow":   {"POST /v1/responses", `{"model":"m","input_of_tomorrow":1}`, "", 400, "input"},
			"an id in a form":          {"POST /v1/containers/" + ids["cntr_"] + "/files", speech, formType, 400, "JSON body"},
			"a repeated member":        {"POST /v1/vector_stores", `{"file_ids":[],"file_ids":[]}`, "", 400, "JSON"},
			"a body that is not read":  {"POST /v1/vector_stores", "file_ids=x", "application/x-www-form-urlencoded", 415, "application/json"},
			"an address to call":       {"POST /v1/videos", `{"model":"m","callback_url":"https://client.example"}`, "", 400, "callback_url: must not be sent: the provider would call this address"},
			"one by another name":      {"POST /v1/videos", `{"model":"m","Notify-URL":"https://client.example"}`, "", 400, "Notify-URL: must not be sent: the provider would call this address"},
			"one of a batch":           {"POST /v1/batches", `{"input_file_id":"` + ids["file-"] + `","status_callback":"https://client.example"}`, "", 400, "status_callback: must not be sent: the provider would call this address"},
			"one in the query":         {"POST /v1/videos?hf_%77ebhook=https://client.example", `{"model":"m"}`, "", 400, "must not be sent: the provider would call this address"},
			"one in a form":            {"POST /v1/containers/" + ids["cntr_"] + "/files", hook, hookType, 400, "webhook: must not be sent: the provider would call this address"},
			"a coding that is unknown": {"POST /v1/vector_stores", "{}", "", 415, "encoding"},
		} {
			method, path, _ := strings.Cut(c.line, " ")
			headers := []string{"Content-Type", "application/json"}
			if c.contentType != "" {
				headers[1] = c.contentType
			}
			if c.want == "encoding" {
				headers = append(headers, "Content-Encoding", "x-own")
			}
			answer := p.pass(method, path, c.body, headers...)
			assert.Equal(t, c.status, answer.Status, "%s: %s", name, answer.Body)
			assert.Contains(t, answer.Body, c.want, name)
		}
		assert.Len(t, p.account.lines(), before)

		zipped := string(gzipped(t, `{"file_ids":["`+ids["file-"]+`"]}`))
		answer := p.pass(http.MethodPost, "/v1/vector_stores", zipped, "Content-Encoding", "gzip")
		require.Equal(t, http.StatusOK, answer.Status, answer.Body)
		assert.NotContains(t, p.account.last(t).header, "Content-Encoding", "the body is sent decoded, with the provider's ids")
		upload, formType := form(t, "purpose=user_data", "file@a.txt=hello")
		answer = p.pass(http.MethodPost, "/v1/files", upload, "Content-Type", formType)
		assert.Equal(t, http.StatusOK, answer.Status, "%s", answer.Body)
	})
}

// A stream has the ids of its client, and its usage is read as elsewhere.
func TestAStreamThatIsPassedOnHasSealedIDs(t *testing.T) {
	site.EachWay(t, func(t *testing.T, w site.Way) {
		p := startTapped(t, w, "ids sealed", priced)
		stream := strings.ReplaceAll(strings.Join(site.Streams[site.ResponsesPath], ""), `"annotations":[]`, `"annotations":[{"type":"file_citation","file_id":"file-abcdefgh"}]`)
		for _, coded := range []bool{false, true} {
			if coded {
				p.account.sends(eventStream, string(gzipped(t, stream)), "Content-Encoding", "gzip")
			} else {
				p.account.sends(eventStream, stream)
			}
			answer := p.pass(http.MethodPost, site.ResponsesPath, site.BodyFor(site.ResponsesPath, "m-1", "hello", true))
			require.Equal(t, http.StatusOK, answer.Status, answer.Body)
			sealed := regexp.MustCompile(`"(resp_|file-)1[A-Za-z0-9_-]{30,}"`)
			raw := map[string]string{"resp_": regexp.MustCompile(`"id":"(resp_[^"]*)"`).FindStringSubmatch(stream)[1], "file-": "file-abcdefgh"}
			assert.Equal(t, stream, sealed.ReplaceAllStringFunc(answer.Body, func(id string) string {
				return `"` + raw[sealed.FindStringSubmatch(id)[1]] + `"`
			}), "all else is unchanged")
			call := recordOf(t, p.Site, answer.ID()).Calls[0]
			assert.Equal(t, []any{"provider", int64(9), int64(4)}, []any{call.Source, call.Input, call.Output})
		}
	})
}

// A key with rules about models and costs keeps its objects: only what uses a model or is charged is refused.
func TestKeysWithRulesManageTheirObjects(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		p, _, _ := startVault(t, w, "limit small {\nbudget 5/month\n}", "key third {env.THIRD_KEY} {\nmodels claude-*\nlimit small\n}")
		for path, want := range map[string]int{"/v1/files": 200, "/v1/vector_stores": 200, "/v1/fine_tuning/jobs": 403, "/v1/batches": 403, "/v1/videos": 403, "/v1/responses": 403} {
			answer := p.pass(http.MethodPost, path, `{"model":"m","input":"a"}`, "Authorization", "Bearer "+thirdKey)
			assert.Equal(t, want, answer.Status, "%s: %s", path, answer.Body)
		}
	})
}

const thirdKey = "sk-a-third-0123456789abcdef"
