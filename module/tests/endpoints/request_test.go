package endpoints_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// faulty is a request that can have several faults at once.
type faulty struct {
	method, path, authorization string
	version, onLoss             string
	contentType, coding         string
	model, maxTokens, rest, pad string
}

// send sends the request.
func (f *faulty) send(t testing.TB, s *site.Site) site.Reply {
	prompt := `"messages":[{"role":"user","content":"` + f.pad + `"}]`
	if strings.HasPrefix(f.path, site.CompletionsPath) {
		prompt = `"prompt":"` + f.pad + `"`
	}
	bound := "max_tokens"
	if f.path == site.ResponsesPath {
		prompt, bound = `"input":"`+f.pad+`"`, "max_output_tokens"
	}
	body := fmt.Sprintf(`{"model":"%s","%s":%s,%s}%s`, f.model, bound, f.maxTokens, prompt, f.rest)
	lines := []string{f.method + " " + f.path + " HTTP/1.1"}
	for name, value := range map[string]string{
		"Anthropic-Version": f.version, "X-Gateway-On-Loss": f.onLoss, "Content-Type": f.contentType, "Content-Encoding": f.coding,
	} {
		if value != "" {
			lines = append(lines, name+": "+value)
		}
	}
	if f.authorization != "" {
		lines = append(lines, f.authorization)
	}
	if f.coding == "gzip" {
		body = site.Encoded(t, "gzip", body)
	}
	return s.Raw(body, lines...)
}

// breaks are the faults of a request in the order of the checks.
var breaks = []struct {
	name    string
	apply   func(*faulty)
	status  int
	message string
}{
	{"path", func(f *faulty) { f.path += "/nowhere/else" }, 404, "path: no such endpoint; there are /v1/messages, /v1/messages/count_tokens, /v1/chat/completions, /v1/completions, /v1/responses, /v1/responses/input_tokens, /v1/models and /v1/capabilities"},
	{"method", func(f *faulty) { f.method = "PUT" }, 405, "method: must be POST"},
	{"credential sent twice", func(f *faulty) { f.authorization = "Authorization: Bearer x\r\nAuthorization: Bearer y" }, 400, "authorization: must be sent once, with one value"},
	{"credential missing", func(f *faulty) { f.authorization = "" }, 401, "no credential: send 'Authorization: Bearer <key>'"},
	{"credential invalid", func(f *faulty) { f.authorization = "Authorization: Bearer " + site.OldKey }, 401, "the API key is not valid"},
	{"version", func(f *faulty) { f.version = "latest" }, 400, "anthropic-version: 'latest' is not a date of the form YYYY-MM-DD"},
	{"on loss", func(f *faulty) { f.onLoss = "ignore" }, 400, "x-gateway-on-loss: must be 'warn' or 'reject'"},
	{"content type", func(f *faulty) { f.contentType = "text/plain" }, 415, "content-type: must be application/json"},
	{"content coding", func(f *faulty) { f.coding = "compress" }, 415, "content-encoding: must be gzip, zstd, deflate or br"},
	{"body too large as sent", func(f *faulty) { f.coding = "" }, 413, "request body: larger than the limit of 2000 bytes"},
	{"body too large once decoded", func(f *faulty) { f.coding, f.pad = "gzip", strings.Repeat("x", 3000) }, 413, "request body: larger than the limit of 2000 bytes"},
	{"JSON", func(f *faulty) { f.rest = "}" }, 400, "request body: not valid JSON at byte "},
	{"field", func(f *faulty) { f.maxTokens = "1.5" }, 400, "max_tokens: must be an integer"},
	{"model", func(f *faulty) { f.model = "m9" }, 404, "model: 'm9' is not known"},
	{"key and model", func(f *faulty) { f.authorization = "Authorization: Bearer " + site.BobKey }, 403, "this key may not use model 'm1'"},
}

// TestTheFirstFaultInTheOrderOfChecksIsAnswered adds one fault after the other to a
// request, from the last check to the first. The error must name the newest fault.
func TestTheFirstFaultInTheOrderOfChecksIsAnswered(t *testing.T) {
	s, p := site.StartLocked(t, "max_body 2000")
	for _, path := range site.CallPaths {
		t.Run(path, func(t *testing.T) {
			f := &faulty{
				method: http.MethodPost, path: path, authorization: "Authorization: Bearer " + site.AliceKey,
				version: "2023-06-01", contentType: "application/json", model: "m1", maxTokens: "99", pad: "x",
			}
			whole := f.send(t, s)
			require.Equal(t, http.StatusOK, whole.Status, whole.Body)
			before := p.Count()
			for i := len(breaks) - 1; i >= 0; i-- {
				b := breaks[i]
				b.apply(f)
				if b.name == "version" && path != site.MessagesPath {
					continue // those have none
				}
				got := f.send(t, s)
				assert.Equal(t, b.status, got.Status, b.name)
				message := strings.Replace(got.Failure(t).Message, "max_output_tokens", "max_tokens", 1)
				if path == site.MessagesPath && b.name == "credential missing" {
					message = strings.TrimSuffix(message, " or 'x-api-key: <key>'")
				}
				assert.True(t, strings.HasPrefix(message, b.message), "%s: %s", b.name, message)
				assert.NotEmpty(t, got.ID())
			}
			assert.Equal(t, before, p.Count(), "nothing reached the provider")
		})
	}
}

// GET /v1/responses/input_tokens was answered as if the last segment were the id of a
// response, and Allow omitted HEAD, which works.
func TestAWrongMethodIsAnsweredWithTheRightOne(t *testing.T) {
	s, p := site.StartLocked(t)
	for path, allowed := range map[string]string{
		"/v1/messages": "POST", "/v1/messages/count_tokens": "POST", "/v1/chat/completions": "POST", "/v1/completions": "POST",
		"/v1/responses": "POST", "/v1/responses/input_tokens": "POST", "/v1/capabilities": "GET",
		"/v1/models": "GET", "/v1/models/m1": "GET",
	} {
		for _, method := range []string{"GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND"} {
			if method == allowed || method == "HEAD" && allowed == "GET" {
				continue
			}
			if path == "/v1/chat/completions" && (method == "GET" || method == "HEAD") {
				continue // the list of stored completions, which is refused by name
			}
			got := s.Raw("", method+" "+path+" HTTP/1.1")
			body := site.InChoices("invalid_request_error", "method: must be "+allowed, "null", "null")
			if strings.HasPrefix(path, "/v1/messages") {
				body = site.InMessages("invalid_request_error", "method: must be "+allowed)
			}
			if method == "HEAD" {
				body = ""
			}
			got.AssertOurs(t, http.StatusMethodNotAllowed, body, method, path)
			assert.Equal(t, map[string][]string{"GET": {"GET, HEAD"}, "POST": {"POST"}}[allowed], got.Header.Values("Allow"), method, path)
		}
	}
	assert.Zero(t, p.Count())
}

// TestG117R027CodedBodiesAreLikePlainOnes ensures that the provider sees the same
// request, whatever the client did to its bytes on the way.
func TestG117R027CodedBodiesAreLikePlainOnes(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		clock := func() time.Time { return time.Unix(1_700_000_000, 0) }
		p := gatewaytest.NewProvider(t, demo.WithClock(clock))
		s := site.Start(t, w.Provider("up", p))
		for _, path := range site.CallPaths {
			plain := site.BodyFor(path, "m", "hello, wörld", false)
			want := s.Ask(path, plain)
			require.Equal(t, http.StatusOK, want.Status)
			for _, coded := range []struct{ header, coding string }{
				{"gzip", "gzip"}, {"x-gzip", "gzip"}, {"GZIP", "gzip"}, {"deflate", "zlib"}, {"deflate", "deflate"}, {"br", "br"}, {"zstd", "zstd"},
			} {
				for _, text := range []string{plain, "\xef\xbb\xbf" + plain} {
					got := s.Ask(path, site.Encoded(t, coded.coding, text), "Content-Encoding", coded.header)
					assert.Equal(t, want.Body, got.Body, "%s %s", path, coded)
				}
			}
			assert.Equal(t, want.Body, s.Ask(path, plain, "Content-Encoding", "identity").Body)
			assert.Equal(t, want.Body, s.Ask(path, "\xef\xbb\xbf"+plain).Body, "a byte order mark")
			for _, r := range p.Requests() {
				if r.Path == path {
					assert.Equal(t, plain, string(r.Body))
					assert.Empty(t, r.Header.Get("Content-Encoding"))
					assert.Equal(t, fmt.Sprint(len(plain)), r.Header.Get("Content-Length"))
				}
			}
		}
	})
}

// refusal is a refused body with its error.
type refusal struct {
	name, body, coding string
	status             int
	message, code      string // code of chat and completions errors, as JSON
	detail             string // error.details.error_code of messages bodies
}

// TestG118R027BodiesThatAreRefused compares every byte of the refusals.
func TestG118R027BodiesThatAreRefused(t *testing.T) {
	s, p := site.StartLocked(t, "max_body 2000")
	large := strings.Repeat("x", 2001)
	const (
		tooLarge = "request body: larger than the limit of 2000 bytes"
		unknown  = "content-encoding: must be gzip, zstd, deflate or br"
	)
	for _, test := range []refusal{
		{"nothing", "", "", 400, "request body: empty, must be a JSON object", `"invalid_json"`, ""},
		{"white space", " \r\n\t", "", 400, "request body: empty, must be a JSON object", `"invalid_json"`, ""},
		{"a byte order mark alone", "\xef\xbb\xbf", "", 400, "request body: empty, must be a JSON object", `"invalid_json"`, ""},
		{"two byte order marks", "\xef\xbb\xbf\xef\xbb\xbf{}", "", 400, "request body: not valid JSON at byte 3", `"invalid_json"`, ""},
		{"UTF-16", "\xff\xfe{\x00}\x00", "", 400, "request body: not valid JSON at byte 0", `"invalid_json"`, ""},
		{"no JSON", "hello", "", 400, "request body: not valid JSON at byte 0", `"invalid_json"`, ""},
		{"an array", "[]", "", 400, "request body: must be a JSON object", `"invalid_value"`, ""},
		{"null", "null", "", 400, "request body: must be a JSON object", `"invalid_value"`, ""},
		{"invalid UTF-8", "{\"model\":\"m\xff\"}", "", 400, "request body: not valid JSON at byte 11", `"invalid_json"`, ""},
		{"trailing data", `{"model":"m1"} x`, "", 400, "request body: not valid JSON at byte 15", `"invalid_json"`, ""},
		{"two objects", `{"model":"m1"}{"model":"m1"}`, "", 400, "request body: not valid JSON at byte 14", `"invalid_json"`, ""},
		{"half an object", `{"model":`, "", 400, "request body: not valid JSON at byte 9", `"invalid_json"`, ""},
		{"a form", "model=m1&prompt=x", "", 400, "request body: not valid JSON at byte 0", `"invalid_json"`, ""},
		{"too large", large, "", 413, tooLarge, `"request_too_large"`, ""},
		{"too large as sent, coded", large, "gzip", 413, tooLarge, `"request_too_large"`, ""},
		{"too large once decoded", site.Encoded(t, "gzip", large), "gzip", 413, tooLarge, `"request_too_large"`, "request_body_too_large_after_decoding"},
		{"a bomb", site.Encoded(t, "zstd", strings.Repeat(" ", 1<<20)), "zstd", 413, tooLarge, `"request_too_large"`, "request_body_too_large_after_decoding"},
		{"an unknown coding", "{}", "compress", 415, unknown, "null", "request_body_encoding_unsupported"},
		{"two codings", "{}", "gzip, br", 415, unknown, "null", "request_body_encoding_unsupported"},
		{"the same coding twice", "{}", "gzip, gzip", 415, unknown, "null", "request_body_encoding_unsupported"},
		{"a coding with a parameter", "{}", "gzip;q=1", 415, unknown, "null", "request_body_encoding_unsupported"},
		{"no gzip", "{}", "gzip", 400, "request body: broken gzip data", "null", "request_body_encoding_invalid"},
		{"half of gzip", site.Encoded(t, "gzip", "{}")[:12], "gzip", 400, "request body: broken gzip data", "null", "request_body_encoding_invalid"},
		{"bytes behind gzip", site.Encoded(t, "gzip", "{}") + "{}", "gzip", 400, "request body: broken gzip data", "null", "request_body_encoding_invalid"},
		{"no zstd", "{}", "zstd", 400, "request body: broken zstd data", "null", "request_body_encoding_invalid"},
		{"no bytes of br", "", "br", 400, "request body: broken br data", "null", "request_body_encoding_invalid"},
		{"half of deflate", site.Encoded(t, "deflate", large)[:9], "deflate", 400, "request body: broken deflate data", "null", "request_body_encoding_invalid"},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, path := range append(site.CallPaths, site.MessagesPath+"/count_tokens") {
				lines := []string{"POST " + path + " HTTP/1.1", "Authorization: Bearer " + site.AliceKey, "Anthropic-Version: 2023-06-01"}
				if test.coding != "" {
					lines = append(lines, "Content-Encoding: "+test.coding)
				}
				s.Raw(test.body, lines...).AssertOurs(t, test.status, test.bodyFor(path), path)
			}
		})
	}
	assert.Zero(t, p.Count())
}

// bodyFor returns the body of the refusal in the format of the path.
func (r refusal) bodyFor(path string) string {
	kind := "invalid_request_error"
	if !strings.HasPrefix(path, site.MessagesPath) {
		return site.InChoices(kind, r.message, "null", r.code)
	}
	if r.status == http.StatusRequestEntityTooLarge {
		kind = "request_too_large"
	}
	body := site.InMessages(kind, r.message)
	if r.detail != "" {
		body = strings.Replace(body, r.message+`"}`, r.message+`","details":{"error_code":"`+r.detail+`"}}`, 1)
	}
	return body
}

// begun is the beginning of a body. It is as long as the part of a refused body that the
// server reads to reuse the connection.
var begun = strings.Repeat("x", 256<<10+8192)

// chunk is text as one chunk of a body.
func chunk(text string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(text), text) }

// TestABodyThatIsTooLargeIsNotReadToItsEnd covers bodies with and without an announced
// length.
func TestABodyThatIsTooLargeIsNotReadToItsEnd(t *testing.T) {
	s, p := site.StartLocked(t, "max_body 2000")
	head := "POST /v1/completions HTTP/1.1\r\nHost: 127.0.0.1:" + fmt.Sprint(s.Port("site")) + "\r\nAuthorization: Bearer " + site.AliceKey + "\r\n"
	want := site.InChoices("invalid_request_error", "request body: larger than the limit of 2000 bytes", "null", `"request_too_large"`)
	t.Run("announced", func(t *testing.T) {
		s.RawBytes(head+"Content-Length: 1000000000\r\n\r\n"+begun).AssertOurs(t, http.StatusRequestEntityTooLarge, want)
	})
	t.Run("in chunks without an end", func(t *testing.T) {
		s.RawBytes(head+"Transfer-Encoding: chunked\r\n\r\n"+chunk(begun)).AssertOurs(t, http.StatusRequestEntityTooLarge, want)
	})
	t.Run("in chunks, small enough", func(t *testing.T) {
		body := site.BodyFor(site.CompletionsPath, "m1", "hello", false)
		got := s.RawBytes(head + "Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n" + chunk(body) + "0\r\n\r\n")
		require.Equal(t, http.StatusOK, got.Status, got.Body)
		requests := p.Requests()
		require.Len(t, requests, 1)
		assert.Equal(t, body, string(requests[0].Body))
		assert.Equal(t, fmt.Sprint(len(body)), requests[0].Header.Get("Content-Length"), "the provider is told the length")
	})
}

// TestTheLimitOfRequestBodyCountsToo covers bodies without an announced length. Caddy itself
// refuses other bodies.
func TestTheLimitOfRequestBodyCountsToo(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	s := site.StartCaddyfile(t, site.Block("request_body {\nmax_size 100\n}", site.Direct.Provider("up", p)))
	got := s.RawBytes("POST /v1/completions HTTP/1.1\r\nHost: 127.0.0.1:" + fmt.Sprint(s.Port("site")) + "\r\nAuthorization: Bearer " + site.ClientKey +
		"\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk(begun))
	got.AssertOurs(t, http.StatusRequestEntityTooLarge,
		site.InChoices("invalid_request_error", "request body: larger than the limit of 100 bytes", "null", `"request_too_large"`))
	assert.Zero(t, p.Count())
}

func TestHalfABodyIsRefused(t *testing.T) {
	s, p := site.StartLocked(t)
	conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", s.Port("site")))
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	require.NoError(t, conn.SetDeadline(time.Now().Add(site.Patience)))
	_, err = fmt.Fprintf(conn, "POST /v1/completions HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAuthorization: Bearer %s\r\nContent-Length: 100\r\n\r\n{\"model\":", s.Port("site"), site.AliceKey)
	require.NoError(t, err)
	require.NoError(t, conn.(*net.TCPConn).CloseWrite())
	answer, err := io.ReadAll(conn)
	require.NoError(t, err)
	assert.Contains(t, string(answer), "HTTP/1.1 400 Bad Request")
	assert.Contains(t, string(answer), "request body: could not be read to its end")
	assert.Zero(t, p.Count())
}

func TestContentTypes(t *testing.T) {
	s, p := site.StartLocked(t)
	body := site.BodyFor(site.CompletionsPath, "m1", "hello", false)
	send := func(lines ...string) site.Reply {
		return s.Raw(body, append([]string{"POST /v1/completions HTTP/1.1", "Authorization: Bearer " + site.AliceKey}, lines...)...)
	}
	for _, right := range []string{
		"Accept: */*", "Content-Type:", "Content-Type: application/json", "Content-Type: Application/JSON; Charset=UTF-8", "content-type: application/vnd.api+json",
	} {
		assert.Equal(t, http.StatusOK, send(right).Status, right)
	}
	count := p.Count()
	for _, r := range p.Requests() {
		assert.Equal(t, "application/json", r.Header.Get("Content-Type"))
	}
	for _, wrong := range []string{
		"Content-Type: text/plain", "Content-Type: application/x-www-form-urlencoded", "Content-Type: multipart/form-data; boundary=x",
		"Content-Type: text/json", "Content-Type: application/json, text/plain", "Content-Type: application/json\r\nContent-Type: application/json",
	} {
		send(wrong).AssertOurs(t, http.StatusUnsupportedMediaType,
			site.InChoices("invalid_request_error", "content-type: must be application/json", "null", "null"), wrong)
	}
	assert.Equal(t, count, p.Count())
}

// For local servers, max_tokens -1 means no bound. The gateway once refused it, and other
// values that neither the format nor the provider restricts.
func TestTheProviderJudgesTheNumbersOfCompletions(t *testing.T) {
	s, p := site.StartLocked(t)
	for _, numbers := range []string{`"max_tokens":-1`, `"max_tokens":0,"n":0`} {
		p.Script(gatewaytest.Body(http.StatusOK, "application/json", []byte(`{"choices":[{"index":0,"text":"y","finish_reason":"stop"}]}`)))
		body := `{"model":"m1","prompt":"x",` + numbers + `}`
		reply := s.Raw(body, "POST "+site.CompletionsPath+" HTTP/1.1", "Authorization: Bearer "+site.AliceKey)
		assert.Equal(t, http.StatusOK, reply.Status, reply.Body)
		assert.Equal(t, body, string(p.Requests()[p.Count()-1].Body))
	}
}

func TestTheVersionHeaderIsForwardedIfItIsADate(t *testing.T) {
	s, p := site.StartLocked(t)
	send := func(path string, lines ...string) site.Reply {
		return s.Raw(site.BodyFor(path, "m1", "hello", false), append([]string{"POST " + path + " HTTP/1.1", "Authorization: Bearer " + site.AliceKey}, lines...)...)
	}
	for _, version := range []string{"2023-01-01", "2023-06-01", "2026-10-21", "2031-12-31"} {
		require.Equal(t, http.StatusOK, send(site.MessagesPath, "anthropic-version: "+version).Status)
		assert.Equal(t, []string{version}, p.Requests()[p.Count()-1].Header.Values("Anthropic-Version"))
	}
	count := p.Count()
	for line, message := range map[string]string{
		"Accept: */*":                    "anthropic-version: this header is required",
		"Anthropic-Version:":             "anthropic-version: this header is required",
		"Anthropic-Version: latest":      "anthropic-version: 'latest' is not a date of the form YYYY-MM-DD",
		"Anthropic-Version: 2023-02-29":  "anthropic-version: '2023-02-29' is not a date of the form YYYY-MM-DD",
		"Anthropic-Version: 2022-12-31":  "anthropic-version: '2022-12-31' must be 2023-01-01 or later",
		"Anthropic-Version: 2023-06-01,": "anthropic-version: '2023-06-01,' is not a date of the form YYYY-MM-DD",
		"Anthropic-Version: 2023-06-01\r\nAnthropic-Version: 2023-06-01": "anthropic-version: must be sent once, with one value",
	} {
		for _, path := range []string{site.MessagesPath, site.MessagesPath + "/count_tokens"} {
			send(path, line).AssertOurs(t, http.StatusBadRequest, site.InMessages("invalid_request_error", message), line)
		}
	}
	assert.Equal(t, count, p.Count())
	assert.Equal(t, http.StatusOK, send(site.ChatPath).Status, "the other formats have no version")
	assert.Equal(t, http.StatusOK, send(site.CompletionsPath, "Anthropic-Version: latest").Status)
}

func TestOfTheQueryOnlyBetaIsForwarded(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		p := gatewaytest.NewProvider(t)
		s := site.Start(t, w.Provider("up", p))
		for query, want := range map[string]string{
			"": "", "?": "", "?beta=true": "beta=true", "?beta=true&key=secret": "beta=true", "?x=1&beta=true": "beta=true",
			"?beta=false": "", "?beta=1": "", "?beta": "", "?key=secret": "", "?%62eta=true": "beta=true", "?;beta=true": "",
		} {
			answer := s.Ask(site.MessagesPath+query, site.BodyFor(site.MessagesPath, "m", "hello", false))
			require.Equal(t, http.StatusOK, answer.Status, query)
			assert.Equal(t, want, p.Requests()[p.Count()-1].Query, query)
		}
		for _, path := range []string{site.ChatPath, site.CompletionsPath} { // once, these got it too
			require.Equal(t, http.StatusOK, s.Ask(path+"?beta=true", site.BodyFor(path, "m", "hello", false)).Status)
			assert.Empty(t, p.Requests()[p.Count()-1].Query)
		}
	})
}

func TestTheOnLossHeaderHasTwoValues(t *testing.T) {
	s, p := site.StartLocked(t)
	send := func(lines ...string) site.Reply {
		return s.Raw(site.BodyFor(site.ChatPath, "m1", "hello", false), append([]string{"POST /v1/chat/completions HTTP/1.1", "Authorization: Bearer " + site.AliceKey}, lines...)...)
	}
	for _, value := range []string{"warn", "reject"} {
		assert.Equal(t, http.StatusOK, send("X-Gateway-On-Loss: "+value).Status)
	}
	for _, value := range []string{"", "ignore", "Reject", "reject, warn", "reject\r\nX-Gateway-On-Loss: reject"} {
		send("X-Gateway-On-Loss: "+value).AssertOurs(t, http.StatusBadRequest,
			site.InChoices("invalid_request_error", "x-gateway-on-loss: must be 'warn' or 'reject'", "null", "null"), value)
	}
	assert.Equal(t, 2, p.Count())
	for _, r := range p.Requests() {
		assert.Empty(t, r.Header.Values("X-Gateway-On-Loss"))
	}
}

// TestRefusalsOfFieldsAreWordForWord checks messages that clients compare.
func TestRefusalsOfFieldsAreWordForWord(t *testing.T) {
	s, p := site.StartLocked(t)
	const invalid = "invalid_request_error"
	for _, test := range []struct{ path, body, message, param, code string }{
		{site.MessagesPath, `{"model":"m1","max_tokens":1,"messages":[{"role":"user","content":"x"}],"temperature":1.5}`, "temperature: must be between 0 and 1, got 1.5", "", ""},
		{site.MessagesPath, `{"model":"m1","messages":[{"role":"user","content":"x"}]}`, "max_tokens: required", "", ""},
		{site.MessagesPath, `{"max_tokens":1,"messages":[{"role":"user","content":"x"}]}`, "model: required", "", ""},
		{site.MessagesPath, `{"model":"m1","Model":"m2","max_tokens":1,"messages":[]}`, "model: must appear once, letter case ignored", "", ""},
		{site.MessagesPath, `{"model":"m1", bad`, "request body: not valid JSON at byte 15", "", ""},
		{site.ChatPath, `{"model":"m1","messages":[{"role":"user","content":"x"}],"n":0}`, "n: must be an integer of at least 1, got 0", `"n"`, `"invalid_value"`},
		{site.ChatPath, `{"model":"m1","messages":[{"role":"user","content":"x"},{"role":7}]}`, "messages[1].role: ", `"messages[1].role"`, `"invalid_value"`},
		{site.ChatPath, `{"MODEL":"m1","messages":[],"model":"m1"}`, "MODEL: must appear once, letter case ignored", `"MODEL"`, `"invalid_json"`},
		{site.ChatPath, `{"model":"m1", bad`, "request body: not valid JSON at byte 15", "null", `"invalid_json"`},
		{site.CompletionsPath, `{"model":"m1","prompt":"x","n":0.5}`, "n: must be an integer", `"n"`, `"invalid_value"`},
		{site.CompletionsPath, `{"prompt":"x"}`, "model: required", `"model"`, `"invalid_value"`},
	} {
		got := s.Raw(test.body, "POST "+test.path+" HTTP/1.1", "Authorization: Bearer "+site.AliceKey, version)
		message := got.Failure(t).Message
		if strings.HasSuffix(test.message, " ") { // the rest is the format's
			assert.True(t, strings.HasPrefix(message, test.message), message)
			test.message = message
		}
		want := site.InMessages(invalid, test.message)
		if test.path != site.MessagesPath {
			want = site.InChoices(invalid, test.message, test.param, test.code)
		}
		got.AssertOurs(t, http.StatusBadRequest, want, test.body)
	}
	assert.Zero(t, p.Count())
}
