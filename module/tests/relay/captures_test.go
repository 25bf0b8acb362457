package relay_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

func TestCapturedRequestsArriveByteForByte(t *testing.T) {
	captures := site.Captures(t)
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		same, renamed := gatewaytest.NewProvider(t), gatewaytest.NewProvider(t)
		lines := func(p *gatewaytest.Provider, path string) []string {
			return []string{w.Provider("p", p, "models none", "mid_system keep", "attribution keep"), "model * {\nto p" + path + "\n}"}
		}
		s := site.Start(t, lines(same, "")...)
		for _, c := range captures {
			same.Always(answerTo(c))
			assertAnswered(t, s.Replay(c))
			assertCarried(t, c, same, gatewaytest.SHA256(c.Body))
		}
		require.NoError(t, s.Reload(site.Block("", lines(renamed, "/vendor/model-x")...)))
		for _, c := range captures {
			renamed.Always(answerTo(c))
			assertAnswered(t, s.Replay(c))
			var view struct{ Model string }
			require.NoError(t, json.Unmarshal(c.Body, &view))
			body := bytes.Replace(c.Body, []byte(`"model":"`+view.Model+`"`), []byte(`"model":"vendor/model-x"`), 1)
			assertCarried(t, c, renamed, gatewaytest.SHA256(body))
		}
	})
}

// answerTo returns the answer of a provider to the capture.
func answerTo(c site.Capture) gatewaytest.Step {
	if strings.Contains(c.Path, "count_tokens") {
		return gatewaytest.Body(http.StatusOK, "application/json", []byte(`{"input_tokens":2095}`))
	}
	return gatewaytest.Chunks(gatewaytest.EventStream, site.Streams[site.MessagesPath]...)
}

func assertAnswered(t *testing.T, response *http.Response) {
	t.Helper()
	defer func() { _ = response.Body.Close() }()
	var body bytes.Buffer
	_, err := body.ReadFrom(response.Body)
	require.NoError(t, err)
	assert.Equal(t, http.StatusOK, response.StatusCode, body.String())
	if body.String() != `{"input_tokens":2095}` {
		assert.Equal(t, strings.Join(site.Streams[site.MessagesPath], ""), body.String())
	}
}

// assertCarried checks the last request that the provider received.
func assertCarried(t *testing.T, c site.Capture, p *gatewaytest.Provider, sum string) {
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
