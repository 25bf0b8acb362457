package translation_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest/client"
)

// Members of requests.
const (
	streaming = `"stream":true`
	oneTurn   = `"max_tokens":9,"messages":[{"role":"user","content":"x"}]`
	chatTurn  = `"messages":[{"role":"user","content":"x"}]`
	userText  = `{"role":"user","content":"x"}`
	useA      = `{"type":"tool_use","id":"a","name":"f","input":{}}`
)

// losesEffort is a request whose effort not every provider takes.
const losesEffort = `{"model":"m","max_tokens":2000,"thinking":{"type":"enabled","budget_tokens":1024},"messages":[{"role":"user","content":"x"}]}`

// wholeMessage is an answer of a provider that knows every field.
const wholeMessage = `{"id":"msg_1","type":"message","role":"assistant","model":"x","content":[],"stop_reason":"end_turn","usage":{}}`

// turnsOf returns the members of a request with these messages.
func turnsOf(messages ...string) string {
	return `"max_tokens":9,"messages":[` + strings.Join(messages, ",") + `]`
}

// says returns a message with these blocks.
func says(role string, list ...string) string {
	return `{"role":"` + role + `","content":[` + strings.Join(list, ",") + `]}`
}

// calls returns a chat message that calls tools.
func calls(list ...string) string {
	return `{"role":"assistant","content":null,"tool_calls":[` + strings.Join(list, ",") + `]}`
}

// result returns the result of a tool.
func result(id, content string) string {
	return `{"type":"tool_result","tool_use_id":"` + id + `","content":` + content + `}`
}

// ours returns a tool of messages.
func ours(name, more string) string {
	return `{"name":"` + name + `",` + more + `"input_schema":` + schema + `}`
}

// eachLane runs a test over all lanes, on both ways to a provider. The providers of a lane speak
// only its format; the model "m" leads to both, with the name "vendor-m", and "1" to the first
// alone.
func eachLane(t *testing.T, test func(t *testing.T, s site.Failover, r site.Lane)) {
	site.EachWay(t, func(t *testing.T, w site.Way) { onLanes(t, w, site.ClientLanes, test) })
}

// eachTranslated is eachLane for the lanes that translate. The lines are added to the ai_gateway
// block of each lane.
func eachTranslated(t *testing.T, test func(t *testing.T, s site.Failover, r site.Lane), lines ...string) {
	site.EachWay(t, func(t *testing.T, w site.Way) { onLanes(t, w, site.TranslatedLanes, test, lines...) })
}

// eitherLane is eachLane on one of the ways, for large tables about the bodies and statuses of
// errors, which both ways read with the same code.
func eitherLane(t *testing.T, test func(t *testing.T, s site.Failover, r site.Lane)) {
	site.EitherWay(t, func(t *testing.T, w site.Way) { onLanes(t, w, site.ClientLanes, test) })
}

// onLanes is eachLane for some lanes and one way. One Caddy has a site for each lane: most of the
// time of a test was once that of starts.
func onLanes(t *testing.T, w site.Way, lanes []site.Lane, test func(t *testing.T, s site.Failover, r site.Lane), lines ...string) {
	t.Helper()
	var blocks strings.Builder
	all := make([]site.Failover, len(lanes))
	for i, r := range lanes {
		all[i].First, all[i].Second = gatewaytest.NewProvider(t), gatewaytest.NewProvider(t)
		blocks.WriteString(site.BlockAt(portOf(i), "", slices.Concat(lines, laneOf(w, r, all[i]))...))
	}
	caddy := site.StartCaddyfile(t, blocks.String())
	for i, r := range lanes {
		t.Run(r.String(), func(t *testing.T) {
			t.Parallel()
			all[i].Site, all[i].Gate = caddy.At(t, portOf(i)), gatewaytest.NewGate(t)
			test(t, all[i], r)
		})
	}
}

// portOf returns the name of a lane's port.
func portOf(lane int) string { return fmt.Sprint("lane", lane) }

// laneOf returns the lines of a gateway with the providers of a lane.
func laneOf(w site.Way, r site.Lane, s site.Failover) []string {
	return []string{site.Steady,
		w.Provider("first", s.First, r.Format, "models 1"), w.Provider("second", s.Second, r.Format, "models 2"),
		"model m {\nto first/vendor-m\nto second/vendor-m\n}"}
}

// explained returns a row of translatedStatuses with the provider's own message.
func explained(want site.ErrorAnswer, message, code string) site.ErrorAnswer {
	want.Message = message
	if want.Code == "" && want.Kind == "invalid_request_error" && want.Status == 400 {
		want.Code = code
	}
	return want
}

// counted is a chat answer with this count of tokens of the prompt.
func counted(tokens int) gatewaytest.Step {
	return gatewaytest.Body(http.StatusOK, "application/json", fmt.Appendf(nil,
		`{"id":"c","object":"chat.completion","created":1,"model":"x","choices":[{"index":0,"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}],`+
			`"usage":{"prompt_tokens":%d,"completion_tokens":1,"total_tokens":%d}}`, tokens, tokens+1))
}

// readCompletion reads an answer, streamed or not.
func readCompletion(t *testing.T, r site.Reply, streamed bool) *client.Completion {
	t.Helper()
	require.Equal(t, http.StatusOK, r.Status, r.Body)
	read := client.Chat
	if strings.Contains(r.Body, `"text_completion"`) {
		read = client.Completions
	}
	answer, err := read.Parse([]byte(r.Body))
	if streamed {
		answer, err = read.Read([]byte(r.Body))
	}
	require.NoError(t, err, r.Body)
	c, err := answer.Completion()
	require.NoError(t, err)
	return c
}

// answerText returns the text of an answer, streamed or not, which must be
// complete.
func answerText(t *testing.T, r site.Reply, path string, stream bool) string {
	t.Helper()
	require.Equal(t, http.StatusOK, r.Status, r.Body)
	if stream {
		read := r.Read(t, path)
		require.True(t, read.Complete, r.Body)
		return read.Text()
	}
	if path == site.MessagesPath {
		r.Body = strings.Replace(r.Body, `"content":null`, `"content":[]`, 1) // as clients of Ollama read it
	}
	return r.Text(t, path)
}

// translatedStatuses are the errors that clients of another format get, by the
// provider's status.
var translatedStatuses = map[int]site.ErrorAnswer{
	400: {Status: 400, Kind: "invalid_request_error", MessagesKind: "invalid_request_error"},
	401: {Status: 502, Kind: "server_error", Code: "upstream_auth", MessagesKind: "api_error"},
	402: {Status: 429, Kind: "insufficient_quota", Code: "insufficient_quota", MessagesKind: "rate_limit_error"},
	403: {Status: 403, Kind: "invalid_request_error", Code: "permission_denied", MessagesKind: "permission_error"},
	404: {Status: 404, Kind: "invalid_request_error", Code: "model_not_found", MessagesKind: "not_found_error"},
	405: {Status: 502, Kind: "server_error", MessagesKind: "api_error"},
	408: {Status: 504, Kind: "server_error", Code: "upstream_timeout", MessagesKind: "timeout_error"},
	409: {Status: 409, Kind: "invalid_request_error", MessagesKind: "conflict_error"},
	413: {Status: 413, Kind: "invalid_request_error", Code: "request_too_large", MessagesKind: "request_too_large"},
	418: {Status: 400, Kind: "invalid_request_error", MessagesKind: "invalid_request_error"},
	422: {Status: 400, Kind: "invalid_request_error", MessagesKind: "invalid_request_error"},
	429: {Status: 429, Kind: "rate_limit_error", Code: "rate_limit_exceeded", MessagesKind: "rate_limit_error"},
	500: {Status: 500, Kind: "server_error", MessagesKind: "api_error"},
	502: {Status: 502, Kind: "server_error", MessagesKind: "api_error"},
	503: {Status: 503, MessagesStatus: 529, Kind: "server_error", Code: "overloaded", MessagesKind: "overloaded_error"},
	504: {Status: 504, Kind: "server_error", Code: "upstream_timeout", MessagesKind: "timeout_error"},
	511: {Status: 502, Kind: "server_error", MessagesKind: "api_error"},
	529: {Status: 503, MessagesStatus: 529, Kind: "server_error", Code: "overloaded", MessagesKind: "overloaded_error"},
}

// afterTranslated scripts the beginning of a stream of the provider's format,
// up to the text "Hi", and goes on with the step once the client has read it.
func afterTranslated(s site.Failover, r site.Lane, then gatewaytest.Step) site.Reply {
	s.T.Helper()
	return openTranslated(s, r, then).Rest()
}

// openTranslated is afterTranslated without the wait for the end of the stream.
func openTranslated(s site.Failover, r site.Lane, then gatewaytest.Step) *site.Stream {
	s.T.Helper()
	whole := strings.Join(site.Streams[r.Upstream], "")
	text := strings.Index(whole, "Hi")
	end := text + strings.Index(whole[text:], "\n\n") + len("\n\n")
	return s.OpenAfterContent(s.First, r.Path, whole[:end], then)
}

// assertUnfinished checks that nothing in a stream marks it as complete.
func assertUnfinished(t *testing.T, r site.Lane, whole site.Reply) {
	t.Helper()
	seen := whole.Read(t, r.Path)
	assert.False(t, seen.Complete)
	require.NotNil(t, seen.Failure)
	assert.Equal(t, "Hi", seen.Text())
	for _, end := range []string{"message_stop", "message_delta", "content_block_stop", "[DONE]", `"finish_reason":"`, `"finishReason"`} {
		assert.NotContains(t, whole.Body, end)
	}
}

// startTranslated runs a gateway for a single lane, as eachLane does for all.
func startTranslated(t *testing.T, w site.Way, r site.Lane, lines ...string) site.Failover {
	s := site.Failover{First: gatewaytest.NewProvider(t), Second: gatewaytest.NewProvider(t), Gate: gatewaytest.NewGate(t)}
	s.Site = site.Start(t, slices.Concat(lines, laneOf(w, r, s))...)
	return s
}

// mixed is a gateway whose model "m" leads to a provider of chat, then to
// one of messages; for the model "n" it is the other way round.
type mixed struct {
	*site.Site
	chat, messages *gatewaytest.Provider
}

func startMixed(t *testing.T, w site.Way) mixed {
	chat, messages := gatewaytest.NewProvider(t), gatewaytest.NewProvider(t)
	return mixed{site.Start(t, site.Steady,
		w.Provider("chatting", chat, "format chat", "models 1"), w.Provider("conversing", messages, "format messages", "models 2"),
		"model m {\nto chatting\nto conversing\n}", "model n {\nto conversing\nto chatting\n}"), chat, messages}
}
