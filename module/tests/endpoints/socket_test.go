package endpoints_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// startSockets starts a site with WebSockets to a vendor, whose model gpt has the name gpt-real there.
func startSockets(t *testing.T, v *lineVendor, lines ...string) *site.Site {
	t.Setenv("UP_KEY", "sk-up")
	t.Setenv("OTHER_KEY", otherKey)
	return site.Start(t, append([]string{
		site.Direct.ProviderAt("up", strings.TrimPrefix(v.URL, "http://"), "format responses", "models off", "api_key {env.UP_KEY}"),
		"model gpt {\nto up/gpt-real\nprice input 1 output 2\n}", "sockets up",
	}, lines...)...)
}

// client is a client with a WebSocket.
type socketClient struct {
	*websocket.Conn
	t *testing.T
}

// dial opens a WebSocket with a key and headers, which are pairs.
func dial(s *site.Site, key string, headers ...string) (*websocket.Conn, *http.Response, error) {
	h := http.Header{"Authorization": {"Bearer " + key}, "Openai-Beta": {"responses_websockets=2026-02-06"}, "User-Agent": {"codex_cli_rs/0.169.0"}}
	for i := 0; i < len(headers); i += 2 {
		h.Set(headers[i], headers[i+1])
	}
	return websocket.Dial(site.Waiting(s.T), s.URL("site", "/v1/responses"), &websocket.DialOptions{HTTPHeader: h, CompressionMode: websocket.CompressionContextTakeover})
}

func openSocket(t *testing.T, s *site.Site, key string) *socketClient {
	t.Helper()
	conn, response, err := dial(s, key)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.CloseNow() })
	assert.Empty(t, response.Header["Sec-Websocket-Extensions"], "no compression is agreed")
	conn.SetReadLimit(64 << 20)
	return &socketClient{conn, t}
}

func (c *socketClient) send(text string) {
	c.t.Helper()
	require.NoError(c.t, c.Write(site.Waiting(c.t), websocket.MessageText, []byte(text)))
}

func (c *socketClient) next() string {
	c.t.Helper()
	_, text, err := c.Read(site.Waiting(c.t))
	require.NoError(c.t, err)
	return string(text)
}

// frame is what tests read of a message.
type frame struct {
	Type     string
	Status   int
	StreamID string `json:"stream_id"`
	Response struct{ ID string }
	Error    struct{ Code, Message, Type string }
	Headers  map[string]string
}

func parsed(t *testing.T, text string) (f frame) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(text), &f), text)
	return f
}

// ask sends a request, and returns the messages of its answer.
func (c *socketClient) ask(members string) (all []string) {
	c.t.Helper()
	c.send(`{"type":"response.create","model":"gpt",` + members + `}`)
	return c.answer()
}

// answer returns the messages up to the end of an answer.
func (c *socketClient) answer() (all []string) {
	c.t.Helper()
	for {
		all = append(all, c.next())
		switch parsed(c.t, all[len(all)-1]).Type {
		case "response.completed", "response.incomplete", "response.failed", "error":
			return all
		}
	}
}

func (c *socketClient) fault(members string) frame {
	c.t.Helper()
	all := c.ask(members)
	return parsed(c.t, all[len(all)-1])
}

const hello = `"store":false,"input":[{"role":"user","content":"hello"}]`

// Codex got 426 for a WebSocket, and lost what its vendor gains by one: the state of a conversation
// stays with the connection.
func TestX140X141X142X143ASocketHasTheRequestsOfItsClient(t *testing.T) {
	v := startLines(t)
	s := startSockets(t, v)
	c := openSocket(t, s, site.ClientKey)
	h := v.dials()[0]
	assert.Equal(t, []string{"responses_websockets=2026-02-06", "codex_cli_rs/0.169.0"}, []string{h.Get("OpenAI-Beta"), h.Get("User-Agent")})

	warm := c.ask(`"store":false,"generate":false,"input":[]`)
	assert.Len(t, warm, 2)
	first := c.ask(hello)
	var wanted []string
	for _, event := range site.Streams[site.ResponsesPath] {
		_, data, _ := strings.Cut(strings.TrimSpace(event), "data: ")
		wanted = append(wanted, strings.ReplaceAll(data, `"resp_1"`, `"`+parsed(t, first[0]).Response.ID+`"`))
	}
	assert.Equal(t, wanted, first, "X142: the bytes of the provider")
	second := c.ask(hello + `,"previous_response_id":"` + parsed(t, first[0]).Response.ID + `"`)
	assert.Equal(t, "response.completed", parsed(t, second[len(second)-1]).Type)

	frames := v.received()
	require.Len(t, frames, 3)
	assert.Equal(t, `{"type":"response.create","model":"gpt-real",`+hello+`}`, frames[1], "the name of the model alone has changed")

	other := openSocket(t, s, site.ClientKey)
	f := other.fault(hello + `,"previous_response_id":"` + parsed(t, first[0]).Response.ID + `"`)
	assert.Equal(t, "previous_response_not_found", f.Error.Code, "X143: a response of another socket")
	assert.Len(t, v.received(), 3, "which is not sent")
	assert.NoError(t, c.Close(websocket.StatusNormalClosure, "done"))
	assert.Equal(t, websocket.StatusNormalClosure, (<-v.ended).Code, "X148")
}

// A request for a WebSocket that was accepted and then closed made Codex try for seconds.
func TestX144X145RefusalsOfSocketsAreAnswersOfHTTP(t *testing.T) {
	v := startLines(t)
	s := startSockets(t, v, "limit few {\nrequests 1/1h\n}", "key other {env.OTHER_KEY} {\nlimit few\n}", "key abroad sha256:"+strings.Repeat("0", 64))
	refused := func(status int, key string, headers ...string) string {
		t.Helper()
		_, response, err := dial(s, key, headers...)
		require.Error(t, err)
		require.NotNil(t, response, err)
		assert.Equal(t, status, response.StatusCode)
		answer := site.ReadReply(response)
		assert.Equal(t, "application/json", response.Header.Get("Content-Type"))
		return answer.Body
	}
	assert.Contains(t, refused(http.StatusUnauthorized, "sk-wrong"), `"error":{`)
	assert.Contains(t, refused(http.StatusForbidden, site.ClientKey, "Origin", "https://elsewhere.example"), "origin")
	assert.Empty(t, v.dials(), "nothing was dialed")

	openSocket(t, s, otherKey)
	assert.Contains(t, refused(http.StatusTooManyRequests, otherKey), "rate_limit")
	for status, want := range map[int]int{429: 429, 503: 503, 500: 500, 401: 502, 403: 502, 404: 426, 405: 426, 426: 426} {
		v.refuse(status)
		refused(want, site.ClientKey)
	}
}

// A provider that has no room could be asked by POST alone.
func TestX146AnotherProviderIsDialedBeforeTheAnswer(t *testing.T) {
	first, second := startLines(t), startLines(t)
	first.refuse(http.StatusServiceUnavailable)
	t.Setenv("UP_KEY", "sk-up")
	s := site.Start(t,
		site.Direct.ProviderAt("first", strings.TrimPrefix(first.URL, "http://"), "format responses", "models off", "api_key {env.UP_KEY}"),
		site.Direct.ProviderAt("second", strings.TrimPrefix(second.URL, "http://"), "format responses", "models off", "api_key {env.UP_KEY}"),
		"model gpt {\nto first/gpt-real\nto second/gpt-real\n}", "model one {\nto first/gpt-real\n}", "sockets first second")
	c := openSocket(t, s, site.ClientKey)
	first.refuse(0)
	c.ask(hello)
	assert.Len(t, second.received(), 1)
	c.send(`{"type":"response.create","model":"one",` + hello + `}`)
	f := parsed(t, c.next())
	assert.Equal(t, []any{404, "model_not_found"}, []any{f.Status, f.Error.Code}, "only the first one has the model")
	assert.Len(t, first.dials(), 1)
}

// The limits of a key were checked when a socket was opened, and never again.
func TestX147ARefusalOfARequestLeavesTheSocketOpen(t *testing.T) {
	v := startLines(t)
	s := startSockets(t, v, "limit few {\nrequests 2/1h\n}", "key other {env.OTHER_KEY} {\nlimit few\nmodels gpt none\n}", "model none {\nto up/gone\n}")
	c := openSocket(t, s, otherKey) // which is the first request
	c.send(`{"type":"response.cancel"}`)
	f := parsed(t, c.next())
	assert.Equal(t, []any{"error", 400}, []any{f.Type, f.Status}, "%+v", f)
	f = func() frame {
		c.send(`{"type":"response.create","model":"claude","stream_id":"a","input":"hi"}`)
		return parsed(t, c.next())
	}()
	assert.Equal(t, []any{404, "a"}, []any{f.Status, f.StreamID}, "%+v", f)
	f = func() frame {
		c.send(`{"type":"response.create","model":"gpt","stream_id":"a b","input":"hi"}`)
		return parsed(t, c.next())
	}()
	assert.Equal(t, "invalid_stream_id", f.Error.Code)
	assert.Equal(t, "response.completed", c.fault(hello).Type)
	f = c.fault(hello)
	assert.Equal(t, http.StatusTooManyRequests, f.Status)
	assert.NotEmpty(t, f.Headers["retry-after"])
	assert.NotEmpty(t, f.Headers["x-request-id"])
	assert.Equal(t, http.StatusTooManyRequests, c.fault(hello).Status, "the socket is open")
}

// What was used on a socket was known only for requests by POST.
func TestX149X150EachRequestOnASocketHasARecord(t *testing.T) {
	v := startLines(t)
	s := startSockets(t, v, "store sqlite "+filepath.Join(t.TempDir(), "gateway.db"))
	waits := make(chan struct{})
	v.Answer = func(ctx context.Context, c *line, request map[string]any) {
		if request["metadata"] == nil {
			c.answer(ctx, request)
			return
		}
		for _, event := range c.begin(ctx, request)[:6] {
			c.send(ctx, event)
		}
		<-waits
	}
	defer close(waits)
	c := openSocket(t, s, site.ClientKey)
	c.ask(`"store":false,"generate":false,"input":[]`)
	c.ask(hello)
	c.send(`{"type":"response.create","model":"gpt","metadata":{},` + hello + `}`)
	for !strings.Contains(c.next(), "there") {
	}
	require.NoError(t, c.CloseNow())
	records := recordsOf(t, s, 3)
	assert.Equal(t, []any{"client_closed", "estimated"}, []any{records[0].Outcome, records[0].Calls[0].Source})
	assert.Equal(t, []any{"answered", "provider", int64(4)}, []any{records[1].Outcome, records[1].Calls[0].Source, records[1].Calls[0].Output})
	assert.Equal(t, "answered", records[2].Outcome)
	assert.Zero(t, records[2].Calls[0].Cost, "X150: a warm-up costs nothing")
}

// The streams of a socket were answered one after the other, or mixed up.
func TestX151StreamsOfASocketRunSideBySide(t *testing.T) {
	v := startLines(t)
	s := startSockets(t, v)
	slow := make(chan struct{})
	v.Answer = func(ctx context.Context, c *line, request map[string]any) {
		if request["stream_id"] == "slow" {
			<-slow
		}
		c.answer(ctx, request)
	}
	c := openSocket(t, s, site.ClientKey)
	c.send(`{"type":"response.create","stream_id":"slow","model":"gpt","metadata":{"n":"1"},` + hello + `}`)
	c.send(`{"type":"response.create","stream_id":"slow","model":"gpt","metadata":{"n":"2"},` + hello + `}`)
	c.send(`{"type":"response.create","stream_id":"fast","model":"gpt",` + hello + `}`)
	for _, text := range c.answer() {
		assert.Equal(t, "fast", parsed(t, text).StreamID)
	}
	close(slow)
	for range 2 {
		for _, text := range c.answer() {
			assert.Equal(t, "slow", parsed(t, text).StreamID)
		}
	}
	frames := v.received()
	assert.Contains(t, frames[len(frames)-1], `"2"`, "in their order")
}

// Messages that are no events of an answer were lost.
func TestX152OtherMessagesOfTheProviderPass(t *testing.T) {
	v := startLines(t)
	s := startSockets(t, v)
	v.Answer = func(ctx context.Context, c *line, request map[string]any) {
		c.send(ctx, `{"type":"codex.rate_limits","rate_limits":{"primary":{"used_percent":3}}}`)
		c.answer(ctx, request)
		c.send(ctx, `{"type":"responsesapi.websocket_timing","leak":"sk-up"}`)
		c.send(ctx, `{"type":"responsesapi.websocket_timing","ms":4}`)
	}
	c := openSocket(t, s, site.ClientKey)
	all := c.ask(hello)
	assert.Equal(t, `{"type":"codex.rate_limits","rate_limits":{"primary":{"used_percent":3}}}`, all[0])
	assert.Equal(t, `{"type":"responsesapi.websocket_timing","ms":4}`, c.next(), "and no credential")
}

// A client waited for an answer after the provider had closed the WebSocket.
func TestX148ASocketEndsAsTheProviderEndsIt(t *testing.T) {
	v := startLines(t)
	s := startSockets(t, v)
	v.Answer = func(ctx context.Context, c *line, request map[string]any) {
		for _, event := range c.begin(ctx, request)[:6] {
			c.send(ctx, event)
		}
		_ = c.Close(websocket.StatusInternalError, "x")
	}
	c := openSocket(t, s, site.ClientKey)
	all := c.ask(hello)
	assert.Equal(t, "response.failed", parsed(t, all[len(all)-1]).Type)
	_, _, err := c.Read(site.Waiting(t))
	var closed websocket.CloseError
	require.ErrorAs(t, err, &closed)
	assert.Equal(t, websocket.CloseError{Code: websocket.StatusInternalError, Reason: "x"}, closed)

	// A reason with the API key of the provider took the code with it. Behind a request without an answer, the
	// client first got an error as if the provider could not be reached.
	for code, reason := range map[websocket.StatusCode]string{
		websocket.StatusTryAgainLater: "busy: sk-up", websocket.StatusMessageTooBig: "", websocket.StatusPolicyViolation: "",
		websocket.StatusInternalError: "", websocket.StatusNormalClosure: "", 3000: "",
	} {
		v.Answer = func(_ context.Context, c *line, _ map[string]any) { _ = c.Close(code, reason) }
		c = openSocket(t, s, site.ClientKey)
		c.send(`{"type":"response.create","model":"gpt",` + hello + `}`)
		_, text, err := c.Read(site.Waiting(t))
		require.ErrorAs(t, err, &closed, "%d: %s", code, text)
		assert.Equal(t, websocket.CloseError{Code: code}, closed)
	}
}

// A message without a bound fills the memory.
func TestX153AMessageIsBounded(t *testing.T) {
	v := startLines(t)
	s := startSockets(t, v, "max_body 64KiB")
	c := openSocket(t, s, site.ClientKey)
	c.send(`{"type":"response.create","model":"gpt","input":"` + strings.Repeat("x", 65<<10) + `"}`)
	_, _, err := c.Read(site.Waiting(t))
	assert.Equal(t, websocket.StatusMessageTooBig, websocket.CloseStatus(err))
	assert.Empty(t, v.received())

	binary := openSocket(t, s, site.ClientKey)
	require.NoError(t, binary.Write(site.Waiting(t), websocket.MessageBinary, []byte("{}")))
	_, _, err = binary.Read(site.Waiting(t))
	assert.Equal(t, websocket.StatusUnsupportedData, websocket.CloseStatus(err))
}

// A key was checked when a socket was opened, and an open socket outlived it.
func TestX154ADeletedKeyLosesItsSocket(t *testing.T) {
	v := startLines(t)
	path, rewrite := site.KeysFile(t, "key filed {env.OTHER_KEY}")
	s := startSockets(t, v, "keys_file "+path)
	kept, lost := openSocket(t, s, site.ClientKey), openSocket(t, s, otherKey)
	lost.ask(hello)
	rewrite("key another sha256:" + strings.Repeat("0", 64))
	_, _, err := lost.Read(site.Waiting(t))
	assert.Equal(t, websocket.StatusPolicyViolation, websocket.CloseStatus(err), err)
	kept.ask(hello)
}

// ends waits until the socket is closed, and returns its code.
func (c *socketClient) ends() websocket.StatusCode {
	c.t.Helper()
	for {
		if _, _, err := c.Read(site.Waiting(c.t)); err != nil {
			return websocket.CloseStatus(err)
		}
	}
}

// A reload closed all sockets: conversations whose state was with the connection alone were lost.
func TestX160X161ASocketLivesOnThroughAReload(t *testing.T) {
	v := startLines(t)
	t.Setenv("UP_KEY", "sk-up")
	t.Setenv("OTHER_KEY", otherKey)
	provider := site.Direct.ProviderAt("up", strings.TrimPrefix(v.URL, "http://"), "format responses", "models off", "api_key {env.UP_KEY}")
	const model = "model gpt {\nto up/gpt-real\n}"
	config := func(lines ...string) string { return site.Block("", append([]string{provider, model}, lines...)...) }
	s := site.StartCaddyfile(t, config("sockets up", "key other {env.OTHER_KEY}"))
	kept, lost := openSocket(t, s, site.ClientKey), openSocket(t, s, otherKey)
	first := kept.ask(hello)

	require.NoError(t, s.Reload(config("sockets up", "model later {\nto up/gpt-real\n}")))
	assert.Equal(t, websocket.StatusPolicyViolation, lost.ends(), "X161: its key is gone")
	var all []string
	require.Eventually(t, func() bool { // each socket learns of the reload by itself
		kept.send(`{"type":"response.create","model":"later",` + hello + `,"previous_response_id":"` + parsed(t, first[0]).Response.ID + `"}`)
		all = kept.answer()
		return parsed(t, all[len(all)-1]).Type == "response.completed"
	}, site.Patience, site.PollEvery, "with a model that is new")
	assert.Len(t, v.dials(), 2)

	waits := make(chan struct{})
	v.Answer = func(ctx context.Context, c *line, request map[string]any) {
		<-waits
		c.answer(ctx, request)
	}
	kept.send(`{"type":"response.create","model":"gpt",` + hello + `}`)
	require.EventuallyWithT(t, func(c *assert.CollectT) { assert.Len(c, v.received(), 3) }, site.Patience, site.PollEvery)
	require.NoError(t, s.Reload(config()))
	close(waits)
	all = kept.answer()
	assert.Equal(t, "response.completed", parsed(t, all[len(all)-1]).Type, "what runs is answered")
	assert.Equal(t, websocket.StatusGoingAway, kept.ends(), "X161: the site has no sockets any more")
}

// A socket must lead to the provider of the configuration, not to one that was replaced.
func TestX161ASocketToAnotherProviderEndsAtAReload(t *testing.T) {
	first, second := startLines(t), startLines(t)
	t.Setenv("UP_KEY", "sk-up")
	config := func(v *lineVendor) string {
		return site.Block("", site.Direct.ProviderAt("up", strings.TrimPrefix(v.URL, "http://"), "format responses", "models off", "api_key {env.UP_KEY}"), "model gpt {\nto up/gpt-real\n}", "sockets up")
	}
	s := site.StartCaddyfile(t, config(first))
	c := openSocket(t, s, site.ClientKey)
	require.NoError(t, s.Reload(config(second)))
	assert.Equal(t, websocket.StatusGoingAway, c.ends())
}

// recordsOf waits for so many records, the latest first.
func recordsOf(t *testing.T, s *site.Site, n int) (all []record) {
	t.Helper()
	address := strings.TrimPrefix(s.AdminURL(""), "http://")
	require.EventuallyWithT(t, func(now *assert.CollectT) {
		text := site.RunCommand(t, "ai-gateway usage --records --json --address "+address)
		if assert.NoError(now, json.Unmarshal([]byte(text), &all)) {
			assert.Len(now, all, n)
		}
	}, site.Patience, site.PollEvery)
	return all
}

// An idle socket counts in no limit of its key: one key could open any number of connections to the
// provider.
func TestX155AKeyHasABoundedNumberOfSockets(t *testing.T) {
	v := startLines(t)
	s := startSockets(t, v)
	var open []*websocket.Conn
	for range 64 {
		conn, _, err := dial(s, site.ClientKey)
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.CloseNow() })
		open = append(open, conn)
	}
	_, response, err := dial(s, site.ClientKey)
	require.Error(t, err)
	assert.Equal(t, http.StatusTooManyRequests, response.StatusCode)
	assert.Len(t, v.dials(), 64, "nothing is dialed for it")
	_ = open[0].Close(websocket.StatusNormalClosure, "")
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		conn, _, err := dial(s, site.ClientKey)
		if assert.NoError(c, err) {
			_ = conn.CloseNow()
		}
	}, site.Patience, 50*time.Millisecond)
}

// The number was the same for a page with many visitors and for a single user.
func TestX224ALimitHasANumberOfSockets(t *testing.T) {
	v := startVoice(t)
	lines := voiceLines(t, v, "limit wide {\nsockets 2\n}", "limit few {\nrequests 100/1h\nwithin wide\n}", "key other {env.OTHER_KEY} {\nlimit few\n}")
	s := site.StartCaddyfile(t, lines)
	openVoice(t, s, otherKey)
	openVoice(t, s, otherKey)
	_, response, err := dialVoice(s, "?model=voice", otherKey)
	require.Error(t, err)
	assert.Equal(t, http.StatusTooManyRequests, response.StatusCode)
	assert.Contains(t, site.ReadReply(response).Body, "this key has 2 open WebSockets")
	openVoice(t, s, site.ClientKey)
	require.NoError(t, s.Reload(strings.Replace(lines, "sockets 2", "sockets 3", 1)))
	require.EventuallyWithT(t, func(c *assert.CollectT) { // a connection to the server that ends is closed
		conn, _, err := dialVoice(s, "?model=voice", otherKey)
		if assert.NoError(c, err) {
			_ = conn.CloseNow()
		}
	}, site.Patience, site.PollEvery)
}

// The id of a second response of the socket was taken for that of a stored one: a request that continues the
// last response, and compares its cached prompt with it, was refused.
func TestX226ARequestNamesSeveralResponsesOfItsSocket(t *testing.T) {
	v := startLines(t)
	s := startSockets(t, v)
	c := openSocket(t, s, site.ClientKey)
	id := parsed(t, c.ask(hello)[0]).Response.ID
	all := c.ask(hello + `,"prompt_cache_options":{"comparison_response_id":"` + id + `"},"previous_response_id":"` + id + `"`)
	assert.Equal(t, "response.completed", parsed(t, all[len(all)-1]).Type, all)
	assert.Contains(t, v.received()[1], `"comparison_response_id":"`+id+`"`)
}

// An operator who logs contents had to guess which of a WebSocket are in the log.
func TestX227ContentsOfRequestsOnASocketAreLogged(t *testing.T) {
	t.Run("a conversation by voice", func(t *testing.T) {
		s := site.StartCaddyfile(t, voiceLines(t, startVoice(t), "log_content"))
		c := openVoice(t, s, site.ClientKey)
		c.send(`{"type":"conversation.item.create","item":{"type":"message","role":"user","content":[{"type":"input_text","text":"whispered words"}]}}`)
		c.send(`{"type":"response.create"}`)
		c.until("response.done")
		s.AssertNoEntry("whispered words")
	})
	t.Run("responses", func(t *testing.T) {
		s := startSockets(t, startLines(t), "log_content")
		openSocket(t, s, site.ClientKey).ask(hello)
		entry := s.EntryWhere(func(e map[string]any) bool { return e["msg"] == "request content" })
		assert.Contains(t, fmt.Sprint(entry["texts"]), "hello")
	})
}

// The body of a request is read again where files are sealed, and where a guard has edited it: then a response of the
// same socket was taken for a stored one, and the second turn of a conversation was "not found".
func TestX143AResponseOfTheSocketIsNamedWhateverReadsTheRequest(t *testing.T) {
	const mask, reply = "guard pii regex {\nmask email\n}", `"store":false,"input":[{"role":"user","content":"mail a@example.com"}]`
	const state, files = "responses_state sealed", "files_state sealed"
	// A file was not found on a socket to a provider whose files alone are sealed.
	for name, tt := range map[string]struct{ traits, lines []string }{
		"no trait":                   {},
		"sealed state":               {traits: []string{state}},
		"sealed files":               {traits: []string{files}},
		"both":                       {traits: []string{state, files}},
		"a guard":                    {lines: []string{mask}},
		"a guard, and sealed state":  {[]string{state}, []string{mask}},
		"a guard, and sealed files":  {[]string{files}, []string{mask}},
		"a guard, and both":          {[]string{state, files}, []string{mask}},
		"a guard that edits no text": {[]string{state, files}, []string{strings.Replace(mask, "email", "card", 1)}},
	} {
		t.Run(name, func(t *testing.T) {
			v := startLines(t)
			t.Setenv("UP_KEY", "sk-up")
			provider := append([]string{"format chat responses", "models off", "api_key {env.UP_KEY}"}, tt.traits...)
			s := site.Start(t, append([]string{site.Direct.ProviderAt("up", strings.TrimPrefix(v.URL, "http://"), provider...), "model gpt {\nto up/gpt-real\n}", "sockets up"}, tt.lines...)...)
			c := openSocket(t, s, site.ClientKey)
			goOn := func(c *socketClient, members, id string) string {
				all := c.ask(members + `,"prompt_cache_options":{"comparison_response_id":"` + id + `"},"previous_response_id":"` + id + `"`)
				return all[len(all)-1]
			}
			id := parsed(t, c.ask(hello)[0]).Response.ID
			answer := goOn(c, reply, id)
			assert.Equal(t, "response.completed", parsed(t, answer).Type, answer)
			frames := v.received()
			require.Len(t, frames, 2)
			assert.Contains(t, frames[1], `"previous_response_id":"`+id+`"`)
			// A stored response of the same socket, whose id is sealed, was one that the guard could not check.
			if slices.Contains(tt.traits, state) {
				for _, stored := range []string{`"store":true,`, ""} {
					members := stored + strings.TrimPrefix(reply, `"store":false,`)
					sealed := parsed(t, c.ask(members)[0]).Response.ID
					require.NotEqual(t, id, sealed)
					for _, id := range []string{id, sealed} {
						answer = goOn(c, members, id)
						assert.Equal(t, "response.completed", parsed(t, answer).Type, answer)
					}
					answer = goOn(openSocket(t, s, site.ClientKey), members, sealed)
					assert.Equal(t, tt.lines != nil, strings.Contains(answer, "cannot check"), "a stored response of another socket: %s", answer)
				}
				frames = v.received()
			}

			answer = goOn(openSocket(t, s, site.ClientKey), reply, id)
			assert.Equal(t, "error", parsed(t, answer).Type, "a response of another socket: %s", answer)
			assert.Len(t, v.received(), len(frames))
			if slices.Contains(tt.traits, files) && tt.lines == nil { // a guard refuses files
				answer = goOn(c, `"store":false,"input":[{"role":"user","content":[{"type":"input_text","text":"mail a@example.com"},{"type":"input_file","file_id":"`+uploaded(t, s)+`"}]}]`, id)
				assert.Equal(t, "response.completed", parsed(t, answer).Type, answer)
				frames = v.received()
				assert.Contains(t, frames[len(frames)-1], `"file_id":"`+lineFile+`"`)
			}
		})
	}
}

// uploaded stores a file, and returns its id.
func uploaded(t *testing.T, s *site.Site) string {
	t.Helper()
	const part = "--b\r\nContent-Disposition: form-data; name="
	const form = part + "\"purpose\"\r\n\r\nuser_data\r\n" + part + "\"file\"; filename=\"a.pdf\"\r\n\r\nx\r\n--b--\r\n"
	answer := s.Call(http.MethodPost, s.URL("site", "/v1/files"), form, "Authorization", "Bearer "+site.ClientKey, "Content-Type", "multipart/form-data; boundary=b")
	require.Equal(t, http.StatusOK, answer.Status, answer.Body)
	return idOf(t, answer.Body)
}
