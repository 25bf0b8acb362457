package endpoints_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// voiceLines are the lines of a site with the Realtime API of a vendor, whose model voice has the name
// voice-real there.
func voiceLines(t *testing.T, v *voiceVendor, lines ...string) string {
	t.Setenv("UP_KEY", "sk-up")
	t.Setenv("OTHER_KEY", otherKey)
	return site.Block("", append([]string{
		site.Direct.ProviderAt("up", strings.TrimPrefix(v.URL, "http://"), "format responses", "models off", "api_key {env.UP_KEY}"),
		"model voice {\nto up/voice-real\nprice input 1 output 2 audio_input 10 audio_cache_read 1 audio_output 20\n}", "sockets up",
	}, lines...)...)
}

// dialVoice opens a WebSocket of the Realtime API with subprotocols.
func dialVoice(s *site.Site, query, key string, protocols ...string) (*websocket.Conn, *http.Response, error) {
	h := http.Header{}
	if key != "" {
		h.Set("Authorization", "Bearer "+key)
	}
	return websocket.Dial(site.Waiting(s.T), s.URL("site", "/v1/realtime"+query), &websocket.DialOptions{HTTPHeader: h, Subprotocols: protocols})
}

func openVoice(t *testing.T, s *site.Site, key string) *socketClient {
	t.Helper()
	conn, _, err := dialVoice(s, "?model=voice", key)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.CloseNow() })
	c := &socketClient{conn, t}
	assert.Equal(t, "session.created", c.until("session.created").Type)
	return c
}

// until reads messages up to one of a type, which it returns.
func (c *socketClient) until(kind string) (f frame) {
	c.t.Helper()
	for f.Type != kind {
		f = parsed(c.t, c.next())
	}
	return f
}

// Voice products had no way through the gateway but a key of the vendor.
func TestX170X171ARealtimeConversationPasses(t *testing.T) {
	v := startVoice(t)
	s := site.StartCaddyfile(t, strings.Replace(voiceLines(t, v), "{\n", "{\nlog\n", 1))
	c := openVoice(t, s, site.ClientKey)
	const update = `{"type":"session.update","session":{"type":"realtime", "model": "voice","instructions":"Be brief."}}`
	c.send(update)
	c.until("session.updated")
	c.send(`{"type":"conversation.item.create","item":{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}}`)
	c.send(`{"type":"response.create"}`)
	assert.Contains(t, c.next(), "response.created")
	assert.Equal(t, `{"type":"response.output_audio.delta","event_id":"event_6","response_id":"resp_1","item_id":"item_2","output_index":0,"content_index":0,"delta":"UklGRg=="}`, c.next())
	assert.Equal(t, voiceDone("resp_1", "completed"), c.next(), "the bytes of the provider")
	assert.Equal(t, strings.Replace(update, `"voice"`, `"voice-real"`, 1), v.received()[0], "the name of the model alone has changed")

	conn, response, err := dialVoice(s, "?model=voice", "", "realtime", "openai-insecure-api-key."+site.ClientKey)
	require.NoError(t, err, "X171")
	assert.Equal(t, "realtime", response.Header.Get("Sec-Websocket-Protocol"))
	require.NoError(t, conn.CloseNow())
	s.AssertNoEntry(site.ClientKey)
}

// A WebSocket that is accepted and then closed shows no client why.
func TestX172RefusalsOfRealtimeAreAnswersOfHTTP(t *testing.T) {
	v := startVoice(t)
	s := site.StartCaddyfile(t, voiceLines(t, v, "model text {\nto up/text\n}", "model elsewhere {\nto demo\n}", site.DemoProvider, "key other {env.OTHER_KEY} {\nmodels text\n}"))
	refused := func(query, key string) (int, string) {
		t.Helper()
		_, response, err := dialVoice(s, query, key)
		require.Error(t, err)
		require.NotNil(t, response, err)
		return response.StatusCode, site.ReadReply(response).Body
	}
	for name, tt := range map[string]struct {
		query, key string
		status     int
		text       string
	}{
		"a key":        {"?model=voice", "sk-wrong", 401, "key"},
		"no model":     {"", site.ClientKey, 400, "model: must be sent once"},
		"two models":   {"?model=voice&model=text", site.ClientKey, 400, "model: must be sent once"},
		"a call":       {"?model=voice&call_id=rtc_1", site.ClientKey, 400, "call_id: calls by WebRTC"},
		"an intent":    {"?intent=transcription", site.ClientKey, 400, "intent: sessions for transcripts alone"},
		"an intent to": {"?model=voice&intent=transcription", site.ClientKey, 400, "intent: sessions for transcripts alone"},
		"another name": {"?model=voice&language=en", site.ClientKey, 400, "language: must not be sent"},
		"translations": {"/translations?model=voice", site.ClientKey, 404, "does not serve /v1/realtime/translations, since the gateway cannot limit what it uses"},
		"another one":  {"?model=nobody", site.ClientKey, 404, "Realtime"},
		"not allowed":  {"?model=voice", otherKey, 403, "may not use"},
		"no WebSocket": {"?model=elsewhere", site.ClientKey, 404, "Realtime"},
	} {
		status, body := refused(tt.query, tt.key)
		assert.Equal(t, tt.status, status, name)
		assert.Contains(t, body, tt.text, name)
	}
	assert.Empty(t, v.dials(), "nothing was dialed")
	for status, want := range map[int]int{429: 429, 503: 503, 401: 502, 404: 404} {
		v.mu.Lock()
		v.refusal = status
		v.mu.Unlock()
		got, _ := refused("?model=voice", site.ClientKey)
		assert.Equal(t, want, got, status)
	}
	require.NoError(t, s.Reload(strings.Replace(voiceLines(t, v), "sockets up", "", 1)))
	status, _ := refused("?model=voice", site.ClientKey)
	assert.Equal(t, 404, status, "without sockets")
}

// The model of a socket was that of its query for other gateways, whatever its messages asked for later.
func TestX173AMessageAsksForNoOtherModel(t *testing.T) {
	v := startVoice(t)
	s := site.StartCaddyfile(t, voiceLines(t, v, "key other {env.OTHER_KEY} {\nmodels voice whisper-1\n}"))
	c := openVoice(t, s, otherKey)
	for text, code := range map[string]string{
		`{"type":"session.update","session":{"model":"voice-real"}}`:                                              "invalid_value",
		`{"type":"session.update","session":{"model":"voice","model":"other"}}`:                                   "invalid_value",
		`{"type":"session.update","session":{"audio":{"input":{"transcription":{"model":"gpt-4o-transcribe"}}}}}`: "permission_denied",
		`{"session":{"model":"x"}}`: "invalid_value",
	} {
		c.send(text)
		f := parsed(t, c.next())
		assert.Equal(t, []string{"error", code}, []string{f.Type, f.Error.Code}, text)
	}
	for _, text := range []string{ // which another client may have made
		`{"type":"session.update","session":{"prompt":{"id":"pmpt_1"}}}`,
		`{"type":"response.create","response":{"prompt":{"id":"pmpt_1"}}}`,
	} {
		c.send(text)
		assert.Contains(t, c.next(), "whose object this is", text)
	}
	c.send(`{"type":"session.update","session":{"webhook_url":"https://client.example"}}`)
	assert.Contains(t, c.next(), "webhook_url: must not be sent: the provider would call this address")
	assert.Empty(t, v.received(), "nothing was sent")
	c.send(`{"type":"session.update","session":{"audio":{"input":{"transcription":{"model":"whisper-1"}}}}}`)
	c.until("session.updated")
}

// The ids of items name those of a conversation alone, at the vendor: a reference to an item passes as it is, while
// one to a file of the account does not.
func TestX173AReferenceToAnItemNamesOneOfTheConversation(t *testing.T) {
	v := startVoice(t)
	c := openVoice(t, site.StartCaddyfile(t, voiceLines(t, v)), site.ClientKey)
	const asking = `{"type":"response.create","response":{"conversation":"none","input":[{"type":"item_reference","id":"item_1"}]}}`
	c.send(asking)
	c.until("response.done")
	for _, text := range []string{
		`{"type":"response.create","response":{"input":[{"type":"item_reference","id":"item_1"},{"type":"message","content":[{"type":"input_image","file_id":"file-1"}]}]}}`,
		`{"type":"conversation.item.create","item":{"type":"message","content":[{"type":"input_file","file_id":"file-1"}]}}`,
	} {
		c.send(text)
		assert.Contains(t, c.until("error").Error.Message, "whose object this is", text)
	}
	assert.Equal(t, []string{asking}, v.received())
}

// What a conversation uses was known to the provider alone.
func TestX174X175EachResponseAndTranscriptHasARecord(t *testing.T) {
	v := startVoice(t)
	s := site.StartCaddyfile(t, voiceLines(t, v, "model whisper-1 {\nto up/whisper-1\nprice input 3 output 3\n}", "store sqlite "+filepath.Join(t.TempDir(), "gateway.db")))
	c := openVoice(t, s, site.ClientKey)
	c.send(`{"type":"session.update","session":{"audio":{"input":{"transcription":{"model":"whisper-1"}}}}}`)
	c.until("session.updated")
	c.send(`{"type":"input_audio_buffer.append","audio":"` + strings.Repeat("A", 1<<10) + `"}`)
	c.send(`{"type":"input_audio_buffer.commit"}`)
	c.until("conversation.item.input_audio_transcription.completed")
	v.Done = func(id string) string { return voiceDone(id, "cancelled") }
	c.send(`{"type":"response.create"}`)
	c.until("response.done")
	records := recordsOf(t, s, 3)
	assert.Equal(t, []any{"answered", "provider", int64(50)}, []any{records[0].Outcome, records[0].Calls[0].Source, records[0].Calls[0].Output}, "a cancelled response")
	assert.Equal(t, []any{"whisper-1", int64(5), int64(75_000)}, []any{records[1].Model, records[1].Calls[0].Output, records[1].Calls[0].Cost}, "X175")
	assert.Equal(t, []any{"voice", int64(50), int64(1_100_000)}, []any{records[2].Model, records[2].Calls[0].Output, records[2].Calls[0].Cost})
}

// A limit that is checked at the beginning alone never ends a conversation.
func TestX176ALimitEndsAConversationAfterItsResponse(t *testing.T) {
	v := startVoice(t)
	s := site.StartCaddyfile(t, voiceLines(t, v, "limit few {\nrequests 2/1h\n}", "key other {env.OTHER_KEY} {\nlimit few\n}"))
	c := openVoice(t, s, otherKey)
	for range 2 {
		c.send(`{"type":"response.create"}`)
		c.until("response.done")
	}
	f := parsed(t, c.next())
	assert.Equal(t, []string{"error", "rate_limit_exceeded"}, []string{f.Type, f.Error.Code})
	assert.Equal(t, websocket.StatusPolicyViolation, c.ends())
	_, response, err := dialVoice(s, "?model=voice", otherKey)
	require.Error(t, err)
	assert.Equal(t, http.StatusTooManyRequests, response.StatusCode)
}

// A conversation that was opened and not used took a request of its key.
func TestX176AnUnusedReservationIsReleased(t *testing.T) {
	v := startVoice(t)
	s := site.StartCaddyfile(t, voiceLines(t, v, "limit few {\nconcurrent 1\n}", "key other {env.OTHER_KEY} {\nlimit few\n}"))
	c := openVoice(t, s, otherKey)
	_, response, err := dialVoice(s, "?model=voice", otherKey)
	require.Error(t, err)
	assert.Equal(t, http.StatusTooManyRequests, response.StatusCode, "an open conversation is one that runs")
	require.NoError(t, c.Close(websocket.StatusNormalClosure, ""))
	require.EventuallyWithT(t, func(now *assert.CollectT) {
		conn, _, err := dialVoice(s, "?model=voice", otherKey)
		if assert.NoError(now, err) {
			_ = conn.CloseNow()
		}
	}, site.Patience, site.PollEvery)
}

// A reload cut all calls.
func TestX177AConversationLivesOnThroughAReload(t *testing.T) {
	v := startVoice(t)
	s := site.StartCaddyfile(t, voiceLines(t, v))
	c := openVoice(t, s, site.ClientKey)
	require.NoError(t, s.Reload(voiceLines(t, v, "model more {\nto up/more\n}")))
	c.send(`{"type":"response.create"}`)
	c.until("response.done")
	require.NoError(t, s.Reload(strings.Replace(voiceLines(t, v), "model voice ", "model renamed ", 1)+"\n"))
	for last := ""; last != "error"; { // the socket learns of the reload by itself
		_ = c.Write(site.Waiting(t), websocket.MessageText, []byte(`{"type":"response.create"}`)) // it may have ended
		for last = ""; last != "error" && last != "response.done"; {
			last = parsed(t, c.next()).Type
		}
	}
	assert.Equal(t, websocket.StatusPolicyViolation, c.ends(), "the model is gone")
	assert.Len(t, v.dials(), 1)
}

// A guard that cannot see what is spoken would let everything pass.
func TestX178AGuardRefusesRealtime(t *testing.T) {
	v := startVoice(t)
	s := site.StartCaddyfile(t, voiceLines(t, v, "guard names regex {\nblock email\n}"))
	_, response, err := dialVoice(s, "?model=voice", site.ClientKey)
	require.Error(t, err)
	assert.Equal(t, http.StatusForbidden, response.StatusCode)
	assert.Contains(t, site.ReadReply(response).Body, "the guard 'names' cannot check it")
	assert.Empty(t, v.dials())
}

// A client waited for an answer after the provider had closed the WebSocket.
func TestX179AConversationEndsAsTheProviderEndsIt(t *testing.T) {
	v := startVoice(t)
	s := site.StartCaddyfile(t, voiceLines(t, v, "store sqlite "+filepath.Join(t.TempDir(), "gateway.db")))
	c := openVoice(t, s, site.ClientKey)
	v.Done = func(string) string { return `{"type":"response.output_text.delta","event_id":"event_8"}` }
	c.send(`{"type":"response.create"}`)
	c.until("response.output_text.delta")
	v.mu.Lock()
	line := v.lines[0]
	v.mu.Unlock()
	go func() { _ = line.Close(websocket.StatusInternalError, "x") }()
	_, _, err := c.Read(context.Background())
	var closed websocket.CloseError
	require.ErrorAs(t, err, &closed)
	assert.Equal(t, websocket.CloseError{Code: websocket.StatusInternalError, Reason: "x"}, closed)
	records := recordsOf(t, s, 1)
	assert.Equal(t, []any{"failed", "estimated"}, []any{records[0].Outcome, records[0].Calls[0].Source})
	assert.Positive(t, records[0].Calls[0].Output, "the sound that had come cost nothing")
}

// A budget that was checked when the WebSocket was opened alone let a conversation spend any sum.
func TestX214ABudgetEndsAConversationBehindTheResponseThatSpendsIt(t *testing.T) {
	v := startVoice(t)
	s := site.StartCaddyfile(t, voiceLines(t, v, "limit few {\nbudget 20/1h\n}", "key other {env.OTHER_KEY} {\nlimit few\n}", "store sqlite "+filepath.Join(t.TempDir(), "gateway.db")))
	c := openVoice(t, s, otherKey)
	v.Done = func(id string) string {
		return strings.Replace(voiceDone(id, "completed"), `"output_tokens":50`, `"output_tokens":12000000`, 1)
	}
	c.send(`{"type":"response.create"}`)
	c.until("response.done")
	f := parsed(t, c.next())
	assert.Equal(t, []string{"error", "insufficient_quota"}, []string{f.Type, f.Error.Type})
	assert.Equal(t, websocket.StatusPolicyViolation, c.ends())
	_, response, err := dialVoice(s, "?model=voice", otherKey)
	require.Error(t, err)
	assert.Equal(t, http.StatusTooManyRequests, response.StatusCode)
	assert.Regexp(t, `^[1-9]\d*$`, response.Header.Get("Retry-After"), "clients tried again at once")
	v.mu.Lock()
	v.refusal = http.StatusTooManyRequests
	v.mu.Unlock()
	_, response, err = dialVoice(s, "?model=voice", site.ClientKey)
	require.Error(t, err)
	assert.Equal(t, "7", response.Header.Get("Retry-After"), "that of the provider")
}

// The message of a refused conversation named a field of another API.
func TestX214ARefusalByMoneyNamesWhatAClientCanChange(t *testing.T) {
	s := site.StartCaddyfile(t, voiceLines(t, startVoice(t), "limit few {\nbudget 0.001/1h\n}", "key other {env.OTHER_KEY} {\nlimit few\n}"))
	_, response, err := dialVoice(s, "?model=voice", otherKey)
	require.Error(t, err)
	assert.Contains(t, site.ReadReply(response).Body, "0.001 USD per 1h: begin another conversation, or use another model: ")
}

// A second response beside one that ran lost the first one, which was paid for, when a limit refused the
// second.
func TestX215ALimitEndsNoResponseInTheMiddle(t *testing.T) {
	v := startVoice(t)
	s := site.StartCaddyfile(t, voiceLines(t, v, "limit few {\nrequests 1/1h\n}", "key other {env.OTHER_KEY} {\nlimit few\n}", "store sqlite "+filepath.Join(t.TempDir(), "gateway.db")))
	c := openVoice(t, s, otherKey)
	v.Done = func(id string) string {
		v.send(v.lines[0], `{"type":"response.created","event_id":"event_9","response":{"object":"realtime.response","id":"resp_x","status":"in_progress"}}`)
		v.send(v.lines[0], voiceDone(id, "completed"))
		return voiceDone("resp_x", "completed")
	}
	c.send(`{"type":"response.create"}`)
	assert.Equal(t, "resp_1", c.until("response.done").Response.ID)
	assert.Equal(t, "resp_x", c.until("response.done").Response.ID, "what ran when the limit refused")
	assert.Equal(t, "error", parsed(t, c.next()).Type)
	assert.Equal(t, websocket.StatusPolicyViolation, c.ends())
	assert.Len(t, recordsOf(t, s, 2), 2, "both have a record")
}

// The reservation was made before the client spoke: what it then said was covered by nothing.
func TestX216WhatAClientSaysIsCoveredBeforeTheProviderHasIt(t *testing.T) {
	v := startVoice(t)
	s := site.StartCaddyfile(t, voiceLines(t, v, "limit few {\ntokens 40000/1h\n}", "key other {env.OTHER_KEY} {\nlimit few\n}"))
	c := openVoice(t, s, otherKey)
	const sound = `{"type":"input_audio_buffer.append","audio":"%s"}`
	c.send(fmt.Sprintf(sound, strings.Repeat("A", 2_000_000)))
	c.send(`{"type":"response.create"}`)
	c.until("response.done")
	for range 20 { // more than the limit has
		if c.Write(site.Waiting(t), websocket.MessageText, fmt.Appendf(nil, sound, strings.Repeat("A", 2_000_000))) != nil {
			break
		}
	}
	assert.Equal(t, "rate_limit_exceeded", c.until("error").Error.Code)
	assert.Equal(t, websocket.StatusPolicyViolation, c.ends())
	assert.Less(t, len(v.received()), 22, "the provider has got all of it")
}

// A response that failed was charged as if it had the longest answer, or one that was cancelled nothing.
func TestX217AResponseWithoutUsageIsChargedForWhatItHasGenerated(t *testing.T) {
	v := startVoice(t)
	s := site.StartCaddyfile(t, voiceLines(t, v, "store sqlite "+filepath.Join(t.TempDir(), "gateway.db")))
	c := openVoice(t, s, site.ClientKey)
	for _, status := range []string{"failed", "cancelled", "incomplete"} {
		v.Done = func(id string) string {
			return strings.Replace(voiceDone(id, status), voiceUsage, "null", 1)
		}
		c.send(`{"type":"response.create"}`)
		c.until("response.done")
	}
	records := recordsOf(t, s, 3)
	for i := range 2 { // the newest first
		assert.Equal(t, []any{"answered", "estimated", int64(1)}, []any{records[i].Outcome, records[i].Calls[0].Source, records[i].Calls[0].Output})
	}
	assert.Equal(t, "failed", records[2].Outcome)
	assert.Zero(t, records[2].Calls[0].Output)
}

// secretFor returns the answer to a request for a client secret, and the secret.
func secretFor(t *testing.T, s *site.Site, key, body string) (site.Reply, string) {
	t.Helper()
	reply := s.Ask("/v1/realtime/client_secrets", body, "Authorization", "Bearer "+key)
	var answer struct{ Value string }
	require.NoError(t, json.Unmarshal([]byte(reply.Body), &answer), reply.Body)
	return reply, answer.Value
}

// A web page needed the key itself, or a secret of the vendor, with which it was past all limits.
func TestX222AClientSecretOpensConversationsAsItsKey(t *testing.T) {
	v := startVoice(t)
	lines := voiceLines(t, v, "limit few {\nconcurrent 1\n}", "key other {env.OTHER_KEY} {\nlimit few\n}", "store sqlite "+filepath.Join(t.TempDir(), "gateway.db"))
	s := site.StartCaddyfile(t, strings.Replace(lines, "{\n", "{\nlog\n", 1))
	reply, value := secretFor(t, s, otherKey, `{"expires_after":{"anchor":"created_at","seconds":60},"session":{"type":"realtime","model":"voice","instructions":"Be \"brief\"."}}`)
	require.Equal(t, http.StatusOK, reply.Status, reply.Body)
	assert.Regexp(t, `^ek_[\w-]+$`, value)
	assert.Regexp(t, `^\{"value":"[^"]+","expires_at":\d{10},"session":\{"object":"realtime\.session","id":"sess_\w+","type":"realtime","model":"voice","instructions":"Be \\"brief\\"\."\}\}$`, reply.Body)
	assert.NotContains(t, value, otherKey)
	conn, response, err := dialVoice(s, "", "", "realtime", "openai-insecure-api-key."+value, "openai-beta.realtime-v1")
	require.NoError(t, err)
	assert.Equal(t, "realtime", response.Header.Get("Sec-Websocket-Protocol"))
	c := &socketClient{conn, t}
	c.until("session.updated")
	assert.Equal(t, []string{`{"type":"session.update","session":{"type":"realtime","model":"voice-real","instructions":"Be \"brief\"."}}`}, v.received(), "the configuration comes first, with the name of the provider")
	c.send(`{"type":"session.update","session":{"model":"other"}}`)
	assert.Equal(t, "invalid_value", c.until("error").Error.Code)
	c.send(`{"type":"response.create"}`)
	c.until("response.done")
	assert.Equal(t, "voice", recordsOf(t, s, 1)[0].Model)
	_, response, err = dialVoice(s, "?model=voice", value)
	require.Error(t, err)
	assert.Equal(t, http.StatusTooManyRequests, response.StatusCode, "the limit of the key holds")
	require.NoError(t, c.Close(websocket.StatusNormalClosure, ""))
	require.EventuallyWithT(t, func(now *assert.CollectT) {
		conn, _, err := dialVoice(s, "?model=voice", value)
		if assert.NoError(now, err, "a second conversation") {
			_ = conn.CloseNow()
		}
	}, site.Patience, site.PollEvery)
	_, response, err = dialVoice(s, "?model=other", value)
	require.Error(t, err)
	assert.Equal(t, http.StatusBadRequest, response.StatusCode, "another model")
	assert.Equal(t, http.StatusUnauthorized, s.Ask(site.ResponsesPath, `{"model":"voice","input":"hi"}`, "Authorization", "Bearer "+value).Status, "another endpoint")
	_, response, err = dialVoice(s, "", value[:len(value)-2]+"AA")
	require.Error(t, err)
	assert.Equal(t, http.StatusUnauthorized, response.StatusCode, "a changed secret")
	s.AssertNoEntry(value)
	require.NoError(t, s.Reload(strings.Replace(lines, "key other {env.OTHER_KEY} {\nlimit few\n}", "", 1)))
	refusedWith(t, http.StatusUnauthorized, func() (*websocket.Conn, *http.Response, error) { return dialVoice(s, "", value) }) // its key is gone
}

// A secret for what its key may not use would be a way around it. One whose session has another model, for
// transcripts, was made, and each of its conversations was refused.
func TestX223RefusalsOfClientSecrets(t *testing.T) {
	v := startVoice(t)
	s := site.StartCaddyfile(t, voiceLines(t, v, "model text {\nto up/text\n}", "key other {env.OTHER_KEY} {\nmodels text\n}"))
	for name, tt := range map[string]struct {
		key, body string
		status    int
		text      string
	}{
		"no body":       {site.ClientKey, ``, 400, "session: must be"},
		"no model":      {site.ClientKey, `{"session":{"type":"realtime"}}`, 400, "session: must be"},
		"transcripts":   {site.ClientKey, `{"session":{"type":"transcription","model":"voice"}}`, 400, "session: must be"},
		"a model twice": {site.ClientKey, `{"session":{"model":"voice","model":"text"}}`, 400, "session: must be"},
		"large":         {site.ClientKey, `{"session":{"model":"voice","instructions":"` + strings.Repeat("a", 9000) + `"}}`, 400, "8192"},
		"too long":      {site.ClientKey, `{"expires_after":{"seconds":7201},"session":{"model":"voice"}}`, 400, "expires_after: must have"},
		"a prompt":      {site.ClientKey, `{"session":{"model":"voice","prompt":{"id":"pmpt_1"}}}`, 400, "whose object this is"},
		"an address":    {site.ClientKey, `{"session":{"model":"voice","notifyUrl":"https://client.example"}}`, 400, "notifyUrl: must not be sent"},
		"another":       {site.ClientKey, `{"session":{"model":"nobody"}}`, 404, "nobody"},
		"transcriber":   {otherKey, `{"session":{"model":"text","audio":{"input":{"transcription":{"model":"voice"}}}}}`, 403, "may not use"},
		"not allowed":   {otherKey, `{"session":{"model":"voice"}}`, 403, "may not use"},
		"a key":         {"sk-wrong", `{"session":{"model":"voice"}}`, 401, "key"},
	} {
		reply, value := secretFor(t, s, tt.key, tt.body)
		assert.Equal(t, tt.status, reply.Status, name)
		assert.Contains(t, reply.Body, tt.text, name)
		assert.Empty(t, value, name)
	}
	_, value := secretFor(t, s, site.ClientKey, `{"session":{"model":"voice"}}`)
	_, response, err := websocket.Dial(site.Waiting(t), s.URL("site", "/v1/live/sessions"), &websocket.DialOptions{HTTPHeader: http.Header{"Authorization": {"Bearer " + value}}})
	require.Error(t, err)
	assert.Equal(t, http.StatusUnauthorized, response.StatusCode, "another API")
	require.NoError(t, s.Reload(strings.Replace(voiceLines(t, v), "sockets up", "", 1)))
	reply, _ := secretFor(t, s, site.ClientKey, `{"session":{"model":"voice"}}`)
	assert.Equal(t, http.StatusNotFound, reply.Status, "without sockets")
}

// refusedWith waits for a refusal of a WebSocket: a connection to the configuration before may just end.
func refusedWith(t *testing.T, status int, dial func() (*websocket.Conn, *http.Response, error)) {
	t.Helper()
	require.EventuallyWithT(t, func(now *assert.CollectT) {
		conn, response, err := dial()
		if conn != nil {
			_ = conn.CloseNow()
		}
		if assert.Error(now, err) && assert.NotNil(now, response, err) {
			assert.Equal(now, status, response.StatusCode)
		}
	}, site.Patience, site.PollEvery)
}
