package module_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
)

// way is one of the two ways to a provider. Every claim holds for both.
type way string

const (
	direct  way = "base_url"
	proxied way = "reverse_proxy"
)

// eachWay runs a test over both ways.
func eachWay(t *testing.T, test func(t *testing.T, w way)) {
	for _, w := range []way{direct, proxied} {
		t.Run(string(w), func(t *testing.T) { test(t, w) })
	}
}

// to is the lines of a provider's block that lead to an address.
func (w way) to(address string) string {
	if w == direct {
		return "base_url http://" + address + "\n"
	}
	return "to " + address + "\nlb_policy first\n"
}

// provider is the block of a provider that speaks every format.
func (w way) provider(name string, p *gatewaytest.Provider, lines ...string) string {
	return w.providerAt(name, p.Address(), lines...)
}

func (w way) providerAt(name, address string, lines ...string) string {
	return "provider " + name + " vllm {\n" + w.to(address) + "usage_details keep\n" + strings.Join(lines, "\n") + "\n}\n"
}

// clientKey is the key of every test's client.
const clientKey = "sk-the-key-of-the-client"

// site is a running gateway as a client sees it.
type site struct {
	*gatewaytest.Caddy
	t testing.TB
}

// startSite runs a site that has a key and these lines in its ai_gateway block.
func startSite(t testing.TB, lines ...string) *site {
	t.Helper()
	return startCaddyfile(t, siteBlock("", lines...))
}

// startCaddyfile runs a whole Caddyfile.
func startCaddyfile(t testing.TB, caddyfile string) *site {
	t.Helper()
	t.Setenv("CLIENT_KEY", clientKey)
	return &site{gatewaytest.StartCaddy(t, caddyfile), t}
}

// siteBlock is a site at PORT(site) with lines of its own before its
// ai_gateway block.
func siteBlock(before string, lines ...string) string {
	return "http://127.0.0.1:PORT(site) {\n" + before +
		"\nai_gateway {\nkey client {env.CLIENT_KEY}\n" + strings.Join(lines, "\n") + "\n}\n}\n"
}

// The endpoints that a provider answers.
const (
	messagesPath    = "/v1/messages"
	chatPath        = "/v1/chat/completions"
	completionsPath = "/v1/completions"
)

var callPaths = []string{messagesPath, chatPath, completionsPath}

// bodyFor is a request body for the endpoint.
func bodyFor(path, model, prompt string, stream bool) string {
	body := map[string]any{"model": model}
	switch path {
	case completionsPath:
		body["prompt"] = prompt
	default:
		body["messages"] = []any{map[string]any{"role": "user", "content": prompt}}
	}
	if path == messagesPath {
		body["max_tokens"] = 1000
	}
	if stream {
		body["stream"] = true
	}
	raw, _ := json.Marshal(body) // these values always encode
	return string(raw)
}

// post sends a body with the client's key; headers follow as names and values.
// The test closes the answer's body.
func (s *site) post(ctx context.Context, path, body string, headers ...string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL("site", path), strings.NewReader(body))
	require.NoError(s.t, err)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+clientKey)
	request.Header.Set("Anthropic-Version", "2023-06-01")
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	return s.Client.Do(request)
}

// reply is an answer read to its end.
type reply struct {
	status int
	header http.Header
	body   string
	err    error // of reading the body
}

func (r reply) id() string { return r.header.Get("X-Request-Id") }

// ask sends a body and reads the whole answer.
func (s *site) ask(path, body string, headers ...string) reply {
	s.t.Helper()
	response, err := s.post(s.t.Context(), path, body, headers...)
	require.NoError(s.t, err)
	defer func() { _ = response.Body.Close() }()
	raw, err := io.ReadAll(response.Body)
	return reply{response.StatusCode, response.Header, string(raw), err}
}

// failure reads an error body.
func (r reply) failure(t testing.TB) gatewaytest.Failure {
	t.Helper()
	f, err := gatewaytest.ParseFailure([]byte(r.body))
	require.NoError(t, err, r.body)
	return f
}

// outcome is what a client makes of a stream's body: the text, whether the
// stream ended by its own word, and its error event.
type outcome struct {
	text     string
	complete bool
	failure  *gatewaytest.Failure
}

// read puts a stream together by the laws that official clients enforce.
func (r reply) read(t testing.TB, path string) outcome {
	t.Helper()
	require.NoError(t, r.err)
	if path == messagesPath {
		m, err := gatewaytest.ReadMessageStream(strings.NewReader(r.body))
		require.NoError(t, err, r.body)
		return outcome{m.Text(), m.Complete, m.Failure}
	}
	c, err := gatewaytest.ReadCompletionStream(strings.NewReader(r.body))
	require.NoError(t, err, r.body)
	var text string
	for _, choice := range c.Choices {
		text += choice.Text
	}
	return outcome{text, c.Complete, c.Failure}
}

// stream is an answer that is read event by event.
type stream struct {
	*http.Response
	t      testing.TB
	reader *bufio.Reader
	cancel context.CancelFunc // the client goes away
	read   strings.Builder    // all that came so far
}

// open asks for a stream and returns once its headers are there.
func (s *site) open(path, body string, headers ...string) *stream {
	s.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	s.t.Cleanup(cancel)
	response, err := s.post(ctx, path, body, headers...)
	require.NoError(s.t, err)
	s.t.Cleanup(func() { _ = response.Body.Close() })
	return &stream{Response: response, t: s.t, reader: bufio.NewReader(response.Body), cancel: cancel}
}

// next waits for one event, or comment, and gives its lines.
func (s *stream) next() string {
	s.t.Helper()
	var event strings.Builder
	for {
		line, err := s.reader.ReadString('\n')
		require.NoError(s.t, err, "after: %s", s.read.String())
		s.read.WriteString(line)
		if line == "\n" && event.Len() > 0 {
			return event.String()
		}
		event.WriteString(line)
	}
}

// rest reads to the end and gives the whole answer.
func (s *stream) rest() reply {
	raw, err := io.ReadAll(s.reader)
	return reply{s.StatusCode, s.Header, s.read.String() + string(raw), err}
}

// patience is how long a test waits for what must come.
const patience = time.Minute

// waiting is a context for waits.
func waiting(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

// record waits for the end of an exchange and gives its log record.
func (s *site) record(id string) map[string]any {
	s.t.Helper()
	return s.recordWhere(func(entry map[string]any) bool { return entry["request_id"] == id })
}

// recordWhere waits for the record of the first exchange that fits.
func (s *site) recordWhere(fits func(map[string]any) bool) map[string]any {
	s.t.Helper()
	entry, err := s.Logs.WaitEntry(waiting(s.t), func(entry map[string]any) bool {
		return entry["msg"] == "exchange ended" && fits(entry)
	})
	require.NoError(s.t, err)
	return entry
}

// assertQuiet fails when something that has to do with requests stands in the
// log above INFO.
func (s *site) assertQuiet() {
	s.t.Helper()
	for _, entry := range s.Logs.Entries() {
		if logger, _ := entry["logger"].(string); !strings.HasPrefix(logger, "http.") {
			continue
		}
		assert.Contains(s.t, []any{"debug", "info"}, entry["level"], "%v", entry)
	}
}
