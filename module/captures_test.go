package module_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
)

// capture is a request that a client really sent.
type capture struct {
	Method  string
	Path    string
	Headers map[string]string
	Body    json.RawMessage
}

func readCapture(t *testing.T, file string) capture {
	t.Helper()
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	var c capture
	require.NoError(t, json.Unmarshal(raw, &c))
	var compact bytes.Buffer
	require.NoError(t, json.Compact(&compact, c.Body))
	c.Body = compact.Bytes()
	return c
}

// replay sends the capture with the client's key in place of the recorded one.
func (s *site) replay(c capture) *http.Response {
	s.t.Helper()
	request, err := http.NewRequestWithContext(s.t.Context(), c.Method, s.URL("site", c.Path), bytes.NewReader(c.Body))
	require.NoError(s.t, err)
	for name, value := range c.Headers {
		request.Header.Set(name, strings.ReplaceAll(value, "KEY", clientKey))
	}
	response, err := s.Client.Do(request)
	require.NoError(s.t, err)
	return response
}

func digest(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

func TestCapturedRequestsArriveByteForByte(t *testing.T) {
	files, err := filepath.Glob("../testdata/captures/*.json")
	require.NoError(t, err)
	require.Len(t, files, 4)
	eachWay(t, func(t *testing.T, w way) {
		same, renamed := gatewaytest.NewProvider(t), gatewaytest.NewProvider(t)
		lines := func(p *gatewaytest.Provider, to string) []string {
			return []string{w.provider("p", p, "models none", "mid_system keep"), "model * {\nto p" + to + "\n}"}
		}
		s := startSite(t, lines(same, "")...).persistently()
		for _, file := range files {
			c := readCapture(t, file)
			same.Always(answerTo(c))
			assertAnswered(t, s.replay(c))
			assertCarried(t, c, same, digest(c.Body))
		}
		require.NoError(t, s.Reload(siteBlock("", lines(renamed, "/vendor/model-x")...)))
		for _, file := range files {
			c := readCapture(t, file)
			renamed.Always(answerTo(c))
			assertAnswered(t, s.replay(c))
			var view struct{ Model string }
			require.NoError(t, json.Unmarshal(c.Body, &view))
			body := bytes.Replace(c.Body, []byte(`"model":"`+view.Model+`"`), []byte(`"model":"vendor/model-x"`), 1)
			assertCarried(t, c, renamed, digest(body))
		}
	})
}

// answerTo is what a provider answers to the capture.
func answerTo(c capture) gatewaytest.Step {
	if strings.Contains(c.Path, "count_tokens") {
		return gatewaytest.Body(http.StatusOK, "application/json", []byte(`{"input_tokens":2095}`))
	}
	return gatewaytest.Chunks(gatewaytest.EventStream, streams[messagesPath]...)
}

func assertAnswered(t *testing.T, response *http.Response) {
	t.Helper()
	defer func() { _ = response.Body.Close() }()
	var body bytes.Buffer
	_, err := body.ReadFrom(response.Body)
	require.NoError(t, err)
	assert.Equal(t, http.StatusOK, response.StatusCode, body.String())
	if body.String() != `{"input_tokens":2095}` {
		assert.Equal(t, strings.Join(streams[messagesPath], ""), body.String())
	}
}

// assertCarried looks at what the provider received last.
func assertCarried(t *testing.T, c capture, p *gatewaytest.Provider, sum string) {
	t.Helper()
	requests := p.Requests()
	got := requests[len(requests)-1]
	assert.Equal(t, sum, got.SHA256)
	path, query, _ := strings.Cut(c.Path, "?")
	assert.Equal(t, path, got.Path)
	assert.Equal(t, query, got.Query)
	got.Header.Del("Content-Length")
	assert.Equal(t, http.Header{
		"Accept": {c.Headers["accept"]}, "Accept-Encoding": {"identity"}, "Content-Type": {"application/json"},
		"User-Agent":        {c.Headers["user-agent"]},
		"Anthropic-Version": {c.Headers["anthropic-version"]}, "Anthropic-Beta": {c.Headers["anthropic-beta"]},
	}, got.Header, "nothing else of the client")
}
