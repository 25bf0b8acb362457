package clouds_test

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// newVersion is the version that Anthropic's clients of clouds send in bodies, in place of the
// clouds' own.
const newVersion = `"2026-10-21"`

// cloud is a strict service over TLS, with the server that gives tokens for it. A check
// returns the path of the engine of the demo provider that answers, or has answered itself.
type cloud struct {
	*gatewaytest.Provider
}

func newCloud(t *testing.T, check func(c *gatewaytest.Call) (path string)) *cloud {
	p := gatewaytest.NewTLSProvider(t)
	p.Always(func(c *gatewaytest.Call) {
		if path := check(c); path != "" {
			c.Request.URL.Path, c.Request.URL.RawPath, c.Request.URL.RawQuery = path, "", ""
			c.Engine.ServeHTTP(c.ResponseWriter, c.Request)
		}
	})
	return &cloud{p}
}

// provider returns the block of a provider that trusts the service.
func (c *cloud) provider(head string, lines ...string) string {
	return "provider " + head + " {\ntransport http {\ntls_trust_pool inline {\ntrust_der " +
		base64.StdEncoding.EncodeToString(c.Certificate()) + "\n}\n}\n" + strings.Join(lines, "\n") + "\n}\n"
}

// refuse answers with an error of a format, and returns "".
func refuse(c *gatewaytest.Call, status int, body string) string {
	c.ResponseWriter.Header().Set("Content-Type", "application/json")
	c.ResponseWriter.WriteHeader(status)
	_, _ = c.ResponseWriter.Write([]byte(body))
	return ""
}

// openAIError returns an error body of OpenAI.
func openAIError(code, message string) string {
	body, _ := json.Marshal(map[string]any{"error": map[string]any{"code": code, "message": message}}) // strings
	return string(body)
}

// lastPath returns the path and the query of the last request.
func (c *cloud) lastPath() string {
	requests := c.Requests()
	last := requests[len(requests)-1]
	if last.Query != "" {
		return last.Path + "?" + last.Query
	}
	return last.Path
}

// lastBody returns the body of the last request.
func (c *cloud) lastBody() string {
	requests := c.Requests()
	return string(requests[len(requests)-1].Body)
}

func ask(s *site.Site, path, model string) site.Reply {
	return s.Ask(path, site.BodyFor(path, model, "hello", false))
}
