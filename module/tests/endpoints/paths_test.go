package endpoints_test

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
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
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
	notKnown = "path: no such endpoint; there are /v1/messages, /v1/messages/count_tokens, /v1/chat/completions, /v1/completions, /v1/responses, /v1/responses/input_tokens, /v1/models and /v1/capabilities"
	hasTwice = "path: has /v1 twice; the base URL of this client must not end in /v1"
)

// misspelt returns the sentence about a path with a suggestion.
func misspelt(meant string) string {
	return "path: no such endpoint; did you mean " + meant + "? Check the base URL of the client"
}

// unserved precedes the path of an endpoint of providers that the gateway does not serve, and the reason.
const unserved = "not served: "

// The reasons.
const (
	keepsForAll = ", since all clients would share what it keeps in the account of the provider"
	retired     = ", since its vendor has retired it"
)

// what returns the kind of an answer. meant is the endpoint that a 404 must name, "" if it
// must list all endpoints.
func what(r site.Reply, before, after int, meant string) string {
	sentence := notKnown
	if path, ok := strings.CutPrefix(meant, unserved); ok {
		sentence = "path: the gateway does not serve " + path + "; GET /api/openapi.json lists what it serves"
	} else if meant != "" {
		sentence = misspelt(meant)
	}
	inMessages := func(kind, sentence string) string {
		return strings.Replace(site.InMessages(kind, sentence), `"R"`, `"`+r.ID()+`"`, 1)
	}
	switch {
	case after > before:
		return called
	case r.Body == "next" && r.Header.Get("Request-Id") == "":
		return toTheNext
	case r.Status == http.StatusMethodNotAllowed && r.Header.Get("Request-Id") != "":
		return wrongMethod
	case r.Status == http.StatusBadRequest && r.Body == inMessages("invalid_request_error", hasTwice):
		return twice
	case r.Status != http.StatusNotFound:
	case r.Body == inMessages("not_found_error", sentence):
		return inFamily
	case r.Body == site.InChoices("invalid_request_error", sentence, "null", `"not_found"`):
		return inOthers
	}
	return fmt.Sprint(r.Status, " ", r.Body)
}

// TestPathsAreTakenAsTheyAreWritten sends request targets that other software would clean
// up. Only the exact spelling of a path reaches a provider, and no similar spelling reaches
// the other handlers of the site.
func TestPathsAreTakenAsTheyAreWritten(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	s := site.StartCaddyfile(t, site.Block("respond next 202", "accounts off", site.Direct.Provider("up", p)))
	for target, want := range map[string]struct{ answer, meant string }{
		"/v1/messages":                  {called, ""},
		"/v1/messages?a=b":              {called, ""},
		"/v1/messages?":                 {called, ""},
		"/v1/messages#x":                {inFamily, site.MessagesPath}, // no client sends a fragment
		"/v1/messages/":                 {inFamily, site.MessagesPath},
		"/v1/messages//":                {inFamily, site.MessagesPath},
		"/v1/messages/x":                {inFamily, site.MessagesPath},
		"/v1/messages/batches":          {inFamily, unserved + "/v1/messages/batches" + keepsForAll},
		"/v1/messages/batches/b1":       {inFamily, unserved + "/v1/messages/batches" + keepsForAll},
		"/v1/messages%2F":               {inFamily, site.MessagesPath},
		"/v1/messages%20":               {inFamily, site.MessagesPath},
		"/v1/messages%00":               {inFamily, site.MessagesPath},
		"/v1/messages;a=b":              {inFamily, ""},
		"/v1/messages/.":                {inFamily, site.MessagesPath},
		"/v1/messages/../completions":   {inFamily, site.CompletionsPath},
		"/v1/messages/../../etc/passwd": {inFamily, ""},
		"/v1/messagesx":                 {inFamily, site.MessagesPath},
		"/v1/%6Dessages":                {inFamily, site.MessagesPath},
		"/v1/%6dessages":                {inFamily, site.MessagesPath},
		"/v1%2Fmessages":                {inFamily, site.MessagesPath},
		"/%76%31/messages":              {inFamily, site.MessagesPath},
		"/v1/Messages":                  {inFamily, site.MessagesPath},
		"/v1/MESSAGES":                  {inFamily, site.MessagesPath},
		"/v1//messages":                 {inFamily, site.MessagesPath},
		"/v1/./messages":                {inFamily, site.MessagesPath},
		"/v1/x/../messages":             {inFamily, site.MessagesPath},
		"/v1/%2e/messages":              {inFamily, site.MessagesPath},
		"/v1/v1/messages":               {twice, ""},
		"/v1/v1/messages?beta=true":     {twice, ""},
		"/v1/v1/messages/count_tokens":  {twice, ""},
		"/v1/v1/chat/completions":       {inOthers, site.ChatPath},
		"/v1/chat/completion":           {inOthers, site.ChatPath},
		"/v1":                           {inOthers, ""},
		"/v1/":                          {inOthers, ""},
		"/v1/complete":                  {inOthers, ""},
		"/v1/responses":                 {called, ""},
		"/v1/responses/":                {inOthers, site.ResponsesPath},
		"/v1/response":                  {inOthers, site.ResponsesPath},
		"/v1/mesages":                   {inFamily, site.MessagesPath},
		// These answers once advised to check the base URL.
		"/v1/embeddings/":            {inOthers, "/v1/embeddings"},
		"/v1/images/variations":      {inOthers, unserved + "/v1/images/variations" + retired},
		"/v1/audio/voices":           {inOthers, unserved + "/v1/audio/voices" + keepsForAll},
		"/v1/files":                  {inOthers, unserved + "/v1/files" + keepsForAll},
		"/v1/batches":                {inOthers, unserved + "/v1/batches" + keepsForAll},
		"/v1/fine_tuning/jobs":       {inOthers, unserved + "/v1/fine_tuning" + keepsForAll},
		"/v1/assistants":             {inOthers, unserved + "/v1/assistants" + keepsForAll},
		"/v1/embedding":              {inOthers, "/v1/embeddings"},
		"/v1/chat":                   {inOthers, ""},
		"/v1/chat/completions":       {called, ""},
		"/v1/chat/completions/":      {inOthers, site.ChatPath},
		"/v1/chat%2Fcompletions":     {inOthers, site.ChatPath},
		"/v1/chat//completions":      {inOthers, site.ChatPath},
		"/v1/completions":            {called, ""},
		"/v1/completions%3f":         {inOthers, site.CompletionsPath},
		"/v1/models/":                {inOthers, modelsPath},
		"/v1/models":                 {wrongMethod, ""},
		"/v1/models/../messages":     {wrongMethod, ""},
		"/v1/models/%2e%2e/messages": {wrongMethod, ""},
		"//v1/messages":              {inFamily, site.MessagesPath},
		"///v1/messages":             {inFamily, site.MessagesPath},
		"/./v1/messages":             {inFamily, site.MessagesPath},
		"/x/../v1/messages":          {inFamily, site.MessagesPath},
		"/x/%2e%2e/v1/messages":      {inFamily, site.MessagesPath},
		"/x%2f..%2fv1/messages":      {inFamily, site.MessagesPath},
		"/%2fv1/messages":            {inFamily, site.MessagesPath},
		"//v1/chat/completions":      {inOthers, site.ChatPath},
		"/..//v1":                    {inOthers, ""},
		"/api/user/login":            {toTheNext, ""},
		"//api/user/login":           {toTheNext, ""},
		"/V1/messages":               {toTheNext, ""},
		"/v10/messages":              {toTheNext, ""},
		"/v1.0/messages":             {toTheNext, ""},
		"/v1x":                       {toTheNext, ""},
		"/v1;x/messages":             {toTheNext, ""},
		`/v1\messages`:               {toTheNext, ""},
		"/v2/messages":               {toTheNext, ""},
		"/messages":                  {toTheNext, ""},
		"/chat/completions":          {toTheNext, ""},
		"/x/v1/messages":             {toTheNext, ""},
		"/x//y":                      {toTheNext, ""},
		"/.well-known/x":             {toTheNext, ""},
		"/":                          {toTheNext, ""},
		"/api/user/login/":           {toTheNext, ""},
		"/api/user":                  {toTheNext, ""},
		"/metrics":                   {toTheNext, ""},
	} {
		path, _, _ := strings.Cut(target, "?")
		body := site.BodyFor(path, "m", "hello", false)
		before := p.Count()
		got := s.Raw(body, "POST "+target+" HTTP/1.1", "Authorization: Bearer "+site.ClientKey, version)
		if want.answer == inOthers { // the version header asks for the messages family everywhere
			assert.Equal(t, inFamily, what(got, before, p.Count(), want.meant), target)
			got = s.Raw(body, "POST "+target+" HTTP/1.1", "Authorization: Bearer "+site.ClientKey)
		}
		assert.Equal(t, want.answer, what(got, before, p.Count(), want.meant), target)
	}
}

// If no handler answers, Caddy sends an empty 200. SDKs read it as an answer without text
// or as a deleted response, and a script read it as a successful login. Answers of the site
// itself are not changed.
func TestWhatIsMeantForTheGatewayIsNeverAnEmptyAnswer(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	s := site.StartCaddyfile(t, site.Block("respond /blog/messages \"the blog\"", "accounts off", site.Direct.Provider("up", p)))
	for target, meant := range map[string]string{
		"/messages": site.MessagesPath, "/messages/count_tokens": site.MessagesPath + "/count_tokens", "/V1/messages": site.MessagesPath,
		"/v2/messages": site.MessagesPath, "/anthropic/v1/messages": site.MessagesPath, "/messages/": site.MessagesPath, "//messages": site.MessagesPath,
		"/chat/completions": site.ChatPath, "/V1/Chat/Completions": site.ChatPath, "/openai/v1/chat/completions": site.ChatPath,
		"/completions": site.CompletionsPath, "/models": modelsPath, "/V1/models": modelsPath,
		"/responses": site.ResponsesPath, "/responses/input_tokens": site.ResponsesPath + "/input_tokens",
		"/responses/compact": site.ResponsesPath + "/compact", "/responses/Resp_1": site.ResponsesPath + "/{id}",
		"/openai/v1/responses/resp_1/cancel": site.ResponsesPath + "/{id}/cancel", "/responses/resp_1/input_items/": site.ResponsesPath + "/{id}/input_items",
	} {
		for _, method := range []string{"POST", "GET", "DELETE"} {
			got := s.Raw("{}", method+" "+target+" HTTP/1.1", "Authorization: Bearer "+site.ClientKey)
			want := inOthers
			if strings.HasPrefix(meant, site.MessagesPath) {
				want = inFamily
			}
			assert.Equal(t, want, what(got, 0, 0, meant), "%s %s", method, target)
			assert.Equal(t, "refused", s.Record(got.ID())["outcome"])
		}
	}
	for _, target := range []string{"/api/user/login", "//api/user/login", "/./api/user/login", "/API/user/login", "/api/user/login/"} {
		got := s.Raw("{}", "POST "+target+" HTTP/1.1", "Content-Type: application/json")
		got.AssertOurs(t, http.StatusNotFound, site.InChoices("invalid_request_error", "path: accounts are switched off here", "null", `"not_found"`), target)
	}
	assert.Equal(t, "the blog", s.Raw("", "POST /blog/messages HTTP/1.1").Body)
	for _, target := range []string{"/", "/healthz", "/message", "/messages/7", "/responses/resp_1/other", "/user/login", "/api/tokens"} {
		got := s.Raw("", "POST "+target+" HTTP/1.1")
		assert.Equal(t, http.StatusOK, got.Status, target)
		assert.Empty(t, got.Body, target)
	}
	assert.Zero(t, p.Count())
}

// CONNECT has no path, so that Caddy answered an empty 200, which opens a tunnel for its
// client. A handler of the site, such as a proxy, stays in charge of it.
func TestConnectOpensNoTunnel(t *testing.T) {
	s := site.StartCaddyfile(t, site.Block("@proxied header X-Proxied *\nrespond @proxied 407", site.DemoProvider))
	authority := fmt.Sprint("127.0.0.1:", s.Port("site"))
	for _, target := range []string{authority, "/other", "/v1/messages"} {
		got := s.Raw("", "CONNECT "+target+" HTTP/1.1")
		assert.Equal(t, http.StatusMethodNotAllowed, got.Status, target)
		assert.Contains(t, got.Body, "method: must be ", target)
		assert.NotEmpty(t, got.Header.Get("Allow"), target)
	}
	assert.Equal(t, http.StatusProxyAuthRequired, s.Raw("", "CONNECT "+authority+" HTTP/1.1", "X-Proxied: 1").Status)
}

// With an additional slash in the base URL, every login once seemed to succeed, because of
// the site's empty 200.
func TestAMisspeltLoginIsAnsweredByTheAccounts(t *testing.T) {
	s := site.StartCaddyfile(t, site.Block("respond /API/user/self 202", site.DemoProvider))
	envelope := func(message string) string {
		return fmt.Sprintf(`{"success":false,"message":"there is no such path: %s","data":null}`, message)
	}
	for target, want := range map[string]string{
		"//api/user/login": "did you mean /api/user/login?", "/./api/user/login": "did you mean /api/user/login?",
		"/x/../api/user/login": "did you mean /api/user/login?", "/api//user/login": "did you mean /api/user/login?",
		"/api/user/login/": "did you mean /api/user/login?", "/api/User/Login": "did you mean /api/user/login?",
		"/API/user/login": "did you mean /api/user/login?", "//api/token/7": "did you mean /api/token/7?",
		"//api/token/seven": "GET /api/openapi.json lists all",
	} {
		got := s.Raw("{}", "POST "+target+" HTTP/1.1", "Content-Type: application/json")
		assert.Equal(t, http.StatusNotFound, got.Status, target)
		assert.Equal(t, envelope(want), got.Body, target)
	}
	assert.Equal(t, http.StatusAccepted, s.Raw("", "GET /API/user/self HTTP/1.1").Status, "the site has its own")
}

// TestOtherFormsOfARequestTarget covers request targets that are not paths. They must not
// determine the address of a call.
func TestOtherFormsOfARequestTarget(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		p, other := gatewaytest.NewProvider(t), gatewaytest.NewProvider(t)
		s := site.StartCaddyfile(t, site.Block("respond next 202", w.Provider("up", p)))
		here := fmt.Sprintf("127.0.0.1:%d", s.Port("site"))
		body := site.BodyFor(site.ChatPath, "m", "hello", false)
		send := func(line string) site.Reply { return s.Raw(body, line, "Authorization: Bearer "+site.ClientKey) }

		assert.Equal(t, http.StatusOK, send("POST http://"+here+site.ChatPath+" HTTP/1.1").Status)
		assert.Equal(t, http.StatusOK, send("POST HTTP://user:password@"+here+site.ChatPath+" HTTP/1.1").Status)
		require.Equal(t, 2, p.Count())
		for _, r := range p.Requests() {
			assert.Equal(t, p.Address(), r.Host)
			assert.Equal(t, site.ChatPath, r.Path)
			assert.NotContains(t, fmt.Sprint(r.Header), "password")
		}
		send("POST http://" + other.Address() + site.ChatPath + " HTTP/1.1")
		send("POST //" + other.Address() + site.ChatPath + " HTTP/1.1")
		send("OPTIONS * HTTP/1.1")
		assert.Zero(t, other.Count(), "a client chose where its call went")
		for _, r := range p.Requests() { // the site is known by its name alone, without the port
			assert.Equal(t, p.Address(), r.Host)
		}
	})
}

func TestG115OtherPathsAreLeftToTheSite(t *testing.T) {
	s := site.StartCaddyfile(t, site.Block("", "provider demo"))
	for _, request := range []string{"POST /", "GET /index.html", "HEAD /favicon.ico"} {
		got := s.Raw("", request+" HTTP/1.1")
		assert.Equal(t, http.StatusOK, got.Status, "Caddy's own answer where no handler has one")
		assert.Empty(t, got.Body)
		assert.Empty(t, got.ID())
	}
}

// TestG115TheGatewayComesBeforeRespondAndFileServer ensures that the last directives of a
// site do not answer the requests of the gateway.
func TestG115TheGatewayComesBeforeRespondAndFileServer(t *testing.T) {
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
			s := site.StartCaddyfile(t, site.Block(test.lines, site.Direct.Provider("up", p)))
			for _, path := range site.CallPaths {
				assert.Equal(t, http.StatusOK, s.Ask(path, site.BodyFor(path, "m", "hello", false)).Status, path)
			}
			assert.Equal(t, http.StatusOK, s.List(site.ClientKey, "/v1/models").Status)
			got := s.List(site.ClientKey, "/v1/other")
			assert.Equal(t, inOthers, what(got, 0, 0, ""))
			assert.Equal(t, test.root, s.Raw("", "GET / HTTP/1.1").Body)
		})
	}
}

// TestBelowAPrefixEveryAddressHasIt: the console of a gateway below /ai asked the application
// beside it for its files, and errors named paths of the site.
func TestBelowAPrefixEveryAddressHasIt(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	block := "ai_gateway {\nkey client {env.CLIENT_KEY}\n" + site.Direct.Provider("up", p) + "\n}"
	for name, cut := range map[string]string{
		"handle_path": "handle_path /ai/* {\n" + block + "\n}",
		"route":       "route /ai/* {\nuri strip_prefix /ai\n" + block + "\n}",
		"handle":      "handle /ai/* {\nuri strip_prefix /ai\n" + block + "\n}",
		"a matcher":   "handle_path /ai/* {\n@rest path /console* /api/*\n" + strings.Replace(block, "ai_gateway {", "ai_gateway /v1/* {", 1) + "\n" + strings.Replace(block, "ai_gateway {", "ai_gateway @rest {", 1) + "\n}",
	} {
		t.Run(name, func(t *testing.T) { testBelowAPrefix(t, p, cut) })
	}
}

func testBelowAPrefix(t *testing.T, p *gatewaytest.Provider, cut string) {
	s := site.StartCaddyfile(t, "http://127.0.0.1:PORT(site) {\n"+cut+"\nrespond next 202\n}")
	for _, path := range site.CallPaths {
		assert.Equal(t, http.StatusOK, s.Ask("/ai"+path, site.BodyFor(path, "m", "hello", false)).Status, path)
		assert.Equal(t, path, p.Requests()[p.Count()-1].Path)
		assert.Equal(t, "next", s.Ask(path, "{}").Body, "elsewhere the gateway is not")
	}
	assert.Equal(t, http.StatusOK, s.List(site.ClientKey, "/ai/v1/models/a%2Fb").Status)
	for target, sentence := range map[string]string{
		"/ai/v1/nowhere":    "path: no such endpoint; below /ai there are /v1/messages, ",
		"/ai/v1/mesages":    "path: no such endpoint; did you mean /ai/v1/messages? Check the base URL",
		"/ai/v1/files":      "path: the gateway does not serve /v1/files" + keepsForAll + "; GET /ai/api/openapi.json lists what it serves",
		"/ai/api/v1/teams":  "log in first, at /ai/api/user/login",
		"/ai/api/v1/teams/": "did you mean /ai/api/v1/teams?",
	} {
		assert.Contains(t, s.List(site.ClientKey, target).Body, sentence)
	}
	assert.Equal(t, "console/", s.Raw("", "GET /ai/console HTTP/1.1").Header.Get("Location"), "relative to /ai/console")
	assert.NotRegexp(t, `(href|src)="/`, s.Raw("", "GET /ai/console/exchanges/7 HTTP/1.1").Body)
}

func TestAPrefixOfTheSiteIsCutOff(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	block := "ai_gateway {\nkey client {env.CLIENT_KEY}\n" + site.Direct.Provider("up", p) + "\n}"
	s := site.StartCaddyfile(t, "http://127.0.0.1:PORT(site) {\nhandle_path /ai/* {\n"+block+"\n}\nrespond next 202\n}")
	// Caddy cleans the path when it strips a prefix, but keeps an encoded slash.
	for target, want := range map[string]string{
		"/ai//v1/chat/completions": called, "/ai/x/../v1/chat/completions": called, "/ai/v1%2Fchat/completions": inOthers, "/ai/%76%31/chat/completions": inOthers,
	} {
		before := p.Count()
		got := s.Raw(site.BodyFor(site.ChatPath, "m", "hello", false), "POST "+target+" HTTP/1.1", "Authorization: Bearer "+site.ClientKey)
		assert.Equal(t, want, what(got, before, p.Count(), "/ai"+site.ChatPath), target)
	}
}

// TestClientsThatProbeAGatewayGetNo: Claude Code asks whether a gateway signs it in, and took
// Caddy's empty 200 for a yes.
func TestClientsThatProbeAGatewayGetNo(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	block := site.Direct.Provider("up", p)
	probes := map[string]string{
		"GET /protocol":                    "does not serve /protocol",
		"POST /oauth/device_authorization": "does not serve /oauth",
		"POST /oauth/token":                "does not serve /oauth",
		"POST /upload/v1beta/files":        "does not serve /upload",
		"GET /ai/console/":                 "did you mean /console/?",
	}
	t.Run("alone", func(t *testing.T) {
		s := site.StartCaddyfile(t, site.Block("", "accounts off", block))
		for target, sentence := range probes {
			got := s.Raw("", target+" HTTP/1.1")
			assert.Equal(t, http.StatusNotFound, got.Status, target)
			assert.Contains(t, got.Body, sentence)
		}
	})
	t.Run("beside another handler", func(t *testing.T) {
		s := site.StartCaddyfile(t, site.Block("respond next 202", "accounts off", block))
		for target := range probes {
			assert.Equal(t, "next", s.Raw("", target+" HTTP/1.1").Body, "%s belongs to the site", target)
		}
	})
}

// TestTheFirstPageOfASiteSaysWhereToGo: after an installation, http://localhost:8080/ had 0 bytes.
func TestTheFirstPageOfASiteSaysWhereToGo(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	for name, c := range map[string]struct{ site, path, text string }{
		"alone":         {site.Block("", site.Direct.Provider("up", p)), "/", "\nConsole              /console/\n"},
		"without users": {site.Block("", "accounts off", site.Direct.Provider("up", p)), "/", "running.\n\nBase URL"},
		"below a path":  {"http://127.0.0.1:PORT(site) {\nhandle_path /ai/* {\nai_gateway {\n" + site.Direct.Provider("up", p) + "\n}\n}\n}", "/ai/", "\nConsole              /ai/console/\n"},
		"documentation": {"http://127.0.0.1:PORT(site) {\nhandle_path /ai/* {\nai_gateway {\n" + site.Direct.Provider("up", p) + "\n}\n}\n}", "/ai/", "\nDocumentation        /ai/console/docs/\n"},
		"with a page":   {site.Block(`respond / "the page"`, site.Direct.Provider("up", p)), "/", "the page"},
	} {
		t.Run(name, func(t *testing.T) {
			s := site.StartCaddyfile(t, c.site)
			got := s.Raw("", "GET "+c.path+" HTTP/1.1")
			assert.Equal(t, http.StatusOK, got.Status)
			assert.Contains(t, got.Body, c.text)
		})
	}
}

// TestEndpointsOfProvidersAreNamed: GET /v1/organization/usage/completions was advised to ask for
// /v1/completions.
func TestEndpointsOfProvidersAreNamed(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	s := site.StartCaddyfile(t, site.Block("", "accounts off", site.Direct.Provider("up", p)))
	for target, named := range map[string]string{
		"/v1/organization/usage/completions":        "/v1/organization",
		"/v1/organization/usage/embeddings":         "/v1/organization",
		"/v1beta/decisions":                         "/v1beta/decisions, since the gateway cannot limit what it uses",
		"/v1/live/sessions":                         "/v1/live",
		"/v1/agents/a1/sessions":                    "/v1/agents",
		"/v1/memory_stores":                         "/v1/memory_stores",
		"/v1/organizations/spend_limits":            "/v1/organizations",
		"/v1beta/interactions":                      "/v1beta/interactions",
		"/v1beta/cachedContents/c1":                 "/v1beta/cachedContents",
		"/v1alpha/auth_tokens":                      "/v1alpha/auth_tokens",
		"/v1beta/fileSearchStores/f1/documents":     "/v1beta/fileSearchStores",
		"/v1/fim/completions":                       "/v1/fim",
		"/v1/agents/completions":                    "/v1/agents",
		"/v1/webhook_endpoints/w1/rotate_signature": "/v1/webhook_endpoints",
	} {
		got := s.List(site.ClientKey, target)
		assert.Equal(t, http.StatusNotFound, got.Status, target)
		assert.Contains(t, got.Body, "path: the gateway does not serve "+named, target)
	}
}

func TestAMatcherKeepsTheGatewayToItsOwn(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	block := "@ours header X-Ours yes\nai_gateway @ours {\nkey client {env.CLIENT_KEY}\n" + site.Direct.Provider("up", p) + "\n}"
	s := site.StartCaddyfile(t, "http://127.0.0.1:PORT(site) {\n"+block+"\nrespond next 202\n}")
	assert.Equal(t, "next", s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", "hello", false)).Body)
	assert.Equal(t, http.StatusOK, s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", "hello", false), "X-Ours", "yes").Status)
}
