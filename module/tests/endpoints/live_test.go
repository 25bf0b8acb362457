package endpoints_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// liveLines are the lines of a site with the Live API of Gemini, whose model voice has the name live-real
// there, and two keys.
func liveLines(t *testing.T, v *liveVendor, lines ...string) string {
	t.Setenv("UP_KEY", "up-1")
	t.Setenv("UP_KEY_2", "up-2")
	t.Setenv("OTHER_KEY", otherKey)
	return site.Block("", append([]string{
		"provider up gemini {\nbase_url " + v.URL + "/v1beta\nmodels off\napi_key {env.UP_KEY}\napi_key {env.UP_KEY_2}\n}",
		"model voice {\nto up/live-real\nprice input 1 output 2 audio_input 10 audio_output 20\n}", "sockets up",
	}, lines...)...)
}

// livePath is the path of the Live API as clients of the vendor write it behind a base URL.
const livePath = "//ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent"

// dialLive opens a WebSocket of the Live API, with the key in the query as the vendor's client for web pages.
func dialLive(s *site.Site, key string) (*websocket.Conn, *http.Response, error) {
	return websocket.Dial(site.Waiting(s.T), s.URL("site", livePath+"?key="+url.QueryEscape(key)), nil)
}

// openLive opens a conversation with the model voice. more are further members of the first message.
func openLive(t *testing.T, s *site.Site, key, more string) *socketClient {
	t.Helper()
	conn, _, err := dialLive(s, key)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.CloseNow() })
	c := &socketClient{conn, t}
	c.send(`{"setup":{"model":"models/voice"` + more + `}}`)
	return c
}

// closed returns how the socket ends.
func (c *socketClient) closed() (e websocket.CloseError) {
	c.t.Helper()
	for {
		if _, _, err := c.Read(site.Waiting(c.t)); err != nil {
			assert.True(c.t, errors.As(err, &e), err)
			return e
		}
	}
}

// say says a text, and returns the messages up to the end of the turn.
func (c *socketClient) say(text string) (all []string) {
	c.t.Helper()
	c.send(`{"clientContent":{"turns":[{"role":"user","parts":[{"text":"` + text + `"}]}],"turnComplete":true}}`)
	for all = append(all, c.next()); !strings.Contains(all[len(all)-1], "usageMetadata") && !strings.Contains(text, "go away"); {
		all = append(all, c.next())
	}
	return all
}

// Clients of the Live API had no way through the gateway but a key of the vendor: the model is in the
// first message, behind the answer to the request for the WebSocket.
func TestX210ALiveConversationHasItsModelInTheFirstMessage(t *testing.T) {
	v := startLive(t)
	s := site.StartCaddyfile(t, strings.Replace(liveLines(t, v, "store sqlite "+filepath.Join(t.TempDir(), "gateway.db")), "{\n", "{\nlog\n", 1))
	c := openLive(t, s, site.ClientKey, `,"generationConfig":{"responseModalities":["AUDIO"]}`)
	kind, text, err := c.Read(site.Waiting(t))
	require.NoError(t, err)
	assert.Equal(t, "{\n  \"setupComplete\": {}\n}\n", string(text), "the bytes of the provider")
	assert.Equal(t, websocket.MessageBinary, kind, "and its kind of message, which clients tell apart")
	assert.Equal(t, `{"setup":{"model":"models/live-real","generationConfig":{"responseModalities":["AUDIO"]}}}`, v.received()[0])
	c.send(`{"realtimeInput":{"audio":{"mimeType":"audio/pcm","data":"` + strings.Repeat("A", 1<<10) + `"}}}`)
	assert.Contains(t, strings.Join(c.say("hello"), ""), `"turnComplete":true`)
	assert.Contains(t, c.say("go away")[0], `"timeLeft":"50s"`)
	records := recordsOf(t, s, 1)
	assert.Equal(t, []any{"voice", "answered", "provider", int64(50), int64(1_730_000)}, []any{records[0].Model, records[0].Outcome, records[0].Calls[0].Source, records[0].Calls[0].Output, records[0].Calls[0].Cost}, "with the prices of sound both ways")
	assert.Equal(t, []string{"up-1 /ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent"}, v.dials())
	s.AssertNoEntry(site.ClientKey)
}

// A refusal by HTTP is possible before the model is known; then the API has close codes alone.
func TestX211RefusalsOfLiveConversations(t *testing.T) {
	v := startLive(t)
	s := site.StartCaddyfile(t, liveLines(t, v, "model elsewhere {\nto demo\n}", site.DemoProvider, "key other {env.OTHER_KEY} {\nmodels elsewhere\n}"))
	_, response, err := dialLive(s, "sk-wrong")
	require.Error(t, err)
	assert.Equal(t, http.StatusUnauthorized, response.StatusCode)
	assert.Contains(t, site.ReadReply(response).Body, `"status":"UNAUTHENTICATED"`)
	for name, tt := range map[string]struct {
		key, first string
		code       websocket.StatusCode
		reason     string
	}{
		"unknown model": {site.ClientKey, `{"setup":{"model":"models/nobody"}}`, 1008, "no provider of this gateway"},
		"not allowed":   {otherKey, `{"setup":{"model":"models/voice"}}`, 1008, "may not use"},
		"no WebSocket":  {site.ClientKey, `{"setup":{"model":"elsewhere"}}`, 1008, "no provider of this gateway"},
		"no setup":      {site.ClientKey, `{"clientContent":{"turnComplete":true}}`, 1007, "the first one must begin"},
		"no model":      {site.ClientKey, `{"setup":{}}`, 1007, "the first one must begin"},
		"no JSON":       {site.ClientKey, `{`, 1007, "must be a JSON object"},
		"twice":         {site.ClientKey, `{"setup":{"model":"voice","model":"other"}}`, 1007, "must be a JSON object"},
		"cached":        {site.ClientKey, `{"setup":{"model":"voice","cachedContent":"cachedContents/c"}}`, 1007, "whose object this is"},
		"a store":       {site.ClientKey, `{"setup":{"model":"voice","tools":[{"file_search":{"fileSearchStoreNames":["s"]}}]}}`, 1007, "whose object this is"},
		"large":         {site.ClientKey, `{"setup":{"model":"` + strings.Repeat("a", 2<<20) + `"}}`, 1009, ""},
	} {
		conn, _, err := dialLive(s, tt.key)
		require.NoError(t, err, name)
		c := &socketClient{conn, t}
		_ = c.Write(site.Waiting(t), websocket.MessageText, []byte(tt.first)) // which a large one does not end
		closed := c.closed()
		assert.Equal(t, tt.code, closed.Code, name)
		assert.Contains(t, closed.Reason, tt.reason, name)
	}
	assert.Empty(t, v.dials(), "nothing was dialed")
	c := openLive(t, s, site.ClientKey, "")
	c.next()
	c.send(`{"setup":{"model":"models/other"}}`)
	assert.Equal(t, websocket.StatusInvalidFramePayloadData, c.closed().Code, "another model later")
	assert.Len(t, v.received(), 1)
	c = openLive(t, s, site.ClientKey, "")
	c.next()
	c.send(`{"clientContent":{"turns":[{"parts":[{"fileData":{"fileUri":"files/f01"}}]}]}}`)
	assert.Contains(t, c.closed().Reason, "File with id 'files/f01' not found", "a file of another client")
	assert.Len(t, v.received(), 2)
}

// A guard that cannot see what is spoken would let everything pass.
func TestX211AGuardRefusesALiveConversation(t *testing.T) {
	v := startLive(t)
	s := site.StartCaddyfile(t, liveLines(t, v, "guard names regex {\nblock email\n}"))
	assert.Contains(t, openLive(t, s, site.ClientKey, "").closed().Reason, "the guard 'names' cannot check it")
	assert.Empty(t, v.dials())
}

// Who has the handle of a session of the account resumes it, whoever has begun it.
func TestX212ASessionIsResumedByItsClientAlone(t *testing.T) {
	v := startLive(t)
	s := site.StartCaddyfile(t, liveLines(t, v, "key other {env.OTHER_KEY}"))
	handleOf := func(c *socketClient) string {
		t.Helper()
		c.next()
		found := regexp.MustCompile(`"newHandle":"([^"]+)","resumable":true`).FindStringSubmatch(c.next())
		require.Len(t, found, 2)
		assert.NotContains(t, found[1], "Cihz", "the handle of the provider is not shown")
		return found[1]
	}
	handle := handleOf(openLive(t, s, site.ClientKey, `,"sessionResumption":{}`))
	again := handleOf(openLive(t, s, site.ClientKey, `,"sessionResumption":{"handle":"`+handle+`"}`))
	assert.Contains(t, v.received()[1], `{"handle":"Cihz0"}`)
	for name, member := range map[string]string{
		"of another":       `"sessionResumption":{"handle":"` + again + `"}`,
		"of the provider":  `"sessionResumption":{"handle":"Cihz0"}`,
		"other notation":   `"session_resumption":{"handle":"Cihz0"}`,
		"both notations":   `"session_resumption":{"handle":"Cihz0"},"sessionResumption":{}`,
		"an escaped name":  `"session\u0052esumption":{"handle":"Cihz0"}`,
		"another spelling": `"sessionresumption":{"handle":"Cihz0"}`,
	} {
		c := openLive(t, s, otherKey, ","+member)
		assert.Contains(t, []websocket.StatusCode{1007, 1008}, c.closed().Code, name)
	}
	assert.Len(t, v.received(), 2, "nothing was resumed")
}

// A file that the gateway stores for a client could not be named in a conversation of the client, and one of the
// account by anybody before.
func TestX229AConversationNamesTheFilesOfItsClientAlone(t *testing.T) {
	v := startLive(t)
	lines := liveLines(t, v, "key other {env.OTHER_KEY}", "provider keeper gemini {\nbase_url "+v.URL+"/v1beta\nmodels off\napi_key {env.UP_KEY_2}\nfiles_state sealed\n}")
	lines = strings.Replace(strings.Replace(lines, "to up/live-real", "to up/live-real\nto keeper/live-real", 1), "sockets up", "sockets up keeper", 1)
	s := site.StartCaddyfile(t, lines)
	const form = "--b\r\nContent-Type: application/json\r\n\r\n{\"file\":{}}\r\n--b\r\nContent-Type: text/plain\r\n\r\na\r\n--b--"
	stored := s.Ask("/upload/v1beta/files", form, "Authorization", "Bearer "+site.ClientKey, "X-Goog-Upload-Protocol", "multipart", "Content-Type", "multipart/related; boundary=b")
	require.Equal(t, http.StatusOK, stored.Status, stored.Body)
	var answer struct{ File struct{ Name, URI string } }
	require.NoError(t, json.Unmarshal([]byte(stored.Body), &answer))
	require.NotContains(t, stored.Body, "f01")
	instruction := func(uri string) string {
		return `,"systemInstruction":{"parts":[{"fileData":{"fileUri":"` + uri + `"}}]}`
	}
	content := func(uri string) string {
		return `{"clientContent":{"turns":[{"role":"user","parts":[{"fileData":{"mimeType":"text/plain","fileUri":"` + uri + `"}},{"text":"` + uri + `"}]}],"turnComplete":true}}`
	}
	c := openLive(t, s, site.ClientKey, instruction(answer.File.URI))
	c.next()
	assert.Equal(t, `{"setup":{"model":"models/live-real"`+instruction(v.URL+"/v1beta/files/f01")+`}}`, v.received()[0])
	assert.Equal(t, []string{"up-2"}, v.keys(), "the account of the file, which is not the first one")
	c.send(content("https://generativelanguage.googleapis.com/v1beta/" + answer.File.Name))
	assert.Contains(t, c.next(), "modelTurn")
	assert.Equal(t, strings.Replace(content("https://generativelanguage.googleapis.com/v1beta/"+answer.File.Name), "https://generativelanguage.googleapis.com/v1beta/"+answer.File.Name, "files/f01", 1), v.received()[1], "texts are no names")

	c = openLive(t, s, site.ClientKey, "")
	c.next()
	assert.Equal(t, []string{"up-2", "up-1"}, v.keys())
	c.send(content(answer.File.URI))
	assert.Equal(t, websocket.CloseError{Code: websocket.StatusInvalidFramePayloadData, Reason: "fileUri: this file is in another account than the rest of the request needs: the objects of a request must be in one account"[:123]}, c.closed())
	for name, uri := range map[string]string{"of another client": answer.File.URI, "of the provider": "files/f01", "by an address": v.URL + "/v1beta/files/f01"} {
		assert.Contains(t, openLive(t, s, otherKey, instruction(uri)).closed().Reason, "File with id 'files/", name)
		c = openLive(t, s, otherKey, "")
		c.next()
		c.send(content(uri))
		assert.Contains(t, c.closed().Reason, "File with id 'files/", name)
	}
	assert.NotContains(t, strings.Join(v.received()[2:], ""), "files/", "nothing else was sent")
	require.NoError(t, s.Reload(strings.Replace(lines, "sockets up keeper", "sockets up", 1)))
	assert.Contains(t, openLive(t, s, site.ClientKey, instruction(answer.File.URI)).closed().Reason, "is in an account to which no WebSocket of this model leads")
}

// A conversation could use more than its key has.
func TestX213ALimitEndsALiveConversationAfterItsTurn(t *testing.T) {
	v := startLive(t)
	s := site.StartCaddyfile(t, liveLines(t, v, "limit few {\nrequests 2/1h\n}", "key other {env.OTHER_KEY} {\nlimit few\n}", "store sqlite "+filepath.Join(t.TempDir(), "gateway.db")))
	c := openLive(t, s, otherKey, "")
	c.next()
	c.say("hello")
	c.say("hello again")
	closed := c.closed()
	assert.Equal(t, websocket.StatusPolicyViolation, closed.Code)
	assert.Contains(t, closed.Reason, "limit")
	c = openLive(t, s, otherKey, "")
	assert.Equal(t, websocket.StatusPolicyViolation, c.closed().Code)
	c = openLive(t, s, site.ClientKey, "")
	c.next()
	c.say("call a tool")
	c.send(`{"clientContent":{"turns":[{"role":"user","parts":[{"text":"break off"}]}],"turnComplete":true}}`)
	assert.Equal(t, websocket.CloseError{Code: websocket.StatusInternalError, Reason: "Deadline expired before operation could complete."}, c.closed())
	records := recordsOf(t, s, 4)
	assert.Equal(t, []any{"failed", "estimated"}, []any{records[0].Outcome, records[0].Calls[0].Source}, "a turn that broke off")
	assert.Equal(t, []any{"answered", "provider"}, []any{records[1].Outcome, records[1].Calls[0].Source})
}

// A web page needed the key itself, or a token of the vendor, with which it was past all limits.
func TestX225ATokenOpensLiveConversationsAsItsKey(t *testing.T) {
	v := startLive(t)
	lines := liveLines(t, v, "key other {env.OTHER_KEY} {\nmodels voice\n}")
	s := site.StartCaddyfile(t, strings.Replace(lines, "{\n", "{\nlog\n", 1))
	tokenFor := func(key, body string) (site.Reply, string) {
		t.Helper()
		reply := s.Ask("/v1alpha/auth_tokens", body, "Authorization", "Bearer "+key)
		var answer struct{ Name string }
		require.NoError(t, json.Unmarshal([]byte(reply.Body), &answer), reply.Body)
		return reply, answer.Name
	}
	dial := func(token string) (*socketClient, *http.Response) {
		t.Helper()
		conn, response, err := websocket.Dial(site.Waiting(t), s.URL("site", strings.Replace(livePath, "v1beta", "v1alpha", 1)+"Constrained?access_token="+url.QueryEscape(token)), nil)
		if err != nil {
			return nil, response
		}
		t.Cleanup(func() { _ = conn.CloseNow() })
		return &socketClient{conn, t}, response
	}
	reply, token := tokenFor(otherKey, `{"uses":2,"bidiGenerateContentSetup":{"model":"models/voice","systemInstruction":{"parts":[{"text":"Be brief."}]}}}`)
	require.Equal(t, http.StatusOK, reply.Status, reply.Body)
	assert.Regexp(t, `^auth_tokens/[\w-]+$`, token)
	assert.Contains(t, reply.Body, `"uses":2`)
	c, _ := dial(token)
	c.send(`{"setup":{"model":"models/other","systemInstruction":{"parts":[{"text":"Be evil."}]},"sessionResumption":{}}}`)
	assert.Contains(t, c.next(), "setupComplete")
	assert.Contains(t, c.next(), "newHandle")
	assert.Equal(t, `{"setup":{"model":"models/live-real","systemInstruction":{"parts":[{"text":"Be brief."}]},"sessionResumption":{}}}`, v.received()[0], "the setup of the token, with the session of the client")
	assert.Contains(t, strings.Join(c.say("hello"), ""), `"turnComplete":true`)
	_, response := dial(token)
	assert.Equal(t, http.StatusSwitchingProtocols, response.StatusCode, "a second use")
	_, response = dial(token)
	assert.Equal(t, http.StatusUnauthorized, response.StatusCode, "not a third one")
	_, response = dial(token[:len(token)-2] + "AA")
	assert.Equal(t, http.StatusUnauthorized, response.StatusCode, "a changed token")
	for name, tt := range map[string]struct {
		body   string
		status int
	}{
		"not allowed": {`{"bidiGenerateContentSetup":{"model":"models/nobody"}}`, 404},
		"no model":    {`{"bidiGenerateContentSetup":{}}`, 400},
		"a handle":    {`{"bidiGenerateContentSetup":{"model":"voice","sessionResumption":{"handle":"Cihz0"}}}`, 400},
		"a file":      {`{"bidiGenerateContentSetup":{"model":"voice","systemInstruction":{"parts":[{"fileData":{"fileUri":"files/f01"}}]}}}`, 404},
		"a mask":      {`{"fieldMask":"model","bidiGenerateContentSetup":{"model":"voice"}}`, 400},
		"too late":    {`{"expireTime":"2099-01-01T00:00:00Z"}`, 400},
	} {
		reply, token := tokenFor(otherKey, tt.body)
		assert.Equal(t, tt.status, reply.Status, name)
		assert.Empty(t, token, name)
	}
	_, token = tokenFor(otherKey, `{"uses":0}`)
	c, _ = dial(token)
	c.send(`{"setup":{"model":"models/voice"}}`)
	assert.Contains(t, c.next(), "setupComplete", "without a setup, that of the client holds")
	s.AssertNoEntry(token)
	require.NoError(t, s.Reload(strings.Replace(lines, "key other {env.OTHER_KEY} {\nmodels voice\n}", "", 1)))
	refusedWith(t, http.StatusUnauthorized, func() (*websocket.Conn, *http.Response, error) { // its key is gone
		return websocket.Dial(site.Waiting(t), s.URL("site", livePath+"Constrained?access_token="+url.QueryEscape(token)), nil)
	})
}

// What the vendor charges for the searches of a turn cost nothing.
func TestX228SearchesOfALiveConversationAreCharged(t *testing.T) {
	v := startLive(t)
	s := site.StartCaddyfile(t, strings.Replace(liveLines(t, v, "store sqlite "+filepath.Join(t.TempDir(), "gateway.db")), "price input 1", "price search 3 input 1", 1))
	c := openLive(t, s, site.ClientKey, `,"tools":[{"googleSearch":{}}]`)
	c.next()
	c.say("search")
	c.say("hello")
	records := recordsOf(t, s, 2)
	assert.Equal(t, []int64{0, 2}, []int64{records[0].Calls[0].Searches, records[1].Calls[0].Searches})
	assert.Equal(t, int64(6_001_730_000), records[1].Calls[0].Cost)
}
