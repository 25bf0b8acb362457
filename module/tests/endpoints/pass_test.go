package endpoints_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// The provider gets the path behind the prefix, the query and the body as they are, and its own
// credential in place of the client's.
func TestX015ThePathBehindThePrefixIsPassedOn(t *testing.T) {
	site.EachWay(t, func(t *testing.T, w site.Way) {
		p := startPassing(t, w, "allow /v1/models /v1/ocr")
		answer := p.pass(http.MethodGet, "/v1/models?beta=true&key=sk-of-the-client&limit=2", "")
		assert.Equal(t, http.StatusOK, answer.Status, answer.Body)
		assert.Equal(t, `{"ok":true}`, answer.Body)
		sent := p.account.last(t)
		assert.Equal(t, "GET /v1/models?beta=true&limit=2", sent.line)
		assert.Equal(t, []string{"Bearer sk-of-the-account"}, sent.header["Authorization"])
		assert.NotContains(t, sent.header, "X-Api-Key")

		answer = p.pass(http.MethodPost, "/v1/ocr", `{"new": "thing" }`)
		assert.Equal(t, http.StatusOK, answer.Status, answer.Body)
		sent = p.account.last(t)
		assert.Equal(t, `POST /v1/ocr {"new": "thing" }`, sent.line+" "+sent.body)
		assert.Equal(t, []string{"application/json"}, sent.header["Content-Type"])

		unknown := p.pass(http.MethodGet, "/v1/models", "", "Authorization", "Bearer sk-nobody")
		assert.Equal(t, http.StatusUnauthorized, unknown.Status, "a key is needed")
		assert.Len(t, p.account.lines(), 2)
	})
}

// Other gateways decode the path a second time, or let a server behind them do it, so that a segment
// leads to another endpoint with the stored credential.
func TestX016APathThatServersReadDifferentlyIsRefused(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		p := startPassing(t, w, "allow GET POST PUT DELETE /*\nids passthrough")
		for _, path := range []string{
			"/v1/files/../organization/users", "/v1/files/%2e%2e/organization/users", "/v1/files/%2E./organization/users",
			"/v1/files/..%2forganization", "/v1/files%2f..%2forganization", "/v1/files/%252e%252e/organization", "/v1/files/..%5corganization",
			`/v1/files/..\organization`, "/v1//organization/users", "//organization/users", "/./v1/models", "/v1/models/.", "/v1/models/..", "/v1/models/",
			"/v1/files/..;/organization", "/v1/files;x=/organization", "/v1/files/%00", "/v1/files/%0a", "/v1/files/%0d%0aX-A:%20b", "/v1/files/%7f", "/v1/files/%23", "/v1/files/%3f",
			"/v1/%6frganization/users", "/v1/%4frganization", "/v1/organization%2e", "/v1/files/%2e", "/v1/m%6Fdels", "/",
		} {
			for _, method := range []string{"GET", "POST", "DELETE"} {
				answer := p.Raw("", method+" /pass/up"+path+" HTTP/1.1", "Authorization: Bearer "+site.ClientKey, "Content-Length: 0")
				assert.Equal(t, http.StatusBadRequest, answer.Status, "%s %s: %s", method, path, answer.Body)
				assert.Contains(t, answer.Body, "path: must have", path)
			}
		}
		assert.Empty(t, p.account.lines(), "nothing is sent")

		for _, path := range []string{"/v1/models/a:b", "/v1/models/a@b,c", "/v1/models/a%20b", "/v1/models/%C3%A9", "/v1/models/~a-b_c.d"} {
			answer := p.Raw("", "GET /pass/up"+path+" HTTP/1.1", "Authorization: Bearer "+site.ClientKey)
			assert.Equal(t, http.StatusOK, answer.Status, path)
			assert.Equal(t, "GET "+path, p.account.last(t).line)
		}
	})
}

// Where another gateway took the address from the request, a client could send the credential anywhere.
func TestX017NoRequestChoosesTheAddress(t *testing.T) {
	site.EachWay(t, func(t *testing.T, w site.Way) {
		a := startAccount(t)
		t.Setenv("UP_KEY", "sk-of-the-account")
		s := site.StartCaddyfile(t, "http://:PORT(site) {\nai_gateway {\nkey client {env.CLIENT_KEY}\n"+
			w.ProviderAt("up", a.address, "api_key {env.UP_KEY}")+"pass /pass/up/* up {\nallow /v1/models\n}\n}\n}\n")
		for _, lines := range []string{
			"GET http://evil.example/pass/up/v1/models HTTP/1.1\r\nHost: evil.example\r\n",
			"GET /pass/up/v1/models HTTP/1.1\r\nHost: evil.example\r\nX-Forwarded-Host: evil.example\r\nForwarded: host=evil.example\r\n",
			"GET /pass/up/v1/models HTTP/1.1\r\nHost: evil.example\r\nX-Original-Url: /v1/organization\r\nX-Http-Method-Override: DELETE\r\n",
		} {
			answer := s.RawBytes(lines + "Authorization: Bearer " + site.ClientKey + "\r\n\r\n")
			assert.Equal(t, http.StatusOK, answer.Status, "%s: %s", lines, answer.Body)
			sent := a.last(t)
			assert.Equal(t, "GET /v1/models", sent.line)
			assert.Equal(t, a.address, sent.host)
			for name, v := range sent.header {
				assert.NotContains(t, strings.Join(v, ","), "evil", name)
				assert.NotContains(t, []string{"X-Original-Url", "X-Http-Method-Override"}, name)
			}
		}
	})
}

func TestX018X019X030X031OnlyWhatIsAllowedIsPassedOn(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		p := startPassing(t, w, "allow GET /v1/models /v1/models/*\nallow /v1/* /v1beta/files/*\nallow DELETE /v1/widgets/*/parts\ndeny /v1/audio/*\ndeny POST /v1/images/edits")
		for request, want := range map[string]int{
			"GET /v1/models": 200, "HEAD /v1/models": 200, "GET /v1/models/gpt": 200, "POST /v1/embeddings": 200, "POST /v1/brand/new": 200,

			"GET /v2/models": 404, "GET /v1": 404, "POST /v1beta/models": 404, "GET /": 400,
			"PUT /v1/models": 405, "PATCH /v1/models/gpt": 405, "OPTIONS /v1/models": 405, "TRACE /v1/models": 405, "DELETE /v1/models/ft": 405, "PROPFIND /v1/x": 405,
			"POST /v1/audio/speech": 403, "POST /v1/images/edits": 403, "POST /v1/images/generations": 200,

			"GET /v1/organization/users": 403, "POST /v1/Organization/users": 403, "GET /v1/organizations/api_keys/k": 403, "GET /v1/projects": 403,
			"POST /v1/tunnels/t/reveal_token": 403, "POST /v1/webhooks": 403,

			"GET /v1/files": 403, "GET /v1/files/file-x/content": 403, "POST /v1/files": 403, "POST /v1/Files": 403, "GET /v1beta/files/x": 403, "GET /v1/batches": 403, "POST /v1/messages/batches": 403,
			"GET /v1/widgets": 403, "GET /v1/widgets/w": 403, "POST /v1/widgets/w_12/cancel": 403, "DELETE /v1/widgets/w/parts": 403,
			"POST /v1/responses": 403, "POST /v1/responses/compact": 403, "POST /v1/responses/resp_1/cancel": 403, "GET /v1/responses/r": 403, "GET /v1/chat/completions": 403, "POST /v1/fine_tuning/jobs": 403,
		} {
			method, path, _ := strings.Cut(request, " ")
			before := len(p.account.lines())
			answer := p.pass(method, path, "")
			assert.Equal(t, want, answer.Status, "%s: %s", request, answer.Body)
			if want == http.StatusOK {
				assert.Equal(t, request, p.account.last(t).line)
			} else {
				assert.Len(t, p.account.lines(), before, "%s: nothing is sent", request)
			}
			if want == http.StatusMethodNotAllowed {
				assert.NotEmpty(t, answer.Header.Get("Allow"))
			}
		}
		assert.Equal(t, "GET, HEAD, POST", p.pass("PUT", "/v1/models", "").Header.Get("Allow"))
	})
}

func TestX019AdministrationAndSharedObjectsNeedAWord(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		p := startPassing(t, w, "allow GET POST DELETE /v1/*\nadmin allow\nids passthrough")
		for _, request := range []string{"GET /v1/organization/users", "GET /v1/files/file-x/content", "DELETE /v1/files/file-x", "GET /v1/widgets"} {
			method, path, _ := strings.Cut(request, " ")
			assert.Equal(t, http.StatusOK, p.pass(method, path, "").Status, request)
		}
	})
}

// A redirection followed with the credential shows it to another host, and one that is passed on leads
// the client there.
func TestX020ARedirectionIsNotFollowed(t *testing.T) {
	site.EachWay(t, func(t *testing.T, w site.Way) {
		p := startPassing(t, w, "allow /v1/*")
		other := startAccount(t)
		p.account.answers(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://"+other.address+"/v1/models", http.StatusFound)
		})
		answer := p.pass(http.MethodGet, "/v1/models", "")
		assert.Equal(t, http.StatusBadGateway, answer.Status)
		assert.NotContains(t, answer.Body+answer.Header.Get("Location"), other.address)
		assert.Empty(t, other.lines())
		p.account.answers(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotModified) })
		assert.Equal(t, http.StatusNotModified, p.pass(http.MethodGet, "/v1/models", "", "If-None-Match", `"a"`).Status)
		assert.Equal(t, `"a"`, p.account.last(t).header.Get("If-None-Match"))
	})
}

func TestX021X022HeadersThatArePassedOnAreListed(t *testing.T) {
	site.EachWay(t, func(t *testing.T, w site.Way) {
		p := startPassing(t, w, "allow /v1/*\nheaders x-widget")
		p.account.answers(func(w http.ResponseWriter, _ *http.Request) {
			for _, name := range []string{"Set-Cookie", "Openai-Organization", "Openai-Project", "Anthropic-Organization-Id", "X-Ratelimit-Limit-Requests", "Access-Control-Allow-Origin", "Server"} {
				w.Header().Set(name, "of the vendor")
			}
			w.Header().Set("X-Widget", "seen")
			w.Header().Set("Content-Type", "audio/mpeg")
			w.Header().Set("Content-Disposition", `attachment; filename="a.mp3"`)
			w.Header().Set("X-Request-Id", "req_of_the_vendor")
			w.Header().Set("Etag", "sk-of-the-account")
			w.WriteHeader(http.StatusAccepted)
			_, _ = io.WriteString(w, "sound")
		})
		secret := "of the client"
		answer := p.pass(http.MethodPost, "/v1/voices", "{}", "Cookie", "session="+secret, "X-Forwarded-For", "10.0.0.1", "Forwarded", "for=10.0.0.1", "Via", secret,
			"OpenAI-Organization", secret, "OpenAI-Project", secret, "X-Api-Key", secret, "Api-Key", secret, "X-Goog-Api-Key", secret, "Proxy-Authorization", secret,
			"X-Real-Ip", "10.0.0.1", "X-Gateway-On-Loss", "warn", "Anthropic-Beta", "files-api", "Openai-Beta", "assistants=v2", "Idempotency-Key", "once", "X-Widget", "w", "User-Agent", "sdk/1")
		sent := p.account.last(t).header
		for _, name := range []string{"Cookie", "X-Forwarded-For", "Forwarded", "Via", "Openai-Organization", "Openai-Project", "X-Api-Key", "Api-Key", "X-Goog-Api-Key", "Proxy-Authorization", "X-Real-Ip", "X-Gateway-On-Loss", "X-Forwarded-Host", "X-Forwarded-Proto"} {
			assert.NotContains(t, sent, name)
		}
		for name, want := range map[string]string{"Anthropic-Beta": "files-api", "Openai-Beta": "assistants=v2", "Idempotency-Key": "once", "X-Widget": "w", "User-Agent": "sdk/1"} {
			assert.Equal(t, want, sent.Get(name), name)
		}
		assert.Equal(t, http.StatusAccepted, answer.Status)
		assert.Equal(t, "sound", answer.Body)
		for _, name := range []string{"Set-Cookie", "Openai-Organization", "Openai-Project", "Anthropic-Organization-Id", "X-Ratelimit-Limit-Requests", "Access-Control-Allow-Origin", "Etag"} {
			assert.NotContains(t, answer.Header, name)
		}
		for name, want := range map[string]string{"X-Widget": "seen", "Content-Type": "audio/mpeg", "Content-Disposition": `attachment; filename="a.mp3"`, "X-Upstream-Request-Id": "req_of_the_vendor"} {
			assert.Equal(t, []string{want}, answer.Header[name])
		}
		assert.NotContains(t, answer.Header.Values("Server"), "of the vendor")
	})
}

// The credential that a provider refuses is the gateway's, and its text may have a part of it.
func TestX028ARefusedCredentialIsNotThatOfTheClient(t *testing.T) {
	site.EachWay(t, func(t *testing.T, w site.Way) {
		p := startPassing(t, w, "allow /v1/*")
		for _, status := range []int{http.StatusUnauthorized, http.StatusForbidden} {
			p.account.answers(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(status)
				_, _ = io.WriteString(w, `{"error":{"message":"Incorrect API key provided: sk-of***unt"}}`)
			})
			answer := p.pass(http.MethodGet, "/v1/models", "")
			assert.Equal(t, http.StatusBadGateway, answer.Status, answer.Body)
			assert.NotContains(t, answer.Body, "sk-of")
		}
		for _, status := range []int{http.StatusBadRequest, http.StatusNotFound, http.StatusTooManyRequests, http.StatusInternalServerError} {
			p.account.answers(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Retry-After", "7")
				w.WriteHeader(status)
				_, _ = io.WriteString(w, `{"its":"own error"}`)
			})
			answer := p.pass(http.MethodGet, "/v1/models", "")
			assert.Equal(t, status, answer.Status)
			assert.Equal(t, `{"its":"own error"}`, answer.Body)
			assert.Equal(t, "7", answer.Header.Get("Retry-After"))
		}
	})
}

// A key with rules about what the gateway does not see would evade them.
func TestX025X026KeysWhoseRulesCannotBeAppliedAreRefused(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		for name, c := range map[string]struct {
			lines []string
			rules string
			want  string
		}{
			"a budget":              {[]string{"limit small {\nbudget 5/month\n}", "key other {env.OTHER_KEY} {\nlimit small\n}"}, "", "unpriced allow"},
			"a rate of tokens":      {[]string{"limit small {\ntokens 100/1m\n}", "key other {env.OTHER_KEY} {\nlimit small\n}"}, "", "unpriced allow"},
			"models":                {[]string{"key other {env.OTHER_KEY} {\nmodels claude-*\n}"}, "", "only some models"},
			"a guard":               {[]string{"guard g regex {\npattern p secret\nblock p\nkeys other\n}", "key other {env.OTHER_KEY}"}, "", "the guard 'g'"},
			"a budget, with a word": {[]string{"limit small {\nbudget 5/month\n}", "key other {env.OTHER_KEY} {\nlimit small\n}"}, "unpriced allow", ""},
			"a rate of requests":    {[]string{"limit small {\nrequests 100/1m\n}", "key other {env.OTHER_KEY} {\nlimit small\n}"}, "", ""},
		} {
			t.Run(name, func(t *testing.T) {
				p := startPassing(t, w, "allow /v1/*\n"+c.rules, c.lines...)
				answer := p.pass(http.MethodPost, "/v1/ocr", "{}", "Authorization", "Bearer "+otherKey)
				if c.want == "" {
					assert.Equal(t, http.StatusOK, answer.Status, answer.Body)
					return
				}
				assert.Equal(t, http.StatusForbidden, answer.Status, answer.Body)
				assert.Contains(t, answer.Body, c.want)
				assert.Empty(t, p.account.lines())
			})
		}
	})
}

// The matcher of the gateway's paths knew no path of a configuration.
func TestTheMatcherKnowsThePathsThatArePassedOn(t *testing.T) {
	a := startAccount(t)
	t.Setenv("UP_KEY", "sk-of-the-account")
	s := site.StartCaddyfile(t, "http://127.0.0.1:PORT(site) {\n@gateway ai_gateway_paths\nhandle @gateway {\nai_gateway {\nkey client {env.CLIENT_KEY}\n"+
		"provider up vllm {\nbase_url http://"+a.address+"/v1\napi_key {env.UP_KEY}\n}\npass /pass/up/* up {\nallow /v1/models\n}\n}\n}\nhandle {\nrespond \"of the site\"\n}\n}\n")
	for path, want := range map[string]string{"/pass/up/v1/models": `{"ok":true}`, "/pass/upper/v1/models": "of the site", "/pass": "of the site", "/pass/up": "of the site"} {
		answer := s.Call(http.MethodGet, s.URL("site", path), "", "Authorization", "Bearer "+site.ClientKey)
		require.Equal(t, want, answer.Body, path)
	}
	assert.Equal(t, []string{"GET /v1/models"}, a.lines(), "the version of the base URL is not repeated")
}

// What is unknown was recorded as 0 by other gateways, so that reports had calls for nothing.
func TestX024TheCostOfWhatIsNotReadIsUnknown(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		p := startPassing(t, w, "allow /v1/*", "store sqlite "+filepath.Join(t.TempDir(), "gateway.db"), "model * {\nto up\nprice input 1 output 1\n}")
		for _, status := range []int{http.StatusOK, http.StatusCreated, http.StatusNoContent} {
			p.account.answers(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
			answer := p.pass(http.MethodPost, "/v1/ocr", "{}")
			require.Equal(t, status, answer.Status)
			r := recordOf(t, p.Site, answer.ID())
			assert.Equal(t, []any{"pass", "answered", status}, []any{r.Operation, r.Outcome, r.Status})
			assert.Equal(t, "unknown", r.Calls[0].Costing)
			assert.Empty(t, r.Calls[0].Price)
		}
		p.account.answers(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
		r := recordOf(t, p.Site, p.pass(http.MethodPost, "/v1/ocr", "{}").ID())
		assert.Equal(t, "none", r.Calls[0].Costing, "an error of the provider")
	})
}

// Other gateways keep uploads in memory.
func TestX027AnUploadIsNotKept(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		const size = 256 << 20
		p := startPassing(t, w, "allow /v1/*\nmax_body 2GiB\nids passthrough")
		var got atomic.Int64
		p.account.answers(func(w http.ResponseWriter, r *http.Request) {
			n, _ := io.Copy(io.Discard, r.Body)
			got.Store(n)
			_, _ = io.WriteString(w, `{"ok":true}`)
		})
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		answer := p.upload(size, size)
		runtime.ReadMemStats(&after)
		assert.Equal(t, http.StatusOK, answer.Status, answer.Body)
		assert.EqualValues(t, size, got.Load())
		assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(32<<20), "of provider, gateway and client together")
	})
}

// A request that was sent in part could have begun something, and its body is gone.
func TestX027AnUploadIsNotRepeated(t *testing.T) {
	site.EachWay(t, func(t *testing.T, w site.Way) {
		p := startPassing(t, w, "allow /v1/*\nmax_body 5MiB\nids passthrough")
		require.Equal(t, http.StatusOK, p.pass(http.MethodPost, "/v1/files", "{}").Status, "the connection is kept")
		p.account.answers(func(w http.ResponseWriter, _ *http.Request) { panic(http.ErrAbortHandler) })
		answer := p.upload(1<<22, -1)
		assert.Equal(t, http.StatusBadGateway, answer.Status, answer.Body)
		assert.Len(t, p.account.lines(), 2)
		answer = p.upload(6<<20, 6<<20)
		assert.Equal(t, http.StatusRequestEntityTooLarge, answer.Status, answer.Body)
		assert.Len(t, p.account.lines(), 2, "its length is announced")
	})
}

// An upload of unknown length that gets too long ends with the status for that, and not as a failure of
// the provider.
func TestAnUploadOfUnknownLengthIsBounded(t *testing.T) {
	site.EachWay(t, func(t *testing.T, w site.Way) {
		p := startPassing(t, w, "allow /v1/*\nmax_body 1MiB\nids passthrough")
		p.account.answers(func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) })
		answer := p.upload(2<<20, -1)
		assert.Equal(t, http.StatusRequestEntityTooLarge, answer.Status, answer.Body)
	})
}

// upload sends a file of zeros. length is that in the head, -1 for none.
func (p passing) upload(size, length int64) site.Reply {
	request, err := http.NewRequestWithContext(site.Waiting(p.T), http.MethodPost, p.URL("site", "/pass/up/v1/files"), io.LimitReader(zeros{}, size))
	require.NoError(p.T, err)
	request.ContentLength = length
	request.Header.Set("Authorization", "Bearer "+site.ClientKey)
	response, err := p.Client.Do(request)
	require.NoError(p.T, err)
	return site.ReadReply(response)
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// An answer that breaks off must not look whole.
func TestAnAnswerThatBreaksOffIsNotWhole(t *testing.T) {
	site.EachWay(t, func(t *testing.T, w site.Way) {
		p := startPassing(t, w, "allow /v1/*")
		p.account.answers(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "data: {}\n\n")
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		})
		request, err := http.NewRequestWithContext(site.Waiting(t), http.MethodPost, p.URL("site", "/pass/up/v1/ocr"), strings.NewReader("{}"))
		require.NoError(t, err)
		request.Header.Set("Authorization", "Bearer "+site.ClientKey)
		response, err := p.Client.Do(request)
		require.NoError(t, err)
		defer func() { _ = response.Body.Close() }()
		body, err := io.ReadAll(response.Body)
		assert.Error(t, err)
		assert.Equal(t, "data: {}\n\n", string(body))
		assert.Equal(t, "no-cache, no-transform", response.Header.Get("Cache-Control"))
		assert.Equal(t, "cut", p.Record(response.Header.Get("X-Request-Id"))["outcome"])
	})
}

// What other gateways decode and forget to say so: the bytes of both bodies, their coding and their
// length are those of the sender.
func TestCodedBodiesArePassedOnAsTheyAre(t *testing.T) {
	site.EachWay(t, func(t *testing.T, w site.Way) {
		p := startPassing(t, w, "allow /v1/*")
		zipped := gzipped(t, strings.Repeat(`{"text":"a long answer"}`, 100))
		for name, test := range map[string]struct {
			status   int
			encoding string
		}{"an answer": {http.StatusOK, "gzip"}, "an error": {http.StatusBadRequest, "gzip"}, "a coding that the gateway does not know": {http.StatusOK, "x-own"}} {
			p.account.answers(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Encoding", test.encoding)
				w.Header().Set("Content-Type", "application/json")
				w.Header().Set("Openai-Poll-After-Ms", "1500")
				w.WriteHeader(test.status)
				_, _ = w.Write(zipped)
			})
			answer := p.pass(http.MethodPost, "/v1/brand/new", string(zipped), "Content-Encoding", test.encoding, "Accept-Encoding", "gzip, x-own")
			sent := p.account.last(t)
			assert.Equal(t, test.status, answer.Status, name)
			assert.Equal(t, string(zipped), answer.Body, name)
			assert.Equal(t, test.encoding, answer.Header.Get("Content-Encoding"), name)
			assert.Equal(t, strconv.Itoa(len(zipped)), answer.Header.Get("Content-Length"), name)
			assert.Equal(t, "1500", answer.Header.Get("Openai-Poll-After-Ms"), name)
			assert.Equal(t, string(zipped), sent.body, name)
			assert.Equal(t, test.encoding, sent.header.Get("Content-Encoding"), name)
			assert.Equal(t, "gzip, x-own", sent.header.Get("Accept-Encoding"), name)
		}
	})
}

func gzipped(t *testing.T, text string) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := io.WriteString(w, text)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.Bytes()
}
