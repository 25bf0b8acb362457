package faults_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// badHeaders are header lines of requests that no provider may get. Those about
// versions concern messages requests only.
var badHeaders = []string{
	"Content-Type: text/plain",
	"Content-Type: text/html",
	"Content-Type: text/json",
	"Content-Type: text/event-stream",
	"Content-Type: application/x-www-form-urlencoded",
	"Content-Type: multipart/form-data; boundary=x",
	"Content-Type: multipart/form-data",
	"Content-Type: application/xml",
	"Content-Type: application/octet-stream",
	"Content-Type: application/jsonx",
	"Content-Type: application/x-json",
	"Content-Type: application/json-seq",
	"Content-Type: application/x-ndjson",
	"Content-Type: application/json, text/plain",
	"Content-Type: application/json, application/json",
	"Content-Type: application",
	"Content-Type: /",
	"Content-Type: */*",
	"Content-Type: json",
	"Content-Type: ;",
	"Content-Type: application /json",
	"Content-Type: \"application/json\"",
	"Content-Type: application/json\r\nContent-Type: application/json",
	"Content-Type: application/json\r\nContent-Type: text/plain",

	"Content-Encoding: compress",
	"Content-Encoding: aes128gcm",
	"Content-Encoding: chunked",
	"Content-Encoding: utf-8",
	"Content-Encoding: *",
	"Content-Encoding: none",
	"Content-Encoding: gzip;q=1",
	"Content-Encoding: gzip, br",
	"Content-Encoding: gzip, gzip",
	"Content-Encoding: gzip\r\nContent-Encoding: gzip",
	"Content-Encoding: identity, gzip",
	"Content-Encoding: gzip",
	"Content-Encoding: x-gzip",
	"Content-Encoding: zstd",
	"Content-Encoding: br",
	"Content-Encoding: deflate",

	"X-Gateway-On-Loss:",
	"X-Gateway-On-Loss: ignore",
	"X-Gateway-On-Loss: REJECT",
	"X-Gateway-On-Loss: reject;",
	"X-Gateway-On-Loss: reject, warn",
	"X-Gateway-On-Loss: \"reject\"",
	"X-Gateway-On-Loss: reject\r\nX-Gateway-On-Loss: reject",
	"X-Gateway-On-Loss: warn\r\nX-Gateway-On-Loss: reject",

	"Expect: 200-ok",
}

var badVersions = []string{
	"Anthropic-Version:",
	"Anthropic-Version: latest",
	"Anthropic-Version: 1",
	"Anthropic-Version: 2023",
	"Anthropic-Version: 2023-06",
	"Anthropic-Version: 2023-6-1",
	"Anthropic-Version: 20230601",
	"Anthropic-Version: 01-06-2023",
	"Anthropic-Version: 2023/06/01",
	"Anthropic-Version: 2023-02-29",
	"Anthropic-Version: 2023-13-01",
	"Anthropic-Version: 2023-00-01",
	"Anthropic-Version: 2022-12-31",
	"Anthropic-Version: 0000-01-01",
	"Anthropic-Version: -2023-06-01",
	"Anthropic-Version: 2023-06-01Z",
	"Anthropic-Version: 2023-06-01T00:00:00Z",
	"Anthropic-Version: 2023-06-01,",
	"Anthropic-Version: 2023-06-01, 2023-06-01",
	"Anthropic-Version: \xef\xbc\x92023-06-01",
	"Anthropic-Version: 2023-06-01\r\nAnthropic-Version: 2023-06-01",
	"Anthropic-Version: 2023-06-01\r\nAnthropic-Version: 2026-10-21",
}

// Each header is refused with exactly the answer that the golden file has, in the format
// of the endpoint, and the request reaches no provider.
func TestBadHeaders(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	s := site.Start(t, site.Direct.Provider("p", p, "models m"))
	for _, path := range site.ClientPaths {
		var golden strings.Builder
		for _, bad := range headersFor(path) {
			target, body := site.Addressed(path, site.BodyFor(path, "m", "hello", false))
			answer := s.Raw(body, append(head(target), bad...)...)
			assert.GreaterOrEqual(t, answer.Status, http.StatusBadRequest, "%s: %q", path, bad)
			fmt.Fprintf(&golden, "# %q\n%s\n", bad[len(bad)-1], shown(answer))
		}
		compare(t, "headers/"+fileOf(path), golden.String())
	}
	assert.Zero(t, p.Count())
}

// headersFor returns the lines of each bad request for an endpoint.
func headersFor(path string) (all [][]string) {
	const version = "Anthropic-Version: 2023-06-01"
	for _, bad := range badHeaders {
		all = append(all, []string{version, bad})
	}
	if path == site.MessagesPath {
		for _, bad := range badVersions {
			all = append(all, []string{bad})
		}
	}
	return all
}

// head returns the request line and the credential of a request.
func head(path string) []string {
	return []string{"POST " + path + " HTTP/1.1", "Authorization: Bearer " + site.ClientKey}
}

// shown returns an answer for a golden file.
func shown(answer site.Reply) string {
	body := answer.Body
	if id := answer.ID(); id != "" {
		body = strings.ReplaceAll(body, id, "ID")
	}
	return fmt.Sprint(answer.Status, " ", strings.TrimSpace(body))
}
