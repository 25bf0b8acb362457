package module_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
)

// The answers to a path.
const (
	called      = "a provider was called"
	inFamily    = "404 of the gateway, in the messages family"
	inOthers    = "404 of the gateway, in the other family"
	toTheNext   = "left to the site's next handler"
	wrongMethod = "405 of the gateway"
)

const notKnown = "path: no such endpoint; there are /v1/messages, /v1/messages/count_tokens, /v1/chat/completions, /v1/completions, /v1/models and /v1/capabilities"

// what says which of the answers this is.
func what(r reply, before, after int) string {
	switch {
	case after > before:
		return called
	case r.body == "next" && r.header.Get("Request-Id") == "":
		return toTheNext
	case r.status == http.StatusMethodNotAllowed && r.header.Get("Request-Id") != "":
		return wrongMethod
	case r.status != http.StatusNotFound:
	case r.body == strings.Replace(inMessages("not_found_error", notKnown), `"R"`, `"`+r.id()+`"`, 1):
		return inFamily
	case r.body == inChoices("invalid_request_error", notKnown, "null", `"not_found"`):
		return inOthers
	}
	return fmt.Sprint(r.status, " ", r.body)
}

// TestPathsAreTakenAsTheyAreWritten sends request targets that other software
// would clean up. No spelling of a path but the one reaches a provider, and
// none that means the API to somebody is answered by the site's other handlers.
func TestPathsAreTakenAsTheyAreWritten(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	s := startCaddyfile(t, siteBlock("respond next 202", "accounts off", direct.provider("up", p)))
	for target, want := range map[string]string{
		"/v1/messages":                  called,
		"/v1/messages?a=b":              called,
		"/v1/messages?":                 called,
		"/v1/messages#x":                inFamily, // no client sends a fragment
		"/v1/messages/":                 inFamily,
		"/v1/messages//":                inFamily,
		"/v1/messages/x":                inFamily,
		"/v1/messages/batches":          inFamily,
		"/v1/messages%2F":               inFamily,
		"/v1/messages%20":               inFamily,
		"/v1/messages%00":               inFamily,
		"/v1/messages;a=b":              inFamily,
		"/v1/messages/.":                inFamily,
		"/v1/messages/../completions":   inFamily,
		"/v1/messages/../../etc/passwd": inFamily,
		"/v1/messagesx":                 inFamily,
		"/v1/%6Dessages":                inFamily,
		"/v1/%6dessages":                inFamily,
		"/v1%2Fmessages":                inFamily,
		"/%76%31/messages":              inFamily,
		"/v1/Messages":                  inOthers,
		"/v1/MESSAGES":                  inOthers,
		"/v1//messages":                 inOthers,
		"/v1/./messages":                inOthers,
		"/v1/x/../messages":             inOthers,
		"/v1/%2e/messages":              inOthers,
		"/v1":                           inOthers,
		"/v1/":                          inOthers,
		"/v1/complete":                  inOthers,
		"/v1/responses":                 inOthers,
		"/v1/embeddings":                inOthers,
		"/v1/chat":                      inOthers,
		"/v1/chat/completions":          called,
		"/v1/chat/completions/":         inOthers,
		"/v1/chat%2Fcompletions":        inOthers,
		"/v1/chat//completions":         inOthers,
		"/v1/completions":               called,
		"/v1/completions%3f":            inOthers,
		"/v1/models/":                   inOthers,
		"/v1/models":                    wrongMethod,
		"/v1/models/../messages":        wrongMethod,
		"/v1/models/%2e%2e/messages":    wrongMethod,
		"//v1/messages":                 inOthers,
		"///v1/messages":                inOthers,
		"/./v1/messages":                inOthers,
		"/x/../v1/messages":             inOthers,
		"/x/%2e%2e/v1/messages":         inOthers,
		"/x%2f..%2fv1/messages":         inOthers,
		"/%2fv1/messages":               inOthers,
		"/..//v1":                       inOthers,
		"/api/user/login":               toTheNext,
		"/V1/messages":                  toTheNext,
		"/v10/messages":                 toTheNext,
		"/v1.0/messages":                toTheNext,
		"/v1x":                          toTheNext,
		"/v1;x/messages":                toTheNext,
		`/v1\messages`:                  toTheNext,
		"/v2/messages":                  toTheNext,
		"/messages":                     toTheNext,
		"/x/v1/messages":                toTheNext,
		"/x//y":                         toTheNext,
		"/.well-known/x":                toTheNext,
		"/":                             toTheNext,
		"/api/user/login/":              toTheNext,
		"/api/user":                     toTheNext,
		"/metrics":                      toTheNext,
	} {
		path, _, _ := strings.Cut(target, "?")
		body := bodyFor(path, "m", "hello", false)
		before := p.Count()
		got := s.raw(body, "POST "+target+" HTTP/1.1", "Authorization: Bearer "+clientKey, version)
		if want == inOthers { // the version header asks for the messages family everywhere
			assert.Equal(t, inFamily, what(got, before, p.Count()), target)
			got = s.raw(body, "POST "+target+" HTTP/1.1", "Authorization: Bearer "+clientKey)
		}
		assert.Equal(t, want, what(got, before, p.Count()), target)
	}
}

// TestOtherFormsOfARequestTarget covers what is no path: nothing in it chooses
// where a call goes.
func TestOtherFormsOfARequestTarget(t *testing.T) {
	eachWay(t, func(t *testing.T, w way) {
		p, other := gatewaytest.NewProvider(t), gatewaytest.NewProvider(t)
		s := startCaddyfile(t, siteBlock("respond next 202", w.provider("up", p)))
		here := fmt.Sprintf("127.0.0.1:%d", s.Port("site"))
		body := bodyFor(chatPath, "m", "hello", false)
		send := func(line string) reply { return s.raw(body, line, "Authorization: Bearer "+clientKey) }

		assert.Equal(t, http.StatusOK, send("POST http://"+here+chatPath+" HTTP/1.1").status)
		assert.Equal(t, http.StatusOK, send("POST HTTP://user:password@"+here+chatPath+" HTTP/1.1").status)
		require.Equal(t, 2, p.Count())
		for _, r := range p.Requests() {
			assert.Equal(t, p.Address(), r.Host)
			assert.Equal(t, chatPath, r.Path)
			assert.NotContains(t, fmt.Sprint(r.Header), "password")
		}
		send("POST http://" + other.Address() + chatPath + " HTTP/1.1")
		send("POST //" + other.Address() + chatPath + " HTTP/1.1")
		send("OPTIONS * HTTP/1.1")
		assert.Zero(t, other.Count(), "a client chose where its call went")
		for _, r := range p.Requests() { // the site is known by its name alone, without the port
			assert.Equal(t, p.Address(), r.Host)
		}
	})
}

func TestG115TheRootIsLeftToTheSite(t *testing.T) {
	s := startCaddyfile(t, siteBlock("", "provider demo"))
	for _, method := range []string{"GET", "HEAD"} {
		got := s.raw("", method+" / HTTP/1.1")
		assert.Equal(t, http.StatusOK, got.status, "Caddy's own answer where no handler has one")
		assert.Empty(t, got.body)
		assert.Empty(t, got.id())
	}
}

// TestG115TheGatewayStandsBeforeRespondAndFileServer ensures that what a site ends
// with does not swallow the requests of the gateway.
func TestG115TheGatewayStandsBeforeRespondAndFileServer(t *testing.T) {
	root := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(root, "v1"), 0o755))
	for name, text := range map[string]string{"index.html": "the page", "v1/messages": "a file", "v1/other": "another file"} {
		require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o600))
	}
	p := gatewaytest.NewProvider(t)
	for name, test := range map[string]struct{ lines, root string }{
		"respond 404":     {"respond 404", ""},
		"respond a text":  {`respond "all of it" 200`, "all of it"},
		"file_server":     {"root * " + root + "\nfile_server", "the page"},
		"encode and more": {"encode\nheader X-Site yes\nrespond \"the root\"", "the root"},
	} {
		t.Run(name, func(t *testing.T) {
			s := startCaddyfile(t, siteBlock(test.lines, direct.provider("up", p)))
			for _, path := range callPaths {
				assert.Equal(t, http.StatusOK, s.ask(path, bodyFor(path, "m", "hello", false)).status, path)
			}
			assert.Equal(t, http.StatusOK, s.list(clientKey, "/v1/models").status)
			got := s.list(clientKey, "/v1/other")
			assert.Equal(t, inOthers, what(got, 0, 0))
			assert.Equal(t, test.root, s.raw("", "GET / HTTP/1.1").body)
		})
	}
}

func TestAPrefixOfTheSiteIsCutOff(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	block := "ai_gateway {\nkey client {env.CLIENT_KEY}\n" + direct.provider("up", p) + "\n}"
	s := startCaddyfile(t, "http://127.0.0.1:PORT(site) {\nhandle_path /ai/* {\n"+block+"\n}\nrespond next 202\n}")
	for _, path := range callPaths {
		assert.Equal(t, http.StatusOK, s.ask("/ai"+path, bodyFor(path, "m", "hello", false)).status, path)
		assert.Equal(t, path, p.Requests()[p.Count()-1].Path)
		assert.Equal(t, "next", s.ask(path, "{}").body, "elsewhere the gateway is not")
	}
	assert.Equal(t, http.StatusOK, s.list(clientKey, "/ai/v1/models/a%2Fb").status)
	got := s.list(clientKey, "/ai/v1/nowhere")
	assert.Equal(t, inOthers, what(got, 0, 0))
	// Caddy cleans the path when it cuts a prefix off; an encoded slash stays.
	for target, want := range map[string]string{
		"/ai//v1/chat/completions": called, "/ai/x/../v1/chat/completions": called, "/ai/v1%2Fchat/completions": inOthers, "/ai/%76%31/chat/completions": inOthers,
	} {
		before := p.Count()
		got := s.raw(bodyFor(chatPath, "m", "hello", false), "POST "+target+" HTTP/1.1", "Authorization: Bearer "+clientKey)
		assert.Equal(t, want, what(got, before, p.Count()), target)
	}
}

func TestAMatcherKeepsTheGatewayToItsOwn(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	block := "@ours header X-Ours yes\nai_gateway @ours {\nkey client {env.CLIENT_KEY}\n" + direct.provider("up", p) + "\n}"
	s := startCaddyfile(t, "http://127.0.0.1:PORT(site) {\n"+block+"\nrespond next 202\n}")
	assert.Equal(t, "next", s.ask(chatPath, bodyFor(chatPath, "m", "hello", false)).body)
	assert.Equal(t, http.StatusOK, s.ask(chatPath, bodyFor(chatPath, "m", "hello", false), "X-Ours", "yes").status)
}
