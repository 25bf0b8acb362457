package endpoints_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// attacked are the places in paths and queries where ids can be, with the kind in braces, and [kind] for an
// object of the attacker's own.
var attacked = strings.Split(strings.TrimSpace(`
GET /v1/responses/{resp_}
GET /v1/responses/{resp_}?stream=true
GET /v1/responses/{resp_}/input_items
GET /v1/responses/[resp_]/input_items?after={resp_}
POST /v1/responses/{resp_}/cancel
DELETE /v1/responses/{resp_}
GET /v1/conversations/{conv_}
POST /v1/conversations/{conv_}
DELETE /v1/conversations/{conv_}
GET /v1/conversations/{conv_}/items
GET /v1/conversations/[conv_]/items?after={conv_}
POST /v1/conversations/{conv_}/items
GET /v1/conversations/{conv_}/items/msg_1
DELETE /v1/conversations/{conv_}/items/msg_1
GET /v1/chat/completions/{chatcmpl-}
POST /v1/chat/completions/{chatcmpl-}
DELETE /v1/chat/completions/{chatcmpl-}
GET /v1/chat/completions/{chatcmpl-}/messages
GET /v1/chat/completions/[chatcmpl-]/messages?after={chatcmpl-}
GET /v1/files/{file-}
GET /v1/files/{file-}/content
DELETE /v1/files/{file-}
GET /v1/files/{file_}
GET /v1/files/{file_}/content
DELETE /v1/files/{file_}
POST /v1/uploads/{upload_}/complete
POST /v1/uploads/{upload_}/cancel
POST /v1/uploads/{upload_}/parts
GET /v1/batches/{batch_}
POST /v1/batches/{batch_}/cancel
GET /v1/messages/batches/{msgbatch_}
POST /v1/messages/batches/{msgbatch_}/cancel
GET /v1/messages/batches/{msgbatch_}/results
DELETE /v1/messages/batches/{msgbatch_}
GET /pass/near/v1/files/[file-]?after={file-}
GET /pass/near/v1/vector_stores/[vs_]/files?after={vs_}`), "\n")

// bodies are the places in bodies where ids can be, beside those of inputs.
var bodies = []place{
	{http.MethodPost, "/v1/batches", `{"input_file_id":"{file-}","endpoint":"/v1/responses","completion_window":"24h"}`, "file-"},
	{http.MethodPost, "/v1/conversations/[conv_]/items", `{"items":[{"type":"message","role":"user","content":[{"type":"input_file","file_id":"{file-}"}]}]}`, "file-"},
	{http.MethodPost, "/pass/near/v1/vector_stores", `{"file_ids":["{file-}"]}`, "file-"},
	{http.MethodPost, "/pass/near/v1/vector_stores/[vs_]/files", `{"file_id":"{file-}"}`, "file-"},
	{http.MethodPost, "/pass/near/v1/fine_tuning/jobs", `{"training_file":"{file-}"}`, "file-"},
	{http.MethodPost, "/pass/near/v1/videos", `{"video":{"id":"{video_}"}}`, "video_"},
	{http.MethodPost, "/pass/near/v1/containers", `{"skills":[{"skill_id":"{skill_}"}]}`, "skill_"},
	{http.MethodPost, "/pass/near/v1/responses", `{"model":"m","input":"x","previous_response_id":"{resp_}"}`, "resp_"},
	{http.MethodPost, "/pass/near/v1/responses", `{"model":"m","input":"x","conversation":{"id":"{conv_}"}}`, "conv_"},
}

// places returns all places where an id can be. Those in files of batches have the path "line", and those in
// messages of a WebSocket the path "socket".
func places() (all []place) {
	kind := regexp.MustCompile(`\{([a-z-_]+)\}`)
	for _, line := range append(attacked, strings.Split(strings.ReplaceAll(strings.Join(owned, "\n"), " /v1/", " /pass/near/v1/"), "\n")...) {
		method, path, _ := strings.Cut(line, " ")
		for _, found := range kind.FindAllStringSubmatch(path, -1) { // one of them, and the others are the attacker's own
			others := kind.ReplaceAllString(strings.Replace(path, found[0], "<>", 1), "[$1]")
			p := place{method: method, path: strings.Replace(others, "<>", found[0], 1), kind: found[1]}
			if method == http.MethodPost {
				p.body = `{"metadata":{}}`
			}
			all = append(all, p)
		}
	}
	all = append(append(all, bodies...), inputPlaces()...)
	for _, p := range inputPlaces() {
		if p.path == "/v1/responses" || p.path == "/v1/chat/completions" {
			if p.kind != "resp_" && p.kind != "conv_" { // which no batch can have
				all = append(all, place{p.path, "line", p.body, p.kind})
			}
		}
		if p.path == "/v1/responses" {
			all = append(all, place{p.method, "socket", `{"type":"response.create",` + p.body[1:], p.kind})
		}
	}
	return all
}

// attacker is a client that tries ids of another one.
type attacker struct {
	filed
	key    string
	own    map[string]string // ids of its own objects
	socket *socketClient
}

// try uses an id in a place, and reports whether that had an effect.
func (a *attacker) try(t *testing.T, p place, id string) (works bool, why string) {
	t.Helper()
	p = p.with(id, "m")
	for kind, own := range a.own {
		p.path = strings.ReplaceAll(p.path, "["+kind+"]", own)
	}
	switch p.path {
	case "socket":
		a.socket.send(p.body)
		all := a.socket.answer()
		return parsed(t, all[len(all)-1]).Type != "error", all[len(all)-1]
	case "line":
		body, formType := form(t, "purpose=batch", `file@a.jsonl={"custom_id":"r","method":"POST","url":"`+p.method+`","body":`+p.body+`}`)
		answer := a.send(a.key, http.MethodPost, "/v1/files", body, "Content-Type", formType)
		return answer.Status < 300, answer.Body
	}
	headers := []string(nil)
	if strings.Contains(p.path, "/v1/files/file_") || strings.HasPrefix(p.path, "/v1/files/") && p.kind == "file_" {
		headers = []string{"Anthropic-Version", "2023-06-01"}
	}
	if strings.HasSuffix(p.path, "/parts") && !strings.HasPrefix(p.path, "/pass") {
		var formType string
		p.body, formType = form(t, "data@a=x")
		headers = append(headers, "Content-Type", formType)
	}
	answer := a.send(a.key, p.method, p.path, p.body, headers...)
	return answer.Status < 400, answer.Body
}

// forms returns the forms of an id of alice in which another client may try it.
func (f filed) forms(kind, raw string, far map[string]string) map[string]string {
	id := f.ids[kind]
	escaped := strings.NewReplacer("_", "%5F", "-", "%2D").Replace(id)
	other := map[bool]string{true: "batch_", false: "resp_"}[kind == "resp_"]
	return map[string]string{
		"whole": id, "upper case": strings.ToUpper(id), "lower case": strings.ToLower(id), "escaped": escaped, "with a suffix": id + "-0", "truncated": id[:len(id)-4],
		"changed": id[:len(id)-1] + map[bool]string{true: "A", false: "B"}[id[len(id)-1] != 'A'], "long": kind + "1" + strings.Repeat("A", 600),
		"the vendor's": raw, "of another kind": other + strings.TrimPrefix(id, kind), "of another provider": far[kind],
	}
}

// An attack by a second client on each kind of id of the first, in each place where an id can be. In other
// gateways, who knew an id could read its object, with any key: in the path, in a query, in a body, in the
// lines of a batch or over a WebSocket.
func TestX002ASecondClientUsesNoIDOfTheFirst(t *testing.T) {
	f := startFiled(t, site.Direct, "sockets near")
	far := f.stock(t, site.AliceKey, "far")
	alice := &attacker{f, site.AliceKey, f.ids, openSocket(t, f.Site, site.AliceKey)}
	bob := &attacker{f, site.BobKey, f.stock(t, site.BobKey, "near"), openSocket(t, f.Site, site.BobKey)}
	raw := make(map[string]string) // of alice, of which each sealed id is one
	for kind := range f.ids {
		for _, id := range f.near.ids() {
			if strings.HasPrefix(id, kind) {
				raw[kind] = id
			}
		}
	}
	near, there, tried := len(f.near.requests()), len(f.far.requests()), 0
	attack := func(p place, form, id string) {
		tried++
		if works, why := bob.try(t, p, id); works {
			t.Errorf("%s works in %s %s %s: %s", form, p.method, p.path, p.body, why)
		} else {
			for _, kind := range raw {
				assert.False(t, kind != id && strings.Contains(why, kind), "%s: %s", p.path, why)
			}
		}
		if now := len(f.near.requests()); now != near || len(f.far.requests()) != there {
			near, there = now, len(f.far.requests())
			t.Errorf("a provider was asked for %s in %s %s %s", form, p.method, p.path, p.body)
		}
	}
	all := places()
	for _, p := range all {
		for form, id := range f.forms(p.kind, raw[p.kind], far) {
			attack(p, form, id)
		}
		for kind, id := range f.ids { // of all other kinds
			if kind != p.kind {
				attack(p, "an id of another kind, "+kind, id)
			}
		}
	}
	assert.GreaterOrEqual(t, tried, 2000)
	t.Log(tried, "attempts in", len(all), "places, with ids of", len(f.ids), "kinds")

	for _, p := range all { // the first client itself can, in each of them
		works, why := alice.try(t, p, f.ids[p.kind])
		require.True(t, works, "%s %s %s: %s", p.method, p.path, p.body, why)
		for _, raw := range f.near.ids() {
			if !strings.HasPrefix(raw, "chatcmpl-") { // of an answer that nobody stores
				assert.NotContains(t, why, raw, p.path)
			}
		}
	}
}
