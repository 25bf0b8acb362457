package endpoints_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

const progress = `{"jsonrpc":"2.0","method":"notifications/progress","params":{}}`

// streams answers with events.
func streams(events string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = fmt.Fprint(w, events)
	}
}

// breaksOff answers with events, behind which the connection ends.
func breaksOff(events string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		streams(events)(w, r)
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
}

// A stream that ended without the answer had no error, so that clients waited until their own timeout, and
// its clean end was recorded as an answer. An event of up to twice max_answer, and a message with the id of the
// request that does not answer it, passed as the answer.
func TestAStreamWithoutItsAnswerEndsWithAnError(t *testing.T) {
	s := startTools(t, "max_answer 200")
	const first = "data: " + progress + "\n\n"
	const closed, unusable = "the upstream closed the stream before completing the answer", "the upstream returned an unusable answer"
	for name, test := range map[string]struct {
		reply http.HandlerFunc
		why   string
	}{
		"a clean end":          {streams(first), closed},
		"half an event":        {streams(first + `data: {"jsonrpc":"2.0","id":7,"res`), closed},
		"a cut":                {breaksOff(first), closed},
		"an event too long":    {streams(first + "data: " + strings.Repeat("x", 300)), unusable},
		"a long event at once": {streams(first + "data: " + `{"jsonrpc":"2.0","id":7,"result":"` + strings.Repeat("x", 200) + "\"}\n\n"), unusable},
		"an id without answer": {streams(first + `data: {"jsonrpc":"2.0","id":7,"error":"down"}` + "\n\n"), unusable},
		"an event of no JSON":  {streams(first + "data: {\n\n"), unusable},
		"a line of one return": {streams(first + "data: {}\rdata: {}\n\n"), unusable},
	} {
		t.Run(name, func(t *testing.T) {
			s.server.answers(test.reply)
			answer := s.use(site.AliceKey, calling("search_code"))
			end, ok := strings.CutPrefix(answer.Body, first)
			require.True(t, ok, answer.Body)
			want := `data: {"jsonrpc":"2.0","id":7,"error":{"code":-32000,"message":"` + test.why + `","data":`
			assert.True(t, strings.HasPrefix(end, want) && strings.HasSuffix(end, "}}}\n\n"), end)
			record := s.Record(answer.ID())
			assert.Equal(t, []any{"cut", test.why}, []any{record["outcome"], record["fault"]}, record)
		})
	}
}

// Such ends are no failures: the client resumes the stream, or subscribes again.
func TestAStreamThatGoesOnElsewhereEndsWithoutAnError(t *testing.T) {
	s := startTools(t, "")
	session := s.use(site.AliceKey, rpc("1", "initialize", `{"protocolVersion":"2025-11-25"}`)).Header.Get("Mcp-Session-Id")
	for message, events := range map[string]string{
		calling("search_code"):                      "id: 1\ndata:\n\n",
		rpc("7", "subscriptions/listen", "{}"):      "data: " + progress + "\n\n",
		`{"jsonrpc":"2.0","id":7,"result":{"a":1}}`: "data: " + progress + "\n\n",
	} {
		s.server.answers(streams(events))
		answer := s.use(site.AliceKey, message, "Mcp-Session-Id", session)
		assert.Equal(t, events, answer.Body)
		assert.Equal(t, "answered", s.Record(answer.ID())["outcome"])
	}
	// Without a session, a client cannot ask for the rest, and waited for it.
	s.server.answers(streams("id: 1\ndata:\n\n"))
	assert.Contains(t, s.use(site.AliceKey, calling("search_code")).Body, `"error":{"code":-32000,`)
}

// An answer without a message was an empty 200, on which clients waited.
func TestARequestNeedsAMessageAsItsAnswer(t *testing.T) {
	s := startTools(t, "")
	for _, contentType := range []string{"text/html", "text/plain; charset=utf-8", ""} {
		s.server.answers(func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Content-Type"] = []string{contentType}
			_, _ = fmt.Fprint(w, "<html>")
		})
		answer := s.use(site.AliceKey, calling("search_code"))
		assertRPCError(t, http.StatusBadGateway, "7", -32000, answer)
		assert.Contains(t, answer.Body, "the upstream returned an unusable answer")
		notified := s.use(site.AliceKey, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		assert.Equal(t, http.StatusOK, notified.Status)
		assert.Empty(t, notified.Body)
	}
}

// A message that a proxy in front of the server sends for its own errors, or that answers another request, was
// passed on, recorded as an answer and charged: the client waited, since it has no answer in it.
func TestAMessageInPlaceOfTheAnswerIsAnError(t *testing.T) {
	s := startTools(t, "")
	const unusable, unread = "the upstream returned an unusable answer", `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no"}}`
	begun := s.use(site.AliceKey, rpc("1", "initialize", `{"protocolVersion":"2025-11-25"}`)).Header.Get("Mcp-Session-Id")
	for name, test := range map[string]struct {
		sent    int
		message string
		session string
		status  int
		why     string
	}{
		"another id":               {200, `{"jsonrpc":"2.0","id":8,"result":{}}`, "", 502, unusable},
		"an error of another id":   {200, `{"jsonrpc":"2.0","id":8,"error":{"code":1,"message":"no"}}`, "", 502, unusable},
		"the id as a text":         {200, `{"jsonrpc":"2.0","id":"7","result":{}}`, "", 502, unusable},
		"a result without an id":   {200, `{"jsonrpc":"2.0","result":{}}`, "", 502, unusable},
		"neither result nor error": {200, `{"jsonrpc":"2.0","id":7}`, "", 502, unusable},
		"a question":               {200, `{"jsonrpc":"2.0","id":7,"method":"ping"}`, "", 502, unusable},
		"no message":               {200, `{"message":"down"}`, "", 502, unusable},
		"an error that is a text":  {200, `{"error":"down"}`, "", 502, unusable},
		"a proxy that is down":     {503, `{"message":"down"}`, "", 503, "the upstream"},
		"a proxy without a route":  {404, `{"error":"not found"}`, "", 404, "the upstream"},
		"a session is lost":        {404, `{"error":"not found"}`, begun, 404, "session"},
		"an error without an id":   {400, unread, "", 400, `"message":"no"`},
		"an error of a session":    {400, unread, begun, 400, `"message":"no"`},
		"an error at 200":          {200, unread, "", 200, `"message":"no"`},
	} {
		t.Run(name, func(t *testing.T) {
			s.server.answers(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(test.sent)
				_, _ = io.WriteString(w, test.message)
			})
			var headers []string
			if test.session != "" {
				headers = []string{"Mcp-Session-Id", test.session}
			}
			answer := s.use(site.AliceKey, calling("search_code"), headers...)
			assert.Equal(t, test.status, answer.Status, answer.Body)
			assert.Contains(t, answer.Body, test.why)
			if test.message != unread {
				assert.Contains(t, answer.Body, `"id":7,"error":{"code":`)
				assert.NotEqual(t, "answered", s.Record(answer.ID())["outcome"])
			}
		})
	}
}

// The client got "the upstream could not be reached", and the log no reason.
func TestAMessageOverMaxAnswerIsUnusable(t *testing.T) {
	s := startTools(t, "max_answer 50")
	answer := s.use(site.AliceKey, rpc("7", "tools/list", "{}"))
	assertRPCError(t, http.StatusBadGateway, "7", -32000, answer)
	assert.Contains(t, answer.Body, "the upstream returned an unusable answer")
	assert.Equal(t, "a message of the server is longer than max_answer", s.FailedAttempt(answer.ID())["cause"])
}

// Patterns for a whole server covered calls of its tools alone: a limit counted no lists, and a guard saw
// neither prompts, answers to the server, nor what resources and the stream of the server contain.
func TestPatternsForAServerCoverAllRequestsForIt(t *testing.T) {
	t.Run("guard", func(t *testing.T) {
		s := startTools(t, "era legacy", "guard words regex {\npattern rule forbidden\nblock rule\nmodels mcp/up/*\n}")
		for _, refused := range []string{
			rpc("7", "tools/call", `{"name":"a","arguments":{"q":"forbidden"}}`),
			rpc("7", "prompts/get", `{"name":"a","arguments":{"q":"forbidden"}}`),
			rpc("7", "completion/complete", `{"ref":{"type":"ref/prompt","name":"a"},"argument":{"name":"q","value":"forbidden"}}`),
			`{"jsonrpc":"2.0","id":7,"result":{"content":{"type":"text","text":"forbidden"}}}`,
		} {
			assertRPCError(t, http.StatusBadRequest, "7", -32600, s.use(site.AliceKey, refused))
		}
		assertRPCError(t, http.StatusBadRequest, "null", -32600, s.use(site.AliceKey, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"message":"forbidden"}}`))
		assert.Empty(t, s.server.lines())
		s.server.answers(streams("data: {\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"contents\":[{\"text\":\"forbidden\"}]}}\n\n"))
		for _, answer := range []site.Reply{
			s.use(site.AliceKey, rpc("7", "resources/read", `{"uri":"file:///a"}`)),
			s.Call(http.MethodGet, s.URL("site", "/mcp/up"), "", "Authorization", "Bearer "+site.AliceKey),
		} {
			assert.Contains(t, answer.Body, `"error":{"code":-32600,`)
			assert.NotContains(t, answer.Body, "forbidden")
		}
	})
	for pattern, want := range map[string][]int{"mcp/up/*": {200, 429, 429}, "mcp/*": {200, 429, 429}, "mcp/up/search_*": {200, 200, 200}, "mcp/other/*": {200, 200, 200}} {
		t.Run(pattern, func(t *testing.T) {
			t.Setenv("KEY_CAROL", "sk-carol")
			s := startTools(t, "", "limit few {\nper key\nrequests 1/1h\nmodels "+pattern+"\n}", "key carol {env.KEY_CAROL} {\nmcp up\nlimit few\n}")
			var got []int
			for _, message := range []string{rpc("7", "tools/list", "{}"), rpc("7", "prompts/get", `{"name":"search_p"}`), calling("other")} {
				got = append(got, s.use("sk-carol", message).Status)
			}
			assert.Equal(t, want, got)
		})
	}
}

// The result of such a call could not be read, since tasks are not passed on.
func TestACallAsATaskIsRefused(t *testing.T) {
	s := startTools(t, "")
	answer := s.use(site.AliceKey, rpc("7", "tools/call", `{"name":"search_code","task":{"ttl":1}}`))
	assertRPCError(t, http.StatusBadRequest, "7", -32600, answer)
	assert.Contains(t, answer.Body, "params.task")
	assert.Empty(t, s.server.lines())
}

// Clients failed at the empty 200 of Caddy, which they took for a document.
func TestThereAreNoDocumentsAboutASignInWithoutTokens(t *testing.T) {
	s := startTools(t, "")
	for _, path := range []string{"oauth-protected-resource/mcp/up", "oauth-protected-resource", "openid-configuration", "openid-configuration/mcp/up"} {
		assertRPCError(t, http.StatusNotFound, "null", -32000, s.Call(http.MethodGet, s.URL("site", "/.well-known/"+path), ""))
	}
	for _, path := range []string{"oauth-authorization-server", "oauth-authorization-server/mcp/up"} { // which sites with agents have
		assert.Equal(t, http.StatusNotFound, s.Call(http.MethodGet, s.URL("site", "/.well-known/"+path), "").Status)
	}
	assert.Empty(t, s.Call(http.MethodGet, s.URL("site", "/.well-known/other"), "").Body)
}

// Clients of servers took the document for agents, which has no authorization_endpoint, for one of theirs,
// and failed at it without a hint at the key that they need.
func TestClientsOfServersFindNoSignInOfAgents(t *testing.T) {
	s := startTools(t, "", "store sqlite "+t.TempDir()+"/gateway.db\naccounts {\nagents\n}")
	const root = "/.well-known/oauth-authorization-server"
	assert.Equal(t, http.StatusOK, s.Call(http.MethodGet, s.URL("site", root), "").Status)
	found := s.Call(http.MethodGet, s.URL("site", root), "", "Mcp-Protocol-Version", "2025-11-25")
	assert.Equal(t, http.StatusNotFound, found.Status)
	assert.Contains(t, found.Body, "send a key of the gateway")
	for _, path := range []string{root + "/mcp/up", root + "/mcp"} {
		assert.Equal(t, http.StatusNotFound, s.Call(http.MethodGet, s.URL("site", path), "").Status, path)
	}
}

func TestX103AStreamThatIsIdleIsOneRunningRequest(t *testing.T) {
	t.Setenv("KEY_CAROL", "sk-carol")
	s := startTools(t, "", "limit one {\nper key\nconcurrent 1\n}", "key carol {env.KEY_CAROL} {\nmcp up\nlimit one\n}")
	comments := make(chan struct{})
	s.server.answers(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for {
			_, _ = fmt.Fprint(w, ": idle\n\n")
			_ = http.NewResponseController(w).Flush()
			select {
			case <-comments:
			case <-r.Context().Done():
				return
			}
		}
	})
	ctx, leave := context.WithCancel(site.Waiting(t))
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL("site", "/mcp/up"), strings.NewReader(rpc("7", "subscriptions/listen", "{}")))
	require.NoError(t, err)
	request.Header.Set("Authorization", "Bearer sk-carol")
	response, err := s.Client.Do(request)
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	for range 3 {
		comment := make([]byte, len(": idle\n\n"))
		_, err := io.ReadFull(response.Body, comment)
		require.NoError(t, err)
		assert.Equal(t, ": idle\n\n", string(comment), "each comment arrives before the next one is sent")
		assert.Equal(t, http.StatusTooManyRequests, s.use("sk-carol", calling("a")).Status)
		comments <- struct{}{}
	}
	leave()
	s.server.answers(s.answer)
	assert.Eventually(t, func() bool { return s.use("sk-carol", calling("a")).Status == http.StatusOK }, time.Minute, time.Millisecond)
}
