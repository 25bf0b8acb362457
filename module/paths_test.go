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
	twice       = "400 of the gateway, in the messages family"
	toTheNext   = "left to the site's next handler"
	wrongMethod = "405 of the gateway"
)

const modelsPath = "/v1/models"

// The sentences about paths.
const (
	notKnown = "path: no such endpoint; there are /v1/messages, /v1/messages/count_tokens, /v1/chat/completions, /v1/completions, /v1/models and /v1/capabilities"
	hasTwice = "path: has /v1 twice; the base URL of this client must not end in /v1"
)

// misspelt is the sentence about a path that was probably another one.
func misspelt(meant string) string {
	return "path: no such endpoint; did you mean " + meant + "? Check the base URL of the client"
}

// what says which of the answers this is. meant is the endpoint that a 404 has
// to name, "" where it lists all.
func what(r reply, before, after int, meant string) string {
	sentence := notKnown
	if meant != "" {
		sentence = misspelt(meant)
	}
	inMessages := func(kind, sentence string) string {
		return strings.Replace(inMessages(kind, sentence), `"R"`, `"`+r.id()+`"`, 1)
	}
	switch {
	case after > before:
		return called
	case r.body == "next" && r.header.Get("Request-Id") == "":
		return toTheNext
	case r.status == http.StatusMethodNotAllowed && r.header.Get("Request-Id") != "":
		return wrongMethod
	case r.status == http.StatusBadRequest && r.body == inMessages("invalid_request_error", hasTwice):
		return twice
	case r.status != http.StatusNotFound:
	case r.body == inMessages("not_found_error", sentence):
		return inFamily
	case r.body == inChoices("invalid_request_error", sentence, "null", `"not_found"`):
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
	for target, want := range map[string]struct{ answer, meant string }{
		"/v1/messages":                  {called, ""},
		"/v1/messages?a=b":              {called, ""},
		"/v1/messages?":                 {called, ""},
		"/v1/messages#x":                {inFamily, ""}, // no client sends a fragment
		"/v1/messages/":                 {inFamily, messagesPath},
		"/v1/messages//":                {inFamily, messagesPath},
		"/v1/messages/x":                {inFamily, ""},
		"/v1/messages/batches":          {inFamily, ""},
		"/v1/messages%2F":               {inFamily, messagesPath},
		"/v1/messages%20":               {inFamily, ""},
		"/v1/messages%00":               {inFamily, ""},
		"/v1/messages;a=b":              {inFamily, ""},
		"/v1/messages/.":                {inFamily, messagesPath},
		"/v1/messages/../completions":   {inFamily, completionsPath},
		"/v1/messages/../../etc/passwd": {inFamily, ""},
		"/v1/messagesx":                 {inFamily, ""},
		"/v1/%6Dessages":                {inFamily, messagesPath},
		"/v1/%6dessages":                {inFamily, messagesPath},
		"/v1%2Fmessages":                {inFamily, messagesPath},
		"/%76%31/messages":              {inFamily, messagesPath},
		"/v1/Messages":                  {inFamily, messagesPath},
		"/v1/MESSAGES":                  {inFamily, messagesPath},
		"/v1//messages":                 {inFamily, messagesPath},
		"/v1/./messages":                {inFamily, messagesPath},
		"/v1/x/../messages":             {inFamily, messagesPath},
		"/v1/%2e/messages":              {inFamily, messagesPath},
		"/v1/v1/messages":               {twice, ""},
		"/v1/v1/messages?beta=true":     {twice, ""},
		"/v1/v1/messages/count_tokens":  {twice, ""},
		"/v1/v1/chat/completions":       {inOthers, chatPath},
		"/v1/chat/completion":           {inOthers, ""},
		"/v1":                           {inOthers, ""},
		"/v1/":                          {inOthers, ""},
		"/v1/complete":                  {inOthers, ""},
		"/v1/responses":                 {inOthers, ""},
		"/v1/embeddings":                {inOthers, ""},
		"/v1/chat":                      {inOthers, ""},
		"/v1/chat/completions":          {called, ""},
		"/v1/chat/completions/":         {inOthers, chatPath},
		"/v1/chat%2Fcompletions":        {inOthers, chatPath},
		"/v1/chat//completions":         {inOthers, chatPath},
		"/v1/completions":               {called, ""},
		"/v1/completions%3f":            {inOthers, ""},
		"/v1/models/":                   {inOthers, modelsPath},
		"/v1/models":                    {wrongMethod, ""},
		"/v1/models/../messages":        {wrongMethod, ""},
		"/v1/models/%2e%2e/messages":    {wrongMethod, ""},
		"//v1/messages":                 {inFamily, messagesPath},
		"///v1/messages":                {inFamily, messagesPath},
		"/./v1/messages":                {inFamily, messagesPath},
		"/x/../v1/messages":             {inFamily, messagesPath},
		"/x/%2e%2e/v1/messages":         {inFamily, messagesPath},
		"/x%2f..%2fv1/messages":         {inFamily, messagesPath},
		"/%2fv1/messages":               {inFamily, messagesPath},
		"//v1/chat/completions":         {inOthers, chatPath},
		"/..//v1":                       {inOthers, ""},
		"/api/user/login":               {toTheNext, ""},
		"//api/user/login":              {toTheNext, ""},
		"/V1/messages":                  {toTheNext, ""},
		"/v10/messages":                 {toTheNext, ""},
		"/v1.0/messages":                {toTheNext, ""},
		"/v1x":                          {toTheNext, ""},
		"/v1;x/messages":                {toTheNext, ""},
		`/v1\messages`:                  {toTheNext, ""},
		"/v2/messages":                  {toTheNext, ""},
		"/messages":                     {toTheNext, ""},
		"/chat/completions":             {toTheNext, ""},
		"/x/v1/messages":                {toTheNext, ""},
		"/x//y":                         {toTheNext, ""},
		"/.well-known/x":                {toTheNext, ""},
		"/":                             {toTheNext, ""},
		"/api/user/login/":              {toTheNext, ""},
		"/api/user":                     {toTheNext, ""},
		"/metrics":                      {toTheNext, ""},
	} {
		path, _, _ := strings.Cut(target, "?")
		body := bodyFor(path, "m", "hello", false)
		before := p.Count()
		got := s.raw(body, "POST "+target+" HTTP/1.1", "Authorization: Bearer "+clientKey, version)
		if want.answer == inOthers { // the version header asks for the messages family everywhere
			assert.Equal(t, inFamily, what(got, before, p.Count(), want.meant), target)
			got = s.raw(body, "POST "+target+" HTTP/1.1", "Authorization: Bearer "+clientKey)
		}
		assert.Equal(t, want.answer, what(got, before, p.Count(), want.meant), target)
	}
}

// Caddy answers an empty 200 where no handler does: SDKs made an answer without
// a text of it, and a script a login. What the site answers itself stays its own.
func TestWhatIsMeantForTheGatewayIsNeverAnEmptyAnswer(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	s := startCaddyfile(t, siteBlock("respond /blog/messages \"the blog\"", "accounts off", direct.provider("up", p)))
	for target, meant := range map[string]string{
		"/messages": messagesPath, "/messages/count_tokens": messagesPath + "/count_tokens", "/V1/messages": messagesPath,
		"/v2/messages": messagesPath, "/anthropic/v1/messages": messagesPath, "/messages/": messagesPath, "//messages": messagesPath,
		"/chat/completions": chatPath, "/V1/Chat/Completions": chatPath, "/openai/v1/chat/completions": chatPath,
		"/completions": completionsPath, "/models": modelsPath, "/V1/models": modelsPath,
	} {
		for _, method := range []string{"POST", "GET"} {
			got := s.raw("{}", method+" "+target+" HTTP/1.1", "Authorization: Bearer "+clientKey)
			want := inOthers
			if strings.HasPrefix(meant, messagesPath) {
				want = inFamily
			}
			assert.Equal(t, want, what(got, 0, 0, meant), "%s %s", method, target)
			assert.Equal(t, "refused", s.record(got.id())["outcome"])
		}
	}
	for _, target := range []string{"/api/user/login", "//api/user/login", "/./api/user/login", "/API/user/login", "/api/user/login/"} {
		got := s.raw("{}", "POST "+target+" HTTP/1.1", "Content-Type: application/json")
		got.assertOurs(t, http.StatusNotFound, inChoices("invalid_request_error", "path: accounts are switched off here", "null", `"not_found"`), target)
	}
	assert.Equal(t, "the blog", s.raw("", "POST /blog/messages HTTP/1.1").body)
	for _, target := range []string{"/", "/healthz", "/message", "/messages/7", "/user/login", "/api/tokens"} {
		got := s.raw("", "POST "+target+" HTTP/1.1")
		assert.Equal(t, http.StatusOK, got.status, target)
		assert.Empty(t, got.body, target)
	}
	assert.Zero(t, p.Count())
}

// A base URL with a slash too many made every login succeed: the site's empty
// 200 answered it.
func TestAMisspeltLoginIsAnsweredByTheAccounts(t *testing.T) {
	s := startCaddyfile(t, siteBlock("respond /API/user/self 202", demoProvider))
	envelope := func(message string) string {
		return fmt.Sprintf(`{"success":false,"message":"there is nothing at this path: %s","data":null}`, message)
	}
	for target, want := range map[string]string{
		"//api/user/login": "did you mean /api/user/login?", "/./api/user/login": "did you mean /api/user/login?",
		"/x/../api/user/login": "did you mean /api/user/login?", "/api//user/login": "did you mean /api/user/login?",
		"/api/user/login/": "did you mean /api/user/login?", "/api/User/Login": "did you mean /api/user/login?",
		"/API/user/login": "did you mean /api/user/login?", "//api/token/7": "did you mean /api/token/7?",
		"//api/token/seven": "users, sessions and keys stand at their ids, which are numbers",
	} {
		got := s.raw("{}", "POST "+target+" HTTP/1.1", "Content-Type: application/json")
		assert.Equal(t, http.StatusNotFound, got.status, target)
		assert.Equal(t, envelope(want), got.body, target)
	}
	assert.Equal(t, http.StatusAccepted, s.raw("", "GET /API/user/self HTTP/1.1").status, "the site has its own")
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
			assert.Equal(t, inOthers, what(got, 0, 0, ""))
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
	assert.Equal(t, inOthers, what(got, 0, 0, ""))
	// Caddy cleans the path when it cuts a prefix off; an encoded slash stays.
	for target, want := range map[string]string{
		"/ai//v1/chat/completions": called, "/ai/x/../v1/chat/completions": called, "/ai/v1%2Fchat/completions": inOthers, "/ai/%76%31/chat/completions": inOthers,
	} {
		before := p.Count()
		got := s.raw(bodyFor(chatPath, "m", "hello", false), "POST "+target+" HTTP/1.1", "Authorization: Bearer "+clientKey)
		assert.Equal(t, want, what(got, before, p.Count(), chatPath), target)
	}
}

func TestAMatcherKeepsTheGatewayToItsOwn(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	block := "@ours header X-Ours yes\nai_gateway @ours {\nkey client {env.CLIENT_KEY}\n" + direct.provider("up", p) + "\n}"
	s := startCaddyfile(t, "http://127.0.0.1:PORT(site) {\n"+block+"\nrespond next 202\n}")
	assert.Equal(t, "next", s.ask(chatPath, bodyFor(chatPath, "m", "hello", false)).body)
	assert.Equal(t, http.StatusOK, s.ask(chatPath, bodyFor(chatPath, "m", "hello", false), "X-Ours", "yes").status)
}
